package find

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
)

// Similar words and recommendations, against slow ones from the definitions.
func TestWords(t *testing.T) {
	_, m, _ := planted(t)
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	b, breve := mat.DenseCopyOf(m.Topics()), mat.DenseCopyOf(m.WordTopics())
	for _, self := range []int{0, 17, m.N() - 1} {
		got, err := w.SimilarWords(m.Word(self), 20)
		if err != nil {
			t.Fatal(err)
		}
		var all []Match
		for i := range m.N() {
			if i != self {
				all = append(all, Match{i, m.Word(i), affinity(breve.RawRowView(self), breve.RawRowView(i))})
			}
		}
		all = ranked(all, 20)
		for i, x := range got {
			// Those alike to 1e-6 are in the order of p(word).
			if math.Abs(x.Score-all[i].Score) > 1e-6 || x.Name != m.Word(x.Index) {
				t.Fatalf("similar to %d: %v, want %v", self, got, all)
			}
		}
	}
	inferer, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, items := range [][]int32{nil, {3}, {1, 2, 2, 50}} {
		t.Run(fmt.Sprint("items ", items), func(t *testing.T) {
			theta := make([]float64, m.K())
			if _, err := inferer.InferTo(theta, items, nil); err != nil {
				t.Fatal(err)
			}
			var names []string
			var all []Match
			for _, i := range items {
				names = append(names, m.Word(int(i)))
			}
			for i := range m.N() {
				if !slices.Contains(items, int32(i)) {
					all = append(all, Match{i, m.Word(i), floats.Dot(theta, b.RawRowView(i))})
				}
			}
			got, err := w.Recommend(names, 10)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "recommended", got, ranked(all, 10))
		})
	}
}

// The words of a document and the prior add up to its proportions, those of Transform, and
// each word's part is what infer.MAP shares its tokens out by.
func TestExplain(t *testing.T) {
	c, m, docs := planted(t)
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	b, alpha, shares := mat.DenseCopyOf(m.Topics()), m.Alpha(), m.TopicShares()
	for d := range c.NumDocs() {
		ids, counts := c.Doc(d)
		x, err := w.ExplainCounts(ids, counts, 3)
		if err != nil {
			t.Fatal(err)
		}
		if x.Unknown != 3 || x.Tokens != c.DocLen(d) || len(x.Words) != len(ids) {
			t.Fatalf("document %d: %d tokens, %d unknown, %d words", d, x.Tokens, x.Unknown, len(x.Words))
		}
		total := float64(x.Tokens) + floats.Sum(alpha)
		sum := slices.Clone(x.Prior)
		unlikely, gain := int64(0), 0.0
		for _, word := range x.Words {
			floats.Add(sum, word.Topics)
			gain += float64(word.Count) / float64(x.Tokens) * math.Log(word.Gain)
			if part := floats.Sum(word.Topics) * total / float64(word.Count); math.Abs(part-1) > 1e-9 {
				t.Fatalf("document %d: %v of a token of %s is shared out", d, part, word.Word)
			}
			if word.Unlikely {
				unlikely += word.Count
			}
		}
		if !floats.EqualApprox(sum, x.Proportions, 1e-12) || math.Abs(floats.Sum(sum)-1) > 1e-9 || unlikely != x.Unlikely {
			t.Fatalf("document %d: words and prior give %v, proportions %v", d, sum, x.Proportions)
		}
		if len(ids) > 0 && math.Abs(gain-x.LogGain) > 1e-9 {
			t.Fatalf("document %d: mean ln gain %v, want %v", d, x.LogGain, gain)
		}
		// MAP stops when no proportion changes by 1e-5, and converges linearly.
		if docs.Docs[d].Status == infer.Converged && !floats.EqualApprox(x.Proportions, docs.W.RawRowView(d), 1e-3) {
			t.Fatalf("document %d: explained %v, inferred %v", d, x.Proportions, docs.W.RawRowView(d))
		}
		if d > 20 {
			continue
		}
		theta := docs.W.RawRowView(d)
		for _, word := range x.Words {
			// b (t − r), slowly: the share r leaves itself out.
			rest, p := make([]float64, m.K()), 0.0
			for k := range rest {
				rest[k] = b.At(word.Index, k) * (theta[k]*total - word.Topics[k]*total/float64(word.Count))
				p += shares[k] * b.At(word.Index, k)
			}
			gain := floats.Sum(rest) / (total - 1) / p
			floats.Scale(float64(word.Count)/total/floats.Sum(rest), rest)
			if !floats.EqualApprox(rest, word.Topics, 1e-9) || math.Abs(gain-word.Gain) > 1e-6*gain {
				t.Fatalf("document %d, %s: %v with gain %v, want %v with %v", d, word.Word, word.Topics, word.Gain, rest, gain)
			}
		}
	}
}

