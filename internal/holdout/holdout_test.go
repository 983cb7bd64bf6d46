package holdout

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

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Every second token is hidden, counted one by one in the order of the words.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		counts := make([]int32, rng.IntN(8))
		total, wantHidden := int64(0), int64(0)
		for i := range counts {
			counts[i] = rng.Int32N(6) // zeros too
		}
		next := 0
		Split(counts, func(i int, visible, hidden int64) {
			if i != next {
				t.Fatalf("%v: word %d after %d others", counts, i, next)
			}
			next++
			want := int64(0)
			for range counts[i] {
				if total++; total%2 == 0 {
					want++
				}
			}
			wantHidden += want
			if hidden != want || visible+hidden != int64(counts[i]) {
				t.Errorf("%v: %d tokens of word %d are visible, %d hidden, want %d", counts, visible, i, hidden, want)
			}
		})
		if next != len(counts) || Hidden(total) != wantHidden {
			t.Errorf("%v: %d words; %d tokens are hidden, Hidden says %d", counts, next, wantHidden, Hidden(total))
		}
	}
	// Counts whose sum no int32 holds.
	sum := int64(0)
	Split([]int32{math.MaxInt32, math.MaxInt32, math.MaxInt32}, func(_ int, _, hidden int64) { sum += hidden })
	if want := Hidden(3 * math.MaxInt32); sum != want {
		t.Errorf("%d tokens are hidden, want %d", sum, want)
	}
}

// One document in twenty is watched: of 20,000 some 1000, with a deviation of 31.
func TestWatches(t *testing.T) {
	watched := 0
	for i := range 20000 {
		if Watches(bag.Key(fmt.Sprint("document ", i), 0)) {
			watched++
		}
	}
	if watched < 850 || watched > 1150 {
		t.Errorf("%d documents of 20000 are watched", watched)
	}
	if Enough(1999) || !Enough(2000) {
		t.Error("the border of Enough is not 2000")
	}
}

// list yields documents and then an error.
type list struct {
	docs []corpus.Document
	err  error
}

func (s list) Docs(context.Context) iter.Seq2[corpus.Document, error] {
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

type weighted struct{ list }

func (weighted) Weights() []float64 { return []float64{1, 2} }

// What is visible is what Split leaves of the words, ascending and each once, in documents
// that are watched, by id or by number; others are as they were.
func TestVisible(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(3, 4))
	var src list
	for i := range 400 {
		d := corpus.Document{ID: fmt.Sprint("d", i), Label: fmt.Sprint(i % 3)}
		if i >= 200 {
			d.ID = ""
		}
		for range rng.IntN(20) {
			d.Words, d.Counts = append(d.Words, rng.Int32N(n)), append(d.Counts, rng.Int32N(4))
		}
		src.docs = append(src.docs, d)
	}
	number, watched := 0, 0
	for got, err := range (Visible{Source: src, N: n}).Docs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		was := src.docs[number]
		number++
		if got.ID != was.ID || got.Label != was.Label {
			t.Errorf("document %d is called %q, %q", number, got.ID, got.Label)
		}
		if !Watches(bag.Key(was.ID, number)) {
			if !slices.Equal(got.Words, was.Words) || !slices.Equal(got.Counts, was.Counts) {
				t.Errorf("document %d, which is not watched, changed", number)
			}
			continue
		}
		watched++
		counts := make([]int32, n)
		for i, w := range was.Words {
			counts[w] += was.Counts[i]
		}
		var words, left []int32
		Split(counts, func(w int, visible, _ int64) {
			if visible > 0 {
				words, left = append(words, int32(w)), append(left, int32(visible))
			}
		})
		if !slices.Equal(got.Words, words) || !slices.Equal(got.Counts, left) {
			t.Errorf("document %d has %v, %v, want %v, %v", number, got.Words, got.Counts, words, left)
		}
	}
	if number != len(src.docs) || watched < 5 || watched > 40 {
		t.Errorf("%d documents, %d of them watched", number, watched)
	}
}

func TestVisibleErrors(t *testing.T) {
	id := ""
	for i := 0; !Watches(bag.Key(id, 1)); i++ {
		id = fmt.Sprint("x", i)
	}
	cause := errors.New("disk on fire")
	for want, src := range map[string]list{
		"disk on fire":                {docs: []corpus.Document{{ID: id, Words: []int32{1}}}, err: cause},
		"document " + id + ": word 7": {docs: []corpus.Document{{ID: id, Words: []int32{7}}, {ID: "next"}}},
		"document " + id + ": tokens": {docs: []corpus.Document{{ID: id, Tokens: []string{"a"}}}},
	} {
		var errs []error
		for _, err := range (Visible{Source: src, N: 7}).Docs(t.Context()) {
			if err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("errors %v, want one with %q", errs, want)
		}
	}
	for range (Visible{Source: list{docs: make([]corpus.Document, 3)}, N: 7}).Docs(t.Context()) {
		break // the source must not go on
	}
	if w := (Visible{Source: weighted{}}).Weights(); !slices.Equal(w, []float64{1, 2}) {
		t.Errorf("weights %v", w)
	}
	if w := (Visible{Source: list{}}).Weights(); w != nil {
		t.Errorf("weights %v of a source without", w)
	}
}
