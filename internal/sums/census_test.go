package sums

import (
	"math"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/holdout"
)

// A census is what one loop over the documents counts.
func TestCensus(t *testing.T) {
	l := random(3000, 200)
	e := l.encode(t)
	weighted := l
	for m := range l.docs {
		weighted.w = append(weighted.w, float64(m%4)/3)
	}
	for name, l := range map[string]list{"plain": l, "weighted": weighted} {
		want := &Counts{Words: make([]int64, l.n), Shares: make([]float64, l.n)}
		total := 0.0
		for m, d := range l.docs {
			tokens := int64(0)
			for _, x := range d.Counts {
				tokens += int64(x)
			}
			if tokens == 0 {
				continue
			}
			weight := 1.0
			if l.w != nil {
				weight = l.w[m]
			}
			total += weight
			want.Docs++
			want.Tokens += tokens
			if holdout.HeldOut(bag.Key(d.ID, m+1)) && tokens > 1 {
				want.HeldOut++
				want.Hidden += tokens / 2
			}
			for i, w := range d.Words {
				want.Words[w] += int64(d.Counts[i])
				want.Shares[w] += weight * float64(d.Counts[i]) / float64(tokens)
			}
		}
		p, err := NewCensus(e.Info().DocFrequencies, l.w)
		if err != nil {
			t.Fatal(err)
		}
		sum := sumOf(t, NewLocal(e, 1), p)
		got, err := p.Counts(sum)
		if err != nil {
			t.Fatal(err)
		}
		if got.Docs != want.Docs || got.HeldOut != want.HeldOut || got.Tokens != want.Tokens || got.Hidden != want.Hidden || !slices.Equal(got.Words, want.Words) || want.HeldOut == 0 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		// Shares have at least 50 bits behind the point, and are not below 0.001 on average.
		for w, x := range want.Shares {
			if x /= total; !(math.Abs(got.Shares[w]-x) <= 1e-12*x) || x < 0.001 {
				t.Errorf("%s: share of word %d: %g, want %g", name, w, got.Shares[w], x)
			}
		}
		for _, workers := range []int{2, 8} {
			if !slices.Equal(sum, sumOf(t, NewLocal(e, workers), p)) {
				t.Errorf("%s: other bits with %d workers", name, workers)
			}
		}
	}
}

// Sums do not depend on the order of the documents, nor on how they are cut into parts.
func TestOrder(t *testing.T) {
	l := random(2000, 150)
	e := l.encode(t)
	idf, words := best(e)
	census, err := NewCensus(e.Info().DocFrequencies, nil)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := NewMoment(e.Info().DocFrequencies, idf, words, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	backwards := l
	backwards.docs = slices.Clone(l.docs)
	slices.Reverse(backwards.docs)
	for name, p := range map[string]Plan{"census": census, "moment": moment} {
		want := sumOf(t, NewLocal(e, 2), p)
		if !slices.Equal(sumOf(t, NewLocal(backwards.encode(t), 2), p), want) {
			t.Errorf("%s: other bits backwards", name)
		}
		got := make([]int64, p.Len())
		for part := range slices.Chunk(l.docs, 300) {
			for i, x := range sumOf(t, NewLocal(list{docs: part, n: l.n}.encode(t), 2), p) {
				got[i] += x
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other bits in parts", name)
		}
		if none := sumOf(t, NewLocal(list{n: l.n}.encode(t), 2), p); len(none) != p.Len() || slices.Max(none) != 0 {
			t.Errorf("%s: no documents add up to something", name)
		}
	}
}

func TestCensusErrors(t *testing.T) {
	e := list{n: 3, docs: []corpus.Document{{Words: []int32{0}}, {ID: "x", Words: []int32{2}}}}.encode(t)
	for want, f := range map[string]func() error{
		"word 1 is in -1 documents":                      func() error { _, err := NewCensus([]int{1, -1}, nil); return err },
		"document 2 has the weight NaN; want it in [0, ": func() error { _, err := NewCensus(nil, []float64{0, math.NaN()}); return err },
		"document x: word 2 is not in [0, 1]":            func() error { return censusOf(t, e, []int{1, 1}, nil) },
		"more than the 1 that have weights":              func() error { return censusOf(t, e, []int{1, 0, 1}, []float64{1}) },
		"a sum of 2 numbers; want 13": func() error {
			p, err := NewCensus([]int{1, 0, 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Counts([]int64{1, 1})
			return err
		},
		"number 1 of a sum is -5": func() error {
			p, err := NewCensus([]int{1, 0, 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum := make([]int64, p.Len())
			sum[1] = -5
			_, err = p.Counts(sum)
			return err
		},
	} {
		wantError(t, f(), want)
	}
}

func censusOf(t testing.TB, e *corpus.Encoded, df []int, weights []float64) error {
	t.Helper()
	p, err := NewCensus(df, weights)
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewLocal(e, 1).Sum(t.Context(), p)
	return err
}
