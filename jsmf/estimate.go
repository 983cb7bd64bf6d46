package jsmf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Estimate says what a fit will take, before it begins.
type Estimate struct {
	// Bytes is by how much the process will grow at the peak, beside the
	// documents it is given: what is in use, and the garbage that stands beside it
	// at most under the default collection, GOGC = 100 (rectify.Peak). In a process
	// that holds much else, up to as much garbage more may stand for a while.
	Bytes int64
	// InUse is how many bytes of it are needed at a time, garbage apart, and Stage
	// where that is. With debug.SetMemoryLimit the process may grow by little more.
	InUse int64
	Stage Stage
	// Flops counts floating-point operations, additions and multiplications
	// each.
	Flops float64
	// Passes counts the products of C with a block of vectors in the
	// rectification, each of which reads the documents of a cooc.Stream once.
	Passes float64
	// Duration is the time of the stages whose time is known: see EstimateAfter.
	// Estimate leaves it 0.
	Duration time.Duration
	// Stages holds the parts, in their order.
	Stages []StageEstimate
	// Unknown names what cannot be estimated and counts as nothing: the stages of
	// other packages, and times.
	Unknown []string
}

// StageEstimate is the part of one stage.
type StageEstimate struct {
	Stage  Stage
	Method string
	// Bytes is what the process has grown by at the end of the stage at most, and
	// InUse what is needed at a time in it, what earlier ones have left included.
	Bytes, InUse int64
	Flops        float64
	Duration     time.Duration // of EstimateAfter; 0: not known
}

// String returns the estimate as a table of several lines. Times, where there are
// any, stand last.
func (e *Estimate) String() string {
	var b strings.Builder
	line := func(name string, bytes, use int64, flops float64, d time.Duration, method string) {
		fmt.Fprintf(&b, "%-10s %9.1f MiB %9.1f MiB in use %9.3g GFLOP", name, float64(bytes)/(1<<20), float64(use)/(1<<20), flops/1e9)
		switch {
		case d > 0:
			fmt.Fprintf(&b, " %9.2f s", d.Seconds())
		case e.Duration > 0:
			fmt.Fprintf(&b, " %11s", "")
		}
		if method != "" {
			b.WriteString("  " + method)
		}
		b.WriteByte('\n')
	}
	for _, s := range e.Stages {
		line(string(s.Stage), s.Bytes, s.InUse, s.Flops, s.Duration, s.Method)
	}
	line("all", e.Bytes, e.InUse, e.Flops, e.Duration, "")
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
	perNonzero = 8       // of documents
	perPair    = 24      // of Moments, for each nonzero
	perLabel   = 64      // of a document: its id and offsets
	leastBytes = 6 << 20 // garbage that is not collected in small heaps, scratch space
)

// docBytes is what documents take, given or selected.
func docBytes(s rectify.Size) int64 {
	return perNonzero*s.NNZ + perLabel*int64(s.Docs) + 16*int64(s.Words)
}

// heldBytes is what a Prepared takes.
func heldBytes(s rectify.Size) int64 {
	return docBytes(s) + perPair*s.NNZ + 8*int64(s.Docs) + 32*int64(s.Words)
}

// setsRatio: documents in which words occur so often in the mean are sets.
const setsRatio = 1.02

// size returns what counts of documents for an estimate.
func (p Pipeline) size(docs, words, nnz int, tokens int64) rectify.Size {
	s := rectify.Size{Words: words, Docs: docs, NNZ: int64(nnz), Workers: p.workers}
	s.Sets = tokens > 0 && float64(tokens) <= setsRatio*float64(nnz)
	return s
}

// Estimate says what a fit of documents like these will take, in memory and
// work: Documents, Words, NNZ and, where it is known, Tokens of s count, as
// Model.Stats or a corpus tells them, of the words and documents that are to take
// part. Nothing is allocated.
//
// The sizes of what is allocated are those of the code, for as many goroutines as
// Workers allows; and what the garbage collector lets stand follows from them. What is not known
// is how many entries of C the methods of package rectify lift that keep it as
// low-rank + sparse, of which there are empirical rules (rectify.Size.Entries, two: one for
// texts, and one for documents in which no word occurs twice, such as baskets), and
// these are most of the memory of AP. So the estimate of a fit with the default stages is
// 1.2 to 1.7 times what is taken on nips17, kos, bbc, retail and lastfm, and 2 to 3 times
// where topics are faint and less is lifted. Where more is lifted than the rule says,
// MemoryLimit and the limits of the rectifiers themselves stop the fit in its
// first iteration. EstimateAfter needs no rule. The work is within a factor of 2 of
// what is done, if AP makes all its iterations and ENN as many as usual.
//
// Finders and recoveries count with the memory of the default ones; the work of their
// own that others need is not in it. Errors: those of Validate, counts that are
// not positive, *TopicsError.
func (p Pipeline) Estimate(s CorpusStats) (*Estimate, error) {
	size, err := p.sizeOfStats(s)
	if err != nil {
		return nil, err
	}
	e, _ := p.estimate(size, true)
	return e, nil
}

