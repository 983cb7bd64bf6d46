// Package estep is the inner loop of fitting and using topic models: the sharing out
// of a document's tokens among topics, for given weights t of the topics in the
// document (K numbers) and given topics B (N×K). The responsibilities of a word w
// with row b of B are
//
//	Plain:         g ∝ t·b
//	LeaveDocument: g' ∝ max(t − g, m)·b
//	LeaveLast:     g' ∝ max(t − g°, m)·b
//
// with g° the g' of the step before. The last two leave each token out of the counts that
// it is shared out by (collapsed variational Bayes of order zero): exactly at a fixed point
// of LeaveLast, nearly with LeaveDocument, which keeps no responsibilities.
//
// The word's count times the responsibilities is added to the document's tokens by topic
// and, when learning, to the word's. This takes one pass over the document's words, in
// blocks whose rows stay in the nearest cache. The log-likelihood Σ x·ln(tᵀb) is a
// by-product, except with LeaveLast.
//
// A document that has few of the topics can be shared out among a subset of the columns of
// B, in blocks of BlockSize: see Worker.Use. Its cost is by these blocks, not by K.
//
// # Precision
//
// Rows are float32. Sums over documents are float32 too, and must be moved to float64
// by Drain before they hold more than some millions of tokens.
//
// # Kernels
//
// They are named and chosen as those of internal/linalg, and give the same bits. A product is rounded
// before it is added. A sum over topics is sixteen sums, number i over the topics i, i+16, …, of which the
// upper half is added to the lower until one is left.
package estep

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// Form is how the counts are formed that a token is shared out by.
type Form uint8

// The forms of a step. The package comment defines them.
const (
	Plain Form = iota
	LeaveDocument
	LeaveLast
)

// Step is what all documents of a pass have in common. It is only read, except Sums.
// Numbers by topic have the length of a row with its padding, or of Worker.T after Use.
type Step struct {
	Form Form
	B    *Rows
	// Sums receives the tokens by word and topic; nil does not count them. Goroutines
	// that run at once need their own.
	Sums *Rows
	// NoLikelihood leaves out the log-likelihood, a sixth of the time: Step returns 0.
	// LeaveLast never has it.
	NoLikelihood bool
	// Each, if not nil, is called for each word of the document, in order, instead of adding
	// anything up: word i has the share out/sum of its count in each topic. out is valid
	// during the call. It is not for LeaveLast. Step sets w.N only with Count.
	Each  func(i int, out []float32, sum float32)
	Count bool
	// Floor is m, the least weight that a topic keeps; its padding is zero. Plain does
	// not use it.
	Floor []float32
	// Token is the count that LeaveLast takes for one token, or all of a word with less.
	Token float32

	extra []float32 // by word, times which is added to tᵀb in a score
	times float32

	products []float32
}

// Least is the least tᵀb that a word may have: far from where a float32 loses precision.
const Least = 1e-30

// ErrImpossible is wrapped by the error for a word with tᵀb below Least; with LeaveLast,
// the sum of max(t − g°, m)·b.
var ErrImpossible = errors.New("has no probability")

// piece is how many words are added up before their sum is, for smaller errors.
const piece = 32 * block

// Worker has the numbers of one document. A goroutine needs its own.
type Worker struct {
	// T holds the weights of the topics in the document. The padding must stay zero. After
	// Use, number BlockSize·j+i of T and N is for column i of block j of those in use.
	T []float32
	// N receives the document's tokens by topic.
	N []float32

	part []float32 // N of a piece after the first
	out  []float32 // of the words of a block: their unscaled responsibilities
	left []float32 // and the sums of these, and space for as many numbers
	z    []float32 // of each word of a piece: tᵀb
	kept []float32 // of the words of a document, one after the other: out of the last step
	sums []float32 // and the sums of these
	wide int       // how far apart those of the words of a block are
	args args
	kr   *kernel
	logs *logTable

	stride  int       // of B
	offsets []int32   // of the blocks in use, in bytes; none: all are
	columns []float32 // of the words of a block: the columns in use of B, then of the sums
	slots   [block]int32
	move    move
}

// NewWorker returns a Worker for k topics.
func NewWorker(k int) *Worker { return newWorker(k, best()) }

func newWorker(k int, kr *kernel) *Worker {
	n := Padded(k)
	x := linalg.Aligned[float32]((3 + block) * n)
	return &Worker{T: x[:n:n], N: x[n : 2*n : 2*n], part: x[2*n : 3*n : 3*n], out: x[3*n:], left: make([]float32, 2*block), z: make([]float32, piece), kr: kr, logs: logs(), stride: n}
}

// Keep prepares for steps of LeaveLast with a document of n words, of which the first
// leaves out nothing. It takes 4·Padded(K) bytes for each word.
func (w *Worker) Keep(n int) {
	size := n * len(w.T)
	if cap(w.kept) < size {
		w.kept = linalg.Aligned[float32](size + size/4)
	}
	w.kept = w.kept[:size]
	clear(w.kept)
	w.sums = slices.Grow(w.sums[:0], n)[:n]
	for i := range w.sums {
		w.sums[i] = 1
	}
}