// A word that is of another topic than the rest of the document is unlikely, one that is of
// theirs is not.
func TestUnlikely(t *testing.T) {
	_, m, _ := planted(t)
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	breve := mat.DenseCopyOf(m.WordTopics())
	var own []int32
	foreign := int32(0)
	for i := range m.N() {
		if breve.At(i, 0) > 0.5 {
			own = append(own, int32(i))
		}
		if breve.At(i, 0) < breve.At(int(foreign), 0) {
			foreign = int32(i)
		}
	}
	if len(own) < 5 || breve.At(int(foreign), 0) > 0.01 {
		t.Fatalf("%d words of topic 0, and another with %v of it", len(own), breve.At(int(foreign), 0))
	}
	counts := make([]int32, len(own)+1)
	for i := range own {
		counts[i] = 10
	}
	counts[len(own)] = 1
	x, err := w.ExplainCounts(append(own, foreign), counts, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range x.Words {
		if want := word.Index == int(foreign); word.Unlikely != want {
			t.Errorf("%s: gain %v", word.Word, word.Gain)
		}
	}
	if want := 1 - 1/float64(10*len(own)+1); x.Unlikely != 1 || math.Abs(x.Covered()-want) > 1e-12 {
		t.Errorf("%d unlikely, %v covered, want 1, %v", x.Unlikely, x.Covered(), want)
	}
	if x, err = w.ExplainCounts(nil, nil, 0); err != nil || !math.IsNaN(x.Covered()) || !math.IsNaN(x.LogGain) || math.Abs(floats.Sum(x.Proportions)-1) > 1e-9 {
		t.Errorf("no tokens: %v, %v", x, err)
	}
}

func TestWordsShared(t *testing.T) {
	c, m, _ := planted(t)
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	ids, counts := c.Doc(0)
	all := func() (out [3]any) {
		var errs [3]error
		out[0], errs[0] = w.SimilarWords("w3", 5)
		out[1], errs[1] = w.Recommend([]string{"w1", "w2"}, 5)
		out[2], errs[2] = w.ExplainCounts(ids, counts, 1)
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		return out
	}
	want := all()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if got := all(); !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestWordsErrors(t *testing.T) {
	_, m, _ := planted(t)
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	_, noModel := NewWords(ctx, nil)
	_, word := w.SimilarWords("nothing", 1)
	_, few := w.SimilarWords("w1", 0)
	_, items := w.Recommend([]string{"w1", "x", "y"}, 1)
	_, id := w.ExplainCounts([]int32{int32(m.N())}, nil, 0)
	_, unknown := w.ExplainCounts(nil, nil, -1)
	for _, x := range []struct {
		err  error
		want string
	}{
		{noModel, "no model"},
		{word, `no word "nothing"`},
		{few, "at least 1"},
		{items, `no item "x", "y"`},
		{id, "120"},
		{unknown, "-1 unknown tokens"},
	} {
		if x.err == nil || !strings.HasPrefix(x.err.Error(), "find: ") || !strings.Contains(x.err.Error(), x.want) {
			t.Errorf("got %v, want find: … %s", x.err, x.want)
		}
	}
}
