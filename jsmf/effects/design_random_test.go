package effects

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// extreme are numbers and times that are hard on arithmetic.
var (
	extreme = []float64{0, 1, -1, 1e-320, 1e308, -1e308, 1e15, 1e15 + 1, math.Pi, 5e-324}
	ages    = []time.Time{
		time.Unix(0, 0), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(0, 3, 15, 0, 0, 0, 0, time.UTC),
	}
)

// Whatever the metadata, there is an error or a design of finite numbers and full rank, whose
// points are ascending and hold the documents that count.
func TestDesignOfAnything(t *testing.T) {
	testutil.NotWithRace(t)
	made := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		rows := make([][]corpus.Value, 1+r.IntN(200))
		wild := r.IntN(3) == 0
		for m := range rows {
			rows[m] = make([]corpus.Value, 4)
			for c := range 2 {
				if r.IntN(10) > 0 {
					rows[m][c] = corpus.CategoryOf(string(rune('a' + r.IntN(1+r.IntN(5)))))
				}
			}
			if r.IntN(10) > 0 {
				rows[m][2] = corpus.NumberOf(math.Round(10 * r.NormFloat64()))
				rows[m][3] = corpus.TimeOf(time.Unix(1.7e9+r.Int64N(1e8), 0))
			}
			if wild {
				rows[m][2], rows[m][3] = corpus.NumberOf(extreme[r.IntN(len(extreme))]), corpus.TimeOf(ages[r.IntN(len(ages))])
			}
		}
		meta, err := corpus.NewMetadata([]corpus.Column{
			{Name: "a", Kind: corpus.Category}, {Name: "b", Kind: corpus.Category}, {Name: "x", Kind: corpus.Number}, {Name: "t", Kind: corpus.Time},
		}, rows)
		if err != nil {
			t.Fatal(err)
		}
		parts := []Term{Category("a"), Category("b"), Spline("x", 1+r.IntN(maxDF)), Time("t", []Bins{Day, Week, Month, Year, Equal(2 + r.IntN(5))}[r.IntN(5)])}
		terms := parts[r.IntN(4):]
		for range r.IntN(3) {
			terms = append(slices.Clone(terms), Interaction(parts[r.IntN(2)], parts[2+r.IntN(2)]))
		}
		d, err := newDesign(context.Background(), terms, meta, slices.Repeat([]float64{1e-3}, len(rows)))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "effects: ") {
				t.Errorf("seed %d: error %v", seed, err)
			}
			continue
		}
		made++
		checkSound(t, fmt.Sprintf("seed %d, %v", seed, terms), d)
	}
	if made < 100 {
		t.Errorf("%d designs were made", made)
	}
}

func checkSound(t *testing.T, name string, d *design) {
	t.Helper()
	gram := mat.NewSymDense(d.cols, nil)
	for i := range d.docs {
		at, x := d.row(i)
		full := mat.NewVecDense(d.cols, nil)
		for j, c := range at {
			full.SetVec(int(c), x[j])
		}
		gram.SymRankOne(gram, 1, full)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		t.Errorf("%s: X has not full rank", name)
	}
	finite := func(x []float64) bool {
		return x == nil || !math.IsNaN(floats.Sum(x)) && !math.IsInf(floats.Norm(x, 1), 0)
	}
	for _, term := range d.terms {
		docs := 0
		labels := map[string]bool{}
		for i, p := range term.Points {
			docs += p.Documents
			labels[p.Label] = true
			if !finite(term.predict[i]) {
				t.Errorf("%s: %s at %s has the vector %v", name, term.Name, p.Label, term.predict[i])
			}
			if i > 0 && (term.Kind == Numbers && !(p.Number > term.Points[i-1].Number) || term.Kind == Times && !p.From.Equal(term.Points[i-1].To)) {
				t.Errorf("%s: %s after %s", name, p.Label, term.Points[i-1].Label)
			}
		}
		if docs != len(d.docs) || len(labels) != len(term.Points) || !finite(term.slope) {
			t.Errorf("%s: %s has %d of %d documents at %d points with %d labels, and the slope %v", name, term.Name, docs, len(d.docs), len(term.Points), len(labels), term.slope)
		}
	}
}