func (p Pipeline) sizeOfStats(s CorpusStats) (rectify.Size, error) {
	if err := p.Validate(); err != nil {
		return rectify.Size{}, err
	}
	if s.Documents < 1 || s.Words < 1 || s.NNZ < 1 {
		return rectify.Size{}, errorf("estimate: %d documents, %d words, %d nonzeros; want all three", s.Documents, s.Words, s.NNZ)
	}
	if p.k > s.Words {
		return rectify.Size{}, &TopicsError{K: p.k, Words: s.Words}
	}
	return p.size(s.Documents, s.Words, s.NNZ, s.Tokens), nil
}

// ledger adds up the memory of one stage after the other.
type ledger struct {
	*Estimate
	given int64 // bytes of the documents, which let as much garbage stand
	held  int64 // what remains of the stages so far
	steps []rectify.Step
}

// stage adds a stage that takes steps, the last of which tells what it leaves.
func (l *ledger) stage(st Stage, method string, flops float64, steps []rectify.Step) {
	x := StageEstimate{Stage: st, Method: method, Flops: flops, InUse: l.held}
	for _, s := range steps {
		s.InUse += l.held
		x.InUse = max(x.InUse, s.InUse)
		l.steps = append(l.steps, s)
	}
	if n := len(steps); n > 0 {
		l.held += steps[n-1].InUse
	}
	x.InUse += leastBytes
	x.Bytes = max(rectify.Peak(l.given, l.steps)+leastBytes, x.InUse) // which ends at what it can count
	l.Stages = append(l.Stages, x)
	l.Flops += flops
	l.Bytes = x.Bytes
	if x.InUse > l.InUse {
		l.InUse, l.Stage = x.InUse, st
	}
}

// simple adds a stage that needs use bytes at a time, allocates made, and leaves kept.
func (l *ledger) simple(st Stage, method string, use, made, kept, flops float64) {
	use = max(use, kept)
	l.stage(st, method, flops, []rectify.Step{{InUse: int64(use), Allocated: int64(use)}, {InUse: int64(use), Allocated: int64(max(0, made-use))}, {InUse: int64(kept)}})
}

// estimate is Estimate, with or without the documents on their way to moments.
// It returns the cost of the rectifier too.
func (p Pipeline) estimate(s rectify.Size, prepare bool) (*Estimate, rectify.Cost) {
	e := new(Estimate)
	l := &ledger{Estimate: e, given: docBytes(s)}
	var (
		n, k, docs, nnz = float64(s.Words), float64(p.k), float64(s.Docs), float64(s.NNZ)
		nk              = 8 * n * k
		held            = float64(heldBytes(s))
		pairs           = 0.0 // of words of one document
	)
	if docs > 0 {
		pairs = 1.5 * nnz * nnz / docs
	}
	if prepare {
		l.simple(StageCooc, "moments", held+160*n+16*docs, held+160*n+48*docs, held, 10*nnz)
	} else if s.Stream {
		l.given = 0
	} else {
		l.given = heldBytes(s)
	}
	var cost rectify.Cost
	if c, ok := p.rectifier.(coster); ok {
		cost = c.Cost(s, p.k)
		steps := cost.Steps
		if last := len(steps) - 1; p.resumable && last > 0 {
			// Before all but the result goes: two blocks of up to K + 17 vectors, and
			// what Beyond takes.
			state := int64(16 * n * (k + 14))
			steps = append(slices.Clone(steps[:last]),
				rectify.Step{InUse: steps[last-1].InUse + state, Allocated: state + int64(448*n+8*docs*64)},
				rectify.Step{InUse: steps[last].InUse + state})
		}
		l.stage(StageRectify, cost.Method, cost.Flops, steps)
		e.Passes = cost.Passes
	} else {
		e.Unknown = append(e.Unknown, p.rectifier.String())
	}
	// E as it is in the end, when it is about half of what it was at most.
	entries := max(0, float64(cost.Kept)-nk) / 13.5 / 2
	// Products of the rectified matrix with K vectors, and the norms of its rows.
	product, norms, strip := (4*n*k+2*entries)*k, 2*n*k*k+2*entries*k, 0.0
	if _, ok := p.rectifier.(rectify.None); ok {
		product, norms, strip = 4*nnz*k, pairs, 8*docs*min(k, 64)
	}
	switch {
	case p.learner != nil:
		use := 8*n*(4*k+150) + 8*nk
		l.simple(StageTopics, p.learner.String(), use, 100*use, 2*nk, 0)
		e.Unknown = append(e.Unknown, p.learner.String()+" (its work)")
	case cost.LowRank:
		lift := 400 * n * math.Ceil(k/64)
		l.simple(StageAnchors, p.finder.String(), 4*nk+lift, 5*nk+2*lift, nk, 10*n*k*k)
		l.simple(StageRecover, p.recoverer.String(), 8*nk+lift, 9*nk+2*lift, 2*nk, 8*n*k*k+solving(n, k))
	default:
		l.simple(StageAnchors, p.finder.String(), nk+60*n, nk+20*n*k+60*n, 0, product+4*n*k*k+2*n*k*k+norms)
		l.simple(StageRecover, p.recoverer.String(), 6*nk+strip, 7*nk+strip, 2*nk, product+2*n*k*k+solving(n, k))
	}
	switch r := p.refiner.(type) {
	case nil:
	case refine.Passes:
		use, flops := refining(r, n, k, docs, nnz)
		l.simple(StageRefine, r.String(), use, 1.6*use, 2*nk, flops)
	default:
		e.Unknown = append(e.Unknown, r.String())
	}
	return e, cost
}

