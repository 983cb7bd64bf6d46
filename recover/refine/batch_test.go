package refine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
)

// parts are documents in several places, which take plans by their bytes.
type parts struct {
	*sums.Local // all of them
	places      []*sums.Local
	asked       int
	err         error
}

func (p *parts) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Remote: true}, nil
}

func (p *parts) Sum(ctx context.Context, plan sums.Plan) ([]int64, error) {
	p.asked++
	b, err := plan.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if plan, err = sums.ReadPlan(b); err != nil {
		return nil, err
	}
	total := make([]int64, plan.Len())
	for _, place := range p.places {
		sum, err := place.Sum(ctx, plan)
		if err != nil {
			return nil, err
		}
		for i, v := range sum {
			total[i] += v
		}
	}
	return total, p.err
}

func encode(t testing.TB, docs corpus.Source, n int) *corpus.Encoded {
	t.Helper()
	e, err := corpus.Encode(ctx, numbered{docs, n})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// cut returns documents in n places, one after the other.
func cut(t testing.TB, docs list, n, words int) *parts {
	t.Helper()
	p := &parts{Local: sums.NewLocal(encode(t, docs, words), 2)}
	for i := range n {
		lo, hi := i*len(docs.docs)/n, (i+1)*len(docs.docs)/n
		p.places = append(p.places, sums.NewLocal(encode(t, list{docs: docs.docs[lo:hi]}, words), 1+i%3))
	}
	return p
}

// The same bits for any number of workers, for documents in memory, in a file and in many
// places, and for any order of the documents and of the words in them; with topics to merge
// too. Documents have ids, by which those are chosen whose tokens are hidden.
func TestBatchSameBits(t *testing.T) {
	p := testutil.NewPlanted(300, 6, 0.4, 8)
	c := drawn(t, p, 400, 300, 9)
	start := refine.Start{B: p.B, A: p.A}
	docs := each(t, c, func(*corpus.Document) {})
	back := each(t, c, shuffle)
	slices.Reverse(back.docs)
	for _, x := range []struct {
		k, n int
		gain float64
		last int // passes under a logistic-normal prior; −1: none
	}{
		{0, 5, 0, -1}, {3, 3, -1, -1}, {3, 10, 0, -1}, {4, 4, 0, 2}, {0, 2, 0, 6},
	} {
		if testutil.Race && x.n != 4 {
			continue // fewer passes race alike
		}
		s := refine.Batch{N: x.n, Gain: x.gain, Correlated: x.last}
		name := fmt.Sprintf("%v, K = %d: ", s, x.k)
		opt := func(workers int) refine.Options { return refine.Options{K: x.k, Workers: workers} }
		want := fitTo(t, s, docs, start, opt(1))
		if (want.HeldOut > 0) != (x.gain == 0) {
			t.Errorf("%s%d documents are held out", name, want.HeldOut)
		}
		memory := encode(t, docs, p.N)
		file, err := corpus.EncodeFile(ctx, memory, filepath.Join(t.TempDir(), "docs.jenc"))
		if err != nil {
			t.Fatal(err)
		}
		sameRefined(t, name+"eight workers", want, fitTo(t, s, memory, start, opt(8)))
		for from, docs := range map[string]corpus.Source{
			"memory": memory, "file": file, "local": sums.NewLocal(memory, 3), "another order": back,
			"one place": cut(t, docs, 1, p.N), "seven places": cut(t, docs, 7, p.N), "places in another order": cut(t, back, 4, p.N),
		} {
			if testutil.Race && from != "local" && from != "seven places" {
				continue
			}
			sameRefined(t, name+from, want, fitTo(t, s, docs, start, opt(2+len(from)%7)))
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The same of topics that are split: of documents that keep some topics, and all, in one level and two.
func TestBatchSplitSameBits(t *testing.T) {
	p := testutil.NewPlantedTree(4, 6, 3)
	n, passes := 900, 8
	if testutil.Race {
		n, passes = 300, 2
	}
	one := mat.NewDense(p.N, 1, nil)
	for w := range p.N {
		one.Set(w, 0, mat.Sum(p.B.RowView(w))/float64(p.K))
	}
	for _, x := range []struct {
		start  *mat.Dense
		length int
		levels int
		last   int // passes under a logistic-normal prior; −1: none
	}{
		{refine.Families(p, 6), 60, 1, -1}, {one, 60, 2, 2}, {refine.Families(p, 6), 8, 1, 2},
	} {
		docs := each(t, drawn(t, p, n, x.length, 4), func(*corpus.Document) {})
		back := each(t, drawn(t, p, n, x.length, 4), shuffle)
		slices.Reverse(back.docs)
		s := refine.Batch{N: passes, Correlated: x.last}
		name := fmt.Sprintf("%v, documents of %d tokens, ", s, x.length)
		start, opt := refine.Start{B: x.start}, refine.Options{K: p.K, Workers: 1}
		want := fitTo(t, s, docs, start, opt)
		if want.Tree == nil || len(want.Tree.Groups) != x.levels || want.Passes != passes+10*x.levels+max(0, x.last) {
			t.Fatalf("%s%v, %d passes", name, want.Tree, want.Passes)
		}
		if err := want.Tree.Validate(p.K); err != nil {
			t.Errorf("%s%v", name, err)
		}
		opt.Workers = 3
		for from, docs := range map[string]corpus.Source{"three workers": docs, "another order": back, "places": cut(t, docs, 5, p.N)} {
			if testutil.Race && from != "places" {
				continue
			}
			got := fitTo(t, s, docs, start, opt)
			sameRefined(t, name+from, want, got)
			if fmt.Sprint(got.Tree) != fmt.Sprint(want.Tree) {
				t.Errorf("%s%s: another tree", name, from)
			}
		}
	}
}

// So are those of passes under a prior of families, of documents that keep some topics and all.
func TestBatchFamiliesSameBits(t *testing.T) {
	const of = 6
	p := testutil.NewPlantedTree(4, of, 3)
	families := make([]int, p.K)
	for k := range families {
		families[k] = (k + 1) % p.K / of // not those of blocks of columns
	}
	start := refine.Start{B: p.B, Tree: &recovery.Tree{Groups: [][]int{families}}, Prior: &recovery.LogisticNormal{
		Mean: make([]float64, 4), Covariance: mat.NewSymDense(4, []float64{2, 0.5, 0, 0, 0.5, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3}), Families: families, Information: 0.75,
	}}
	for _, length := range []int{40, 8} {
		docs := each(t, drawn(t, p, 300, length, 4), func(*corpus.Document) {})
		back := each(t, drawn(t, p, 300, length, 4), shuffle)
		slices.Reverse(back.docs)
		s := refine.Batch{Correlated: 4}
		name := fmt.Sprintf("%v, documents of %d tokens, ", s, length)
		want := fitTo(t, s, docs, start, refine.Options{Workers: 1})
		if want.Passes != 4 || want.Correlated != 4 || !slices.Equal(want.Prior.Families, families) {
			t.Fatalf("%s%d passes, %d under the prior, families %v", name, want.Passes, want.Correlated, want.Prior.Families)
		}
		for from, docs := range map[string]corpus.Source{"three workers": docs, "another order": back, "places": cut(t, docs, 5, p.N)} {
			got := fitTo(t, s, docs, start, refine.Options{Workers: 3})
			sameRefined(t, name+from, want, got)
			if !slices.Equal(got.Prior.Mean, want.Prior.Mean) || !mat.Equal(got.Prior.Covariance, want.Prior.Covariance) {
				t.Errorf("%s%s: another prior", name, from)
			}
		}
	}
}

// weigh sets the counts of document d, of which x is visible, by over-relaxed steps, from the
// second one on with a token left out if leave.
func (s *transcript) weigh(d int, x, begin []float64, steps int, leave bool) {
	all, t := total(x)+total(s.alpha), slices.Clone(begin)
	scale := func() {
		sum := total(t)
		for i := range t {
			t[i] *= all / sum
			s.nd[d][i] = t[i] - s.alpha[i]
		}
	}
	scale()
	for step := range steps {
		t = s.relaxed(d, s.count(d, x, leave && step > 0, grid(len(s.b), len(t))))
		scale()
	}
}

// relaxed are the over-relaxed weights of document d, whose tokens were shared out as n.
func (s *transcript) relaxed(d int, n []float64) []float64 {
	t := make([]float64, len(n))
	for i, v := range n {
		v += s.alpha[i]
		t[i] = max(v*min(v/(s.nd[d][i]+s.alpha[i]), 4), s.alpha[i])
	}
	return t
}

// batchPass is a pass of Batch; final counts the documents for the last scores.
func (s *transcript) batchPass(first, closing, final bool, steps int) {
	k := len(s.alpha)
	begin, h, tokens, hidden := slices.Repeat([]float64{1}, k), refine.Score{}, 0.0, 0.0
	if !first {
		for t := range k {
			begin[t] = s.Beta * float64(len(s.b))
			for _, row := range s.nw {
				begin[t] += row[t]
			}
		}
	}
	fresh := grid(len(s.b), k)
	for d := range s.x {
		x := s.visible(d, closing)
		leave := !first && (closing || total(s.hidden[d]) == 0)
		s.weigh(d, x, begin, steps, leave)
		s.score(&h, &tokens, &hidden, d, closing)
		s.count(d, x, leave, fresh)
	}
	s.note(h, tokens, hidden)
	if final {
		return
	}
	for w, row := range fresh {
		for t, v := range row {
			if !first && !closing {
				v = max(v+0.8*(v-s.nw[w][t]), 0.1*v)
			}
			s.nw[w][t] = v
		}
	}
	s.topics()
}

// Batch equals its transcription in float64 up to rounding, which over-relaxation makes up to
// ten times as large as it is in Passes.
func TestBatchTranscript(t *testing.T) {
	testutil.NotWithRace(t)
	const tol = 10 * rounding
	p := testutil.NewPlanted(60, 5, 0.3, 1)
	for _, length := range []int{1000, 9} {
		c := drawn(t, p, 200, length, 2)
		for n := 1; n <= 7; n++ {
			steps := 1 + n%4
			s := refine.Batch{N: n, Steps: steps, Alpha: 0.2, Beta: 0.07, Correlated: -1}
			name := fmt.Sprintf("%v, %d tokens a document: ", s, length)
			got := fit(t, s, c.Source(), refine.Start{B: p.B}, 0)
			want := newTranscript(t, refine.Passes{Alpha: s.Alpha, Beta: s.Beta}, c, p.B)
			for i := range n {
				want.batchPass(i == 0, i >= n-2, false, steps)
			}
			want.batchPass(false, true, true, 10)
			if len(got.History) != n+1 || got.Passes != n || got.Early || (got.HeldOut > 0) != (length == 1000) {
				t.Fatalf("%s%d passes, %d scores, early %v, %d held out", name, got.Passes, len(got.History), got.Early, got.HeldOut)
			}
			for i, h := range want.history {
				g := got.History[i]
				near(t, name+"log-likelihood", g.LogLik, h.LogLik, tol)
				if math.IsNaN(h.HeldOut) != math.IsNaN(g.HeldOut) {
					t.Errorf("%sscore %+v of pass %d, want %v", name, g, i+1, h)
				} else if !math.IsNaN(h.HeldOut) {
					near(t, name+"held-out likelihood", g.HeldOut, h.HeldOut, tol)
				}
			}
			compare(t, name+"B", got.B, want.b, tol)
			compare(t, name+"A", got.A, want.moments(), tol)
			for k, v := range want.alone() {
				near(t, name+"alone", got.Alone[k], v, 10*tol) // of few documents
			}
			compare(t, name+"reading", got.Reading, want.reading(), tol)
			if t.Failed() {
				return
			}
		}
	}
}

// As TestPassesPlanted: passes from the truth stay near it, and from topics mixed with each
// other come back. The log-likelihood is that of Passes, or better, to .005.
func TestBatchPlanted(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: many documents")
	}
	p := testutil.NewPlanted(150, 5, 0.2, 6)
	c := drawn(t, p, 3000, 100, 7)
	mixed := mat.NewDense(p.N, p.K, nil)
	for i := range p.N {
		for k := range p.K {
			mixed.Set(i, k, 0.6*p.B.At(i, k)+0.4*p.B.At(i, (k+1)%p.K))
		}
	}
	stay := farthest(fit(t, refine.Batch{N: 10}, c.Source(), refine.Start{B: p.B}, 0).B, p)
	far := fit(t, refine.Batch{N: 30}, c.Source(), refine.Start{B: mixed}, 0)
	back := farthest(far.B, p)
	t.Logf("from the truth %.3f, from %.3f to %.3f", stay, farthest(mixed, p), back)
	if stay > 0.15 || back > 0.3 {
		t.Errorf("passes from the truth end at a distance of %v, from %v at %v", stay, farthest(mixed, p), back)
	}
	ordinary := fit(t, refine.Passes{N: 30}, c.Source(), refine.Start{B: mixed}, 0)
	if a, b := far.History[far.Passes].LogLik, ordinary.History[ordinary.Passes].LogLik; !(a > b-0.005) {
		t.Errorf("log-likelihood %.4f, that of Passes %.4f", a, b)
	}
}

// A pass is one sum, with what merging costs; only what is merged after the last pass needs
// more: here 3, then 2, then 1 of 6 topics too many, and two sums of costs. One more counts the
// documents, one is the last read.
func TestBatchSums(t *testing.T) {
	p := testutil.NewPlanted(100, 9, 0.3, 1)
	docs := each(t, drawn(t, p, 100, 40, 2), func(*corpus.Document) {})
	for n, want := range map[int]int{1: 1 + 1 + 3 + 1, 5: 1 + 5 + 2 + 1, 20: 1 + 20 + 1} {
		d := cut(t, docs, 2, p.N)
		r := fitTo(t, refine.Batch{N: n, Correlated: -1}, d, refine.Start{B: p.B}, refine.Options{K: 3})
		proper(t, fmt.Sprintf("%d passes", n), r, p.N, 3)
		if d.asked != want || r.Passes != n {
			t.Errorf("%d passes took %d sums, want %d", n, d.asked, want)
		}
	}
}

// Passes end as those of Passes do.
func TestBatchEarly(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(100, 5, 0, 14)
	c := drawn(t, p, 400, 400, 15)
	for _, k := range []int{0, 3} {
		for gain, n := range map[float64]int{10: 26, -1: 40} {
			r := fitTo(t, refine.Batch{N: 40, Gain: gain, Correlated: -1}, c.Source(), refine.Start{B: p.B}, refine.Options{K: k})
			if r.Passes != n || r.Early != (n < 40) || (r.HeldOut > 0) != (gain > 0) || len(r.History) != n+1 {
				t.Errorf("K = %d, gain %v: %d passes, early %v, %d held out", k, gain, r.Passes, r.Early, r.HeldOut)
			}
			for i, s := range r.History {
				if math.IsNaN(s.HeldOut) != (gain < 0 || i >= n-2) {
					t.Errorf("K = %d, gain %v: held-out likelihood %v before pass %d of %d", k, gain, s.HeldOut, i+1, n)
				}
			}
		}
	}
}

func TestBatchErrors(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.4, 8)
	docs := each(t, drawn(t, p, 100, 30, 9), func(*corpus.Document) {})
	start := refine.Start{B: p.B}
	cause := errors.New("a machine burnt down")
	failing := cut(t, docs, 2, p.N)
	failing.err = cause
	for _, x := range []struct {
		b    refine.Batch
		docs corpus.Source
		k    int
		want string
	}{
		{refine.Batch{N: -1, Steps: -2}, docs, 0, "N = -1"},
		{refine.Batch{N: -1, Steps: -2}, docs, 0, "Steps = -2"},
		{refine.Batch{Steps: 1001}, docs, 0, "Steps = 1001"},
		{refine.Batch{Gain: math.NaN()}, docs, 0, "Gain = NaN"},
		{refine.Batch{}, nil, 0, "no documents"},
		{refine.Batch{}, docs, 61, "61 topics of a start with 4 and 60 words"},
		{refine.Batch{}, list{}, 0, "no tokens"},
		{refine.Batch{}, list{docs: docs.docs, err: cause}, 0, "a machine burnt down"},
		{refine.Batch{}, failing, 0, "a machine burnt down"},
		{refine.Batch{}, encode(t, list{docs: []corpus.Document{{Words: []int32{60}}}}, 61), 0, "the documents have a word 60, the topics 60 rows"},
		{refine.Batch{Alpha: 1e300}, docs, 0, "pass 1: "},
	} {
		_, err := x.b.Refine(ctx, x.docs, start, refine.Options{K: x.k})
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "refine: ") {
			t.Errorf("%v: error %v, want one with %q", x.b, err, x.want)
		}
	}
	if _, err := (refine.Batch{}).Refine(ctx, failing, start, refine.Options{}); !errors.Is(err, cause) {
		t.Errorf("the error of the documents became %v", err)
	}
	if _, err := (refine.Passes{}).Refine(ctx, failing, start, refine.Options{}); err == nil || !strings.Contains(err.Error(), "use Batch") {
		t.Errorf("Passes over documents elsewhere: error %v, want one that names Batch", err)
	}
	local := sums.NewLocal(encode(t, docs, p.N), 2)
	sameRefined(t, "Passes over sums.Local", fit(t, refine.Passes{N: 3}, docs, start, 0), fit(t, refine.Passes{N: 3}, local, start, 0))
}

// Wherever it is cancelled, Refine returns with the context's error. The passes end with two
// merges.
func TestBatchCancelled(t *testing.T) {
	p := testutil.NewPlanted(300, 6, 0.4, 8)
	docs := numbered{drawn(t, p, 400, 40, 9).Source(), p.N}
	done, step := false, int64(10)
	if testutil.Race {
		step = 2
	}
	for asked := int64(0); !done; asked += 1 + asked/step {
		if asked > 1e6 {
			t.Fatal("never done")
		}
		c := &stopped{Context: ctx}
		c.left.Store(asked)
		r, err := refine.Batch{N: 7}.Refine(c, docs, refine.Start{B: p.B}, refine.Options{K: 4, Workers: 2})
		if done = err == nil; !done && (!errors.Is(err, context.Canceled) || r != nil) {
			t.Fatalf("asked %d times: %v, %v", asked, r != nil, err)
		}
	}
}
