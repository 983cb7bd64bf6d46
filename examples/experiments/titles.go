package main

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/rectify"
)

var titlesGroup = &group{
	name: "titles", version: 1,
	labels: []string{"corpus", "documents", "k", "method", "anchors"},
	// distance is ‖C* − C‖_F of the rectified matrix as a part of ‖C‖_F, anchor_docs the
	// median number of documents of an anchor, zeros how many anchors s have C*_ss ≤ 0.
	measures: []string{"approximation", "legality", "distance", "anchor_docs", "zeros"},
}

// titlesMethods are compared on short documents.
var titlesMethods = []string{"AP", "ENN", "LR"}

// commonAnchor is the share of documents that an anchor is in at least, where that is
// asked for.
const commonAnchor = 0.01

func planTitles(_ context.Context, l *lab) ([]cell, error) {
	if l.titles == "" {
		return nil, nil
	}
	s, err := l.source(l.titles)
	if err != nil {
		return nil, err
	}
	var out []cell
	for _, docs := range []int{3000, 10000, 0} { // 0: all
		f := &firstDocs{source: s, docs: docs}
		for _, k := range l.some() {
			set := settings("corpus", s.name, "documents", docs, "k", k, "n", l.words, "least", commonAnchor, "seed", l.seed, "input", s.digest)
			for _, m := range titlesMethods {
				set = append(set, settings(m, rectifier(m))...)
			}
			out = append(out, cell{titlesGroup, set, 2 + float64(k)/5, func(ctx context.Context) ([]row, error) { return l.short(ctx, f, k) }})
		}
	}
	return out, nil
}

// short compares rectifications of documents of few words.
func (l *lab) short(ctx context.Context, f *firstDocs, k int) ([]row, error) {
	d, err := f.count(ctx, l.words, l.workers)
	if err != nil {
		return nil, err
	}
	c := d.Info().Corpus
	df := c.DocFrequencies()
	var rows []row
	for _, method := range titlesMethods {
		last := &lastRectified{Rectifier: rectifier(method)}
		for _, least := range []float64{0, commonAnchor} {
			p := asPublished(k).Rectify(last).Anchors(anchor.QR{MinDocs: 1, MinDocFraction: least}).Seed(l.seed).Workers(l.workers)
			m, rep, err := fitted(ctx, p, d)
			if err != nil {
				return nil, err
			}
			r := row{"corpus": f.name, "method": method, "anchors": "any"}
			if least > 0 {
				r["anchors"] = "common"
			}
			far, err := distance(ctx, d, last.res)
			if err != nil {
				return nil, err
			}
			var docs []int
			zeros := 0
			at := make([]float64, d.Dim())
			for _, s := range m.Anchors() {
				docs = append(docs, df[s])
				last.res.C.RowTo(at, s)
				if at[s] <= 0 {
					zeros++
				}
			}
			slices.Sort(docs)
			r.set("documents", c.NumDocs()).set("k", k).set("approximation", rep.Approximation).set("legality", mat.Sum(m.Correlations()))
			r.set("distance", far).set("anchor_docs", docs[len(docs)/2]).set("zeros", zeros)
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// distance is how far a rectified matrix is from C, as a part of the norm of C.
func distance(ctx context.Context, c cooc.Matrix, res *rectify.Result) (float64, error) {
	n := c.Dim()
	a, b := make([]float64, n), make([]float64, n)
	far, norm := 0.0, 0.0
	for i := range n {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c.RowTo(a, i)
		res.C.RowTo(b, i)
		for j, v := range a {
			far += (b[j] - v) * (b[j] - v)
			norm += v * v
		}
	}
	return math.Sqrt(far / norm), nil
}
