package metrics

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Defaults of KMeans.
const (
	DefaultRestarts   = 20
	DefaultIterations = 100
)

// KMeans clusters rows by k-means with the correlation metric: the distance of
// two rows is 1 − r, r the correlation of their entries, and a cluster's centre
// the mean of its rows after each was moved to mean 0 and scaled to length 1.
// It begins from rows drawn by k-means++ (Arthur and Vassilvitskii 2007),
// Restarts times, and keeps the clusters whose sum of distances is least, the
// first of equals. The zero value is the default.
type KMeans struct {
	// Restarts is how many beginnings are tried; 0: 20.
	Restarts int
	// Iterations bounds the rounds of one; 0: 100. Most end after a dozen, when
	// no row changes its cluster.
	Iterations int
	// Seed chooses the beginnings. The result is the same for the same Seed.
	Seed uint64
	// Workers bounds the goroutines; 0: GOMAXPROCS. It changes no bit.
	Workers int
}

// Clusters is what KMeans found.
type Clusters struct {
	// Of holds the cluster of each row, in [0, K); −1 for a row whose entries
	// are all equal, which correlates with nothing.
	Of []int
	// Sizes counts the rows of each cluster, Left those of none.
	Sizes []int
	Left  int
	// Distance is the mean of 1 − r between the rows and their centres, over the
	// rows that have a cluster; the least among the restarts.
	Distance float64
	// Restart is the one that gave it, Iterations its rounds, and Converged
	// whether the last of them changed nothing.
	Restart, Iterations int
	Converged           bool
}

