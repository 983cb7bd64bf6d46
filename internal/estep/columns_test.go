package estep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// pick returns the numbers of x, one by column, in the blocks.
func pick(x []float32, blocks []uint16) []float32 {
	var y []float32
	for _, j := range blocks {
		y = append(y, x[BlockSize*int(j):][:BlockSize]...)
	}
	return y
}

// pickRows returns the columns of r in the blocks.
func pickRows(r *Rows, blocks []uint16) *Rows {
	last := BlockSize * int(blocks[len(blocks)-1])
	p := NewRows(r.N, BlockSize*(len(blocks)-1)+min(BlockSize, r.K-last))
	for i := range r.N {
		copy(p.Data[i*p.Stride:], pick(r.Data[i*r.Stride:][:r.Stride], blocks))
	}
	return p
}

func clone(r *Rows) *Rows { return &Rows{N: r.N, K: r.K, Stride: r.Stride, Data: slices.Clone(r.Data)} }

// columns returns the problem of the columns in the blocks alone.
func (p *problem) columns(blocks []uint16) *problem {
	q := *p
	q.B, q.t, q.Floor = pickRows(p.B, blocks), pick(p.t, blocks), pick(p.Floor, blocks)
	if p.Sums != nil {
		q.Sums = pickRows(p.Sums, blocks)
	}
	return &q
}

// blocksOf draws n of the blocks of k columns, with the last one or without the first.
func blocksOf(rnd *rand.Rand, k, n int, last bool) []uint16 {
	all := Padded(k) / BlockSize
	var blocks []uint16
	for _, j := range rnd.Perm(all) {
		if len(blocks) < n {
			blocks = append(blocks, uint16(j))
		}
	}
	slices.Sort(blocks)
	if last {
		blocks[n-1] = uint16(all - 1)
	}
	return blocks
}

// repeat replaces the words by ones of which a third come again: next to each other, in the
// same block of words and in another.
func (p *problem) repeat(rnd *rand.Rand) {
	for i := range p.words {
		if i > 0 && rnd.IntN(3) == 0 {
			p.words[i] = p.words[i-1-rnd.IntN(min(i, []int{1, block, 3 * block}[rnd.IntN(3)]))]
		}
	}
}

// checkColumns compares steps of w in the blocks with those of a dense worker for the problem
// that has nothing but their columns, bit for bit, and, the first, with the definition.
func (p *problem) checkColumns(t *testing.T, name string, w *Worker, blocks []uint16, tol float64) {
	t.Helper()
	q := p.columns(blocks)
	dense := newWorker(q.B.K, w.kr)
	w.Use(blocks)
	w.Keep(len(p.words))
	dense.Keep(len(p.words))
	if len(w.T) != len(q.t) || len(w.N) != len(q.t) {
		t.Fatalf("%s: T and N have %d and %d numbers, want %d", name, len(w.T), len(w.N), len(q.t))
	}
	copy(w.T, q.t)
	copy(dense.T, q.t)
	own := p.Step
	own.Floor = q.Floor
	var before *Rows
	if p.Sums != nil {
		before = clone(p.Sums)
	}
	for step := range 3 {
		var out, want []float32
		if p.Each != nil {
			own.Each = func(i int, x []float32, sum float32) { out = append(append(out, x...), sum) }
			q.Each = func(i int, x []float32, sum float32) { want = append(append(want, x...), sum) }
		}
		got, err := w.Step(&own, p.words, p.counts)
		loglik, e := dense.Step(&q.Step, p.words, p.counts)
		if err != nil || e != nil {
			t.Fatalf("%s: %v, %v", name, err, e)
		}
		if got != loglik || !slices.Equal(w.N, dense.N) || !slices.Equal(out, want) {
			t.Errorf("%s, step %d: log-likelihood %v and tokens %v, want %v and %v", name, step, got, w.N, loglik, dense.N)
		}
		if step == 0 && p.Form != LeaveLast && !p.NoLikelihood {
			q.compare(t, name, w.N, got, tol)
			if before != nil {
				q.compareSums(t, name, pickRows(p.Sums, blocks), pickRows(before, blocks), tol)
			}
		}
		a, err := w.Score(p.B, p.words, p.counts)
		b, e := dense.Score(q.B, q.words, q.counts)
		if err != nil || e != nil || a != b {
			t.Errorf("%s: score %v, %v, want %v, %v", name, a, err, b, e)
		}
		if !slices.Equal(w.T, dense.T) {
			t.Fatalf("%s: a step changes T", name)
		}
		for j := range w.T {
			w.T[j] = w.N[j] + own.Floor[j]
			dense.T[j] = w.T[j]
		}
	}
	if before == nil {
		return
	}
	if got := pickRows(p.Sums, blocks); !slices.Equal(got.Data, q.Sums.Data) {
		t.Errorf("%s: the sums are not those of the columns alone", name)
	}
	for i, v := range p.Sums.Data {
		if v != before.Data[i] && !slices.Contains(blocks, uint16(i%p.Sums.Stride/BlockSize)) {
			t.Fatalf("%s: number %d of the sums is of no block and has changed", name, i)
		}
	}
}

