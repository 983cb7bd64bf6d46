package effects

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// table is metadata as a test writes it: "party" and "place" are categories, "tone" is a
// number, "when" a time.
type table struct {
	party, place []string
	tone         []float64
	when         []time.Time
}

func (x *table) metadata(t *testing.T) *corpus.Metadata {
	t.Helper()
	var docs [][]corpus.Value
	for m := range x.party {
		category := func(s string) corpus.Value {
			if s == "" {
				return corpus.Value{}
			}
			return corpus.CategoryOf(s)
		}
		row := []corpus.Value{category(x.party[m]), category(x.place[m]), {}, {}}
		if !math.IsNaN(x.tone[m]) {
			row[2] = corpus.NumberOf(x.tone[m])
		}
		if !x.when[m].IsZero() {
			row[3] = corpus.TimeOf(x.when[m])
		}
		docs = append(docs, row)
	}
	meta, err := corpus.NewMetadata([]corpus.Column{
		{Name: "party", Kind: corpus.Category}, {Name: "place", Kind: corpus.Category},
		{Name: "tone", Kind: corpus.Number, Unit: "pt"}, {Name: "when", Kind: corpus.Time},
	}, docs)
	if err != nil {
		t.Fatal(err)
	}
	return meta
}

// drawn returns m documents, some with values that are missing. No document of the right is
// from the island, and none is of March.
func drawn(m int) *table {
	r := rand.New(rand.NewPCG(1, uint64(m)))
	x := &table{}
	for range m {
		party := []string{"left", "centre", "right"}[r.IntN(3)]
		place := []string{"city", "land", "island", "sea"}[r.IntN(4)]
		if party == "right" && place == "island" {
			place = "city"
		}
		month := 1 + r.IntN(5)
		if month == 3 {
			month = 5
		}
		tone := math.Exp(r.NormFloat64())
		when := time.Date(2023, time.Month(month), 1+r.IntN(28), r.IntN(24), 0, 0, 0, time.UTC)
		switch r.IntN(20) {
		case 0:
			party = ""
		case 1:
			tone = math.NaN()
		case 2:
			when = time.Time{}
		}
		x.party, x.place, x.tone, x.when = append(x.party, party), append(x.place, place), append(x.tone, tone), append(x.when, when)
	}
	return x
}

// obvious is the design as one would write it down: a 1 for each level, all cardinal splines
// of a number, all products. Coefficients are those of least norm.
type obvious struct {
	terms []Term
	docs  []map[string]any // the values of the documents that count
	w     []float64
	knots []float64
}

func newObvious(terms []Term, x *table, weights []float64, knots []float64) *obvious {
	o := &obvious{terms: terms, knots: knots}
	need := map[string]bool{}
	for _, t := range terms {
		for _, p := range t.parts {
			need[p.column] = true
		}
	}
	for m := range x.party {
		v := map[string]any{"party": x.party[m], "place": x.place[m], "tone": x.tone[m], "when": x.when[m]}
		lacks := need["party"] && x.party[m] == "" || need["place"] && x.place[m] == "" ||
			need["tone"] && math.IsNaN(x.tone[m]) || need["when"] && x.when[m].IsZero()
		if weights[m] > 0 && !lacks {
			o.docs, o.w = append(o.docs, v), append(o.w, weights[m])
		}
	}
	return o
}

// functions are those of one column at a value.
func (o *obvious) functions(p part, v any) []float64 {
	hot := func(ok ...bool) (out []float64) {
		for _, b := range ok {
			x := 0.0
			if b {
				x = 1
			}
			out = append(out, x)
		}
		return out
	}
	switch p.column {
	case "party":
		return hot(v == "left", v == "centre", v == "right")
	case "place":
		return hot(v == "city", v == "land", v == "island", v == "sea")
	case "when":
		m := v.(time.Time).Month()
		return hot(m == 1, m == 2, m == 4, m == 5)
	}
	var out []float64
	for j := range o.knots {
		y := make([]float64, len(o.knots))
		y[j] = 1
		out = append(out, cardinal(o.knots, y, v.(float64)))
	}
	return out
}

