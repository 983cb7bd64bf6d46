package metrics

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

func fields(texts ...string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, t := range texts {
			if !yield(strings.Fields(t), nil) {
				return
			}
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.9g, want %.9g to %g", what, got, want, tol)
	}
}

// By hand, in windows of two tokens of
//
//	a b c a | b d | a c d | (nothing)
//
// which are {a b} {b c} {c a} {b d} {a c} {c d}: P(a) = 3/6, P(b) = 3/6,
// P(c) = 4/6, P(d) = 2/6, P(ab) = 1/6, P(ac) = 2/6, P(bc) = 1/6, P(ad) = 0.
//
//	npmi(a, b) = ln((1/6)/(1/4))/ln 6 = −0.226294
//	npmi(a, c) = ln 1/ln 3            = 0
//	npmi(b, c) = ln((1/6)/(2/6))/ln 6 = −0.386853
//
// c_npmi of [a b c] is their third, −0.204382. The vectors of c_v are
// (1, −0.226294, 0), (−0.226294, 1, −0.386853), (0, −0.386853, 1) and their sum
// (0.773706, 0.386853, 0.613147), with cosines 0.631184, −0.021886 and
// 0.407692: c_v is 0.338997. In whole texts P is 2/3 for each word, 2/3 for
// a with c and 1/3 for all other pairs: u_mass of [a b c d] is (5·ln ½ + ln 1)/6.
func TestListsByHand(t *testing.T) {
	ctx := context.Background()
	words := []string{"a", "b", "c", "d", "nowhere"}
	w, err := countWindows(ctx, fields("a b c a", "b d", "a c d", ""), words, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if w[0].Docs() != 6 || w[1].Docs() != 3 {
		t.Fatalf("%d windows of %d texts, want 6 of 3", w[0].Docs(), w[1].Docs())
	}
	// [a d] never meet: ln(10⁻¹²/(1/6))/(−ln 10⁻¹²).
	lists := [][]int{{0, 1, 2}, {0, 3}, {0, 4}, {2}, {0, -1, 2}}
	npmi := cNPMI(lists, w[0])
	for k, want := range []float64{-0.204382398, -0.935154062, 0, math.NaN(), 0} {
		if math.IsNaN(want) {
			if !math.IsNaN(npmi.Values[k]) || npmi.Undefined != 1 {
				t.Errorf("c_npmi of one word is %g", npmi.Values[k])
			}
			continue
		}
		near(t, fmt.Sprint("c_npmi ", k), npmi.Values[k], want, 1e-8)
	}
	cv := cV(lists, w[0])
	near(t, "c_v", cv.Values[0], 0.338996506, 1e-8)
	// Two words without relation: each is the unit vector, ½√2 from their sum.
	near(t, "c_v of [a c] and one that is nowhere", cv.Values[4], math.Sqrt2/3, 1e-8)
	u := uMass([][]int{{0, 1, 2, 3}}, w[1])
	near(t, "u_mass", u.Mean, 5*math.Log(0.5)/6, 1e-8)

	// The same through the front doors. The texts are shorter than the windows of
	// c_npmi and c_v, so that all three measures go by whole texts.
	names := [][]string{{"a", "b", "c", "d"}, {"a", "nowhere", "c"}}
	text, err := TextCoherence(ctx, names, tokenSource{"a b c a", "b d", "a c d", ""})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "u_mass of texts", text.UMass.Values[0], 5*math.Log(0.5)/6, 1e-8)
	// P(ac) = 2/3 is ln(3/2)/ln(3/2), the others ln(3/4)/ln 3.
	near(t, "c_npmi of texts", text.CNPMI.Values[0], (1+5*math.Log(0.75)/math.Log(3))/6, 1e-8)
	if !slices.Equal(text.Missing, []int{0, 1}) {
		t.Errorf("missing %v", text.Missing)
	}
	var b corpus.Builder
	for m, x := range []string{"a b c a", "b d", "a c d"} {
		if err := b.AddTokens(fmt.Sprint(m), "", strings.Fields(x)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	bag, err := BagCoherence(ctx, names, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what     string
		bag, txt Stat
	}{{"u_mass", bag.UMass, text.UMass}, {"c_npmi", bag.CNPMI, text.CNPMI}, {"c_v", bag.CV, text.CV}} {
		if !slices.Equal(x.bag.Values, x.txt.Values) {
			t.Errorf("%s: %v of counts, %v of texts", x.what, x.bag.Values, x.txt.Values)
		}
	}
	if !slices.Equal(bag.Missing, text.Missing) {
		t.Errorf("missing %v", bag.Missing)
	}
}

// Every window is looked at by itself.
func TestCountWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	words := []string{"0", "1", "2", "3", "4", "5"}
	for trial := range 60 {
		size := []int{0, 1, 2, 3, 7, 30}[trial%6]
		var texts []string
		for range 5 {
			var s strings.Builder
			for range rng.IntN(25) {
				fmt.Fprint(&s, rng.IntN(6+trial%5), " ") // from 6 on words that are not counted
			}
			texts = append(texts, s.String())
		}
		p, err := countWindows(context.Background(), fields(texts...), words, size)
		if err != nil {
			t.Fatal(err)
		}
		count, pairs := 0, map[[2]int]int{}
		for _, text := range texts {
			tokens := strings.Fields(text)
			for lo := range tokens {
				hi := lo + size
				if size == 0 || size > len(tokens) {
					hi = len(tokens)
				}
				if hi > len(tokens) || lo > 0 && size == 0 || lo > 0 && size > len(tokens) {
					break
				}
				count++
				for i, a := range words {
					for j, b := range words {
						if slices.Contains(tokens[lo:hi], a) && slices.Contains(tokens[lo:hi], b) {
							pairs[[2]int{i, j}]++
						}
					}
				}
			}
		}
		if p[0].Docs() != count {
			t.Fatalf("size %d: %d windows, want %d", size, p[0].Docs(), count)
		}
		for i := range words {
			for j := range words {
				if got := p[0].At(i, j); got != pairs[[2]int{i, j}] {
					t.Errorf("size %d: words %d and %d in %d windows, want %d", size, i, j, got, pairs[[2]int{i, j}])
				}
			}
			if p[0].D1(i) != pairs[[2]int{i, i}] {
				t.Errorf("size %d: word %d in %d windows", size, i, p[0].D1(i))
			}
		}
	}
}

// How the forms of the library's papers relate to those of Röder et al., on a
// corpus in which all pairs meet.
func TestListsAndPapers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, k, top = 30, 3, 8
	var b corpus.Builder
	for m := range 400 {
		var doc []string
		for range 20 {
			doc = append(doc, fmt.Sprintf("w%02d", rng.IntN(n)))
		}
		if err := b.AddTokens(fmt.Sprint(m), "", doc); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	topics := mat.NewDense(n, k, nil)
	for j := range k {
		s := 0.0
		for i := range n {
			topics.Set(i, j, rng.Float64())
			s += topics.At(i, j)
		}
		for i := range n {
			topics.Set(i, j, topics.At(i, j)/s)
		}
	}
	lists, err := TopLists(topics, top)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := cooc.CountPairs(context.Background(), c, TopUnion(topics, top))
	if err != nil {
		t.Fatal(err)
	}
	r := evaluate(t, Factors{B: topics, Pairs: pairs, TopN: top})
	u := uMass(lists, pairs)
	npmi := cNPMI(lists, pairs)
	for j := range k {
		// ε: 0.01 documents where a pair meets in at least 60.
		near(t, "Coherence", r.Coherence.Values[j], u.Values[j]*top*(top-1)/2, 0.01/60*top*(top-1)/2)
		near(t, "NPMI", r.NPMI.Values[j], npmi.Values[j], 1e-9)
	}
}

// tokenSource is a source of texts.
type tokenSource []string

func (tokenSource) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{}, nil
}

