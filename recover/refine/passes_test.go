package refine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// drawn makes a corpus of documents of a planted model. Lengths vary, and one
// in fifty is empty.
func drawn(t testing.TB, p *testutil.Planted, docs, length int, seed uint64) *corpus.Corpus {
	t.Helper()
	lengths := make([]int, docs)
	for m := range lengths {
		if m%50 != 7 {
			lengths[m] = length/2 + m%length
		}
	}
	b := corpus.Builder{Vocabulary: make([]string, p.N)}
	for i := range b.Vocabulary {
		b.Vocabulary[i] = fmt.Sprintf("w%04d", i)
	}
	for _, counts := range p.Documents(lengths, seed) {
		var d corpus.Document
		for w := range p.N {
			if x := counts[w]; x > 0 {
				d.Words, d.Counts = append(d.Words, int32(w)), append(d.Counts, int32(x))
			}
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var ctx = context.Background()

func near(t testing.TB, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g (differ by %.2g, tolerance %.2g)", name, got, want, math.Abs(got-want), tol)
	}
}

func fit(t testing.TB, p refine.Passes, docs corpus.Source, start refine.Start, workers int) *refine.Result {
	t.Helper()
	r, err := p.Refine(ctx, docs, start, refine.Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// transcript is the three forms of the pass as they are written down, with every
// responsibility of every pair of a document and a word in the open.
type transcript struct {
	x       [][]float64 // counts, M×N
	alpha   []float64
	beta    float64
	b       [][]float64 // N×K
	theta   [][]float64 // M×K
	nd, nw  [][]float64
	history []float64
	temp    float64

	document bool // a token is left out of its document's counts only
}

func grid(r, c int) [][]float64 {
	g := make([][]float64, r)
	for i := range g {
		g[i] = make([]float64, c)
	}
	return g
}

func newTranscript(c *corpus.Corpus, b *mat.Dense, alpha []float64, beta, damping, smoothing float64, foldIn int) *transcript {
	n, k := b.Dims()
	m := c.NumDocs()
	s := &transcript{x: grid(m, n), alpha: slices.Clone(alpha), beta: beta, b: grid(n, k), theta: grid(m, k), nd: grid(m, k), temp: 1}
	tokens, unigram := 0.0, make([]float64, n)
	for d := range m {
		words, counts := c.Doc(d)
		for t, w := range words {
			s.x[d][w] = math.Pow(float64(counts[t]), damping)
			unigram[w] += s.x[d][w]
			tokens += s.x[d][w]
		}
	}
	for w := range n {
		for t := range k {
			s.b[w][t] = (1-smoothing)*b.At(w, t) + smoothing*(unigram[w]+beta)/(tokens+beta*float64(n))
		}
	}
	for d := range m {
		for range foldIn {
			s.setTheta(d)
			nd := make([]float64, k)
			for w, x := range s.x[d] {
				if x > 0 {
					for t, g := range s.plain(d, w) {
						nd[t] += x * g
					}
				}
			}
			s.nd[d] = nd
		}
		s.setTheta(d)
	}
	return s
}

func (s *transcript) setTheta(d int) {
	sum := 0.0
	for t, v := range s.nd[d] {
		s.theta[d][t] = v + s.alpha[t]
		sum += s.theta[d][t]
	}
	for t := range s.theta[d] {
		s.theta[d][t] /= sum
	}
}

func (s *transcript) plain(d, w int) []float64 {
	g, sum := make([]float64, len(s.alpha)), 0.0
	for t := range g {
		g[t] = math.Pow(s.theta[d][t]*s.b[w][t], 1/s.temp)
		sum += g[t]
	}
	for t := range g {
		g[t] /= sum
	}
	return g
}

// collapsed leaves out the responsibilities of one token.
func (s *transcript) collapsed(d, w int) []float64 {
	g, out, sum := s.plain(d, w), make([]float64, len(s.alpha)), 0.0
	for t := range g {
		if s.document {
			out[t] = (max(s.nd[d][t]-g[t], 0) + s.alpha[t]) * s.b[w][t]
			sum += out[t]
			continue
		}
		total := 0.0
		for _, row := range s.nw {
			total += row[t] + s.beta
		}
		out[t] = (max(s.nd[d][t]-g[t], 0) + s.alpha[t]) * (max(s.nw[w][t]-g[t], 0) + s.beta) / (total - g[t])
		sum += out[t]
	}
	for t := range out {
		out[t] /= sum
	}
	return out
}

func (s *transcript) loglik() float64 {
	sum, tokens := 0.0, 0.0
	for d := range s.x {
		for w, x := range s.x[d] {
			if x > 0 {
				p := 0.0
				for t := range s.alpha {
					p += s.theta[d][t] * s.b[w][t]
				}
				sum += x * math.Log(p)
				tokens += x
			}
		}
	}
	return sum / tokens
}

// expectedRising is the mean of Σ_{i<n} 1/(a+i) over the two whole n beside v, so
// weighed that their mean is v.
func expectedRising(v, a float64) float64 {
	below, above, n := 0.0, 0.0, 0.0
	for n = 0; n+1 <= v; n++ {
		below += 1 / (a + n)
	}
	above = below + 1/(a+n)
	return (n+1-v)*below + (v-n)*above
}

func (s *transcript) pass(collapsed bool) {
	s.history = append(s.history, s.loglik())
	k := len(s.alpha)
	nd, nw := grid(len(s.x), k), grid(len(s.b), k)
	for d := range s.x {
		for w, x := range s.x[d] {
			if x == 0 {
				continue
			}
			g := s.plain(d, w)
			if collapsed {
				g = s.collapsed(d, w)
			}
			for t := range g {
				nd[d][t] += x * g[t]
				nw[w][t] += x * g[t]
			}
		}
	}
	if collapsed {
		alpha, total := make([]float64, k), 0.0
		for _, a := range s.alpha {
			total += a
		}
		for t, a := range s.alpha {
			num, den := 0.0, 0.0
			for d := range nd {
				n := 0.0
				for _, v := range nd[d] {
					n += v
				}
				num += expectedRising(nd[d][t], a)
				den += expectedRising(n, total)
			}
			alpha[t] = max(a*num/den, 1e-3)
		}
		s.alpha = alpha
	}
	s.nd, s.nw = nd, nw
	for t := range k {
		sum := 0.0
		for w := range nw {
			sum += nw[w][t] + s.beta
		}
		for w := range nw {
			s.b[w][t] = (nw[w][t] + s.beta) / sum
		}
	}
	for d := range nd {
		s.setTheta(d)
	}
}

// rounding is that of float32, in which passes share out tokens: 6e-8 of numbers
// below 1. The sums are of one sign, so that it does not grow.
const rounding = 1e-7

// All forms equal their transcription but for rounding.
func TestPassesTranscript(t *testing.T) {
	p := testutil.NewPlanted(60, 5, 0.3, 1)
	c := drawn(t, p, 110, 30, 2)
	for i := range 24 {
		method, n, temperature, damping := []refine.Method{refine.CVB0, refine.MAPEM, refine.CVB0Document}[i%3], 1+i/6, 1.0, 1.0
		if i%6 >= 3 {
			temperature, damping = 1.5, 0.6
		}
		got := fit(t, refine.Passes{N: n, Method: method, Alpha: 0.2, Beta: 0.07, Temperature: temperature, Damping: damping, Smoothing: 0.03, FoldIn: 4}, c.Source(), refine.Start{B: p.B}, 0)
		want := newTranscript(c, p.B, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 0.07, damping, 0.03, 4)
		want.document = method == refine.CVB0Document
		annealed := []int{0, 0, 1, 2, 3}[n] // ⌊0.8·N⌋ passes
		for i := range n {
			want.temp = 1
			if i < annealed {
				want.temp = temperature - (temperature-1)*float64(i)/float64(annealed)
			}
			want.pass(method != refine.MAPEM && i > 0 && want.temp == 1)
		}
		want.history = append(want.history, want.loglik())
		name := fmt.Sprintf("%v, %d passes, temperature %v, damping %v: ", method, n, temperature, damping)
		if len(got.History) != n+1 || got.Passes != n || got.Early {
			t.Fatalf("%s%d passes, %d scores, early %v", name, got.Passes, len(got.History), got.Early)
		}
		for i, h := range want.history {
			near(t, name+"log-likelihood", got.History[i].LogLik, h, rounding)
		}
		for k, a := range want.alpha {
			near(t, name+"α", got.Alpha[k], a, rounding)
			for w := range want.b {
				near(t, name+"B", got.B.At(w, k), want.b[w][k], rounding)
			}
		}
		// A by its definition, and B̆ by Bayes' rule.
		a, docs := mat.NewDense(5, 5, nil), 0.0
		for d := range want.x {
			total := 0.0
			for _, v := range want.nd[d] {
				total += v
			}
			if total == 0 {
				continue
			}
			docs++
			for _, v := range want.alpha {
				total += v
			}
			for i, x := range want.theta[d] {
				for j, y := range want.theta[d] {
					v := total * x * y
					if i == j {
						v += x
					}
					a.Set(i, j, a.At(i, j)+v/(total+1))
				}
			}
		}
		for i := range 5 {
			for j := range 5 {
				near(t, name+"A", got.A.At(i, j), a.At(i, j)/docs, rounding)
			}
		}
		for w := range p.N {
			sum, parts := 0.0, make([]float64, 5)
			for k := range parts {
				parts[k] = got.B.At(w, k) * mat.Sum(got.A.RowView(k))
				sum += parts[k]
			}
			for k, v := range parts {
				near(t, name+"B̆", got.Breve.At(w, k), v/sum, 1e-14)
			}
		}
	}
}

// What the theory says of MAP-EM: no pass lowers the objective; but for rounding.
func TestPassesMonotone(t *testing.T) {
	p := testutil.NewPlanted(120, 8, 0.5, 3)
	c := drawn(t, p, 300, 40, 4)
	other := testutil.NewPlanted(120, 8, 0.5, 5) // a start far from the truth
	for name, b := range map[string]*mat.Dense{"truth": p.B, "other": other.B} {
		r := fit(t, refine.Passes{N: 60, Method: refine.MAPEM, Temperature: 1, FoldIn: 1}, c.Source(), refine.Start{B: b}, 0)
		for i := 1; i < len(r.History); i++ {
			if gain := r.History[i].Objective - r.History[i-1].Objective; !(gain >= -rounding) {
				t.Errorf("%s: pass %d changes the objective by %g", name, i, gain)
			}
		}
		if last, first := r.History[60].LogLik, r.History[0].LogLik; !(last > first) {
			t.Errorf("%s: log-likelihood %v after all passes, %v before", name, last, first)
		}
		for k := range r.Alpha {
			if r.Alpha[k] != 0.1 {
				t.Errorf("%s: MAP-EM made α %v", name, r.Alpha)
			}
		}
	}
}

// Documents enough that the truth is near the best: passes that begin there stay
// near it, and passes from topics mixed with each other come back to it. The
// tolerance of 0.15 in ℓ₁ distance of a topic is what 3000 documents of 100
// tokens leave undetermined (the counts of 60,000 tokens a topic over 150 words
// alone err by some 0.04, were their topics known). The mixed start is at 0.6, and
// thirty passes take it at least half of the way.
func TestPassesPlanted(t *testing.T) {
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
	distance := func(b *mat.Dense) float64 {
		most := 0.0
		for k := range p.K {
			s := 0.0
			for i := range p.N {
				s += math.Abs(b.At(i, k) - p.B.At(i, k))
			}
			most = max(most, s)
		}
		return most
	}
	for _, method := range []refine.Method{refine.CVB0, refine.MAPEM, refine.CVB0Document} {
		stay := distance(fit(t, refine.Passes{N: 10, Method: method, Temperature: 1}, c.Source(), refine.Start{B: p.B, A: p.A}, 0).B)
		back := distance(fit(t, refine.Passes{N: 30, Method: method}, c.Source(), refine.Start{B: mixed}, 0).B)
		t.Logf("%v: from the truth %.3f, from %.3f to %.3f", method, stay, distance(mixed), back)
		if stay > 0.15 {
			t.Errorf("%v: passes from the truth end at a distance of %v", method, stay)
		}
		if back > 0.3 {
			t.Errorf("%v: passes from a distance of %v end at %v", method, distance(mixed), back)
		}
	}
}

func sameRefined(t *testing.T, name string, a, b *refine.Result) {
	t.Helper()
	for part, x := range map[string][2]*mat.Dense{"B": {a.B, b.B}, "Breve": {a.Breve, b.Breve}, "A": {a.A, b.A}} {
		if !slices.Equal(x[0].RawMatrix().Data, x[1].RawMatrix().Data) {
			t.Errorf("%s: %s differs", name, part)
		}
	}
	if !slices.Equal(a.Alpha, b.Alpha) {
		t.Errorf("%s: α differs", name)
	}
	if fmt.Sprint(a.History) != fmt.Sprint(b.History) || a.Docs != b.Docs || a.Held != b.Held || a.Tokens != b.Tokens || a.Swaps != b.Swaps || a.Early != b.Early {
		t.Errorf("%s: the history differs", name)
	}
}

// shuffled yields the documents with their words in another order, some of them
// in two parts.
type shuffled struct{ corpus.Source }

func (s shuffled) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for d, err := range s.Source.Docs(ctx) {
			var words, counts []int32
			for i := len(d.Words) - 1; i >= 0; i-- {
				words, counts = append(words, d.Words[i]), append(counts, d.Counts[i])
				if d.Counts[i] > 1 && i%2 == 0 {
					counts[len(counts)-1]--
					words, counts = append(words, d.Words[i]), append(counts, 1)
				}
			}
			d.Words, d.Counts = words, counts
			if !yield(d, err) {
				return
			}
		}
	}
}

// often yields the documents with all counts so many times as large.
type often struct {
	corpus.Source
	times int32
}

func (s often) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for d, err := range s.Source.Docs(ctx) {
			counts := make([]int32, len(d.Counts))
			for i, x := range d.Counts {
				counts[i] = x * s.times
			}
			d.Counts = counts
			if !yield(d, err) {
				return
			}
		}
	}
}

