package rivals

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

// KMeans holds the settings of the k-means of [ClustAcc]. The zero value is the
// default.
//
// The distance of two rows is 1 − r, r the correlation of their entries; the
// centre of a cluster is the mean of its rows, each moved to mean 0 and scaled to
// length 1. Each restart begins with rows drawn by k-means++ (Arthur and
// Vassilvitskii 2007). The restart with the least sum of distances wins, the
// first of equals.
type KMeans struct {
	K          int    // clusters; 0: as many as there are labels
	Restarts   int    // 0: 20
	Iterations int    // limit of the rounds of a restart, which ends when no row changes its cluster; 0: 100
	Seed       uint64 // of the rows that restarts begin with
	Workers    int    // goroutines; 0: GOMAXPROCS. The result does not depend on it
}

// clusters is what KMeans found.
type clusters struct {
	// of holds the cluster of each row, in [0, K), and −1 for a row whose entries
	// are all equal, which correlates with nothing.
	of []int
	// distance is the mean of 1 − r between rows and centres, over the rows that
	// have a cluster.
	distance  float64
	converged bool
}

// maxRestarts bounds what is held of the restarts.
const maxRestarts = 100_000

// cluster finds k clusters among the rows of w (M×d, d ≥ 2). O(M·d·k) a round.
func (o KMeans) cluster(ctx context.Context, w *mat.Dense, k int) (*clusters, error) {
	if o.Restarts < 0 || o.Restarts > maxRestarts || o.Iterations < 0 {
		return nil, fmt.Errorf("k-means: %d restarts, %d iterations; want at most %d restarts", o.Restarts, o.Iterations, maxRestarts)
	}
	for i, v := range w.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("k-means: W[%d, %d]: %g is not finite", i/w.RawMatrix().Stride, i%w.RawMatrix().Stride, v)
		}
	}
	restarts, rounds := cmp.Or(o.Restarts, 20), cmp.Or(o.Iterations, 100)
	m, d := w.Dims()
	var x [][]float64 // the rows that have a correlation, standardised
	var rows []int    // and their numbers
	for i := range m {
		row := slices.Clone(w.RawRowView(i))
		if standardise(row) {
			x, rows = append(x, row), append(rows, i)
		}
	}
	if k < 1 || k > len(x) {
		return nil, fmt.Errorf("k-means: %d clusters of %d rows with a correlation (%d of %d columns in all)", k, len(x), m, d)
	}
	found := make([]*kmeans, restarts)
	err := parallel.Chunks(ctx, restarts, 1, o.Workers, func(_, r, _, _ int) error {
		s := &kmeans{x: x, k: k, of: slices.Repeat([]int{-1}, len(x)), centres: make([][]float64, k), rng: rand.New(rand.NewPCG(o.Seed, uint64(r)))}
		for c := range s.centres {
			s.centres[c] = make([]float64, d)
		}
		s.begin()
		for s.rounds < rounds && !s.settled {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.round()
		}
		s.x, s.centres = nil, nil
		found[r] = s
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("k-means: %w", err)
	}
	best := slices.MinFunc(found, func(a, b *kmeans) int { return cmp.Compare(a.sum, b.sum) })
	out := &clusters{of: slices.Repeat([]int{-1}, m), distance: best.sum / float64(len(x)), converged: best.settled}
	for i, c := range best.of {
		out.of[rows[i]] = c
	}
	return out, nil
}

// standardise moves x to mean 0 and scales it to length 1; false where its
// entries are equal except for rounding.
func standardise(x []float64) bool {
	largest := floats.Norm(x, math.Inf(1))
	if largest == 0 {
		return false
	}
	floats.Scale(1/largest, x) // so that no square is 0 or infinite
	floats.AddConst(-floats.Sum(x)/float64(len(x)), x)
	size := floats.Norm(x, 2)
	if size <= 1e-13*math.Sqrt(float64(len(x))) {
		return false
	}
	floats.Scale(1/size, x)
	return true
}

// kmeans is one restart. All rows and centres have length 1 (a centre may be
// 0, where rows cancel), so that 1 − r is 1 minus their product.
type kmeans struct {
	x       [][]float64
	k       int
	rng     *rand.Rand
	centres [][]float64
	of      []int
	sum     float64 // of the distances
	rounds  int
	settled bool
}

// begin draws rows as centres: the first uniformly, the others in proportion to
// the distance from the nearest centre drawn so far, which is half of the squared
// distance of unit vectors.
func (s *kmeans) begin() {
	n := len(s.x)
	far := make([]float64, n)
	at := s.rng.IntN(n)
	for c := range s.k {
		if total := floats.Sum(far); c > 0 && total > 0 {
			r := s.rng.Float64() * total
			for at = 0; at < n-1; at++ {
				if r -= far[at]; r < 0 {
					break
				}
			}
		} else if c > 0 {
			at = s.rng.IntN(n) // fewer different rows than clusters
		}
		copy(s.centres[c], s.x[at])
		for i, x := range s.x {
			if d := max(1-floats.Dot(x, s.centres[c]), 0); c == 0 || d < far[i] {
				far[i] = d
			}
		}
	}
}

// round moves each row to the nearest centre, the lowest of equals, and then the
// centres.
func (s *kmeans) round() {
	s.rounds++
	s.settled = true
	dist := make([]float64, len(s.x))
	size := make([]int, s.k)
	for i, x := range s.x {
		best, at := math.Inf(1), 0
		for c, y := range s.centres {
			if d := 1 - floats.Dot(x, y); d < best {
				best, at = d, c
			}
		}
		if s.of[i] != at {
			s.of[i], s.settled = at, false
		}
		dist[i] = best
		size[at]++
	}
	// A cluster that lost its rows takes the one farthest from its centre.
	for c := range size {
		if size[c] > 0 {
			continue
		}
		far := -1
		for i := range s.x {
			if size[s.of[i]] > 1 && (far < 0 || dist[i] > dist[far]) {
				far = i
			}
		}
		size[s.of[far]]--
		s.of[far], dist[far], s.settled = c, 0, false
		size[c] = 1
	}
	s.sum = vec.Sum(dist)
	for _, y := range s.centres {
		clear(y)
	}
	for i, x := range s.x {
		floats.Add(s.centres[s.of[i]], x)
	}
	for _, y := range s.centres {
		if l := floats.Norm(y, 2); l > 0 {
			floats.Scale(1/l, y)
		}
	}
}

// ClustAcc clusters documents by their topic proportions and compares the
// clusters with the documents' labels (fu-2018 §6.2): Accuracy of the result is
// the clustering accuracy of the paper, in [0, 1]. Higher is better: the topics
// tell the classes apart.
//
// w is M×K, the weights of the topics of a document in a row. There are o.K clusters, or one for
// each of the L different labels. Documents with the label "" take no part and are
// in cluster −1, as is a document whose weights are all equal. O(M·K) a round
// of k-means and cluster.
func ClustAcc(ctx context.Context, w *mat.Dense, labels []string, o KMeans) (*metrics.Agreement, error) {
	if m, _ := w.Dims(); m != len(labels) {
		return nil, fmt.Errorf("k-means: %d labels of %d documents", len(labels), m)
	}
	classes := make(map[string]bool)
	labelled := mat.DenseCopyOf(w)
	for i, s := range labels {
		if s == "" {
			clear(labelled.RawRowView(i)) // to be in no cluster
			continue
		}
		classes[s] = true
	}
	found, err := o.cluster(ctx, labelled, cmp.Or(o.K, len(classes)))
	if err != nil {
		return nil, err
	}
	return metrics.Agree(found.of, labels)
}
