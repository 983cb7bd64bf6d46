package effects

import (
	"context"
	"errors"
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

// newDesign returns the design of all terms.
func newDesign(ctx context.Context, terms []Term, meta *corpus.Metadata, weights []float64) (*design, error) {
	all, err := newDesigns(ctx, terms, meta, weights, "")
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// solve returns the coefficients of the weighted least squares of y, by QR.
func (d *design) solve(t *testing.T, y, w []float64) []float64 {
	t.Helper()
	x, rhs := mat.NewDense(len(d.docs), d.cols, nil), mat.NewDense(len(d.docs), 1, nil)
	for m := range d.docs {
		s := math.Sqrt(w[d.docs[m]])
		at, v := d.row(m)
		for i, c := range at {
			x.Set(m, int(c), s*v[i])
		}
		rhs.Set(m, 0, s*y[m])
	}
	var qr mat.QR
	qr.Factorize(x)
	var b mat.Dense
	if err := qr.SolveTo(&b, false, rhs); err != nil {
		t.Fatal("X has not full column rank:", err)
	}
	return mat.Col(nil, 0, &b)
}

// given are the values of a point for the obvious version.
func given(x *TermEffects, p Point) map[string]any {
	out := map[string]any{}
	labels := p.Labels
	if labels == nil {
		labels = []string{p.Label}
	}
	for i, c := range x.Columns {
		switch c {
		case "tone":
			out[c] = p.Number
		case "when":
			out[c] = p.From
		default:
			out[c] = labels[i]
		}
	}
	return out
}

// Predictions, differences and slopes are those of the design written down with all levels,
// cardinal splines and all products, averaged document by document; and the points of which
// the documents do not tell are those where two solutions there do not agree. The tolerance
// is for the rounding of two ways to solve.
func TestDesignIsTheObviousOne(t *testing.T) {
	testutil.NotWithRace(t)
	for name, terms := range map[string][]Term{
		"category":                    {Category("party")},
		"number":                      {Number("tone")},
		"time":                        {Time("when", Month)},
		"line and category":           {Spline("tone", 1), Category("place")},
		"all":                         {Category("party"), Number("tone"), Time("when", Month), Category("place")},
		"categories":                  {Interaction(Category("party"), Category("place"))},
		"categories with their own":   {Category("party"), Interaction(Category("place"), Category("party")), Category("place")},
		"category and number":         {Interaction(Category("party"), Number("tone")), Number("tone"), Category("place")},
		"number and category":         {Interaction(Number("tone"), Category("place")), Number("tone")},
		"category and time":           {Interaction(Category("place"), Time("when", Month)), Time("when", Month)},
		"two interactions":            {Interaction(Category("party"), Number("tone")), Interaction(Category("party"), Category("place")), Number("tone"), Category("party")},
		"two interactions of a time":  {Interaction(Category("party"), Time("when", Month)), Interaction(Time("when", Month), Category("place"))},
		"the same interaction, twice": {Interaction(Category("party"), Category("place")), Interaction(Category("place"), Category("party"))},
	} {
		t.Run(name, func(t *testing.T) {
			x := drawn(200)
			if name == "two interactions of a time" { // a pair that is in no document
				for m := range x.place {
					if x.place[m] == "sea" && x.when[m].Month() == 2 {
						x.place[m] = "land"
					}
				}
			}
			r := rand.New(rand.NewPCG(2, 3))
			w, y := make([]float64, len(x.party)), make([]float64, len(x.party))
			for m := range w {
				w[m], y[m] = r.ExpFloat64(), r.NormFloat64()
				if m%50 == 7 {
					w[m] = 0
				}
			}
			d, err := newDesign(context.Background(), terms, x.metadata(t), w)
			if err != nil {
				t.Fatal(err)
			}
			checkDesign(t, d, terms, x, w, y)
		})
	}
}

func checkDesign(t *testing.T, d *design, terms []Term, x *table, w, y []float64) {
	var knots []float64
	for _, term := range terms {
		for _, p := range term.parts {
			if p.kind == Numbers {
				tone := at(x.tone, d.docs)
				knots = splineOf(t, tone, p.df).knots
			}
		}
	}
	o := newObvious(terms, x, w, knots)
	if len(o.docs) != len(d.docs) || len(d.docs) > 196 || len(d.docs) < 150 {
		t.Fatalf("%d documents count, want %d", len(d.docs), len(o.docs))
	}
	yd := at(y, d.docs)
	beta := d.solve(t, yd, w)
	least, another := o.fit(yd)
	overall := floats.Dot(least, o.mean(nil))
	untold, told := 0, 0
	for _, term := range d.terms {
		docs := 0
		for i, p := range term.Points {
			docs += p.Documents
			values := given(&term.TermEffects, p)
			c := o.mean(values)
			want, other := floats.Dot(least, c), floats.Dot(another, c)
			if !p.From.IsZero() && p.From.Month() == time.March {
				want, other = 0, 1 // the obvious version has no such bin
			}
			if math.Abs(want-other) > 1e-7 {
				if untold++; term.predict[i] != nil {
					t.Errorf("%s at %s: predicted, but the documents do not tell", term.Name, p.Label)
				}
				continue
			}
			if told++; term.predict[i] == nil {
				t.Errorf("%s at %s: nothing predicted, want %v", term.Name, p.Label, want)
				continue
			}
			got, diff := floats.Dot(beta, term.predict[i]), floats.Dot(beta, term.predict[i])-floats.Dot(beta, d.mean)
			if math.Abs(got-want) > 1e-8 || math.Abs(diff-(want-overall)) > 1e-8 {
				t.Errorf("%s at %s: predicted %v, a difference of %v; want %v and %v", term.Name, p.Label, got, diff, want, want-overall)
			}
		}
		if docs != len(d.docs) {
			t.Errorf("%s: the points have %d documents, want %d", term.Name, docs, len(d.docs))
		}
		checkSlope(t, &term, o, beta, least)
	}
	if told == 0 || len(terms) == 1 && terms[0].String() == "party × place" && untold == 0 {
		t.Errorf("%d points told, %d not", told, untold)
	}
}

// checkSlope compares with differences of predictions for each document with its own number
// a little larger and a little smaller.
func checkSlope(t *testing.T, term *termDesign, o *obvious, beta, least []float64) {
	if term.Kind != Numbers {
		if term.slope != nil {
			t.Errorf("%s has slopes", term.Name)
		}
		return
	}
	const h = 1e-4
	sum, total := 0.0, 0.0
	for m, doc := range o.docs {
		v := doc["tone"].(float64)
		more, less := o.row(doc, map[string]any{"tone": v + h}), o.row(doc, map[string]any{"tone": v - h})
		sum += o.w[m] * (floats.Dot(least, more) - floats.Dot(least, less)) / (2 * h)
		total += o.w[m]
	}
	// The error of central differences is about h² times a third derivative, here of up to 100.
	if got, want := floats.Dot(beta, term.slope), sum/total; math.Abs(got-want) > 1e-5 {
		t.Errorf("%s: slope %v, want %v", term.Name, got, want)
	}
}

// What documents cannot tell is an error that names the terms.
func TestDesignErrors(t *testing.T) {
	ones := slices.Repeat([]float64{1}, 60)
	for want, c := range map[string]struct {
		terms []Term
		edit  func(x *table, w []float64)
	}{
		`term 1, colour: corpus: there is no column "colour"`:                                                              {terms: []Term{Category("colour")}},
		`column "tone" holds values of the kind number, not category`:                                                      {terms: []Term{Category("tone")}},
		`the documents that count do not tell term "place" from "party"`:                                                   {[]Term{Category("party"), Category("place")}, func(x *table, _ []float64) { copy(x.place, x.party) }},
		`the documents that count do not tell term "when" from "party" and "place": leave one`:                             {[]Term{Category("party"), Category("place"), Time("when", Month)}, twoSay},
		`the documents that count do not tell term "tone" from "place"`:                                                    {[]Term{Category("place"), Spline("tone", 1)}, func(x *table, _ []float64) { numbersOf(x) }},
		`column "party": all documents that count have the level "left"; want at least two`:                                {[]Term{Category("party")}, func(x *table, w []float64) { only(x, w, "left") }},
		`column "tone": all documents that count have the number 2`:                                                        {[]Term{Number("tone")}, func(x *table, _ []float64) { fill(x.tone, 2) }},
		`column "when": all documents that count are in the bin "2023"`:                                                    {terms: []Term{Time("when", Year)}},
		`column "when": its times run from 0023-01-01 to 2023-`:                                                            {[]Term{Time("when", Day)}, func(x *table, _ []float64) { x.when[4] = time.Date(23, 1, 1, 0, 0, 0, 0, time.UTC) }},
		`no document has words of the model and values in all columns of the terms: of 60, 60 lack "tone", 4 lack "party"`: {[]Term{Number("tone"), Category("party")}, func(x *table, _ []float64) { fill(x.tone, math.NaN()) }},
		`4 documents do not tell the effects of terms with`:                                                                {[]Term{Category("party"), Category("place"), Spline("tone", 1)}, func(_ *table, w []float64) { clear(w[4:]) }},
	} {
		x, w := drawn(60), slices.Clone(ones)
		if c.edit != nil {
			c.edit(x, w)
		}
		if _, err := newDesign(context.Background(), c.terms, x.metadata(t), w); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "effects: ") {
			t.Errorf("error %v\nwant one with %s", err, want)
		}
	}
	if _, err := newDesign(context.Background(), []Term{Category("party")}, nil, ones); err == nil || !strings.Contains(err.Error(), "no metadata") {
		t.Errorf("without metadata: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newDesign(ctx, []Term{Category("party")}, drawn(60).metadata(t), ones); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func fill(x []float64, v float64) {
	for m := range x {
		x[m] = v
	}
}

// only leaves out the documents of other parties.
func only(x *table, w []float64, party string) {
	for m := range w {
		if x.party[m] != party {
			w[m] = 0
		}
	}
}

// numbersOf gives the places numbers.
func numbersOf(x *table) {
	for m, p := range x.place {
		x.tone[m] = float64(len(p) % 5)
	}
}

// twoSay gives each pair of two parties and two places a month of its own.
func twoSay(x *table, _ []float64) {
	for m := range x.when {
		x.party[m] = []string{"left", "right"}[m%2]
		x.place[m] = []string{"city", "land"}[m/2%2]
		x.when[m] = time.Date(2023, time.Month(1+m%2+2*(m/2%2)), 1, 0, 0, 0, 0, time.UTC)
	}
}

// Levels that no document has are no points, and differences are to the average over
// documents: their mean with the documents' weights is 0.
func TestDifferencesAverageToZero(t *testing.T) {
	x := drawn(200)
	meta := x.metadata(t)
	w := make([]float64, 200)
	for m := range w {
		if x.party[m] != "centre" {
			w[m] = float64(1 + m%3)
		}
	}
	d, err := newDesign(context.Background(), []Term{Category("party"), Category("place"), Time("when", Equal(4))}, meta, w)
	if err != nil {
		t.Fatal(err)
	}
	if p := d.terms[0].Points; len(p) != 2 || p[0].Label != "left" || p[1].Label != "right" || p[0].Levels[0] != 1 || p[1].Levels[0] != 2 {
		t.Errorf("points of party: %+v", p)
	}
	for i, term := range d.terms {
		sum := make([]float64, d.cols)
		for _, doc := range d.docs {
			var at int
			switch i {
			case 0:
				at = slices.IndexFunc(term.Points, func(p Point) bool { return p.Label == x.party[doc] })
			case 1:
				at = slices.IndexFunc(term.Points, func(p Point) bool { return p.Label == x.place[doc] })
			default:
				at = slices.IndexFunc(term.Points, func(p Point) bool { return !x.when[doc].Before(p.From) && x.when[doc].Before(p.To) })
			}
			floats.AddScaled(sum, w[doc], term.predict[at])
			floats.AddScaled(sum, -w[doc], d.mean)
		}
		for c, v := range sum {
			if math.Abs(v) > 1e-10 {
				t.Errorf("%s: the differences average to %v in column %d", term.Name, v, c)
			}
		}
	}
}

// Thousands of levels cost what occurs, not documents times levels.
func TestManyLevels(t *testing.T) {
	const levels = 600
	var docs [][]corpus.Value
	for m := range 3 * levels {
		docs = append(docs, []corpus.Value{corpus.CategoryOf(fmt.Sprint(m % levels))})
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "author", Kind: corpus.Category}}, docs)
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDesign(context.Background(), []Term{Category("author")}, meta, slices.Repeat([]float64{1}, len(docs)))
	if err != nil {
		t.Fatal(err)
	}
	if d.cols != levels || len(d.x) != 2*len(docs)-3 || len(d.terms[0].Points) != levels {
		t.Errorf("%d columns, %d entries, %d points", d.cols, len(d.x), len(d.terms[0].Points))
	}
}

// More levels than a study can have are counted, and nothing is made for them.
func TestTooManyLevels(t *testing.T) {
	const levels = 20_000
	docs := make([][]corpus.Value, levels)
	for m := range docs {
		docs[m] = []corpus.Value{corpus.CategoryOf(fmt.Sprint(m))}
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "author", Kind: corpus.Category}}, docs)
	if err != nil {
		t.Fatal(err)
	}
	ones := slices.Repeat([]float64{1}, levels)
	bytes := testutil.Allocated(t, func() {
		_, err = newDesign(context.Background(), []Term{Category("author")}, meta, ones)
	})
	if want := `effects: column "author": the documents have 20000 levels or bins; at most 5000`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if most := int64(1000 * levels); bytes > most {
		t.Errorf("%d bytes are allocated, want at most %d", bytes, most)
	}
}