// solving is the work of the exact solver: on real data a word takes some 2.3·√K
// steps, each with as many topics more.
func solving(n, k float64) float64 {
	steps := 2.3 * math.Sqrt(k)
	return n * (1.2*k*steps*steps + steps*steps*steps)
}

// refining is what the passes over the documents need at a time, and their work.
func refining(r refine.Passes, n, k, docs, nnz float64) (use, flops float64) {
	passes, fold, temperature := r.N, r.FoldIn, r.Temperature
	if passes == 0 {
		passes = 10
	}
	if fold == 0 {
		fold = 10
	}
	if temperature == 0 {
		temperature = 1.4
	}
	hot := 0
	if temperature > 1 {
		hot = min(4*passes/5, 24)
	}
	// A chunk of documents: their words, θ, and responsibilities.
	chunk := min(max(1<<14, n), nnz)
	chunkDocs := min(4096, docs)
	if nnz > 0 {
		chunkDocs = min(chunkDocs, 2*chunk*docs/nnz)
	}
	use = 8*n*k*5 + 8*docs*k + chunk*60 + 10*chunkDocs*k
	if r.Scratch != "" {
		use += 8 * k * (2*chunkDocs - docs)
	}
	plain := passes
	cold := r.Method == refine.CVB0 && passes > max(hot, 1)
	if cold {
		plain = max(hot, 1)
	}
	swaps := r.Swaps > 0 && 3*hot/4 > 0
	if cold || swaps {
		use += 9 * chunk * k
	}
	// A word of a document and a topic: 4 operations for θ, 2 for the likelihood
	// and 2 for the topics in a plain pass, 12 in place of the 4 in a cold one of CVB0;
	// a power of a temperature is some 50.
	flops = nnz*k*(4*float64(fold)+8*float64(plain)+16*float64(passes-plain)+2) + 50*k*(n+docs)*float64(hot) + docs*k*k
	if swaps {
		use += 32 * n * k
		flops += 8 * 16 * nnz * k
	}
	return use, flops
}

