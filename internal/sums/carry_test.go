package sums

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// after returns the pass that goes on from p, whose topics are now as columns say.
func after(t *testing.T, l list, p *Pass, k int, columns []int32) *Pass {
	t.Helper()
	key, _, err := KeyOf(p)
	if err != nil {
		t.Fatal(err)
	}
	next := passOver(l, k, Learn)
	next.After, next.Columns, next.Steps, next.Keep = key, columns, 0, true
	return next
}

// What passes leave of the documents, and so the sums of later ones, are the same bits for any
// number of goroutines, in any order, in parts, and by plans from their bytes.
func TestCarrySameBits(t *testing.T) {
	l := random(3000, 60)
	back := list{docs: slices.Clone(l.docs), n: l.n}
	slices.Reverse(back.docs)
	first := passOver(l, 6, Learn)
	first.Keep = true
	chain := []*Pass{first, after(t, l, first, 6, []int32{0, 1, 2, 3, 4, 5})}
	chain = append(chain, after(t, l, chain[1], 4, []int32{0, 1, 3, 0, 3, 2}))
	finish := after(t, l, chain[2], 4, []int32{0, 1, 2, 3})
	finish.Task, finish.Keep = Finish, false
	chain = append(chain, finish)

	run := func(code bool, places ...*Local) (all []int64) {
		for _, p := range chain {
			plan := Plan(p)
			if code {
				b, err := p.MarshalBinary()
				if err == nil {
					plan, err = ReadPlan(b)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			total := make([]int64, p.Len())
			for _, x := range places {
				for i, v := range sumOf(t, x, plan) {
					total[i] += v
				}
			}
			all = append(all, total...)
		}
		return all
	}
	encoded := l.encode(t)
	want := run(false, NewLocal(encoded, 1))
	var parts []*Local
	for lo := 0; lo < len(l.docs); lo += 700 {
		parts = append(parts, NewLocal(list{docs: l.docs[lo:min(lo+700, len(l.docs))], n: l.n}.encode(t), 3))
	}
	for name, got := range map[string][]int64{
		"eight goroutines": run(false, NewLocal(encoded, 8)), "bytes": run(true, NewLocal(encoded, 2)),
		"another order": run(false, NewLocal(back.encode(t), 2)), "parts": run(true, parts...),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: another sum", name)
		}
	}
}

// A document goes on from the weights that sharing out its tokens gave, over-relaxed, and topics
// that became one have their sum.
func TestCarryWeights(t *testing.T) {
	l := list{n: 3, docs: []corpus.Document{{ID: "a", Words: []int32{0, 2}, Counts: []int32{3, 4}}}}
	first := passOver(l, 4, Learn)
	first.Keep, first.Hide = true, false
	local := NewLocal(l.encode(t), 1)
	x := map[int32]float64{0: 3, 2: 4}
	w := weights(first, []float64{float64(first.Begin[0]), float64(first.Begin[1]), float64(first.Begin[2]), float64(first.Begin[3])}, slices.Repeat([]float64{float64(first.Alpha)}, 4), x, true)
	counts := make([]float64, 4)
	for word, v := range x {
		for i, g := range responsibilities(first, w, int(word), true) {
			counts[i] += v * g
		}
	}
	sumOf(t, local, first)
	for i, v := range counts {
		v += float64(first.Alpha)
		counts[i] = max(v*min(v/w[i], 4), float64(first.Alpha))
		closeTo(t, "weight", float64(local.left[i]), counts[i], 2e-6)
	}
	next := after(t, l, first, 3, []int32{2, 0, 2, 1})
	a := next.Adder().(*passAdder)
	a.kept.Old = local.left
	got := make([]float32, 3)
	if err := a.resume(got, 10); err != nil {
		t.Fatal(err)
	}
	for i, v := range []float64{counts[1], counts[3], counts[0] + counts[2]} {
		closeTo(t, "merged weight", float64(got[i]), 10*v/sumOfAll(counts), 2e-6)
	}
	a.kept.Old = make([]float32, 4)
	if err := a.resume(got, 10); err == nil {
		t.Error("weights of 0 alone are taken")
	}
	for _, v := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		a.kept.Old = []float32{1, v, 1, 1}
		if err := a.resume(got, 10); err == nil {
			t.Errorf("a weight of %v is taken", v)
		}
	}
}

// What is left of the documents is there until the last plan that takes it has its sum, or another
// one leaves something; without it there is an error.
func TestCarryLost(t *testing.T) {
	l := random(50, 20)
	first := passOver(l, 3, Learn)
	first.Keep = true
	same := []int32{0, 1, 2}
	next := after(t, l, first, 3, same)
	compare, finish := *next, *next
	compare.Task, compare.Keep, finish.Task, finish.Keep = Compare, false, Finish, false
	x := NewLocal(l.encode(t), 2)
	lost := func(name string, p *Pass) {
		t.Helper()
		if _, err := x.Sum(t.Context(), p); !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lost("before", next)
	sumOf(t, x, first)
	sumOf(t, x, &compare)
	sumOf(t, x, &compare)
	sumOf(t, x, passOver(l, 3, Learn)) // which leaves nothing
	sumOf(t, x, next)
	lost("taken", next)
	sumOf(t, x, first)
	sumOf(t, x, &finish)
	lost("finished", &compare)
	if x.left != nil {
		t.Error("weights are kept after the last pass")
	}
}