// The enlarged distances of a cluster of documents say how far the mean of a level moves when the
// cluster is left out, as a jackknife over clusters finds it. A document without a cluster is one.
func TestClustersLeftOut(t *testing.T) {
	const docs = 60
	rng := rand.New(rand.NewPCG(4, 2))
	var values [][]corpus.Value
	var side, author []int
	y, w := make([]float64, docs), make([]float64, docs)
	for m := range docs {
		side, author = append(side, rng.IntN(2)), append(author, rng.IntN(9))
		y[m], w[m] = rng.NormFloat64(), 1+rng.Float64()
		v := []corpus.Value{corpus.CategoryOf(fmt.Sprint(side[m])), corpus.CategoryOf(fmt.Sprint(author[m]))}
		if author[m] == 0 {
			v[1], author[m] = corpus.Value{}, -m-1
		}
		values = append(values, v)
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "side", Kind: corpus.Category}, {Name: "author", Kind: corpus.Category}}, values)
	if err != nil {
		t.Fatal(err)
	}
	designs, err := newDesigns(ctx, []Term{Category("side")}, meta, w, "author")
	if err != nil {
		t.Fatal(err)
	}
	mean := func(level, without int) float64 {
		sum, all := 0.0, 0.0
		for m := range docs {
			if side[m] == level && author[m] != without {
				sum, all = sum+w[m]*y[m], all+w[m]
			}
		}
		return sum / all
	}
	leverages := designs[0].leverages()
	for m := range docs {
		// What the distances of the author's documents add to the mean of the level.
		level, moved, all := side[m], 0.0, 0.0
		for i := range docs {
			if side[i] != level {
				continue
			}
			if all += w[i]; author[i] == author[m] {
				moved += w[i] * (y[i] - mean(level, docs)) / (1 - leverages[i])
			}
		}
		if want := mean(level, docs) - mean(level, author[m]); math.Abs(moved/all-want) > 1e-12 {
			t.Errorf("document %d: its author moves the mean by %v, want %v", m, moved/all, want)
		}
	}
}