// row is the row of a document with other values in some columns.
func (o *obvious) row(doc, other map[string]any) []float64 {
	get := func(c string) any {
		if v, ok := other[c]; ok {
			return v
		}
		return doc[c]
	}
	out := []float64{1}
	for _, t := range o.terms {
		var f [][]float64
		for _, p := range t.parts {
			f = append(f, o.functions(p, get(p.column)))
			out = append(out, f[len(f)-1]...)
		}
		if len(f) == 2 {
			for _, x := range f[0] {
				for _, y := range f[1] {
					out = append(out, x*y)
				}
			}
		}
	}
	return out
}

// mean is the weighted mean of the rows with other values in some columns.
func (o *obvious) mean(other map[string]any) []float64 {
	var sum []float64
	total := 0.0
	for m, doc := range o.docs {
		row := o.row(doc, other)
		if sum == nil {
			sum = make([]float64, len(row))
		}
		for i, v := range row {
			sum[i] += o.w[m] * v
		}
		total += o.w[m]
	}
	for i := range sum {
		sum[i] /= total
	}
	return sum
}

// fit returns two solutions of the weighted least squares of y, that of least norm and
// another one that explains y equally well.
func (o *obvious) fit(y []float64) (least, another []float64) {
	n, p := len(o.docs), len(o.row(o.docs[0], nil))
	x, rhs := mat.NewDense(n, p, nil), mat.NewDense(n, 1, nil)
	for m, doc := range o.docs {
		for i, v := range o.row(doc, nil) {
			x.Set(m, i, math.Sqrt(o.w[m])*v)
		}
		rhs.Set(m, 0, math.Sqrt(o.w[m])*y[m])
	}
	var svd mat.SVD
	svd.Factorize(x, mat.SVDThin) // there are more documents than columns, so that V is whole
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-9*svd.Values(nil)[0] {
			rank++
		}
	}
	var b, v mat.Dense
	svd.SolveTo(&b, rhs, rank)
	svd.VTo(&v)
	least = mat.Col(nil, 0, &b)
	another = mat.Col(nil, 0, &b)
	for k := rank; k < p; k++ {
		for i := range another {
			another[i] += float64(k+1) * v.At(i, k)
		}
	}
	return least, another
}

// cardinal evaluates the natural cubic spline through (knots, y) at x: by its second
// derivatives at the knots, which solve a linear system, and straight on outside.
func cardinal(knots, y []float64, x float64) float64 {
	n := len(knots)
	curve := make([]float64, n)
	if n > 2 {
		a, rhs := mat.NewDense(n-2, n-2, nil), mat.NewVecDense(n-2, nil)
		for i := 1; i < n-1; i++ {
			h, g := knots[i]-knots[i-1], knots[i+1]-knots[i]
			a.Set(i-1, i-1, (h+g)/3)
			if i > 1 {
				a.Set(i-1, i-2, h/6)
			}
			if i < n-2 {
				a.Set(i-1, i, g/6)
			}
			rhs.SetVec(i-1, (y[i+1]-y[i])/g-(y[i]-y[i-1])/h)
		}
		var c mat.VecDense
		if err := c.SolveVec(a, rhs); err != nil {
			panic(err)
		}
		copy(curve[1:], c.RawVector().Data)
	}
	i := 0
	for i < n-2 && x > knots[i+1] {
		i++
	}
	h := knots[i+1] - knots[i]
	inside := func(x float64) float64 {
		a, b := (knots[i+1]-x)/h, (x-knots[i])/h
		return a*y[i] + b*y[i+1] + ((a*a*a-a)*curve[i]+(b*b*b-b)*curve[i+1])*h*h/6
	}
	switch {
	case x < knots[0]:
		slope := (y[1]-y[0])/h - h/6*curve[1]
		return y[0] + slope*(x-knots[0])
	case x > knots[n-1]:
		slope := (y[n-1]-y[n-2])/h + h/6*curve[n-2]
		return y[n-1] + slope*(x-knots[n-1])
	}
	return inside(x)
}
