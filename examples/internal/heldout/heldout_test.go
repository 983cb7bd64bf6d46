package heldout_test

import (
	"compress/gzip"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/examples/internal/heldout"
)

// The tiny corpus: four words and five training documents, the last one empty.
var tiny = map[string]string{
	"vocab.txt":          "a\nb\nc\nd\n",
	"docword.train.txt":  "5\n4\n9\n1 1 2\n1 2 1\n2 1 1\n2 2 1\n2 3 1\n3 3 1\n3 4 2\n4 3 1\n4 4 1\n",
	"docword.obs.txt.gz": "2\n4\n1\n1 1 3\n",
	"docword.held.txt":   "2\n4\n3\n1 2 1\n1 3 2\n2 4 1\n",
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		_, err = f.WriteString(content)
	} else {
		z := gzip.NewWriter(f)
		if _, err = z.Write([]byte(content)); err == nil {
			err = z.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func tinySplit(t *testing.T) heldout.Split {
	t.Helper()
	dir := t.TempDir()
	for name, content := range tiny {
		write(t, dir, name, content)
	}
	s, err := heldout.ReadSplit(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-5) {
		t.Errorf("%s: %.7f, want %.7f", what, got, want)
	}
}

// Two topics without a word in common, a document in which only word a is observed,
// and one in which nothing is: θ solves a quadratic equation.
func TestLogLikelihood(t *testing.T) {
	s := tinySplit(t)
	// Of 11 tokens a, c and d have 3 each and b has 2; with half a token more, 13.
	ua, ub := 3.5/13, 2.5/13
	// The columns need no particular scale.
	b := mat.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 7, 0, 7})
	got, err := heldout.NewEvaluator(s, 1).LogLikelihood(context.Background(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	// With p = p(a | topic 1), q = p(a | topic 2), three tokens and α = 2.5 twice:
	// 8θ = 2.5 + 3θp/(θp + (1−θ)q).
	p, q := 0.99*0.5+0.01*ua, 0.01*ua
	x, y, z := 8*(p-q), 8*q-2.5*(p-q)-3*p, -2.5*q
	theta := (-y + math.Sqrt(y*y-4*x*z)) / (2 * x)
	want := math.Log(theta*0.495+0.01*ub) + // b, in topic 1
		2*math.Log((1-theta)*0.495+0.01*ua) + // c, in topic 2
		math.Log(0.5*0.495+0.01*ua) // d, with equal proportions
	near(t, "log-likelihood", got, want/4)
}

// With nearly all of the prior on topic 2, documents hold nothing else.
func TestLogLikelihoodPrior(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 7, 0, 7})
	got, err := heldout.NewEvaluator(tinySplit(t), 1).LogLikelihood(context.Background(), b, []float64{1e-9, 1e9})
	if err != nil {
		t.Fatal(err)
	}
	ua, ub := 3.5/13, 2.5/13
	near(t, "log-likelihood", got, (math.Log(0.01*ub)+3*math.Log(0.495+0.01*ua))/4)
}

func TestUnigram(t *testing.T) {
	got := heldout.NewEvaluator(tinySplit(t), 1).Unigram()
	near(t, "log-likelihood", got, (math.Log(2.5/13)+3*math.Log(3.5/13))/4)
}

// With four words every list has all of them.
func TestWordsNPMI(t *testing.T) {
	b := mat.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 7, 0, 7})
	npmi, unique, err := heldout.NewEvaluator(tinySplit(t), 1).Words(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	// In five documents a and b are together in 2, which are all that either is in;
	// c is in 3 and d in 2, together in 2; a with c and b with c in 1; a with d and b
	// with d in none.
	want := (math.Log(5*2.0/(2*2))/math.Log(5.0/2) +
		math.Log(5*2.0/(3*2))/math.Log(5.0/2) +
		2*math.Log(5*1.0/(2*3))/math.Log(5.0/1) - 2) / 6
	near(t, "NPMI", npmi, want)
	near(t, "uniqueness", unique, 0)
}

// Topic 1 has the words 0 to 19; topic 2 shares the last two of these; in topic 3 all
// words weigh the same, so that its list is that of topic 1.
func TestWordsUnique(t *testing.T) {
	n := 60
	dir := t.TempDir()
	for name, content := range tiny {
		if name == "vocab.txt" {
			for i := 4; i < n; i++ {
				content += string(rune('a'+i/10)) + string(rune('0'+i%10)) + "\n"
			}
		}
		write(t, dir, name, strings.Replace(content, "\n4\n", "\n60\n", 1))
	}
	s, err := heldout.ReadSplit(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	b := mat.NewDense(n, 3, nil)
	for i := range 20 {
		b.Set(i, 0, float64(40-i))
		b.Set(18+i, 1, 1)
	}
	_, unique, err := heldout.NewEvaluator(s, 1).Words(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "uniqueness", unique, 18.0/3)
}

func TestNormalise(t *testing.T) {
	got := heldout.Normalise(mat.NewDense(2, 3, []float64{3, 0, math.NaN(), 1, -1, 2}))
	want := mat.NewDense(2, 3, []float64{0.75, 0.5, 0, 0.25, 0.5, 1})
	if !mat.Equal(got, want) {
		t.Errorf("%v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestWrongSplit(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"docword.held.txt", "3\n4\n1\n3 1 1\n", "2 documents have an observed half and 3 a hidden one"},
		{"docword.held.txt", "2\n4\n0\n", "no hidden tokens"},
		{"docword.train.txt", "", "docword.train.txt"},
	} {
		dir := t.TempDir()
		for name, content := range tiny {
			if name == c.name {
				content = c.content
			}
			write(t, dir, name, content)
		}
		if _, err := heldout.ReadSplit(context.Background(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: error %v, want %q", c.name, c.content, err, c.want)
		}
	}
	if _, err := heldout.NewEvaluator(tinySplit(t), 1).LogLikelihood(context.Background(), mat.NewDense(3, 1, nil), nil); err == nil {
		t.Error("no error for topics over another number of words")
	}
}
