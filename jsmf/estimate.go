package jsmf

import (
	"fmt"
	"math"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bytesize"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Estimate is an upper bound of the memory of a fit.
type Estimate struct {
	// Bytes is the sum of the stages, without the documents given. It leaves room for the garbage
	// of one stage in the next; debug.SetMemoryLimit limits garbage.
	Bytes int64
	// Stages are the bytes of each stage, those of refinement with 8·N·K for the Reading of the
	// model. Stages of the caller count as the defaults do.
	Stages map[Stage]int64
}

// String returns a table with a line for each stage and one for all.
func (e *Estimate) String() string {
	var b strings.Builder
	for _, s := range []Stage{StageCooc, StageRectify, StageAnchors, StageRecover, StageTopics, StageRefine, "all"} {
		bytes, ok := e.Stages[s]
		if s == "all" {
			bytes, ok = e.Bytes, true
		}
		if ok {
			fmt.Fprintf(&b, "%-10s %9.1f MiB\n", s, float64(bytes)/(1<<20))
		}
	}
	return b.String()
}

func (e *Estimate) add(s Stage, bytes float64) {
	e.Stages[s] = int64(min(bytes, math.MaxInt64/8))
	e.Bytes += e.Stages[s]
}

// size is what is known of the data before a fit starts.
type size struct {
	docs, words int
	nnz         int64
	count       bool // documents are to be counted
	elsewhere   bool // on other machines
	stream      bool // documents are decoded again for each product
	encoded     bool // documents are encoded already
}

// Estimate returns an upper bound of the memory of a fit to these Documents, Words and NNZ; other
// fields of s are ignored. Errors: those of Validate, counts that are not positive, K above the
// words or the documents.
//
// The bound of [rectify.AP] assumes that half of all entries of the matrix are negative and set to
// zero, three times their share in most texts.
func (p Pipeline) Estimate(s CorpusStats) (*Estimate, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if s.Documents < 1 || s.Words < 1 || s.NNZ < 1 {
		return nil, errorf("estimate: %d documents, %d words, %d nonzeros; want all three", s.Documents, s.Words, s.NNZ)
	}
	if p.k > s.Words {
		return nil, tooMany(p.k, s.Words)
	}
	if err := carried(p.k, s.Documents); err != nil {
		return nil, err
	}
	e, _ := p.estimate(size{docs: s.Documents, words: s.Words, nnz: int64(s.NNZ), count: true})
	return e, nil
}

// estimate returns an Estimate, and the memory limit of the rectifier: what the other stages leave
// of the Pipeline's limit, 0 if there is none.
func (p Pipeline) estimate(s size) (*Estimate, int64) {
	e := &Estimate{Stages: make(map[Stage]int64)}
	n, docs, nnz := float64(s.words), float64(s.docs), float64(s.nnz)
	// A product with C takes a number for each document and vector, of at most 64 vectors at a
	// time. Of documents that are decoded for it, it takes a chunk of them, while that grows.
	product := 8 * docs * 64
	if s.stream {
		product = 2 * (24*min(nnz, max(1<<18, 4*n)) + 8*min(docs, 8192)*(2*float64(p.startTopics(s.words, s.nnz))+60))
	}
	all, toEncode := n, 8*nnz+180*docs // words of the model, and bytes
	if s.encoded {
		toEncode = 0
	}
	switch {
	case s.count && p.allWords && s.stream:
		e.add(StageCooc, 40*n+12*docs+toEncode)
	case s.count && p.allWords:
		e.add(StageCooc, 32*nnz+192*docs+256*n)
	case s.count:
		n = min(n, float64(p.bestWords(s.words, s.nnz)))
		product = 8 * n * 64
		bytes := 21*n*n + 256*all
		if !s.elsewhere {
			workers := float64(parallel.Workers(p.workers, math.MaxInt))
			inspected := 420 * docs // the sketches of corpus.Inspect
			bytes += 120*min(nnz, workers*(1<<18+n)) + 32*all*workers + 8*nnz + 192*docs + inspected
		}
		e.add(StageCooc, bytes)
	}
	topics := p.startTopics(int(n), s.nnz)
	k := float64(topics)
	expanded := 0.0 // topics of all words
	if n < all {
		expanded = 16 * all * k
	}
	blocks := math.Ceil(k / 64)
	if p.learner != nil {
		e.add(StageTopics, 8*n*(6*k+150)+expanded)
	} else {
		e.add(StageAnchors, 48*n*k+n*(800*blocks+64))
		e.add(StageRecover, 72*n*k+800*n*blocks+product+expanded)
	}
	if p.refiner != nil {
		most := topics
		if most < p.k { // they are split, and the surplus is merged
			most = p.k + p.k/4
		}
		e.add(StageRefine, float64(refine.Bytes(p.refiner, s.docs, s.words, s.nnz, most))+8*all*float64(p.k))
	}
	var opt rectify.Options
	need := rectify.Bytes(p.rectifier, int(n), topics, opt)
	limit := int64(0)
	if p.memory > 0 {
		limit = max(1, p.memory-e.Bytes-int64(product))
		for opt.MemoryLimit = limit; opt.MemoryLimit > 0; opt.MemoryLimit /= 2 { // Auto takes less under a lower limit
			if need = rectify.Bytes(p.rectifier, int(n), topics, opt); need <= limit {
				limit = opt.MemoryLimit
				break
			}
		}
	}
	e.add(StageRectify, float64(need)+product)
	return e, limit
}

// MemoryLimit sets how many bytes a fit may take. Fit returns a [*MemoryLimitError] at once if
// Estimate says more. If more entries than the limit allows turn out to be negative during a fit,
// [rectify.AP] returns a [*rectify.MemoryError], and [rectify.Auto] changes to LR. Evaluate and
// Sweep do not read documents into memory that take more. 0, the default: no limit.
func (p Pipeline) MemoryLimit(bytes int64) Pipeline { p.memory = bytes; return p }

// MemoryLimitError is returned, before anything is done, by a fit that would take more memory than
// [Pipeline.MemoryLimit] allows, and by Evaluate where the documents would.
type MemoryLimitError struct {
	Estimate    *Estimate
	Limit       int64
	Alternative string // a setting within the limit, "" if none is known
}

func (e *MemoryLimitError) Error() string {
	s := fmt.Sprintf("jsmf: up to %s of memory would be taken, more than the limit of %s", bytesize.String(e.Estimate.Bytes), bytesize.String(e.Limit))
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

// affordableDocs checks whether documents may be read into memory and counted there.
func (p Pipeline) affordableDocs(info corpus.Info) error {
	e := &Estimate{Stages: make(map[Stage]int64)}
	// The corpus, twice while it grows, and its counts, as of all words in a fit.
	e.add(StageCooc, 64*float64(info.Nonzeros)+320*float64(info.Documents)+320*float64(len(info.Vocabulary)))
	if p.memory == 0 || e.Bytes <= p.memory {
		return nil
	}
	return &MemoryLimitError{Estimate: e, Limit: p.memory}
}

// sizeOf returns what is known of an input before anything is counted.
func (p Pipeline) sizeOf(in Input) size {
	info, c := in.Info(), p.matrix(in)
	s := size{docs: info.Documents, words: len(info.Vocabulary), nnz: info.Nonzeros, count: c == nil, elsewhere: input.Elsewhere(in)}
	_, s.encoded = info.Source.(*corpus.Encoded)
	s.stream = info.Corpus == nil
	if c != nil {
		s.words = c.Dim()
		_, rows := c.(cooc.Matrix)
		s.stream = !rows
	}
	return s
}
