package sums

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// list is a source of documents by number.
type list struct {
	docs []corpus.Document
	n    int
	w    []float64
}

func (l list) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Vocabulary: make([]string, l.n), Weights: l.w}, nil
}

func (l list) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range l.docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (l list) encode(t testing.TB) *corpus.Encoded {
	t.Helper()
	e, err := corpus.Encode(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// random draws documents with an id, of few words or, some, of most words; one in fifty
// is empty. Common words have low numbers.
func random(docs, n int) list {
	rng := rand.New(rand.NewPCG(uint64(docs), uint64(n)))
	l := list{n: n}
	for m := range docs {
		d := corpus.Document{ID: fmt.Sprintf("doc %d", m)}
		for w := range n {
			p := 60 / float64(60+w)
			if m%7 == 0 {
				p = math.Sqrt(p)
			}
			if m%50 != 49 && rng.Float64() < p {
				d.Words, d.Counts = append(d.Words, int32(w)), append(d.Counts, 1+int32(rng.ExpFloat64()))
			}
		}
		l.docs = append(l.docs, d)
	}
	return l
}

// best returns the idf of all words, and every second word.
func best(e *corpus.Encoded) (idf []float64, words []int) {
	info := e.Info()
	for w, df := range info.DocFrequencies {
		idf = append(idf, math.Log(float64(info.Documents)/float64(df)))
		if w%2 == 0 {
			words = append(words, w)
		}
	}
	return idf, words
}

func sumOf(t testing.TB, d Documents, p Plan) []int64 {
	t.Helper()
	sum, err := d.Sum(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// sumOfParts adds up the sums of the documents of l, so many at a time, each with some workers.
func sumOfParts(t testing.TB, l list, docs, workers int, p Plan) []int64 {
	t.Helper()
	sum := make([]int64, p.Len())
	for lo := 0; lo < len(l.docs); lo += docs {
		part := list{docs: l.docs[lo:min(lo+docs, len(l.docs))], n: l.n}
		for i, v := range sumOf(t, NewLocal(part.encode(t), workers), p) {
			sum[i] += v
		}
	}
	return sum
}

func wantError(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
