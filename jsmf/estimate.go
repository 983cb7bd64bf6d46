package jsmf

import (
	"fmt"
	"math"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bytesize"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Estimate says how much memory a fit takes at most.
type Estimate struct {
	// Bytes is the sum of the stages. It bounds what is in use at a time, also where
	// the garbage of one stage is still there in the next; see debug.SetMemoryLimit
	// for more garbage than that. The documents given are not in it.
	Bytes  int64
	Stages []StageEstimate
	// Unknown names rectifiers that are no rectify.Sizer, and refiners other than
	// refine.Passes: they count as nothing. Finders, recoverers and learners all count
	// as those of this module.
	Unknown []string
}

// StageEstimate is the part of one stage.
type StageEstimate struct {
	Stage  Stage
	Method string
	Bytes  int64
}

// String returns a table with a line for each stage.
func (e *Estimate) String() string {
	var b strings.Builder
	for _, s := range append(e.Stages[:len(e.Stages):len(e.Stages)], StageEstimate{Stage: "all", Bytes: e.Bytes}) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-10s %9.1f MiB  %s", s.Stage, float64(s.Bytes)/(1<<20), s.Method), " "))
	}
	for _, u := range e.Unknown {
		fmt.Fprintf(&b, "not known: %s\n", u)
	}
	return b.String()
}

func (e *Estimate) add(s Stage, method string, bytes float64) {
	x := StageEstimate{Stage: s, Method: method, Bytes: int64(min(bytes, math.MaxInt64/8))}
	e.Stages = append(e.Stages, x)
	e.Bytes += x.Bytes
}

// size is what is known of the data of a fit before it starts.
type size struct {
	docs, words int
	nnz         int64
	count       bool // the fit counts the documents: there is a stage cooc
	stream      bool // C is read anew for each product
}

// Estimate returns an upper bound of the memory that a fit of documents like these
// takes, of which Documents, Words and NNZ count: those that take part. It allocates
// nothing. Errors: those of Validate, counts that are not positive, *TopicsError.
//
// AP takes most for the entries that it sets to zero, of which it counts half of all;
// few texts have a third of that. It stops in its first iteration where MemoryLimit
// does not allow for them, and rectify.Auto then takes LR.
func (p Pipeline) Estimate(s CorpusStats) (*Estimate, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if s.Documents < 1 || s.Words < 1 || s.NNZ < 1 {
		return nil, errorf("estimate: %d documents, %d words, %d nonzeros; want all three", s.Documents, s.Words, s.NNZ)
	}
	if p.k > s.Words {
		return nil, &TopicsError{K: p.k, Words: s.Words}
	}
	e, _ := p.estimate(size{docs: s.Documents, words: s.Words, nnz: int64(s.NNZ), count: true})
	return e, nil
}

// estimate returns an estimate, and the memory limit of the rectifier: what the other
// stages leave of the limit of the Pipeline, 0 if that has none.
func (p Pipeline) estimate(s size) (*Estimate, int64) {
	e := new(Estimate)
	n, k, docs, nnz := float64(s.words), float64(p.k), float64(s.docs), float64(s.nnz)
	// A product with C takes a number for each document and vector, of at most 64
	// vectors at a time; that of a stream three chunks of documents.
	product := 8 * docs * 64
	if s.stream {
		product = 3 * (24*min(nnz, max(1<<18, 4*n)) + 8*min(docs, 8192)*(2*k+60))
	}
	if s.count {
		e.add(StageCooc, "", 32*nnz+192*docs+256*n)
	}
	e.add(StageRectify, p.rectifier.String(), 0) // see below
	blocks, at := math.Ceil(k/64), len(e.Stages)-1
	if p.learner != nil {
		e.add(StageTopics, p.learner.String(), 8*n*(6*k+150))
	} else {
		e.add(StageAnchors, p.finder.String(), 48*n*k+n*(800*blocks+64))
		e.add(StageRecover, p.recoverer.String(), 72*n*k+800*n*blocks+product)
	}
	switch r := p.refiner.(type) {
	case nil:
	case refine.Passes:
		chunk := min(max(1<<14, n), nnz)
		b := 72*n*k + chunk*(60+9*k) + 26*min(4096, docs)*k
		if r.Scratch == "" {
			b += 8 * docs * k
		}
		e.add(StageRefine, r.String(), b)
	default:
		e.Unknown = append(e.Unknown, r.String())
	}
	r, ok := p.rectifier.(rectify.Sizer)
	if !ok {
		e.Unknown = append(e.Unknown, p.rectifier.String())
		r = rectify.None{}
	}
	opt := rectify.Options{Keep: p.resumable}
	need := r.Bytes(s.words, p.k, opt)
	if p.memory > 0 {
		rest := max(1, p.memory-e.Bytes-int64(product))
		opt.MemoryLimit = rest
		for l := rest; l > 0; l /= 2 { // Auto takes less under a lower limit
			lower := opt
			lower.MemoryLimit = l
			if need = r.Bytes(s.words, p.k, lower); need <= rest {
				opt = lower
				break
			}
		}
	}
	b := float64(need) + product
	e.Stages[at].Bytes = int64(min(b, math.MaxInt64/8))
	e.Bytes += e.Stages[at].Bytes
	return e, opt.MemoryLimit
}

// MemoryLimit refuses fits that Estimate says take more bytes, with a
// *MemoryLimitError, before they begin. 0, the default: no limit.
func (p Pipeline) MemoryLimit(bytes int64) Pipeline { p.memory = bytes; return p }

// MemoryLimitError says that a fit would take more memory than Pipeline.MemoryLimit
// allows. Nothing has been done.
type MemoryLimitError struct {
	Estimate    *Estimate
	Limit       int64
	Alternative string // what would fit, "" if nothing is known to
}

func (e *MemoryLimitError) Error() string {
	s := fmt.Sprintf("jsmf: the fit would take up to %s, more than the limit of %s", bytesize.String(e.Estimate.Bytes), bytesize.String(e.Limit))
	if e.Alternative != "" {
		s += "; " + e.Alternative
	}
	return s
}

// affordable checks the data of a fit against the limit.
func (p Pipeline) affordable(s size) error {
	if p.memory == 0 || s.words < p.k {
		return nil
	}
	e, _ := p.estimate(s)
	if e.Bytes <= p.memory {
		return nil
	}
	err := &MemoryLimitError{Estimate: e, Limit: p.memory}
	p.rectifier = rectify.LR{}
	if x, _ := p.estimate(s); x.Bytes <= p.memory {
		err.Alternative = fmt.Sprintf("Rectify(rectify.LR{}) would take up to %s", bytesize.String(x.Bytes))
	}
	return err
}

// sizeOf returns what is known of an input; c is nil where its documents are to be
// counted.
func sizeOf(info corpus.Info, c cooc.Operator) size {
	s := size{docs: info.Documents, words: len(info.Vocabulary), nnz: info.Nonzeros, count: c == nil}
	if c != nil {
		s.words = c.Dim()
		_, rows := c.(cooc.Matrix)
		s.stream = !rows
	}
	return s
}
