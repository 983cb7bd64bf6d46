package refine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
)

// matched returns for each planted topic the found one that it goes with, and their distances, half
// the ℓ₁ ones.
func matched(t *testing.T, planted, found *mat.Dense) ([]int, []float64) {
	t.Helper()
	n, k := planted.Dims()
	like := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			sum := 0.0
			for w := range n {
				sum += math.Abs(planted.At(w, i) - found.At(w, j))
			}
			like.Set(i, j, 1-sum/2)
		}
	}
	of, err := assign.Best(like)
	if err != nil {
		t.Fatal(err)
	}
	far := make([]float64, k)
	for i, j := range of {
		far[i] = 1 - like.At(i, j)
	}
	return of, far
}

// Topics that are split from planted families are the planted topics, and the tree has the families.
// Half a topic is on words that its family has alike, so that two topics of a family are at a distance
// of 0.4; some 5000 tokens a topic leave 0.15 undetermined.
func TestSplitFindsThePlantedTopics(t *testing.T) {
	testutil.NotWithRace(t)
	const families, each, most = 6, 5, 0.15
	p := testutil.NewPlantedTree(families, each, 3)
	c := drawn(t, p, 2400, 60, 4)
	for _, s := range []refine.Refiner{refine.Passes{N: 30, Correlated: -1}, refine.Passes{N: 30, Correlated: 3}, refine.Batch{N: 30, Correlated: -1}, refine.Batch{N: 30, Correlated: 3}} {
		r := fitTo(t, s, c.Source(), refine.Start{B: refine.Families(p, each)}, refine.Options{K: p.K})
		if err := r.Tree.Validate(p.K); err != nil || len(r.Tree.Groups) != 1 || r.From != nil {
			t.Fatalf("%v: tree %v, %v; from %v", s, r.Tree, err, r.From)
		}
		of, far := matched(t, p.B, r.B)
		for k, f := range of {
			if far[k] > most {
				t.Errorf("%v: topic %d is at a distance of %.2f", s, k, far[k])
			}
			if g := r.Tree.Groups[0][f]; g != k/each {
				t.Errorf("%v: topic %d is in group %d", s, k, g)
			}
		}
		consistent(t, r)
	}
}

// consistent checks what a result says of itself.
func consistent(t *testing.T, r *refine.Result) {
	t.Helper()
	_, k := r.B.Dims()
	shares := make([]float64, k)
	sum := 0.0
	for i := range k {
		for j := range k {
			if r.A.At(i, j) != r.A.At(j, i) || !(r.A.At(i, j) > 0) {
				t.Fatalf("A has %v and %v at %d, %d", r.A.At(i, j), r.A.At(j, i), i, j)
			}
			shares[i] += r.A.At(i, j)
		}
		sum += shares[i]
	}
	near(t, "ΣA", sum, 1, 1e-12)
	for j := range k {
		near(t, "ΣB", mat.Sum(r.B.ColView(j)), 1, 1e-12)
		near(t, "Σ of the reading weights", mat.Sum(r.Reading.ColView(j)), 1, 1e-12)
	}
	if len(r.Alpha) != k || len(r.History) != r.Passes+1 {
		t.Errorf("%d α, %d scores of %d passes", len(r.Alpha), len(r.History), r.Passes)
	}
}

// The same bits for any number of workers and with the state in a file: of documents that keep some
// topics and, being short, all of them; split in one level and in two; with and without passes under
// a logistic-normal prior.
func TestSplitSameBits(t *testing.T) {
	p := testutil.NewPlantedTree(4, 6, 3)
	docs, passes := 1200, 8
	if testutil.Race {
		docs, passes = 400, 3
	}
	long, short := drawn(t, p, docs, 60, 4), drawn(t, p, 3*docs, 8, 4) // two parts
	one := mat.NewDense(p.N, 1, nil)
	for w := range p.N {
		one.Set(w, 0, mat.Sum(p.B.RowView(w))/float64(p.K))
	}
	for _, x := range []struct {
		name   string
		start  *mat.Dense
		docs   *corpus.Corpus
		levels int
		last   int // passes under a logistic-normal prior; −1: none
	}{
		{"some topics", refine.Families(p, 6), long, 1, -1}, {"all topics", refine.Families(p, 6), short, 1, -1},
		{"two levels", one, long, 2, -1}, {"two levels of all topics", one, short, 2, 2}, {"logistic-normal", refine.Families(p, 6), long, 1, 2},
	} {
		if testutil.Race && x.levels+x.last > 1 {
			continue
		}
		s := refine.Passes{N: passes, Correlated: x.last}
		docs := x.docs.Source()
		start, opt := refine.Start{B: x.start}, refine.Options{K: p.K, Workers: 1}
		want := fitTo(t, s, docs, start, opt)
		if want.Tree == nil || len(want.Tree.Groups) != x.levels || want.Passes != passes+10*x.levels+max(0, x.last) {
			t.Fatalf("%s: %v, %d passes", x.name, want.Tree, want.Passes)
		}
		if err := want.Tree.Validate(p.K); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		opt.Workers = 3
		got := fitTo(t, s, docs, start, opt)
		sameRefined(t, x.name+", 3 workers", want, got)
		if fmt.Sprint(got.Tree, got.Counts) != fmt.Sprint(want.Tree, want.Counts) {
			t.Errorf("%s, 3 workers: another tree or other counts", x.name)
		}
		s.Scratch = t.TempDir()
		got = fitTo(t, s, docs, start, opt)
		sameRefined(t, x.name+", in a file", want, got)
		if fmt.Sprint(got.Tree) != fmt.Sprint(want.Tree) {
			t.Errorf("%s, in a file: another tree", x.name)
		}
		empty(t, x.name, s.Scratch)
	}
}