// The same bits for any number of workers, with the topic counts in a file, from
// documents that are read from elsewhere or in a file, and for any order of the words in
// them. With large counts the documents are read in several rounds.
func TestPassesSameBits(t *testing.T) {
	p := testutil.NewPlanted(300, 6, 0.4, 8)
	c := drawn(t, p, 3000, 40, 9) // some 70,000 nonzeros: nine blocks
	start := refine.Start{B: p.B, A: p.A}
	for _, method := range []refine.Method{refine.CVB0, refine.MAPEM, refine.CVB0Document} {
		for _, held := range []float64{0, 0.1} {
			s := refine.Passes{N: 4, Method: method, HeldOut: held}
			var docs corpus.Source = c.Source()
			if method == refine.CVB0Document && held > 0 {
				docs = often{docs, 300}
			}
			want := fit(t, s, docs, start, 1)
			name := fmt.Sprintf("%v, held out %v", method, held)
			for _, workers := range []int{2, 3, 7} {
				sameRefined(t, fmt.Sprintf("%s, %d workers", name, workers), want, fit(t, s, docs, start, workers))
			}
			file, err := corpus.EncodeFile(ctx, numbered{docs, p.N}, filepath.Join(t.TempDir(), "docs.jenc"))
			if err != nil {
				t.Fatal(err)
			}
			sameRefined(t, name+", documents in a file", want, fit(t, s, file, start, 2))
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			s.Scratch = t.TempDir()
			sameRefined(t, name+", in a file", want, fit(t, s, shuffled{docs}, start, 2))
			if left, err := os.ReadDir(s.Scratch); err != nil || len(left) > 0 {
				t.Errorf("%s: %v is left in the folder, %v", name, left, err)
			}
			if held > 0 && (want.Held < 280 || want.Held > 300) {
				t.Errorf("%s: %d documents of 3000 are held out", name, want.Held)
			}
			if held > 0 == math.IsNaN(want.History[want.Passes].HeldOut) {
				t.Errorf("%s: held-out likelihood %v", name, want.History[want.Passes].HeldOut)
			}
		}
	}
}

