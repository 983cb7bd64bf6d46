package metrics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"gonum.org/v1/gonum/mat"
)

// slowVerdicts judges topics from the definitions, of words ranked by weights.
func slowVerdicts(f Factors) []Verdict {
	n, k := f.B.Dims()
	w := f.Reading
	if w == nil {
		w = f.B
	}
	a := mat.DenseCopyOf(f.A)
	a.Scale(1/mat.Sum(a), a)
	cosine := func(s, t int) float64 {
		var xx, yy, xy float64
		for i := range n {
			p := 0.0
			for u := range k {
				p += mat.Sum(a.RowView(u)) * f.B.At(i, u)
			}
			if p > 0 {
				x, y := (f.B.At(i, s)-p)/math.Sqrt(p), (f.B.At(i, t)-p)/math.Sqrt(p)
				xx, yy, xy = xx+x*x, yy+y*y, xy+x*y
			}
		}
		return xy / math.Sqrt(xx*yy)
	}
	out := make([]Verdict, k)
	for t := range out {
		v := &out[t]
		var words []int
		for i := range n {
			if w.At(i, t) > 0 {
				words = append(words, i)
			}
		}
		slices.SortStableFunc(words, func(i, j int) int {
			if w.At(i, t) > w.At(j, t) {
				return -1
			} else if w.At(i, t) < w.At(j, t) {
				return 1
			}
			return 0
		})
		words = words[:min(10, len(words))]
		words = slices.DeleteFunc(words, func(i int) bool { return w.At(i, t) < w.At(words[0], t)/100 })
		pairs, docs := 0.0, float64(f.Pairs.Docs())
		v.Words, v.Joined = len(words), slowJoined(words, f.Pairs, n)
		for x, i := range words {
			if f.Tokens != nil {
				v.Repeated += float64(f.Tokens[i]) / float64(f.Pairs.D1(i)) / float64(len(words))
			}
			v.Exclusivity += f.WordTopics.At(i, t) / float64(len(words))
			for _, j := range words[:x] {
				pairs++
				p := float64(f.Pairs.At(i, j)) / docs
				if f.Tokens != nil {
					v.Together += p * docs / float64(max(f.Pairs.D1(i), f.Pairs.D1(j)))
				}
				switch p {
				case 0:
					v.NPMI--
				case 1:
					v.NPMI++
				default:
					v.NPMI -= math.Log(p*docs*docs/float64(f.Pairs.D1(i)*f.Pairs.D1(j))) / math.Log(p)
				}
			}
		}
		v.NPMI /= pairs
		if pairs > 0 {
			v.Together /= pairs
		}
		with := math.Inf(1)
		if len(words) > 3 {
			rare := slices.Clone(words)
			slices.SortStableFunc(rare, func(i, j int) int { return f.Pairs.D1(i) - f.Pairs.D1(j) })
			with, rare = 0, rare[:len(rare)-2]
			for _, i := range rare {
				n := 0
				for _, j := range rare {
					n += f.Pairs.At(i, j) // D1(i) where j is i
				}
				with += float64(f.Pairs.D1(i)*f.Pairs.D1(i)) / float64(max(n, 1))
			}
		}
		for s := range k {
			v.Share += a.At(t, s)
		}
		v.Documents = min(docs*v.Share*v.Share/a.At(t, t), with)
	}
	for t := range out {
		v := &out[t]
		v.Twin = -1
		for s := range k {
			if larger := out[s].Share > v.Share || out[s].Share == v.Share && s < t; larger && cosine(s, t) > v.Cosine {
				v.Twin, v.Cosine = s, cosine(s, t)
			}
		}
		if v.Documents < 20 {
			v.Quality = FewDocuments
		} else if v.Together > 0.5 && v.Repeated < 2.5 && (v.Together >= 1 || v.Repeated*v.Together < -math.Log(1-v.Together)) {
			v.Quality = Boilerplate
		} else if f.Background != nil && f.Background[t] {
			v.Quality = Background
		} else if v.Cosine > 0.3 {
			v.Quality = Twin
		} else if v.Words < 2 || 4*v.Joined < 3*v.Words || v.Exclusivity < 0.2 || v.Share < 0.05/float64(k) {
			v.Quality = Weak
		}
	}
	return out
}

