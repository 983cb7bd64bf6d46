package find

import (
	"context"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// No number makes a search panic or take memory without end.
func TestExtremes(t *testing.T) {
	_, m, c := planted(t)
	d, err := NewDocuments(m, c)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	type args struct {
		Topic, N    int
		Proportion  float64
		Word, Count int32
		Unknown     int64
	}
	testutil.Extremes(t, args{1, 3, 1, 5, 2, 1}, func(_ context.Context, a args) error {
		// One after the other: what is out of range for one of them is no number of another.
		d.TopDocuments(a.Topic, a.N, nil)
		d.SimilarDocuments(c.IDs[0], a.N, nil)
		d.SimilarTo([]float64{a.Proportion, 1, 0, 0, 0}, a.N, nil)
		d.TopTopics(c.IDs[0], a.N)
		w.SimilarWords(m.Word(0), a.N)
		w.Recommend([]string{m.Word(0)}, a.N)
		_, err := w.ExplainCounts([]int32{a.Word}, []int32{a.Count}, a.Unknown)
		return err
	})
}
