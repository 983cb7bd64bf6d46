package find

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/jsmf"
)

// ranked sorts all matches for which keep is true by score, and returns the first n.
func ranked(all []Match, n int) []Match {
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(n, len(all))]
}

// same compares matches, the scores to 1e-12: sums in another order.
func same(t *testing.T, what string, got, want []Match) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d matches, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].Score-want[i].Score) > 1e-12 {
			t.Fatalf("%s: match %d is %v, want %v", what, i, got[i], want[i])
		}
		// Scores that are equal except for rounding may change places.
		if got[i].Index != want[i].Index && !(i+1 < len(want) && want[i].Score-want[i+1].Score < 1e-12 || i > 0 && want[i-1].Score-want[i].Score < 1e-12) {
			t.Fatalf("%s: match %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// Every search against one that sorts all documents.
func TestDocuments(t *testing.T) {
	_, m, c := planted(t)
	d, err := NewDocuments(m, c)
	if err != nil {
		t.Fatal(err)
	}
	last := len(c.IDs) - 1 // without words
	odd := func(row int) bool { return row%2 == 1 }
	for _, n := range []int{1, 3, 50, 1000} {
		t.Run(fmt.Sprint(n, " best"), func(t *testing.T) {
			for topic := range m.K() {
				var all []Match
				for row := range last {
					if odd(row) {
						all = append(all, Match{row, c.IDs[row], c.W.At(row, topic)})
					}
				}
				got, err := d.TopDocuments(topic, n, odd)
				if err != nil {
					t.Fatal(err)
				}
				if want := ranked(all, n); !reflect.DeepEqual(got, want) {
					t.Fatalf("topic %d: got %v, want %v", topic, got, want)
				}
			}
			for _, self := range []int{0, 7, 100} {
				var all, filtered, topics []Match
				for row := range last {
					x := Match{row, c.IDs[row], affinity(c.W.RawRowView(self), c.W.RawRowView(row))}
					if row != self {
						all = append(all, x)
					}
					if odd(row) {
						filtered = append(filtered, x)
					}
				}
				got, err := d.SimilarDocuments(c.IDs[self], n, nil)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "similar documents", got, ranked(all, n))
				twice := mat.Row(nil, self, c.W)
				for k := range twice {
					twice[k] *= 2 // need not sum to 1
				}
				if got, err = d.SimilarTo(twice, n, odd); err != nil {
					t.Fatal(err)
				}
				same(t, "similar to proportions", got, ranked(filtered, n))
				for k := range m.K() {
					topics = append(topics, Match{k, m.Name(k), c.W.At(self, k)})
				}
				if got, err = d.TopTopics(c.IDs[self], n); err != nil {
					t.Fatal(err)
				}
				if want := ranked(topics, n); !reflect.DeepEqual(got, want) {
					t.Fatalf("document %d: got %v, want %v", self, got, want)
				}
			}
		})
	}
}

// What was given can change without changing what is found, and goroutines share it.
func TestDocumentsShared(t *testing.T) {
	_, m, c := planted(t)
	d, err := NewDocuments(m, c)
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.SimilarDocuments("d3", 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.W.Zero()
	clear(c.IDs)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				got, err := d.SimilarDocuments("d3", 10, nil)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestDocumentsErrors(t *testing.T) {
	_, m, c := planted(t)
	d, err := NewDocuments(m, c)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*jsmf.Compositions)) error {
		x := *c
		x.W, x.IDs = mat.DenseCopyOf(c.W), slices.Clone(c.IDs)
		change(&x)
		_, err := NewDocuments(m, &x)
		return err
	}
	_, noModel := NewDocuments(nil, c)
	_, noDocs := NewDocuments(m, nil)
	_, topic := d.TopDocuments(5, 1, nil)
	_, none := d.TopDocuments(0, 0, nil)
	_, id := d.TopTopics("nobody", 1)
	_, empty := d.SimilarDocuments("empty", 1, nil)
	_, short := d.SimilarTo([]float64{1}, 1, nil)
	_, bad := d.SimilarTo([]float64{1, math.NaN(), 0, 0, 0}, 1, nil)
	for _, x := range []struct {
		err  error
		want string
	}{
		{noModel, "no model"},
		{noDocs, "no documents"},
		{with(func(x *jsmf.Compositions) { x.W = nil }), "the proportions are 0×0, want 401×5"},
		{with(func(x *jsmf.Compositions) { x.IDs[7] = "d2" }), `documents 2 and 7 have the same id "d2"`},
		{with(func(x *jsmf.Compositions) { x.IDs = x.IDs[:3] }), "3 ids, "},
		{with(func(x *jsmf.Compositions) { x.W.Set(4, 1, -1) }), "topic 1 in document d4 is -1"},
		{with(func(x *jsmf.Compositions) { x.W = mat.NewDense(401, 2, nil) }), "the proportions are 401×2, want 401×5"},
		{topic, "topic 5: the model has the topics 0 to 4"},
		{none, "at least 1"},
		{id, `no document "nobody"`},
		{empty, `"empty"`},
		{short, "1 topics, but the model has 5"},
		{bad, "NaN"},
	} {
		if x.err == nil || !strings.HasPrefix(x.err.Error(), "find: ") || !strings.Contains(x.err.Error(), x.want) {
			t.Errorf("got %v, want find: … %s", x.err, x.want)
		}
	}
	if held, err := m.With(jsmf.Additions{Documents: c}); err != nil {
		t.Error(err)
	} else if _, err := NewDocuments(held, nil); err != nil {
		t.Errorf("documents of the model: %v", err)
	}
}