// slowJoined is joined by the closure of the links.
func slowJoined(words []int, pairs PairCounts, all int) (most int) {
	n := len(words)
	reach := make([]bool, n*n)
	for i := range n {
		for j := range n {
			if reach[i*n+j] = i == j; i != j {
				times, deviations := pairs.Association(words[i], words[j])
				reach[i*n+j] = pairs.At(words[i], words[j]) > 1 && times >= 1.1 && deviations > 1.15*math.Sqrt(math.Log(float64(all)))
			}
		}
	}
	for by := range n {
		for i := range n {
			for j := range n {
				reach[i*n+j] = reach[i*n+j] || reach[i*n+by] && reach[by*n+j]
			}
		}
	}
	for i := range n {
		count := 0
		for j := range n {
			if reach[i*n+j] {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}

// closeVerdicts compares verdicts, their numbers to tol.
func closeVerdicts(t *testing.T, name string, got, want []Verdict, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d verdicts, want %d", name, len(got), len(want))
		return
	}
	for k, g := range got {
		w := want[k]
		same := g.Quality == w.Quality && g.Twin == w.Twin && g.Words == w.Words && g.Joined == w.Joined
		for _, p := range [][2]float64{{g.Share, w.Share}, {g.NPMI, w.NPMI}, {g.Exclusivity, w.Exclusivity}, {g.Documents, w.Documents}, {g.Cosine, w.Cosine}, {g.Together, w.Together}, {g.Repeated, w.Repeated}} {
			same = same && (math.Abs(p[0]-p[1]) <= tol*max(1, math.Abs(p[1])) || math.IsNaN(p[0]) && math.IsNaN(p[1]))
		}
		if !same {
			t.Errorf("%s: verdict %d is %+v, want %+v", name, k, g, w)
		}
	}
}

// inDocs counts words in documents, each a set of words.
type inDocs [][]int

func (d inDocs) Has(int) bool { return true }
func (d inDocs) Docs() int    { return len(d) }
func (d inDocs) D1(i int) int { return d.At(i, i) }
func (d inDocs) At(i, j int) int {
	n := 0
	for _, words := range d {
		if slices.Contains(words, i) && slices.Contains(words, j) {
			n++
		}
	}
	return n
}

// plantedTopics returns seven topics of ten words each: three good ones, one of words that
// never meet, one whose words are at home in another, one that is background, and one that
// repeats topic 0.
func plantedTopics() Factors {
	const k, n = 7, 70
	b, breve, a := mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), mat.NewDense(k, k, nil)
	var docs inDocs
	for t := range k {
		for i := range 10 {
			b.Set(10*t+i, t, 0.1)
			breve.Set(10*t+i, t, 1)
		}
		a.Set(t, t, 1.0/k)
	}
	for d := range 1600 { // 229 documents of each topic, with six of its words
		t := d % 7
		var words []int
		for i := range 6 {
			words = append(words, 10*t+(d/7+i*i)%10)
		}
		if t == 3 { // each with one word of topic 3 alone
			words = []int{30 + (d/7)%10}
		}
		docs = append(docs, words)
	}
	for i := range 10 {
		breve.Set(40+i, 4, 0.1)
		breve.Set(40+i, 1, 0.9)
		b.Set(60+i, 6, 0.01) // topic 6 has the words of topic 0
		b.Set(i, 6, 0.09)
	}
	a.Set(6, 6, 0.9/k)
	background := make([]bool, k)
	background[5] = true
	return Factors{B: b, WordTopics: breve, A: a, Pairs: docs, Background: background}
}

func TestVerdicts(t *testing.T) {
	testutil.NotWithRace(t)
	f := plantedTopics()
	got, err := Verdicts(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []string{"sound", "sound", "sound", "weak: its words do not surely meet more often than by chance", "weak: its words are mostly used in other topics",
		"background: many documents have some of it, and none is about it", "twin of topic 0"} {
		if got[k].String() != want {
			t.Errorf("topic %d: %v, want %s (%+v)", k, got[k], want, got[k])
		}
	}
	closeVerdicts(t, "planted", got, slowVerdicts(f), 1e-12)

	// Documents from the moments of proportions: topic 0 is all of 12 documents of 1000, or
	// half of all.
	two := Factors{B: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), WordTopics: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), Pairs: inDocs(slices.Repeat([][]int{{0, 1}}, 1000))}
	two.A = mat.NewDense(2, 2, []float64{0.012, 0, 0, 0.988})
	if got, err = Verdicts(context.Background(), two); err != nil || math.Abs(got[0].Documents-12) > 1e-9 || got[0].String() != "few documents: it rests on about 12" {
		t.Error(got, err)
	}
	two.A = mat.NewDense(2, 2, []float64{0.25, 0.25, 0.25, 0.25})
	if got, err = Verdicts(context.Background(), two); err != nil || math.Abs(got[0].Documents-1000) > 1e-9 || got[0].String() != "weak: it has fewer than two words" {
		t.Error(got, err) // a single word has no NPMI
	}
	// Reading ranks the words: those of topic 1 for topic 0, whose occurrences are in topic 1.
	f = plantedTopics()
	f.Reading = mat.DenseCopyOf(f.B)
	for i := range 10 {
		f.Reading.Set(i, 0, 0)
		f.Reading.Set(10+i, 0, 0.1)
	}
	if got, err = Verdicts(context.Background(), f); err != nil || got[0].String() != "weak: its words are mostly used in other topics" {
		t.Error(got, err)
	}
	closeVerdicts(t, "reading", got, slowVerdicts(f), 1e-12)

	// Documents of topic 1 have all of its words, once, or three times each.
	f = plantedTopics()
	docs := f.Pairs.(inDocs)
	f.Tokens = make([]int64, 70)
	for d := range docs {
		if d%7 == 1 {
			docs[d] = []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
		}
		for _, w := range docs[d] {
			f.Tokens[w]++
		}
	}
	for times, want := range map[int64]string{1: "boilerplate: its words come all together and once, as in a footer", 3: "sound"} {
		g := f
		g.Tokens = slices.Clone(f.Tokens)
		for w := range g.Tokens {
			g.Tokens[w] *= times
		}
		if got, err = Verdicts(context.Background(), g); err != nil || got[1].String() != want || math.Abs(got[1].Together-1) > 1e-12 || math.Abs(got[1].Repeated-float64(times)) > 1e-12 {
			t.Errorf("%d times: %v, %v", times, got, err)
		}
		closeVerdicts(t, "together", got, slowVerdicts(g), 1e-12)
	}
}

func TestVerdictsErrors(t *testing.T) {
	for want, change := range map[string]func(*Factors){
		"verdicts need":             func(f *Factors) { f.WordTopics = nil },
		"need B̆, A and pair":       func(f *Factors) { f.Pairs = nil },
		"Reading":                   func(f *Factors) { f.Reading = mat.NewDense(3, 7, nil) },
		"tokens of 3 words":         func(f *Factors) { f.Tokens = make([]int64, 3) },
		"background of 1 topics":    func(f *Factors) { f.Background = f.Background[:1] },
		"word 7 in topic 2 is +Inf": func(f *Factors) { f.Reading = mat.DenseCopyOf(f.B); f.Reading.Set(7, 2, math.Inf(1)) },
	} {
		f := plantedTopics()
		change(&f)
		if _, err := Verdicts(context.Background(), f); err == nil || !strings.HasPrefix(err.Error(), "metrics: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want metrics: … %s", err, want)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verdicts(gone, plantedTopics()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s := fmt.Sprint(Quality(9)); s != "Quality(9)" {
		t.Error(s)
	}
}

func (d inDocs) Association(i, j int) (times, deviations float64) { return plainAssociation(d, i, j) }