// Cluster finds k clusters among the rows of w (M×d, d ≥ 2): normally M
// documents and the weights of their topics. O(M·d·k) a round. Errors: settings
// out of range, fewer rows with a cluster than k, entries that are not finite
// (*ValueError), ctx's.
func (o KMeans) Cluster(ctx context.Context, w *mat.Dense, k int) (*Clusters, error) {
	if o.Restarts < 0 || o.Iterations < 0 {
		return nil, fmt.Errorf("metrics: k-means: %d restarts, %d iterations", o.Restarts, o.Iterations)
	}
	if err := checkDense("W", w, 0, 0); err != nil {
		return nil, err
	}
	restarts, rounds := o.Restarts, o.Iterations
	if restarts == 0 {
		restarts = DefaultRestarts
	}
	if rounds == 0 {
		rounds = DefaultIterations
	}
	m, d := w.Dims()
	var x [][]float64 // the rows that have a correlation, standardised
	var of []int      // and their numbers
	for i := range m {
		row := slices.Clone(w.RawRowView(i))
		if standardise(row) {
			x, of = append(x, row), append(of, i)
		}
	}
	if k < 1 || k > len(x) {
		return nil, fmt.Errorf("metrics: k-means: %d clusters of %d rows with a correlation (%d of %d columns in all)", k, len(x), m, d)
	}
	found := make([]*kmeans, restarts)
	err := run.Chunks(ctx, restarts, 1, o.Workers, func(_, r, _, _ int) error {
		s := &kmeans{x: x, k: k, of: make([]int, len(x)), centres: make([][]float64, k), rng: rand.New(rand.NewPCG(o.Seed, uint64(r)))}
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
		return nil, fmt.Errorf("metrics: k-means: %w", err)
	}
	best := 0
	for r, s := range found {
		if s.sum < found[best].sum {
			best = r
		}
	}
	s := found[best]
	out := &Clusters{Of: make([]int, m), Sizes: make([]int, k), Left: m - len(x), Distance: s.sum / float64(len(x)), Restart: best, Iterations: s.rounds, Converged: s.settled}
	for i := range out.Of {
		out.Of[i] = -1
	}
	for i, c := range s.of {
		out.Of[of[i]] = c
		out.Sizes[c]++
	}
	return out, nil
}

// standardise moves x to mean 0 and scales it to length 1; false where its
// entries are equal but for rounding.
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

// begin draws rows as centres: the first anyhow, the others in proportion to
// the distance from the nearest of those before, which is half of the squared
// one of unit vectors.
func (s *kmeans) begin() {
	n := len(s.x)
	far := make([]float64, n)
	at := s.rng.IntN(n)
	for c := range s.k {
		if c > 0 {
			total := floats.Sum(far)
			if total > 0 {
				r := s.rng.Float64() * total
				for at = 0; at < n-1; at++ {
					if r -= far[at]; r < 0 {
						break
					}
				}
			} else {
				at = s.rng.IntN(n) // fewer different rows than clusters
			}
		}
		copy(s.centres[c], s.x[at])
		for i, x := range s.x {
			if d := max(1-floats.Dot(x, s.centres[c]), 0); c == 0 || d < far[i] {
				far[i] = d
			}
		}
	}
	for i := range s.of {
		s.of[i] = -1
	}
}

// round puts each row to the nearest centre, the lowest of equals, and moves
// the centres.
func (s *kmeans) round() {
	s.rounds++
	s.settled, s.sum = true, 0
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
	for _, d := range dist {
		s.sum += d
	}
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

// Agreement tells how well clusters agree with labels.
type Agreement struct {
	// Labels are the different labels, sorted; Counts holds, for each cluster,
	// how many of its documents have each of them.
	Labels []string
	Counts [][]int
	// Docs counts the labelled documents, those of no cluster (−1) among them.
	Docs int
	// Label is the label of each cluster in the best assignment of different
	// labels to the clusters (Assign), "" for a cluster that got none, and
	// Accuracy the share of documents whose cluster has their label.
	Label    []string
	Accuracy float64
	// Purity is the share of documents with the most frequent label of their
	// cluster. It grows with the number of clusters.
	Purity float64
	// NMI is the mutual information of cluster and label over the mean of their
	// entropies, in [0, 1], over the documents that have a cluster. 0 where there
	// is one cluster or one label only.
	NMI float64
}

// Agree compares clusters (of −1 for a document in none, which counts as wrong
// in Accuracy and Purity) with labels. Documents with the label "" are left
// out. Errors: lists of different lengths, a cluster below −1, no label.
func Agree(clusters []int, labels []string) (*Agreement, error) {
	if len(clusters) != len(labels) {
		return nil, fmt.Errorf("metrics: clusters of %d documents and labels of %d", len(clusters), len(labels))
	}
	a := &Agreement{}
	var err error
	var number map[string]int
	if a.Labels, number, err = labelled(labels); err != nil {
		return nil, err
	}
	for m, c := range clusters {
		if c < -1 {
			return nil, fmt.Errorf("metrics: document %d is in cluster %d", m, c)
		}
		for c >= len(a.Counts) {
			a.Counts = append(a.Counts, make([]int, len(a.Labels)))
		}
		if labels[m] == "" {
			continue
		}
		a.Docs++
		if c >= 0 {
			a.Counts[c][number[labels[m]]]++
		}
	}
	k, l := len(a.Counts), len(a.Labels)
	a.Label = make([]string, k)
	if k == 0 {
		return a, nil
	}
	gain := mat.NewDense(k, l, nil)
	best := 0
	for c, row := range a.Counts {
		for j, n := range row {
			gain.Set(c, j, float64(n))
		}
		best += slices.Max(row)
	}
	a.Purity = float64(best) / float64(a.Docs)
	of, err := assignAny(gain)
	if err != nil {
		return nil, err
	}
	right := 0
	for c, j := range of {
		if j >= 0 {
			a.Label[c] = a.Labels[j]
			right += a.Counts[c][j]
		}
	}
	a.Accuracy = float64(right) / float64(a.Docs)
	a.NMI = mutual(gain)
	return a, nil
}

// assignAny is Assign for any shape: −1 for a row that is left without.
func assignAny(gain *mat.Dense) ([]int, error) {
	n, m := gain.Dims()
	if n <= m {
		return Assign(gain)
	}
	row, err := Assign(gain.T())
	if err != nil {
		return nil, err
	}
	col := make([]int, n)
	for i := range col {
		col[i] = -1
	}
	for j, i := range row {
		col[i] = j
	}
	return col, nil
}

// labelled returns the different labels but "", sorted, and their numbers.
func labelled(labels []string) ([]string, map[string]int, error) {
	number := make(map[string]int)
	var names []string
	for _, s := range labels {
		if _, ok := number[s]; !ok && s != "" {
			number[s] = 0
			names = append(names, s)
		}
	}
	if names == nil {
		return nil, nil, fmt.Errorf("metrics: no document has a label")
	}
	slices.Sort(names)
	for i, s := range names {
		number[s] = i
	}
	return names, number, nil
}

// mutual returns the normalised mutual information of a table of counts.
func mutual(n *mat.Dense) float64 {
	r, c := n.Dims()
	rows, cols, all := make([]float64, r), make([]float64, c), 0.0
	for i := range r {
		for j, v := range n.RawRowView(i) {
			rows[i] += v
			cols[j] += v
			all += v
		}
	}
	entropy := func(x []float64) float64 {
		h := 0.0
		for _, v := range x {
			if v > 0 {
				h -= v / all * math.Log(v/all)
			}
		}
		return h
	}
	mean := (entropy(rows) + entropy(cols)) / 2
	if !(mean > 0) {
		return 0
	}
	mi := 0.0
	for i := range r {
		for j, v := range n.RawRowView(i) {
			if v > 0 {
				mi += v / all * math.Log(v*all/(rows[i]*cols[j]))
			}
		}
	}
	return min(max(mi/mean, 0), 1)
}

// ClustAcc is the clustering accuracy of fu-2018 (§6.2): the documents are
// clustered by the weights of their topics, w (M×K, a row a document), into as
// many clusters as there are different labels, by k-means with the correlation
// metric, and the clusters compared with the labels. Higher is better: the
// topics tell the classes apart. Documents with the label "" take no part. The
// Agreement has a cluster for each label; Clusters.Of is −1 for documents without
// a label too.
func ClustAcc(ctx context.Context, w *mat.Dense, labels []string, o KMeans) (*Agreement, *Clusters, error) {
	m, k := dims(w)
	if m == 0 || m != len(labels) {
		return nil, nil, &ShapeError{"W", m, k, len(labels), 0}
	}
	names, _, err := labelled(labels)
	if err != nil {
		return nil, nil, err
	}
	var at []int
	for i, s := range labels {
		if s != "" {
			at = append(at, i)
		}
	}
	sub := mat.NewDense(len(at), k, nil)
	for i, j := range at {
		sub.SetRow(i, w.RawRowView(j))
	}
	c, err := o.Cluster(ctx, sub, len(names))
	if err != nil {
		return nil, nil, err
	}
	of := make([]int, m)
	for i := range of {
		of[i] = -1
	}
	for i, j := range at {
		of[j] = c.Of[i]
	}
	c.Of = of
	a, err := Agree(of, labels)
	return a, c, err
}

// TopicLabels is the association of topics and labels: what a heat map of topic
// × class shows.
type TopicLabels struct {
	// Labels are the different labels, sorted, L of them, and Docs how many
	// documents have each, those left out not counted.
	Labels []string
	Docs   []int
	// Weight is K×L: the mean weight of each topic in the documents of a label,
	// p(topic | label). Its columns sum to 1 where the weights of documents do;
	// NaN for a label whose documents were all left out.
	Weight *mat.Dense
	// Lift is Weight over the mean weight of the topic in all labelled documents:
	// how many times as much as on average. NaN for a topic of weight 0.
	Lift *mat.Dense
	// Main compares the labels with the topic of most weight of each document.
	Main *Agreement
}

// Associate computes how the topics go with the labels of documents. w is M×K
// with the weights of the topics of each document in a row, none negative; a
// row of zeros, for a document of which nothing is known, and documents with
// the label "" are left out. O(MK).
func Associate(w *mat.Dense, labels []string) (*TopicLabels, error) {
	if err := checkDense("W", w, len(labels), 0); err != nil {
		return nil, err
	}
	names, number, err := labelled(labels)
	if err != nil {
		return nil, err
	}
	_, k := w.Dims()
	t := &TopicLabels{Labels: names, Docs: make([]int, len(names)), Weight: mat.NewDense(k, len(names), nil), Lift: mat.NewDense(k, len(names), nil)}
	mean, all := make([]float64, k), 0
	main := make([]int, len(labels))
	for m, s := range labels {
		row := w.RawRowView(m)
		for j, v := range row {
			if v < 0 {
				return nil, &ValueError{"W", m, j, v, "is negative"}
			}
		}
		main[m] = floats.MaxIdx(row)
		if row[main[m]] == 0 {
			main[m] = -1
			continue
		}
		if s == "" {
			continue
		}
		l := number[s]
		t.Docs[l]++
		all++
		for j, v := range row {
			t.Weight.Set(j, l, t.Weight.At(j, l)+v)
			mean[j] += v
		}
	}
	if all == 0 {
		return nil, &ValueError{"W", -1, -1, 0, "is the sum of the rows of all labelled documents"}
	}
	for j := range k {
		for l, n := range t.Docs {
			t.Weight.Set(j, l, t.Weight.At(j, l)/float64(n)) // NaN where the label has no document left
			t.Lift.Set(j, l, t.Weight.At(j, l)/(mean[j]/float64(all)))
		}
	}
	if t.Main, err = Agree(main, labels); err != nil {
		return nil, err
	}
	return t, nil
}

// BaseRecovery is Recovery over some of the words, those of a smaller
// vocabulary that models of larger ones are compared on (dong-2019 §4.6): how
// well their anchors span the words that all of them have. r is what Recovery
// gave, with a value a word; words are the numbers of the base vocabulary in
// this model. Lower is better.
func BaseRecovery(r Stat, words []int) (Stat, error) {
	values := make([]float64, len(words))
	for i, w := range words {
		if w < 0 || w >= len(r.Values) {
			return Stat{}, &ValueError{"base words", i, -1, float64(w), fmt.Sprintf("is not in [0, %d)", len(r.Values))}
		}
		values[i] = r.Values[w]
	}
	return NewStat(values), nil
}
