package jsmf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// Labels of planted topics, two a document, are told for the half of the documents in which they are hidden; of each
// topic p(label | topic) names it; and the seeds of labels are words of the topics, by which a fit finds them.
func TestLabels(t *testing.T) {
	testutil.NotWithRace(t)
	const docs, topics = 900, 9
	drawn, _, best := seeded(t, docs, 0)
	ids := make([]string, docs)
	for d := range ids {
		ids[d] = strconv.Itoa(d)
	}
	c, err := corpus.FromCSR(drawn.Counts(), drawn.Vocabulary(), ids, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := func(d corpus.Document) []string {
		n, _ := strconv.Atoi(d.ID)
		return []string{fmt.Sprint("topic ", n%topics), fmt.Sprint("topic ", n/topics%topics)}
	}
	half := func(d corpus.Document) []string {
		if n, _ := strconv.Atoi(d.ID); n%2 == 1 {
			return nil
		}
		return all(d)
	}
	seeds, err := SeedsOf(t.Context(), c.Source(), half, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range seeds {
		found := 0
		for _, w := range s.Words {
			if slices.Contains(best[k], w) {
				found++
			}
		}
		if s.Name != fmt.Sprint("topic ", k) || len(s.Words) != 5 || found < 4 {
			t.Errorf("seeds of label %d: %+v, of its topic's %v", k, s, best[k])
		}
	}
	m, err := New(topics).Seeds(seeds...).Refine(refine.Passes{N: 10}).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := m.Labels(t.Context(), c.Source(), half)
	if err != nil {
		t.Fatal(err)
	}
	for k := range topics {
		column := make([]float64, len(l.Names))
		for i := range column {
			column[i] = l.Given.At(i, k)
		}
		if at := floats.MaxIdx(column); l.Names[at] != m.Name(k) || column[at] < 0.7 || column[at] > 1 {
			t.Errorf("topic %d, %s: p(label | topic) %.2f of %v", k, m.Name(k), column, l.Names)
		}
	}
	scores, err := l.Scores(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for d := 1; d < docs; d += 2 {
		given := all(corpus.Document{ID: ids[d]})
		for i, name := range l.Names {
			if slices.Contains(given, name) == (scores.At(d, i) > 0) {
				right++
			}
		}
	}
	if part := float64(right) / (docs / 2 * topics); part < 0.95 {
		t.Errorf("%.3f of the hidden labels are right", part)
	}
	one := func(corpus.Document) []string { return []string{"same"} }
	if _, err := m.Labels(t.Context(), c.Source(), one); err == nil || !strings.Contains(err.Error(), "labels: 1 labels") {
		t.Errorf("one label: %v", err)
	}
	if _, err := SeedsOf(t.Context(), c.Source(), one, 0); err == nil || !strings.Contains(err.Error(), "two or more") {
		t.Errorf("seeds of one label: %v", err)
	}
}
