package sums

import (
	"math"
	"math/bits"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// The shift is the largest with which a sum of the given size stays within 2^62.
func TestShift(t *testing.T) {
	for _, most := range []int64{0, 1, 2, 3, 4, 5, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<61 - 1, 1 << 61, 1<<61 + 1, 1 << 62} {
		s := shift(most)
		at := func(s int) uint64 {
			hi, lo := bits.Mul64(uint64(max(most, 1)), 1<<s)
			if hi > 0 {
				return math.MaxUint64
			}
			return lo
		}
		if s < 0 || s > 62 || at(s) > 1<<62 || s < 62 && at(s+1) <= 1<<62 {
			t.Errorf("shift(%d) = %d", most, s)
		}
	}
}

// number is n, or the largest int where that has 32 bits.
func number(n int64) int { return int(min(n, math.MaxInt)) }

// A word in 2^31 documents does not overflow if each of them adds as much as one can, in
// a census as in a moment.
func TestBorder(t *testing.T) {
	most := number(1 << 31)
	df := []int{most, most, 1}
	e := list{n: 3, docs: []corpus.Document{
		{ID: "long", Words: []int32{0, 1}, Counts: []int32{math.MaxInt32, 1}},
		{ID: "one", Words: []int32{1}},
	}}.encode(t)
	census, err := NewCensus(df, nil)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := NewMoment(df, []float64{1, 1e-9, 1}, []int{0, 1}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		p     Plan
		place int // of the largest number
	}{"census": {census, 1}, "moment": {moment, 0}} {
		sum := sumOf(t, NewLocal(e, 1), x.p)
		if got := sum[x.place]; got < 1<<31-1 || got > 1<<31 {
			t.Errorf("%s: one document adds %d", name, got)
		}
		if hi, lo := bits.Mul64(uint64(sum[x.place]), uint64(most)); hi > 0 || lo > 1<<62 {
			t.Errorf("%s: %d documents add up to %d and %d", name, most, hi, lo)
		}
	}
}