// compare compares tokens and log-likelihood with the definition, as check does.
func (p *problem) compare(t *testing.T, name string, n []float32, loglik, tol float64) {
	t.Helper()
	want, _, l := p.slow()
	tokens := 0.0
	for _, x := range p.counts {
		tokens += float64(x)
	}
	if !(math.Abs(loglik-l) <= 1e-6*(1+tokens)) {
		t.Errorf("%s: log-likelihood %v, want %v", name, loglik, l)
	}
	for j, v := range want {
		if !(math.Abs(float64(n[j])-v) <= tol*(1+tokens)) {
			t.Errorf("%s: topic %d has %v tokens, want %v", name, j, n[j], v)
		}
	}
}

// compareSums compares what was added to the sums with the definition, for words that may
// come more than once.
func (p *problem) compareSums(t *testing.T, name string, got, before *Rows, tol float64) {
	t.Helper()
	_, sums, _ := p.slow()
	want, counts := map[int32][]float64{}, map[int32]float64{}
	for i, id := range p.words {
		if want[id] == nil {
			want[id] = make([]float64, p.B.K)
		}
		for j, v := range sums[i] {
			want[id][j] += v
		}
		counts[id] += float64(p.counts[i])
	}
	for i := range p.B.N {
		for j, v := range got.Row(i) {
			d := float64(v) - float64(before.Row(i)[j])
			if id := int32(i); want[id] == nil && d != 0 || want[id] != nil && !(math.Abs(d-want[id][j]) <= tol*(1+counts[id])) {
				t.Fatalf("%s: word %d adds %v to topic %d", name, i, d, j)
			}
		}
	}
}

// A step in some blocks of columns has the bits of one with nothing but these columns, and
// leaves the rest of the sums alone: for one block and all, with the padding of the last and
// without, for words that come again, and more of them than a piece. What TestStep does not
// cover is compared with the definition too.
func TestUse(t *testing.T) {
	testutil.NotWithRace(t)
	eachKernel(t, func(t *testing.T, kr *kernel) {
		rnd := rand.New(rand.NewPCG(41, 42))
		for _, k := range []int{5, 16, 33, 100, 129, 160} {
			w := newWorker(k, kr) // for all documents, as in use
			for _, words := range []int{0, 1, 5, 16, 17, 70, piece + 39} {
				if words > 70 && k != 33 {
					continue
				}
				for _, n := range []int{1, 2, 6, Padded(k) / BlockSize} {
					if n > Padded(k)/BlockSize {
						continue
					}
					for _, f := range append(forms, struct {
						name string
						form Form
						sums bool
					}{"leave-last", LeaveLast, true}) {
						blocks := blocksOf(rnd, k, n, rnd.IntN(2) == 0)
						name := fmt.Sprintf("%s, K=%d, blocks %v, %d words", f.name, k, blocks, words)
						p := newProblem(rnd, words+10, k, words, f.form, f.sums)
						p.Token = 0.75
						p.repeat(rnd)
						p.checkColumns(t, name, w, blocks, 3e-6)
						p.NoLikelihood = true
						if f.form == LeaveLast {
							p.Sums = nil
						} else if !f.sums {
							p.Each, p.Count = func(int, []float32, float32) {}, true
						}
						p.checkColumns(t, name+", without", w, blocks, 3e-6)
					}
				}
			}
		}
	})
}

// After some blocks all columns are as before.
func TestUseNone(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		const k = 100
		p := newProblem(rand.New(rand.NewPCG(43, 44)), 50, k, 40, LeaveDocument, true)
		w, fresh := newWorker(k, kr), newWorker(k, kr)
		p.checkColumns(t, "some", w, []uint16{1, 2, 6}, 3e-6)
		w.Use(nil)
		for i, v := range w.T {
			if v != 0 {
				t.Fatalf("weight %d is %v", i, v)
			}
		}
		q := *p
		q.Sums = clone(p.Sums)
		p.check(t, "all", w, 3e-6)
		q.check(t, "fresh", fresh, 3e-6)
		if !slices.Equal(w.N, fresh.N) || !slices.Equal(p.Sums.Data, q.Sums.Data) {
			t.Errorf("tokens %v, want %v", w.N, fresh.N)
		}
	})
}

