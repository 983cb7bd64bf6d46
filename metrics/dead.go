package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// DeadTopic is a topic that a model would not miss.
type DeadTopic struct {
	Topic int
	// Twin is the topic of larger share that this one resembles, −1 if Topic is dead for
	// its share alone.
	Twin int
	// Share is p(topic) and Cosine that of the angle between the topic and its twin, 0
	// without one.
	Share, Cosine float64
}

const (
	deadShare  = 1.0 / 20 // of the mean share
	twinCosine = 0.9
)

// DeadTopics returns the topics, ascending, whose share is below 1/(20K), and those whose
// word probabilities have a cosine above 0.9 to a topic with a larger share, or with the
// same share and a lower number.
//
// b is N×K and shares has the K numbers p(topic); one that is no number counts as 0. Time
// O(NK²); workers bounds the goroutines (0: GOMAXPROCS) and does not change the result.
// Errors: entries of b that are no probabilities, another number of shares, and ctx's.
func DeadTopics(ctx context.Context, b *mat.Dense, shares []float64, workers int) ([]DeadTopic, error) {
	if _, err := checkTopics(b); err != nil {
		return nil, err
	}
	_, k := b.Dims()
	if len(shares) != k {
		return nil, fmt.Errorf("metrics: %d shares of %d topics", len(shares), k)
	}
	near, err := nearest(ctx, b, shares, workers)
	if err != nil {
		return nil, err
	}
	var out []DeadTopic
	for _, d := range near {
		if d.Cosine <= twinCosine {
			d.Twin, d.Cosine = -1, 0
		}
		if d.Twin >= 0 || d.Share < deadShare/float64(k) {
			out = append(out, d)
		}
	}
	return out, nil
}

// nearest returns for each topic the one of larger share, or of the same and a lower number,
// to which its column of b has the largest cosine above 0.
func nearest(ctx context.Context, b *mat.Dense, shares []float64, workers int) ([]DeadTopic, error) {
	_, k := b.Dims()
	gram := linalg.NewGeneral(k, k) // of inner products
	if err := linalg.Gram(ctx, b.RawMatrix(), gram, workers); err != nil {
		return nil, fmt.Errorf("metrics: similar topics: %w", err)
	}
	out, order := make([]DeadTopic, k), make([]int, k)
	for t := range order {
		order[t] = t
		out[t] = DeadTopic{Topic: t, Twin: -1, Share: shares[t]}
		if math.IsNaN(shares[t]) {
			out[t].Share = 0
		}
	}
	slices.SortStableFunc(order, func(s, t int) int { return cmp.Compare(out[t].Share, out[s].Share) })
	for i, t := range order {
		d := &out[t]
		for _, s := range order[:i] {
			if c := gram.Data[s*k+t] / math.Sqrt(gram.Data[s*k+s]*gram.Data[t*k+t]); c > d.Cosine {
				d.Twin, d.Cosine = s, c
			}
		}
	}
	return out, nil
}
