package refine

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// slowState has the numbers of all topics of each document, and the blocks of topics that it has.
type slowState struct {
	all  [][]float32
	have [][]uint16
}

func sumSlow(x []float32) (sum float32) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// keep leaves document d the blocks that are enough, of those in from, or else the one with most.
func (s *slowState) keep(d int, from []uint16, enough func(sum float32) bool, always bool) {
	var have []uint16
	most := from[0]
	sum := func(b uint16) float32 { return sumSlow(s.all[d][int(b)*estep.BlockSize:][:estep.BlockSize]) }
	for _, b := range from {
		if sum(b) > sum(most) {
			most = b
		}
	}
	for _, b := range from {
		if enough(sum(b)) || always && b == most {
			have = append(have, b)
		}
	}
	if len(have) == 0 {
		have = []uint16{most}
	}
	for b := range len(s.all[d]) / estep.BlockSize {
		if !slices.Contains(have, uint16(b)) {
			clear(s.all[d][b*estep.BlockSize:][:estep.BlockSize])
		}
	}
	s.have[d] = have
}

// Of the blocks of a document those with enough tokens are left, and the largest in any case.
func TestEnough(t *testing.T) {
	blocks := func(sums ...float32) (vals []float32, numbers []uint16) {
		for i, v := range sums {
			b := make([]float32, estep.BlockSize)
			b[i], b[15-i] = v/4, 3*v/4
			vals, numbers = append(vals, b...), append(numbers, uint16(2*i+1))
		}
		return vals, numbers
	}
	for name, x := range map[string]struct {
		sums []float32
		left []int // of the blocks
	}{
		"some":               {[]float32{2, 0.5, 3, 0}, []int{0, 2}},
		"none with enough":   {[]float32{0.5, 1, 0.25}, []int{1}},
		"the first of equal": {[]float32{0, 0, 0}, []int{0}},
		"all":                {[]float32{2, 3}, []int{0, 1}},
	} {
		all, numbers := blocks(x.sums...)
		vals, left := enough(slices.Clone(all), slices.Clone(numbers), 2)
		var wantVals []float32
		var want []uint16
		for _, i := range x.left {
			wantVals, want = append(wantVals, all[i*estep.BlockSize:][:estep.BlockSize]...), append(want, numbers[i])
		}
		if !slices.Equal(left, want) || !slices.Equal(vals, wantVals) {
			t.Errorf("%s: blocks %v with %v, want %v with %v", name, left, vals, want, wantVals)
		}
	}
}

