package report

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// TestDiscs: discs that fit do not overlap, lie within the drawing, and lie where their
// points lead; points at one place are pushed apart too.
func TestDiscs(t *testing.T) {
	for _, k := range []int{1, 2, 12, 60} {
		rng := rand.New(rand.NewPCG(1, uint64(k)))
		x, y, r, boxes := make([]float64, k), make([]float64, k), make([]float64, k), make([]box, k)
		for i := range x {
			if i%3 > 0 { // the others are at 0, 0
				x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			r[i] = 8 + 30*rng.Float64()
			boxes[i] = box{r[i], r[i], r[i]}
		}
		fit(x, y, boxes)
		separate(x, y, boxes)
		for i := range k {
			if float64(x[i]) < r[i]-1 || float64(x[i]) > networkWidth-r[i]+1 || float64(y[i]) < r[i]-1 || float64(y[i]) > networkHeight-r[i]+1 {
				t.Errorf("%d discs: that of %d is at %v, %v", k, i, x[i], y[i])
			}
			for j := range i {
				if d := math.Hypot(float64(x[i]-x[j]), float64(y[i]-y[j])); d < r[i]+r[j]-2 {
					t.Errorf("%d discs: %d and %d overlap by %.1f", k, i, j, r[i]+r[j]-d)
				}
			}
		}
	}
}

// TestWard compares with the definition: the two groups are joined whose union adds least
// to the squares of the distances to their centres.
func TestWard(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const n = 14
	p := make([][3]float64, n)
	for i := range p {
		p[i] = [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	}
	square := func(i, j int) (s float64) {
		for c := range 3 {
			s += (p[i][c] - p[j][c]) * (p[i][c] - p[j][c])
		}
		return s
	}
	within := func(g []int) (s float64) { // Σ over pairs / size
		for _, i := range g {
			for _, j := range g {
				s += square(i, j) / 2 / float64(len(g))
			}
		}
		return s
	}
	groups := make([][]int, n)
	for i := range groups {
		groups[i] = []int{i}
	}
	joins := ward(n, square)
	if !slices.IsSortedFunc(joins, func(x, y join) int { return cmp.Compare(x.cost, y.cost) }) {
		t.Errorf("joins are not in order of what they cost: %v", joins)
	}
	for left := n; left >= 1; left-- {
		into := joined(n, joins, left)
		for _, g := range groups {
			for _, i := range g {
				if into[i] != into[g[0]] {
					t.Fatalf("%d groups: %d and %d are in two of them, want %v", left, i, g[0], groups)
				}
			}
		}
		best, a, b := math.Inf(1), 0, 0
		for i := range groups {
			for j := range i {
				if add := within(slices.Concat(groups[i], groups[j])) - within(groups[i]) - within(groups[j]); add < best {
					best, a, b = add, j, i
				}
			}
		}
		if left > 1 {
			groups[a] = slices.Concat(groups[a], groups[b])
			groups = slices.Delete(groups, b, b+1)
		}
	}
	if got := ward(3, func(i, j int) float64 { return math.NaN() }); got != nil {
		t.Errorf("what cannot be compared is in groups %v", got)
	}
}

// TestTopicMap: families of topics lie together, and groups are numbered by their shares.
func TestTopicMap(t *testing.T) {
	testutil.NotWithRace(t)
	m := model(t, 1500, 20) // families of five
	s := read(t, write(t, m))
	d := s.TopicMap
	if d.Tree || d.Groups != 4 {
		t.Fatalf("%d groups, of a hierarchy %v", d.Groups, d.Tree)
	}
	shares := make([]float64, d.Groups)
	for k, g := range d.Group {
		shares[g] += m.TopicShares()[k]
		if g != d.Group[k/5*5] {
			t.Errorf("topic %d is in group %d, its family in %d", k, g, d.Group[k/5*5])
		}
	}
	if !slices.IsSortedFunc(shares, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("shares of the groups: %v", shares)
	}
	near, far := 0.0, 0.0
	for k := range 20 {
		for l := range k {
			if d := math.Hypot(float64(d.X[k]-d.X[l]), float64(d.Y[k]-d.Y[l])); k/5 == l/5 {
				near += d / 40
			} else {
				far += d / 150
			}
		}
	}
	if near > far/2 {
		t.Errorf("topics of a family are %.0f apart, others %.0f", near, far)
	}
	// With a hierarchy, its highest groups.
	h := hierarchy(t, m, 6, 3)
	d = read(t, write(t, m, Options{Hierarchy: h})).TopicMap
	first, second := h.Model(1).WordTopics(), h.Model(2).WordTopics()
	of := make(map[int]int)
	for k, g := range d.Group {
		up := vec.Order(6, func(l int) float64 { return first.At(k, l) })[0]
		top := vec.Order(3, func(l int) float64 { return second.At(up, l) })[0]
		if was, ok := of[top]; ok && was != g {
			t.Errorf("topic %d of group %d has colour %d, others %d", k, top, g, was)
		}
		of[top] = g
	}
	if !d.Tree || len(of) != d.Groups {
		t.Errorf("%d groups, want %d", d.Groups, len(of))
	}
}

// TestVerdictsAndUncertainty: the page has the verdicts and the uncertainty of the model, or those of the
// options, by names.
func TestVerdictsAndUncertainty(t *testing.T) {
	m := model(t, 300, 6)
	u := &jsmf.Uncertainty{Warm: 10, Cold: 4, Level: 0.9, Topics: make([]jsmf.TopicUncertainty, 6)}
	for k := range u.Topics {
		u.Topics[k] = jsmf.TopicUncertainty{Share: jsmf.Interval{Low: 0.1, High: math.NaN()}, Stability: float64(k%2) / 2, Kept: 1}
	}
	for k := range 6 {
		for l := k + 1; l < 6; l++ {
			u.Pairs = append(u.Pairs, jsmf.PairUncertainty{K: k, L: l})
		}
	}
	u.Topics[2].Merges = []jsmf.Merge{{Topic: 5, Share: 0.25}}
	v := make([]metrics.Verdict, 6)
	for k := range v {
		v[k].Twin = -1
	}
	v[1] = metrics.Verdict{Quality: metrics.Twin, Twin: 4, Cosine: 0.93}
	sure, err := m.With(jsmf.Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	if sure, err = sure.With(jsmf.Additions{Verdicts: v}); err != nil {
		t.Fatal(err)
	}
	of := write(t, sure)
	unjudged, err := m.With(jsmf.Additions{Uncertainty: u})
	if err != nil {
		t.Fatal(err)
	}
	if given := write(t, unjudged, Options{Metrics: &metrics.Report{Verdicts: v}}); !slices.Equal(doubtsOf(t, of), doubtsOf(t, given)) {
		t.Error("what the model knows is not shown as what the options say")
	}
	s := read(t, of)
	if x := s.Uncertainty.Topics[2]; s.Uncertainty.Cold != 4 || *x.Share[0] != 0.1 || x.Share[1] != nil || len(x.Merges) != 1 || x.Merges[0] != [2]float64{5, 0.25} {
		t.Errorf("uncertainty %+v", s.Uncertainty)
	}
	for _, want := range []string{"(twin of “" + m.Name(4) + "”)", "of 6 topics 1 is not sound (1 twin), and 5 came back in fewer than three of four new fits"} {
		if !strings.Contains(of, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	o := Options{Metrics: &metrics.Report{Verdicts: append([]metrics.Verdict{{}, {Quality: metrics.Twin, Twin: 9}}, v[2:]...)}}
	const want = "topic 1 is the twin of topic 9"
	if err := Write(new(bytes.Buffer), m, o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// doubtsOf returns the table of topics and the numbers of doubt of a page.
func doubtsOf(t *testing.T, page string) []string {
	t.Helper()
	return []string{between(t, page, `<div class="static">`, `</div>`), between(t, page, `"uncertainty":`, `"topicmap"`)}
}