// All kernels give the same bits for rows of all lengths, with all columns and with some blocks of
// them, of words that come again, with zeros, denormal numbers and topics without weight.
func TestKernelsAgree(t *testing.T) {
	run := func(kr *kernel, k int, form Form, sums, some bool) (bits []uint32, why error) {
		rnd := rand.New(rand.NewPCG(45, uint64(k)))
		p := newProblem(rnd, 40, k, 37, form, sums)
		p.Token = 0.75
		p.repeat(rnd)
		for i := range p.B.N {
			if row := p.B.Row(i); k > 7 {
				row[i%7], row[(i+2)%7], row[(i+5)%7] = 0, 1e-42, math.SmallestNonzeroFloat32
				p.t[0], p.t[1], p.Floor[0], p.Floor[1] = 0, 1e-41, 0, 1e-41
			}
		}
		w := newWorker(k, kr)
		if some {
			blocks := blocksOf(rnd, k, 1+k/BlockSize/2, true)
			p.t, p.Floor = pick(p.t, blocks), pick(p.Floor, blocks)
			w.Use(blocks)
		}
		copy(w.T, p.t)
		w.Keep(len(p.words))
		add := func(x ...float32) {
			for _, v := range x {
				bits = append(bits, math.Float32bits(v))
			}
		}
		for range 3 {
			loglik, err := w.Step(&p.Step, p.words, p.counts)
			why = errors.Join(why, err)
			add(float32(loglik))
			add(w.N...)
		}
		if form != LeaveLast {
			p.Each = func(_ int, out []float32, sum float32) { add(out...); add(sum) }
			_, err := w.Step(&p.Step, p.words, p.counts)
			z := make([]float32, len(p.words))
			why = errors.Join(why, err, w.Products(p.B, p.words, p.counts, z))
			add(z...)
		}
		if sums {
			add(p.Sums.Data...)
		}
		return bits, why
	}
	eachKernel(t, func(t *testing.T, kr *kernel) {
		if kr == &generic {
			return
		}
		for k := 1; k < 130; k += 1 + k/50*9 {
			for form := Plain; form <= LeaveLast; form++ {
				for i := range 4 {
					want, err := run(&generic, k, form, i&1 > 0, i&2 > 0)
					got, e := run(kr, k, form, i&1 > 0, i&2 > 0)
					if err != nil || e != nil || !slices.Equal(got, want) {
						t.Fatalf("K=%d, form %d, sums %v, blocks %v: bits differ from those of generic, or %v, %v", k, form, i&1 > 0, i&2 > 0, e, err)
					}
				}
			}
		}
	})
}

// ScoreMixed and errors are those of the columns alone.
func TestUseScores(t *testing.T) {
	eachKernel(t, func(t *testing.T, kr *kernel) {
		const k = 70
		blocks := []uint16{1, 4}
		rnd := rand.New(rand.NewPCG(47, 48))
		p := newProblem(rnd, 60, k, 50, Plain, false)
		for i := range p.counts {
			p.counts[i]++
		}
		extra := make([]float32, p.B.N)
		for i := range extra {
			extra[i] = rnd.Float32() / float32(p.B.N)
		}
		clear(p.B.Row(int(p.words[7]))[64:])
		clear(p.B.Row(int(p.words[7]))[16:32])
		q := p.columns(blocks)
		w, dense := newWorker(k, kr), newWorker(q.B.K, kr)
		w.Use(blocks)
		copy(w.T, q.t)
		copy(dense.T, q.t)
		got, err := w.ScoreMixed(p.B, extra, 2, p.words, p.counts)
		if want, e := dense.ScoreMixed(q.B, extra, 2, p.words, p.counts); err != nil || e != nil || got != want {
			t.Errorf("score %v, %v, want %v, %v", got, err, want, e)
		}
		p.Step.Floor = q.Floor
		_, err = w.Step(&p.Step, p.words, p.counts)
		if _, e := dense.Step(&q.Step, p.words, p.counts); !errors.Is(err, ErrImpossible) || err.Error() != e.Error() {
			t.Errorf("error %v for a word that other columns alone explain, want %v", err, e)
		}
	})
}

func TestUsePanics(t *testing.T) {
	for _, blocks := range [][]uint16{{}, {7}, {1, 1}, {3, 2}, {0, 65535}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("blocks %v are accepted for 100 topics", blocks)
				}
			}()
			NewWorker(100).Use(blocks)
		}()
	}
}

func TestUseAllocates(t *testing.T) {
	p := newProblem(rand.New(rand.NewPCG(49, 50)), 100, 50, 60, LeaveDocument, true)
	w := NewWorker(50)
	blocks := []uint16{1, 3}
	if n := testing.AllocsPerRun(10, func() {
		w.Use(blocks)
		copy(w.T, p.t)
		if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}
