package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// hullShapesGroup is about the hulls themselves.
var hullShapesGroup = &group{
	name: "hulls-shapes", version: 1,
	labels: []string{"corpus", "method", "dims", "trial"},
	// crowding is the median distance of a word from the mean of all as a share of the
	// largest; again is how many of the anchors four of the five trials have.
	measures: []string{"vertices", "crowding", "again"},
}

// hullPicture is an embedding that is drawn.
type hullPicture struct {
	way  string
	dims int
}

func (p hullPicture) name() string { return fmt.Sprintf("%s, %d dimensions", p.way, p.dims) }

// hullPictures are Figures 1.1 to 1.3.
var hullPictures = []hullPicture{{tSNE, 2}, {pca, 2}, {tSNE, 3}}

// shapes are the rows of hullShapesGroup. It is the last of a corpus.
func (h *hullCorpus) shapes(ctx context.Context) ([]row, error) {
	defer h.forget()
	var rows []row
	times := make(map[int]int) // in how many trials of t-SNE in space a word is an anchor
	add := func(way string, dims, trial int) error {
		res, err := h.anchors(ctx, way, dims, h.l.seed+uint64(trial))
		if err != nil {
			return err
		}
		r := row{"corpus": h.s.name, "method": way}
		r.set("dims", dims).set("trial", trial+1).set("vertices", len(res.Anchors)).set("crowding", crowding(res.Embedding))
		rows = append(rows, r)
		if way == tSNE && dims == 3 {
			for _, i := range res.Anchors {
				times[i]++
			}
		}
		return nil
	}
	for _, x := range []struct {
		way          string
		dims, trials int
	}{{pca, 2, 1}, {pca, 3, 1}, {tSNE, 2, 1}, {tSNE, 3, hullTrials}, {normalisedPCA, 3, 1}, {normalisedTSNE, 3, 1}} {
		for trial := range x.trials {
			if err := add(x.way, x.dims, trial); err != nil {
				return nil, err
			}
		}
	}
	again := 0
	for _, n := range times {
		if n >= hullTrials-1 {
			again++
		}
	}
	for _, r := range where(rows, "method", tSNE, "dims", 3) {
		r.set("again", again)
	}
	return rows, nil
}

// points are those of Figures 1.1 to 1.3.
func (h *hullCorpus) points(ctx context.Context) ([]row, error) {
	var rows []row
	for _, x := range hullPictures {
		r, err := h.anchors(ctx, x.way, x.dims, h.l.seed)
		if err != nil {
			return nil, err
		}
		mark := make(map[int]string)
		for _, i := range r.Anchors {
			mark[i] = "anchor"
		}
		rows = append(rows, pointRows(h.s.name, x.name(), r.Embedding, h.train.Info().Corpus.Word, mark, nil)...)
	}
	return rows, nil
}

// crowding is the median distance of the points from their mean as a share of the
// largest. Rows of NaN are words without a place.
func crowding(x *mat.Dense) float64 {
	n, d := x.Dims()
	mean, some := make([]float64, d), 0.0
	for i := range n {
		if p := x.RawRowView(i); !math.IsNaN(p[0]) {
			some++
			for j, v := range p {
				mean[j] += v
			}
		}
	}
	var dist []float64
	for i := range n {
		if p := x.RawRowView(i); !math.IsNaN(p[0]) {
			s := 0.0
			for j, v := range p {
				s += (v - mean[j]/some) * (v - mean[j]/some)
			}
			dist = append(dist, math.Sqrt(s))
		}
	}
	slices.Sort(dist)
	return dist[len(dist)/2] / dist[len(dist)-1]
}