// A document of weight 2 is the document twice, and one of weight 0 is not there, where topics are
// split. Sums in another order round otherwise, which the passes that follow enlarge.
func TestSplitWeights(t *testing.T) {
	testutil.NotWithRace(t)
	const tol = 1e-3
	p := testutil.NewPlantedTree(4, 5, 5)
	c := drawn(t, p, 2700, 60, 6)
	once := rated{list: each(t, c, func(*corpus.Document) {})}
	var twice list
	for i, d := range once.docs {
		once.w = append(once.w, float64(i%3))
		for range i % 3 {
			twice.docs = append(twice.docs, d)
		}
	}
	for _, s := range []refine.Refiner{refine.Passes{N: 10, Correlated: -1}, refine.Batch{N: 10, Correlated: -1}} {
		splitWeights(t, s, p, once, copied{twice}, tol)
	}
}

// splitWeights checks a refiner over documents with weights and over as many copies.
func splitWeights(t *testing.T, s refine.Refiner, p *testutil.Planted, once rated, twice copied, tol float64) {
	t.Helper()
	opt := refine.Options{K: p.K, Workers: 2}
	a, b := fitTo(t, s, once, refine.Start{B: refine.Families(p, 5)}, opt), fitTo(t, s, twice, refine.Start{B: refine.Families(p, 5)}, opt)
	if fmt.Sprint(a.Tree) != fmt.Sprint(b.Tree) || a.HeldOut == 0 || b.HeldOut == 0 {
		t.Errorf("trees %v and %v", a.Tree, b.Tree)
	}
	near(t, "log-likelihood", a.History[a.Passes].LogLik, b.History[b.Passes].LogLik, tol)
	for k := range p.K {
		for w := range p.N {
			near(t, "B", a.B.At(w, k), b.B.At(w, k), tol)
		}
		for l := range p.K {
			near(t, "A", a.A.At(k, l), b.A.At(k, l), tol)
		}
	}
	// One document of a weight far above the others does not keep them from being split.
	once.w = slices.Repeat([]float64{1}, len(once.w))
	once.w[0] = 1000
	if _, err := s.Refine(ctx, once, refine.Start{B: refine.Families(p, 5)}, opt); err != nil {
		t.Error(err)
	}
	for i := range once.w {
		once.w[i] = 0.001
	}
	if _, err := s.Refine(ctx, once, refine.Start{B: refine.Families(p, 5)}, opt); err != nil {
		t.Errorf("small weights: %v", err)
	}
}