func (s tokenSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, t := range s {
			if !yield(corpus.Document{Tokens: strings.Fields(t)}, ctx.Err()) {
				return
			}
		}
	}
}

// Texts longer than the windows are scored window by window, c_npmi as its formula
// reads.
func TestTextCoherenceWindows(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(8, 1))
	var texts []string
	for range 12 {
		var s strings.Builder
		for range 100 + rng.IntN(60) {
			fmt.Fprint(&s, "w", int(40*rng.Float64()*rng.Float64()), " ")
		}
		texts = append(texts, s.String())
	}
	lists := [][]string{{"w0", "w1", "w5"}, {"w12", "w2", "w15", "w18"}}
	got, err := TextCoherence(ctx, lists, tokenSource(texts))
	if err != nil {
		t.Fatal(err)
	}
	var windows [][]string
	for _, text := range texts {
		tokens := strings.Fields(text)
		for lo := 0; lo+npmiWindow <= len(tokens); lo++ {
			windows = append(windows, tokens[lo:lo+npmiWindow])
		}
	}
	p := func(words ...string) float64 {
		n := 0
		for _, w := range windows {
			if !slices.ContainsFunc(words, func(x string) bool { return !slices.Contains(w, x) }) {
				n++
			}
		}
		return float64(n) / float64(len(windows))
	}
	for k, l := range lists {
		sum, n := 0.0, 0
		for i, a := range l {
			for _, b := range l[:i] {
				both := p(a, b) + 1e-12
				sum += math.Log(both/(p(a)*p(b))) / -math.Log(both)
				n++
			}
		}
		near(t, fmt.Sprint("c_npmi ", k), got.CNPMI.Values[k], sum/float64(n), 1e-12)
	}
}

