package refine

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// Between passes a topic is what its tokens, Beta and its seeds say, and at the end what tokens and Beta
// do: to the rounding of float32, of which a word has one number.
func TestSeeds(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.3, 3)
	c := planted(t, p, 300, 40)
	seeds := [][]Seed{{{Word: 5, Share: 0.3}, {Word: 9, Share: 0}}, {{Word: 5, Share: 0.01}}}
	docs, start := c.Source(), Start{B: p.B}
	f, err := Passes{}.withDefaults().begin(t.Context(), docs, start, Options{Seeds: seeds})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.pass(t.Context(), turn{first: true, begins: true, closing: true}); err != nil {
		t.Fatal(err)
	}
	for k := range f.k {
		prior, tokens := make([]float64, f.n), 0.
		for i := range prior {
			prior[i] = f.beta
			tokens += f.tokens(f.sums.Row(i)[k])
		}
		for s, of := range seeds {
			for _, x := range of {
				if s == k {
					prior[x.Word] += x.Share * tokens
				}
			}
		}
		total := 0.
		for i := range f.n {
			total += f.tokens(f.sums.Row(i)[k]) + prior[i]
		}
		for i := range f.n {
			want := (f.tokens(f.sums.Row(i)[k]) + prior[i]) / total
			if got := float64(f.rows.Row(i)[k]); math.Abs(got-want) > 1e-6*want {
				t.Errorf("p(word %d | topic %d) = %v, want %v", i, k, got, want)
			}
		}
	}
	for _, r := range []Refiner{Passes{}, Batch{}} {
		opt := Options{Seeds: seeds, Without: [][]int{nil, nil, {p.Anchors[2]}}, Workers: 1}
		one, err := r.Refine(t.Context(), docs, start, opt)
		if err != nil {
			t.Fatal(err)
		}
		opt.Workers = 7
		many, err := r.Refine(t.Context(), docs, start, opt)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(one.B, many.B) || !mat.Equal(one.A, many.A) {
			t.Errorf("%v: other topics with seven workers", r)
		}
		if x := one.B.RawRowView(p.Anchors[2]); x[2] > 0.01*mat.Sum(one.B.Slice(p.Anchors[2], p.Anchors[2]+1, 0, 4)) {
			t.Errorf("%v: a word that topic 2 is to be without has %.4f", r, x)
		}
	}
}

// Seeds that cannot be are errors.
func TestSeedErrors(t *testing.T) {
	p := testutil.NewPlanted(60, 4, 0.3, 3)
	c := planted(t, p, 300, 40)
	for want, seeds := range map[string][][]Seed{
		"seeds of 5 topics":          make([][]Seed, 5),
		"seed 60 of topic 1":         {nil, {{Word: 60}}},
		"seed 3 of topic 0":          {{{Word: 3}, {Word: 3}}},
		"topic 0 has a share of -1":  {{{Word: 3, Share: -1}}},
		"topic 0 has a share of NaN": {{{Word: 3, Share: math.NaN()}}},
	} {
		if _, err := (Passes{}).Refine(t.Context(), c.Source(), Start{B: p.B}, Options{Seeds: seeds}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
	}
	if _, err := (Passes{}).Refine(t.Context(), c.Source(), Start{B: p.B}, Options{Without: [][]int{{3}, {60}}}); err == nil || !strings.Contains(err.Error(), "word 60, which topic 1") {
		t.Errorf("error %v", err)
	}
}