// Documents as a Stream reads them are those of the corpus.
func TestPassesStream(t *testing.T) {
	p := testutil.NewPlanted(80, 4, 0, 10)
	c := drawn(t, p, 200, 30, 11)
	stream, err := cooc.NewStream(ctx, c.Source(), cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var long []int
	for m := range c.NumDocs() {
		if c.DocLen(m) >= 5 {
			long = append(long, m)
		}
	}
	used, err := c.Select(long, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := refine.Passes{N: 3}
	sameRefined(t, "stream", fit(t, s, used.Source(), refine.Start{B: p.B}, 0), fit(t, s, stream.Info().Source, refine.Start{B: p.B}, 0))
}

// Topics in another order come out in that order, to rounding, and words too.
func TestPassesPermuted(t *testing.T) {
	p := testutil.NewPlanted(70, 4, 0.3, 12)
	c := drawn(t, p, 150, 30, 13)
	topics, words := []int{2, 0, 3, 1}, make([]int, p.N)
	for i := range words {
		words[i] = (11*i + 3) % p.N
	}
	pc, err := c.Select(nil, words)
	if err != nil {
		t.Fatal(err)
	}
	pb := mat.NewDense(p.N, p.K, nil)
	for i, w := range words {
		for k, s := range topics {
			pb.Set(i, k, p.B.At(w, s))
		}
	}
	a := fit(t, refine.Passes{N: 5}, c.Source(), refine.Start{B: p.B}, 0)
	b := fit(t, refine.Passes{N: 5}, pc.Source(), refine.Start{B: pb}, 0)
	for i, w := range words {
		for k, s := range topics {
			near(t, "B", b.B.At(i, k), a.B.At(w, s), rounding)
		}
	}
	for k, s := range topics {
		near(t, "α", b.Alpha[k], a.Alpha[s], rounding)
		for l, r := range topics {
			near(t, "A", b.A.At(k, l), a.A.At(s, r), rounding)
		}
	}
}

// A start at the truth and many passes on few documents fit noise: the rule
// stops them when the documents held out gain nothing more.
func TestPassesHeldOut(t *testing.T) {
	p := testutil.NewPlanted(100, 5, 0, 14)
	c := drawn(t, p, 400, 40, 15)
	r := fit(t, refine.Passes{N: 200, Temperature: 1, HeldOut: 0.2}, c.Source(), refine.Start{B: p.B}, 0)
	if !r.Early || r.Passes >= 200 || len(r.History) != r.Passes+1 {
		t.Fatalf("%d passes, early %v, %d scores", r.Passes, r.Early, len(r.History))
	}
	h := r.History
	for i := 1; i < r.Passes-1; i++ {
		if h[i].HeldOut-h[i-1].HeldOut < 5e-4 {
			t.Errorf("went on after pass %d, which gained %v", i, h[i].HeldOut-h[i-1].HeldOut)
		}
	}
	if i := r.Passes - 1; h[i].HeldOut-h[i-1].HeldOut >= 5e-4 {
		t.Errorf("stopped where a pass gained %v", h[i].HeldOut-h[i-1].HeldOut)
	}
	// Annealed passes, which may lose, do not count: there are 16 of 20.
	if r := fit(t, refine.Passes{N: 20, HeldOut: 0.2}, c.Source(), refine.Start{B: p.B}, 0); r.Passes < 18 {
		t.Errorf("stopped after %d passes", r.Passes)
	}
}

// failing yields some documents and then an error.
type failing struct {
	docs []corpus.Document
	err  error
}

func (s failing) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range s.docs {
			if !yield(d, nil) {
				return
			}
		}
		if s.err != nil {
			yield(corpus.Document{}, s.err)
		}
	}
}

