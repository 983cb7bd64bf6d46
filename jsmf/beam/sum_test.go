package beam

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
)

// testWords is such that a census has more numbers than a stripe.
const testWords = 150_000

// docs are documents by number of word.
type docs []corpus.Document

func (d docs) Vocabulary(context.Context) ([]string, error) { return make([]string, testWords), nil }
func (d docs) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, doc := range d {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// generate draws n documents, in which common words have low numbers.
func generate(n int) docs {
	rng := rand.New(rand.NewPCG(15, 22))
	all := make(docs, n)
	for i := range all {
		d := corpus.Document{ID: fmt.Sprintf("document %d", i)}
		for range 1 + rng.IntN(60) {
			d.Words = append(d.Words, int32(testWords*rng.Float64()*rng.Float64()*rng.Float64()))
			d.Counts = append(d.Counts, int32(1+rng.IntN(5)))
		}
		all[i] = d
	}
	return all
}

// testPieces writes documents to n pieces of a state folder, dealt out like cards.
func testPieces(t testing.TB, folder string, all docs, n int) []file {
	t.Helper()
	pieces := make([]file, n)
	for i := range pieces {
		var mine docs
		for j := i; j < len(all); j += n {
			mine = append(mine, all[j])
		}
		var err error
		pieces[i], err = writeFile(t.Context(), folder, "piece", func(w io.Writer) error {
			_, err := corpus.EncodeTo(t.Context(), mine, w)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pieces
}

// testPlan is a census of the documents, and its sum in this process.
func testPlan(t testing.TB, all docs) (sums.Plan, []int64) {
	t.Helper()
	e, err := corpus.Encode(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sums.NewCensus(e.Info().DocFrequencies, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sums.NewLocal(e, 1).Sum(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return plan, want
}

// TestSum: the sum is that of one process, for any number of pieces and shares, and with two
// jobs at once.
func TestSum(t *testing.T) {
	all := generate(2000)
	plan, want := testPlan(t, all)
	for _, n := range []int{1, 4, 16, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			st, err := openState(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			pieces := testPieces(t, st.folder, all, n)
			got, err := st.sum(t.Context(), Runner{Shares: min(n, 5)}, "all", pieces, plan)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Error("the sum differs")
			}
		})
	}
}
