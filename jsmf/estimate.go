package jsmf

import (
	"fmt"
	"math"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// Estimate says what a fit will take, before it begins.
type Estimate struct {
	// Bytes is by how much the process will grow at the peak, beside the
	// documents it is given, and Stage where that is.
	Bytes int64
	Stage Stage
	// Flops counts floating-point operations, additions and multiplications
	// each.
	Flops float64
	// Passes counts the products of C with a block of vectors in the
	// rectification, each of which reads the documents of a cooc.Stream once.
	Passes float64
	// Stages holds the parts, in their order.
	Stages []StageEstimate
	// Unknown names the stages of other packages, which cannot be estimated and
	// count as nothing.
	Unknown []string
}

// StageEstimate is the part of one stage.
type StageEstimate struct {
	Stage  Stage
	Method string
	// Bytes is what the process has grown by at the peak of the stage, what
	// earlier ones have left included.
	Bytes int64
	Flops float64
}

// String returns the estimate as a table of several lines.
func (e *Estimate) String() string {
	var b strings.Builder
	for _, s := range e.Stages {
		fmt.Fprintf(&b, "%-10s %10.1f MiB %10.3g GFLOP  %s\n", s.Stage, float64(s.Bytes)/(1<<20), s.Flops/1e9, s.Method)
	}
	fmt.Fprintf(&b, "%-10s %10.1f MiB %10.3g GFLOP\n", "all", float64(e.Bytes)/(1<<20), e.Flops/1e9)
	for _, u := range e.Unknown {
		fmt.Fprintf(&b, "not known: %s\n", u)
	}
	return b.String()
}

// coster is what rectifiers implement whose cost can be estimated.
type coster interface {
	Cost(s rectify.Size, k int) rectify.Cost
}

// Rough memory, in bytes.
const (
	heldNonzero = 32       // of documents selected (8) and Moments (24)
	leastBytes  = 16 << 20 // garbage that is not collected in small heaps, scratch space
	perLabel    = 64       // of a document: its id and offsets
)

// heldBytes is what a Prepared takes.
func heldBytes(s rectify.Size) int64 {
	return heldNonzero*s.NNZ + perLabel*int64(s.Docs) + 24*int64(s.Words)
}

// Estimate says what a fit of documents like these will take, in memory and
// work: Documents, Words and NNZ of s count, as Model.Stats or a corpus tells
// them, of the words and documents that are to take part. Nothing is allocated.
//
// The memory is that of a process under the default garbage collection
// (GOGC = 100), in which up to as much again stands as is in use. The methods of
// package rectify that keep C as low-rank + sparse need most for the entries that they
// lift, of which there is only an empirical rule (rectify.Size.Entries): on
// nips17 and kos the estimate is from 1 to 3 times what is taken, and more where less
// is lifted. Data with more such entries than the rule says, such as baskets, takes
// more; then MemoryLimit and the limits of the rectifiers themselves stop the
// fit in its first iteration, where that shows.
//
// Finders and recoveries count with the memory of the default ones; the work of their
// own that others need is not in it. Errors: those of Validate, counts that are
// not positive, *TopicsError.
func (p Pipeline) Estimate(s CorpusStats) (*Estimate, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if s.Documents < 1 || s.Words < 1 || s.NNZ < 1 {
		return nil, fmt.Errorf("jsmf: estimate: %d documents, %d words, %d nonzeros; want all three", s.Documents, s.Words, s.NNZ)
	}
	if p.k > s.Words {
		return nil, &TopicsError{K: p.k, Words: s.Words}
	}
	return p.estimate(rectify.Size{Words: s.Words, Docs: s.Documents, NNZ: int64(s.NNZ)}, true), nil
}

// estimate is Estimate, with or without the documents on their way to moments.
func (p Pipeline) estimate(s rectify.Size, prepare bool) *Estimate {
	e := new(Estimate)
	n, k := int64(s.Words), int64(p.k)
	nk := 8 * n * k
	held := int64(leastBytes)
	stage := func(st Stage, method string, bytes int64, flops float64) {
		bytes += held
		e.Stages = append(e.Stages, StageEstimate{st, method, bytes, flops})
		e.Flops += flops
		if bytes > e.Bytes {
			e.Bytes, e.Stage = bytes, st
		}
	}
	if prepare {
		stage(StageCooc, "moments", heldBytes(s)+12*s.NNZ+104*n, 10*float64(s.NNZ))
		held += heldBytes(s)
	}
	// A strip of 64 columns of a product, one vector a document.
	strip := 512 * int64(s.Docs)
	if c, ok := p.rectifier.(coster); ok {
		x := c.Cost(s, p.k)
		stage(StageRectify, x.Method, x.Bytes+strip, x.Flops)
		e.Passes = x.Passes
		held += x.Kept
	} else {
		e.Unknown = append(e.Unknown, p.rectifier.String())
	}
	if p.resumable {
		held += 2 * 8 * n * (k + 14)
	}
	flops := float64(n) * float64(k) * float64(k)
	if p.learner != nil {
		stage(StageTopics, p.learner.String(), 4*nk, 0)
		e.Unknown = append(e.Unknown, p.learner.String()+" (its work)")
	} else {
		stage(StageAnchors, p.finder.String(), strip+6*nk, 8*flops)
		stage(StageRecover, p.recoverer.String(), strip+10*nk, 40*flops)
	}
	held += 2 * nk
	switch r := p.refiner.(type) {
	case nil:
	case recovery.Passes:
		passes := r.N
		if passes == 0 {
			passes = 10
		}
		stage(StageRefine, r.String(), 2*4*nk+8*k*int64(s.Docs)+8*k*max(16384, n)+3*nk, float64(passes)*6*float64(s.NNZ)*float64(k))
	default:
		e.Unknown = append(e.Unknown, r.String())
	}
	return e
}

// MemoryLimit refuses fits that Estimate says take more bytes, with a
// *MemoryLimitError, before they begin: Fit and Prepare before they copy
// anything, FitPrepared and FitMatrix before they rectify. 0, the default: no limit.
func (p Pipeline) MemoryLimit(bytes int64) Pipeline { p.memory = bytes; return p }

// MemoryLimitError says that a fit was refused because it would take more memory
// than Pipeline.MemoryLimit allows. Nothing has been allocated.
type MemoryLimitError struct {
	Estimate    *Estimate
	Limit       int64
	Alternative string // what would fit, "" if nothing is known to
}

func (e *MemoryLimitError) Error() string {
	s := fmt.Sprintf("jsmf: the fit would take about %s in stage %s, more than the limit of %s", rectify.Bytes(e.Estimate.Bytes), e.Estimate.Stage, rectify.Bytes(e.Limit))
	if e.Alternative != "" {
		s += "; " + e.Alternative
	}
	return s
}

// affordable checks data against the limit.
func (p Pipeline) affordable(s rectify.Size, prepare bool) error {
	if p.memory == 0 || s.Words < p.k {
		return nil
	}
	e := p.estimate(s, prepare)
	if e.Bytes <= p.memory {
		return nil
	}
	err := &MemoryLimitError{Estimate: e, Limit: p.memory}
	lr := p
	lr.rectifier = rectify.LR{}
	if x := lr.estimate(s, prepare); x.Bytes <= p.memory {
		err.Alternative = fmt.Sprintf("Rectify(rectify.LR{}) would take about %s", rectify.Bytes(x.Bytes))
		return err
	}
	// How many words would do, of as many documents, with the nonzeros in
	// proportion.
	fits := func(n int) bool {
		t := rectify.Size{Words: n, Docs: s.Docs, Stream: s.Stream, NNZ: int64(math.Ceil(float64(s.NNZ) * float64(n) / float64(s.Words)))}
		return lr.estimate(t, prepare).Bytes <= p.memory
	}
	lo, hi := p.k, s.Words
	if !fits(lo) {
		return err
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	err.Alternative = fmt.Sprintf("with Rectify(rectify.LR{}) about %d of the %d words would fit", lo, s.Words)
	return err
}

// sizeOf returns what is known of a matrix.
func sizeOf(c cooc.Matrix) rectify.Size {
	s := rectify.Size{Words: c.Dim()}
	switch m := c.(type) {
	case *cooc.Moments:
		s.Docs, s.NNZ = m.Docs(), int64(m.NNZ())
	case *cooc.Stream:
		s.Docs, s.NNZ, s.Stream = m.Docs(), m.NNZ(), true
	}
	return s
}