// numbered has a vocabulary of n words.
type numbered struct {
	corpus.Source
	n int
}

func (s numbered) Vocabulary(context.Context) ([]string, error) { return make([]string, s.n), nil }

func TestPassesErrors(t *testing.T) {
	b := mat.NewDense(3, 2, []float64{.5, 0, .5, .5, 0, .5})
	good := []corpus.Document{{Words: []int32{0, 1}}, {Words: []int32{1, 2}, Counts: []int32{2, 1}}}
	cause := errors.New("disk on fire")
	encoded, err := corpus.Encode(ctx, numbered{failing{docs: []corpus.Document{{Words: []int32{3}}}}, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p     refine.Passes
		docs  corpus.Source
		start refine.Start
		want  string
	}{
		{refine.Passes{N: -1}, nil, refine.Start{B: b}, "N = -1"},
		{refine.Passes{Beta: -1, Alpha: math.NaN()}, nil, refine.Start{B: b}, "Alpha = NaN"},
		{refine.Passes{Method: 7}, nil, refine.Start{B: b}, "Method(7)"},
		{refine.Passes{Smoothing: 1}, nil, refine.Start{B: b}, "Smoothing = 1"},
		{refine.Passes{HeldOut: .6}, nil, refine.Start{B: b}, "HeldOut = 0.6"},
		{refine.Passes{Temperature: .9}, nil, refine.Start{B: b}, "Temperature = 0.9"},
		{refine.Passes{Damping: 1.1}, nil, refine.Start{B: b}, "Damping = 1.1"},
		{refine.Passes{Swaps: -1}, nil, refine.Start{B: b}, "Swaps = -1"},
		{refine.Passes{Gain: -1}, nil, refine.Start{B: b}, "Gain = -1"},
		{refine.Passes{FoldIn: -1}, nil, refine.Start{B: b}, "FoldIn = -1"},
		{refine.Passes{}, nil, refine.Start{B: b}, "no documents"},
		{refine.Passes{}, failing{docs: good}, refine.Start{}, "no topics"},
		{refine.Passes{}, failing{docs: good}, refine.Start{B: mat.NewDense(1, 2, []float64{1, math.NaN()})}, "topic 1) = NaN"},
		{refine.Passes{}, failing{docs: good}, refine.Start{B: mat.NewDense(1, 2, []float64{1, .5})}, "topic 1) sums to 0.5"},
		{refine.Passes{}, failing{docs: good}, refine.Start{B: b, A: mat.NewDense(3, 3, nil)}, "A is 3×3 for 2 topics"},
		{refine.Passes{}, failing{}, refine.Start{B: b}, "no tokens"},
		{refine.Passes{}, failing{docs: []corpus.Document{{}, {Words: []int32{}}}}, refine.Start{B: b}, "no tokens"},
		{refine.Passes{}, failing{docs: []corpus.Document{{Words: []int32{3}}}}, refine.Start{B: b}, "document 1: word 3"},
		{refine.Passes{}, failing{docs: []corpus.Document{good[0], {ID: "x", Words: []int32{-1}}}}, refine.Start{B: b}, "document x: word -1"},
		{refine.Passes{}, failing{docs: []corpus.Document{{Words: []int32{1}, Counts: []int32{-2}}}}, refine.Start{B: b}, `count -2 of word "1" in document 1`},
		{refine.Passes{}, failing{docs: []corpus.Document{{Words: []int32{1}, Counts: []int32{1, 1}}}}, refine.Start{B: b}, "2 counts for 1 words"},
		{refine.Passes{}, failing{docs: []corpus.Document{{Tokens: []string{"a"}}}}, refine.Start{B: b}, "document 1: tokens are given"},
		{refine.Passes{}, failing{docs: good, err: cause}, refine.Start{B: b}, "disk on fire"},
		{refine.Passes{}, encoded, refine.Start{B: b}, "the documents have a word 3, the topics 3 rows"},
		{refine.Passes{Scratch: "/does/not/exist"}, failing{docs: good}, refine.Start{B: b}, "/does/not/exist"},
	} {
		_, err := c.p.Refine(ctx, c.docs, c.start, refine.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "refine: ") {
			t.Errorf("%+v: error %v, want one with %q", c.p, err, c.want)
		}
	}
	if _, err := (refine.Passes{}).Refine(ctx, failing{docs: good, err: cause}, refine.Start{B: b}, refine.Options{}); !errors.Is(err, cause) {
		t.Errorf("the source's error became %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	folder := t.TempDir()
	_, err = refine.Passes{N: 1000, Scratch: folder}.Refine(done, failing{docs: good}, refine.Start{B: b}, refine.Options{
		Progress: func(n, total int, loglik float64) {
			if n == 3 {
				cancel()
			}
			if n > 3 || total != 1000 || !(loglik < 0) {
				t.Errorf("progress %d of %d, %v", n, total, loglik)
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left in the folder, %v", left, err)
	}
}

// Documents without words change nothing, and words without documents get what
// the prior gives them.
func TestPassesEmptyDocuments(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{.5, 0, .5, .3, 0, .7, 0, 0})
	docs := []corpus.Document{{Words: []int32{0, 1}, Counts: []int32{3, 1}}, {Words: []int32{1, 2}, Counts: []int32{2, 4}}}
	with := []corpus.Document{{}, docs[0], {Words: []int32{3}, Counts: []int32{0}}, docs[1], {}}
	a := fit(t, refine.Passes{N: 6}, failing{docs: docs}, refine.Start{B: b}, 0)
	e := fit(t, refine.Passes{N: 6}, failing{docs: with}, refine.Start{B: b}, 0)
	sameRefined(t, "empty documents", a, e)
	if a.Docs != 2 || a.Tokens != 10 {
		t.Errorf("%d documents, %d tokens", a.Docs, a.Tokens)
	}
	sum := 0.0
	for k := range 2 {
		sum += 1 / a.B.At(3, k) // (n_k + 4β)/β
	}
	near(t, "tokens by the word that has none", sum*0.05, 10+2*4*0.05, 10*rounding)
}