// Step shares out the tokens of a document by w.T. It sets w.N, adds to s.Sums and
// returns Σ x·ln(tᵀb). Counts need not be whole numbers. With LeaveLast, Keep comes
// before the first step of a document, and all its steps have the same words.
func (w *Worker) Step(s *Step, words []int32, counts []float32) (float64, error) {
	mode, floor := int(s.Form), s.Floor
	if s.Each != nil && s.Form == Plain { // nothing is left out of weights that cannot fall
		mode, floor = int(LeaveDocument), w.T
	}
	if s.Each == nil || s.Count {
		clear(w.N)
	}
	sum, err := w.run(s, mode, floor, words, counts)
	if err == nil && mode == int(Plain) {
		for k, t := range w.T {
			w.N[k] *= t
		}
	}
	return sum, err
}

// Score returns Σ x·ln(tᵀb) alone.
func (w *Worker) Score(b *Rows, words []int32, counts []float32) (float64, error) {
	return w.run(&Step{B: b}, score, nil, words, counts)
}

// Products sets to to tᵀb of each word.
func (w *Worker) Products(b *Rows, words []int32, counts, to []float32) error {
	_, err := w.run(&Step{B: b, NoLikelihood: true, products: to}, score, nil, words, counts)
	return err
}

// ScoreMixed returns Σ x·ln(tᵀb + times·extra), with a number extra for each row of b.
func (w *Worker) ScoreMixed(b *Rows, extra []float32, times float32, words []int32, counts []float32) (float64, error) {
	return w.run(&Step{B: b, extra: extra, times: times}, score, nil, words, counts)
}

// score is the mode of a kernel that finds tᵀb alone. The others are forms.
const score = -1

func (w *Worker) run(s *Step, mode int, floor []float32, words []int32, counts []float32) (float64, error) {
	b := s.B
	if len(counts) != len(words) || w.stride != b.Stride {
		panic("estep: lengths do not fit")
	}
	for _, id := range words {
		if uint(id) >= uint(b.N) {
			return 0, fmt.Errorf("word %d of %d", id, b.N)
		}
	}
	if len(words) == 0 {
		return 0, nil
	}
	k, size := b.K, len(w.T)
	if m := len(w.offsets); m > 0 {
		k = size - BlockSize + min(BlockSize, b.K-int(w.offsets[m-1])/4)
	}
	a := &w.args
	*a = args{b: &b.Data[0], t: &w.T[0], g: &w.N[:size][0], out: &w.out[0], left: &w.left[0], scale: &w.left[block],
		k: k, stride: 4 * size, width: 4 * roundUp(k, w.kr.lanes), mode: mode, token: s.Token, least: Least, one: 1}
	if s.Sums != nil {
		if s.Sums.N != b.N || s.Sums.Stride != b.Stride {
			panic("estep: sums do not fit")
		}
		a.sums = &s.Sums.Data[0]
	}
	if mode >= int(LeaveDocument) {
		a.prior = &floor[:size][0]
	}
	adds := mode != score && (s.Each == nil || s.Count) // to w.N
	if !adds {
		a.g = nil
	}
	keep := mode == int(LeaveLast)
	w.wide = a.width / 4
	if keep && len(w.sums) != len(words) {
		panic("estep: Keep was for another number of words")
	}
	sum, bad := 0.0, 0
	for lo := 0; lo < len(words); lo += piece {
		n := min(piece, len(words)-lo)
		if lo > 0 && adds {
			clear(w.part)
			a.g = &w.part[0]
		}
		for i := 0; i < n; i += block {
			a.n = min(block, n-i)
			a.words, a.counts, a.z = &words[lo+i], &counts[lo+i], &w.z[i]
			if keep {
				a.out, a.left = &w.kept[(lo+i)*size], &w.sums[lo+i]
			}
			a.next = a.words
			if lo+i+2*block <= len(words) {
				a.next = &words[lo+i+block]
			}
			if len(w.offsets) > 0 {
				w.runColumns(s, words, lo+i)
			} else {
				w.kr.run(a)
			}
			if s.Each != nil {
				for j, sum := range w.left[:a.n] {
					s.Each(lo+i+j, w.out[j*a.width/4:][:k], max(sum, Least))
				}
			}
		}
		if lo > 0 && adds {
			for k, v := range w.part {
				w.N[k] += v
			}
		}
		z := w.z[:n]
		if keep {
			z = w.sums[lo : lo+n]
		}
		if s.extra != nil {
			for i, id := range words[lo : lo+n] {
				z[i] += float32(s.times * s.extra[id])
			}
		}
		if s.products != nil {
			copy(s.products[lo:], z)
		}
		if keep || s.NoLikelihood {
			bad = impossible(counts[lo:lo+n], z)
		} else {
			sum, bad = w.logs.add(sum, counts[lo:lo+n], z)
		}
		if bad >= 0 {
			*a, w.move = args{}, move{}
			return 0, fmt.Errorf("word %d %w: %v", words[lo+bad], ErrImpossible, z[bad])
		}
	}
	*a, w.move = args{}, move{} // keep no pointers to what is not ours
	return sum, nil
}