func TestSimCountDiversity(t *testing.T) {
	lists := [][]string{{"a", "b", "c"}, {"b", "c", "d"}, {"c", "x"}, {}}
	total, each, err := SimCount(lists)
	// b in two lists, c in three: 1 + 3 pairs.
	if err != nil || total != 4 || !slices.Equal(each.Values, []float64{3, 3, 2, 0}) {
		t.Errorf("SimCount %d, %v, %v", total, each.Values, err)
	}
	d, err := Diversity(lists)
	if err != nil || d != 5.0/8 {
		t.Errorf("Diversity %g, %v", d, err)
	}
	if d, err := Diversity([][]int{{}, {}}); err != nil || !math.IsNaN(d) {
		t.Errorf("Diversity of nothing %g, %v", d, err)
	}
}

// failingSource yields a document and then an error.
type failingSource struct{ err error }

func (failingSource) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{}, nil
}

func (s failingSource) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		_ = yield(corpus.Document{Tokens: []string{"a"}}, nil) && yield(corpus.Document{}, s.err)
	}
}

// tokenLists is a source of documents given as tokens.
type tokenLists [][]string

func (tokenLists) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{}, nil
}

func (s tokenLists) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, t := range s {
			if !yield(corpus.Document{Tokens: t}, ctx.Err()) {
				return
			}
		}
	}
}

func TestListErrors(t *testing.T) {
	ctx := context.Background()
	boom := errors.New("boom")
	failing := failingSource{boom}
	if _, err := TextCoherence(ctx, [][]string{{"a", "b"}}, failing); !errors.Is(err, boom) {
		t.Errorf("an error of the texts: %v", err)
	}
	for what, f := range map[string]func() error{
		"no lists":        func() error { _, err := TextCoherence(ctx, nil, tokenSource{"a"}); return err },
		"twice, at 0":     func() error { _, err := TextCoherence(ctx, [][]string{{"a", "a"}}, tokenSource{"a"}); return err },
		"of no documents": func() error { _, err := TextCoherence(ctx, [][]string{{"a", "b"}}, tokenSource{}); return err },
		"no corpus":       func() error { _, err := BagCoherence(ctx, [][]string{{"a", "b"}}, nil); return err },
		"no texts":        func() error { _, err := TextCoherence(ctx, [][]string{{"a", "b"}}, nil); return err },
		"too many":        func() error { _, err := TextCoherence(ctx, [][]string{wordsOf(8193)}, tokenSource{"a"}); return err },
		"is word counts": func() error {
			var b corpus.Builder
			if err := b.AddTokens("x", "", []string{"a"}); err != nil {
				return err
			}
			c, err := b.Corpus()
			if err != nil {
				return err
			}
			_, err = TextCoherence(ctx, [][]string{{"a", "b"}}, c.Source())
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := TextCoherence(gone, [][]string{{"a", "b"}}, tokenSource{"a b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
}