// A word that all topics have alike, alone in a document, is hardly in any of 40 topics. It does not
// stop them from being split.
func TestSplitOfOneToken(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlantedTree(40, 1, 5)
	docs := each(t, drawn(t, p, 500, 60, 6), func(*corpus.Document) {})
	for i := range 20 {
		docs.docs = append(docs.docs, corpus.Document{ID: fmt.Sprint("short ", i), Words: []int32{int32(i)}, Counts: []int32{1}})
	}
	for _, s := range []refine.Refiner{refine.Passes{N: 2, Gain: -1, Correlated: -1}, refine.Batch{N: 2, Gain: -1, Correlated: -1}} {
		r := fitTo(t, s, docs, refine.Start{B: p.B}, refine.Options{K: 60})
		if err := r.Tree.Validate(60); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// What cannot be: more topics than the documents tell apart, or than words.
func TestSplitErrors(t *testing.T) {
	p := testutil.NewPlantedTree(4, 5, 5)
	rng := rand.New(rand.NewPCG(1, 2))
	var alike list // documents of one word each
	for i := range 300 {
		alike.docs = append(alike.docs, corpus.Document{ID: fmt.Sprint(i), Words: []int32{rng.Int32N(int32(p.N))}, Counts: []int32{50}})
	}
	full := drawn(t, p, 300, 60, 6).Source()
	for _, x := range []struct {
		s    refine.Refiner
		docs corpus.Source
		k    int
		want string
	}{
		{refine.Passes{}, alike, 20, "refine: pass 10: 20 topics cannot be made of the 4 that there are, but 4: the documents do not tell more apart"},
		{refine.Passes{}, full, p.N + 1, fmt.Sprintf("%d topics of a start with 4 and %d words; want at most %d,", p.N+1, p.N, p.N)},
		{refine.Batch{}, alike, 20, "refine: pass 10: 20 topics cannot be made of the 4 that there are, but 4: the documents do not tell more apart"},
	} {
		r, err := x.s.Refine(ctx, x.docs, refine.Start{B: refine.Families(p, 5)}, refine.Options{K: x.k})
		if err == nil || r != nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, K = %d: %v, want %q", x.s, x.k, err, x.want)
		}
	}
}

// Wherever it is cancelled while topics are split, Refine returns with the context's error, and
// leaves no file.
func TestSplitCancelled(t *testing.T) {
	p := testutil.NewPlantedTree(3, 4, 5)
	docs, err := corpus.Encode(ctx, drawn(t, p, 150, 60, 6).Source())
	if err != nil {
		t.Fatal(err)
	}
	s := refine.Passes{N: 1, Correlated: -1, Scratch: t.TempDir()}
	run := func(c context.Context, before func(done int)) (*refine.Result, error) {
		return s.Refine(c, docs, refine.Start{B: refine.Families(p, 4)}, refine.Options{K: p.K, Workers: 2, Progress: func(done, _ int, _ float64) { before(done) }})
	}
	// How often it asks up to the split, which comes after pass 10 and before its report.
	count, from, to := &stopped{Context: ctx}, int64(0), int64(0)
	const plenty = 1 << 40
	count.left.Store(plenty)
	if _, err := run(count, func(done int) {
		switch done {
		case 9:
			from = plenty - count.left.Load()
		case 10:
			to = plenty - count.left.Load()
		}
	}); err != nil || to-from < 20 {
		t.Fatalf("from %d to %d, %v", from, to, err)
	}
	points := int64(60)
	if testutil.Race {
		points = 8
	}
	for asked := from; asked < to; asked += 1 + (to-from)/points {
		c := &stopped{Context: ctx}
		c.left.Store(asked)
		r, err := run(c, func(done int) {
			if done > 10 {
				t.Errorf("asked %d times: pass %d was made", asked, done)
			}
		})
		if !errors.Is(err, context.Canceled) || r != nil {
			t.Fatalf("asked %d times: %v, %v", asked, r != nil, err)
		}
		empty(t, fmt.Sprintf("asked %d times", asked), s.Scratch)
	}
}

// Splitting allocates no more than Bytes, where documents keep some topics and where they keep all.
func TestSplitBytes(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlantedTree(6, 10, 1)
	for _, length := range []int{40, 8} {
		c := drawn(t, p, 1500, length, 2)
		s := refine.Passes{N: 8, Correlated: -1}
		took := testutil.Allocated(t, func() {
			fitTo(t, s, c.Source(), refine.Start{B: refine.Families(p, 10)}, refine.Options{K: 60, Workers: 2})
		})
		if bound := refine.Bytes(s, c.NumDocs(), p.N, int64(c.NNZ()), 60); took > bound {
			t.Errorf("length %d: %d bytes were allocated, more than the bound %d", length, took, bound)
		}
	}
}

// A start with a tree goes on with it: the same bits for any number of workers, in a file, and with
// the topic counts given. Topics of a family are merged, and others where fewer are wanted than there
// are families.
func TestStartTree(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlantedTree(4, 6, 3)
	docs := drawn(t, p, 500, 60, 4).Source() // some are empty
	s := refine.Passes{N: 3, Correlated: -1}
	tree := fitTo(t, s, docs, refine.Start{B: refine.Families(p, 6)}, refine.Options{K: p.K}).Tree
	start := refine.Start{B: p.B, Tree: &recovery.Tree{Groups: [][]int{make([]int, p.K)}}}
	for k := range p.K {
		start.Tree.Groups[0][k] = 3 - k/6
	}
	if len(tree.Members(0)) != 4 {
		t.Fatalf("tree %v", tree)
	}
	counts := make([]float32, 500*p.K)
	for i := range counts {
		counts[i] = float32(i % 7)
	}
	for _, given := range []bool{false, true} {
		if given {
			start.Counts = counts
		}
		for _, k := range []int{p.K, 20, 4, 3} {
			s.Scratch = ""
			name := fmt.Sprintf("K = %d, counts %v", k, given)
			want := fitTo(t, s, docs, start, refine.Options{K: k, Workers: 1})
			if want.Tree == nil || want.Tree.Validate(k) != nil || len(want.Tree.Members(0)) != min(k, 4) {
				t.Fatalf("%s: tree %v", name, want.Tree)
			}
			consistent(t, want)
			s.Scratch = t.TempDir()
			got := fitTo(t, s, docs, start, refine.Options{K: k, Workers: 3})
			sameRefined(t, name, want, got)
			if fmt.Sprint(got.Tree) != fmt.Sprint(want.Tree) {
				t.Errorf("%s: another tree", name)
			}
			empty(t, name, s.Scratch)
		}
	}
	start.Tree.Groups[0][0] = 9
	if _, err := s.Refine(ctx, docs, start, refine.Options{}); err == nil || !strings.Contains(err.Error(), "level 0: ") {
		t.Errorf("a wrong tree: %v", err)
	}
}