// A state gives back what was put in, whichever blocks are read, changed and dropped in whatever
// order: as a slow one of all numbers, in memory and in a file, of some topics and of all.
func TestDocState(t *testing.T) {
	testutil.NotWithRace(t)
	b := corpus.Builder{Vocabulary: []string{"a"}}
	for range 2*corpus.MaxBlockDocs + 100 {
		if err := b.Add(corpus.Document{Words: []int32{0}, Counts: []int32{1}}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := corpus.Encode(t.Context(), c.Source())
	if err != nil || docs.Blocks() != 3 {
		t.Fatalf("%d blocks, %v", docs.Blocks(), err)
	}
	ks := []int{5, 37, 64}
	if testutil.Race {
		ks = ks[1:2]
	}
	for _, k := range ks {
		for _, some := range []int{docs.Blocks(), 0} {
			for _, folder := range []string{"", t.TempDir()} {
				checkState(t, docs, k, some, folder)
			}
		}
	}
}

func checkState(t *testing.T, docs *corpus.Encoded, k, some int, folder string) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(k), uint64(some)))
	m, padded := docs.Info().Documents, estep.Padded(k)
	s, err := openState(m, k, some, folder)
	if err != nil {
		t.Fatal(err)
	}
	slow := slowState{make([][]float32, m), make([][]uint16, m)}
	var every []uint16
	for i := range padded / estep.BlockSize {
		every = append(every, uint16(i))
	}
	const least = 0.5
	for d := range m {
		slow.all[d] = make([]float32, padded)
		for i := range k {
			if rnd.IntN(8) == 0 {
				slow.all[d][i] = rnd.Float32()
			}
		}
		if d%100 == 7 {
			clear(slow.all[d])
		}
	}
	var block corpus.Block
	var r rows
	visit := func(number int, fresh bool, do func(d, at int)) {
		t.Helper()
		if err := docs.Block(number, &block); err != nil {
			t.Fatal(err)
		}
		if err := s.get(&r, number, &block, fresh); err != nil {
			t.Fatal(err)
		}
		for d := range block.Docs() {
			do(d, block.First+d)
		}
		if err := s.put(&r, number, &block, fresh); err != nil {
			t.Fatal(err)
		}
	}
	for _, number := range rnd.Perm(docs.Blocks()) {
		visit(number, true, func(d, at int) {
			if some > 0 {
				r.add(slow.all[at], least)
				slow.keep(at, every, func(sum float32) bool { return sum > least }, false)
				return
			}
			n, blocks := r.doc(d)
			if blocks != nil || sumSlow(n) != 0 {
				t.Fatalf("fresh numbers %v of blocks %v", n, blocks)
			}
			copy(n, slow.all[at])
		})
	}
	var whole []float32
	for range 8 {
		visit(rnd.IntN(docs.Blocks()), false, func(d, at int) {
			if rnd.IntN(3) == 0 {
				least := rnd.Float32()
				r.drop(d, least)
				if some > 0 {
					slow.keep(at, slow.have[at], func(sum float32) bool { return sum >= least }, true)
				}
			}
			n, blocks := r.doc(d)
			if !slices.Equal(blocks, slow.have[at]) || some == 0 && len(n) != k || some > 0 && len(n) != estep.BlockSize*len(blocks) {
				t.Fatalf("K=%d: document %d has %d numbers of blocks %v, want %v", k, at, len(n), blocks, slow.have[at])
			}
			if got := r.whole(d, &whole); !slices.Equal(got, slow.all[at]) {
				t.Fatalf("K=%d, some %d, %q: document %d has %v, want %v", k, some, folder, at, got, slow.all[at])
			}
			if rnd.IntN(2) == 0 {
				for i := range n {
					n[i] *= 0.75
				}
				for i := range slow.all[at] {
					slow.all[at][i] *= 0.75
				}
			}
		})
	}
	if some > 0 { // blocks of documents in their own place, with more topics than before and with fewer
		for round := range 6 {
			number := rnd.IntN(docs.Blocks())
			if err := docs.Block(number, &block); err != nil {
				t.Fatal(err)
			}
			var next rows
			if err := errors.Join(s.get(&r, number, &block, false), s.get(&next, number, &block, true)); err != nil {
				t.Fatal(err)
			}
			for d := range block.Docs() {
				at := block.First + d
				if d%5 == 3 {
					next.add(nil, least)
					clear(slow.all[at])
					slow.have[at] = nil
					continue
				}
				n := r.whole(d, &whole)
				for i := range k {
					if rnd.IntN(3) == 0 {
						n[i] = float32((round+1)%2) * rnd.Float32()
					}
				}
				copy(slow.all[at], n)
				next.add(n, least)
				slow.keep(at, every, func(sum float32) bool { return sum > least }, false)
			}
			if err := s.put(&next, number, &block, true); err != nil {
				t.Fatal(err)
			}
			visit(number, false, func(d, at int) {
				n, blocks := r.doc(d)
				if !slices.Equal(blocks, slow.have[at]) || len(n) != estep.BlockSize*len(blocks) || !slices.Equal(r.whole(d, &whole), slow.all[at]) {
					t.Fatalf("K=%d, %q: document %d has %v of blocks %v, want %v of %v", k, folder, at, n, blocks, slow.all[at], slow.have[at])
				}
			})
		}
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if folder != "" {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}
