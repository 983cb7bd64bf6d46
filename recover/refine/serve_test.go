package refine

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// Inference finds for the documents of the passes nearly the topic proportions that these
// ended with. They are not the same: the last pass takes one step for each document while
// the topics still move, and inference takes steps until nothing changes. Measured is the
// total variation distance, in [0, 1]. It was 0.0025 on average here, and 0.01 at most; the
// tolerance leaves four to five times that.
func TestInferenceNearPasses(t *testing.T) {
	ctx := context.Background()
	p := testutil.NewPlanted(400, 8, 0.2, 6)
	lengths := make([]int, 400)
	for m := range lengths {
		lengths[m] = 50 + m%200
	}
	b := corpus.Builder{Vocabulary: make([]string, p.N)}
	for w := range b.Vocabulary {
		b.Vocabulary[w] = fmt.Sprintf("w%03d", w)
	}
	for _, counts := range p.Documents(lengths, 7) {
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
	f, err := Passes{}.withDefaults().begin(ctx, c.Source(), Start{B: p.B}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.state.close()
	for pass := range 30 {
		if _, err := f.pass(ctx, turn{first: pass == 0, begins: pass == 0, closing: pass >= 28}); err != nil {
			t.Fatal(err)
		}
	}
	res := &Result{}
	if err := f.finish(ctx, f, res); err != nil {
		t.Fatal(err)
	}
	by, err := infer.MAP{}.Prepare(ctx, infer.Topics{B: res.B, A: res.A, Alpha: res.Alpha}, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, most := 0.0, 0.0
	theta := make([]float64, f.k)
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		if _, err := by.InferTo(theta, words, counts); err != nil {
			t.Fatal(err)
		}
		n, total := f.state.mem[m*f.k:][:f.k], 0.0
		for _, x := range n {
			total += float64(x) + f.alpha
		}
		apart := 0.0
		for k, x := range n {
			apart += math.Abs((float64(x)+f.alpha)/total-theta[k]) / 2
		}
		mean, most = mean+apart/float64(c.NumDocs()), max(most, apart)
	}
	t.Logf("total variation: mean %.4f, largest %.4f", mean, most)
	if !(mean < 0.01 && most < 0.05) {
		t.Errorf("proportions of passes and of inference are %.3f apart on average, %.3f at most", mean, most)
	}
}