// EstimateAfter is Estimate for one who has fitted before: prev are the Stats of a
// fit by the same stages, on the same machine, of other documents or for another
// K. From these it knows more:
//
//   - how many entries were lifted, from which it takes how many there will be, instead of
//     by the rule alone, and a tenth more to be safe;
//   - the time of each stage, which will be longer as the work is more. Flops of
//     different kinds take different times, and caches are used up, so the time of data or K
//     twice as large may be off by a half; see the benchmark EstimateAfter.
//
// A stage that another method did, one without a time (as in Stats of a model that
// was read from a file), or a rectification that began warm (Pipeline.From) where this one
// will not, has no time: Unknown says so. Where this one will go on from a model and prev
// did not, the time is that of a start from nothing. Errors: those of
// Estimate, and Stats without documents or topics.
func (p Pipeline) EstimateAfter(s CorpusStats, prev Stats) (*Estimate, error) {
	size, err := p.sizeOfStats(s)
	if err != nil {
		return nil, err
	}
	k := prev.Anchors.Requested
	if k == 0 {
		k = len(prev.AnchorFree.Eigenvalues)
	}
	before := p.K(k)
	old, err := before.sizeOfStats(prev.Corpus)
	if err != nil {
		return nil, errorf("estimate: the Stats of the fit before: %w", err)
	}
	_, cost := before.estimate(old, true)
	if len(prev.Rectify.NNZ) > 0 && cost.Entries > 0 && cost.Method == prev.Rectify.Method {
		ratio := float64(slices.Max(prev.Rectify.NNZ)) / float64(cost.Entries)
		old.Lifted = max(1, int64(ratio*float64(old.Entries(k))))
		size.Lifted = max(1, int64(1.1*ratio*float64(size.Entries(p.k))))
	}
	was, _ := before.estimate(old, true)
	e, _ := p.estimate(size, true)
	times := map[Stage]StageEstimate{
		StageCooc:    {Method: "moments", Duration: prev.Cooc.Duration},
		StageRectify: {Method: prev.Rectify.Method, Duration: prev.Rectify.Duration},
		StageAnchors: {Method: prev.Anchors.Method, Duration: prev.Anchors.Duration},
		StageRecover: {Method: prev.Recover.Method, Duration: prev.Recover.Duration},
		StageTopics:  {Method: prev.AnchorFree.Method, Duration: prev.AnchorFree.Duration},
		StageRefine:  {Method: prev.Refine.Method, Duration: prev.Refine.Duration},
	}
	for i := range e.Stages {
		x, y := &e.Stages[i], was.Stages[i] // the same stages of the same Pipeline
		t := times[x.Stage]
		switch {
		case t.Method == (rectify.None{}).String() && y.Method == t.Method:
		case t.Duration <= 0:
			e.Unknown = append(e.Unknown, fmt.Sprintf("the time of %s: that of the fit before is not known", x.Stage))
		case t.Method != y.Method && x.Stage != StageCooc:
			e.Unknown = append(e.Unknown, fmt.Sprintf("the time of %s: the fit before used %s", x.Stage, t.Method))
		case x.Stage == StageRectify && methodName(x.Method) != methodName(y.Method):
			e.Unknown = append(e.Unknown, fmt.Sprintf("the time of %s: it was that of %s", x.Stage, t.Method))
		case x.Stage == StageRectify && prev.Refit.Start == "warm" && p.from == nil:
			e.Unknown = append(e.Unknown, fmt.Sprintf("the time of %s: the fit before began warm", x.Stage))
		case !(y.Flops > 0):
			e.Unknown = append(e.Unknown, fmt.Sprintf("the time of %s: its work is not known", x.Stage))
		default:
			x.Duration = time.Duration(float64(t.Duration) * x.Flops / y.Flops)
			e.Duration += x.Duration
		}
	}
	return e, nil
}

// methodName is a method without its settings.
func methodName(s string) string {
	name, _, _ := strings.Cut(s, "(")
	return name
}

// MemoryLimit refuses fits that Estimate says take more bytes, with a
// *MemoryLimitError, before they begin: Fit and Prepare before they copy
// anything (PrepareSnapshot has made the corpus then), FitPrepared and FitMatrix
// before they rectify. 0, the default: no limit.
func (p Pipeline) MemoryLimit(bytes int64) Pipeline { p.memory = bytes; return p }

// MemoryLimitError says that a fit was refused because it would take more memory
// than Pipeline.MemoryLimit allows. Nothing has been done yet.
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
	e, _ := p.estimate(s, prepare)
	if e.Bytes <= p.memory {
		return nil
	}
	err := &MemoryLimitError{Estimate: e, Limit: p.memory}
	lr := p
	lr.rectifier = rectify.LR{}
	if x, _ := lr.estimate(s, prepare); x.Bytes <= p.memory {
		err.Alternative = fmt.Sprintf("Rectify(rectify.LR{}) would take about %s", rectify.Bytes(x.Bytes))
		return err
	}
	// How many words would do, of as many documents, with the nonzeros in
	// proportion.
	fits := func(n int) bool {
		t := s
		t.Words, t.NNZ = n, int64(math.Ceil(float64(s.NNZ)*float64(n)/float64(s.Words)))
		x, _ := lr.estimate(t, prepare)
		return x.Bytes <= p.memory
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

// sizeOfPrepared returns what is known of d.
func (p Pipeline) sizeOfPrepared(d *Prepared) rectify.Size {
	return p.size(d.c.Docs(), d.c.Dim(), d.c.NNZ(), d.corpus.Tokens())
}

// sizeOf returns what is known of a matrix.
func (p Pipeline) sizeOf(c cooc.Matrix) rectify.Size {
	s := rectify.Size{Words: c.Dim(), Workers: p.workers}
	switch m := c.(type) {
	case *cooc.Moments:
		s.Docs, s.NNZ = m.Docs(), int64(m.NNZ())
	case *cooc.Stream:
		s = p.size(m.Docs(), m.Dim(), int(m.NNZ()), m.Tokens())
		s.Stream = true
	}
	return s
}
