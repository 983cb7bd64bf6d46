package refine

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	maxSlots  = 8       // parts that are read at once, each by a goroutine
	maxTokens = 1 << 20 // of a word in a part: float32 still adds a tenth of a token to them
	foldIn    = 10      // steps that find the first topic counts of a document
)

// stripes are documents on one machine that are added up in float32. They are cut into parts,
// whose sums are merged in order, and keep the tokens by topic of each document.
type stripes struct {
	*topics
	scratch string // Passes.Scratch

	docs  *corpus.Encoded
	cuts  []int     // the blocks of docs by part
	slots int       // how many parts are read at once
	first []float32 // the topic counts to begin with, M×K; nil: to be found
	have  int       // one of 2^have documents has its tokens by topic

	rule  docstep.Rule // of the read
	state docState
	parts []*estep.Rows // by slot: what a sweep adds up until it is drained
	keep  float64       // what the next drain multiplies the sums by
	scale float64       // and what it multiplies the parts by
	work  []worker      // by goroutine

	logits   docState // with families, of documents: the logits of these
	ofLogits []logits // of a pass under a logistic-normal prior: of all documents, and by slot
}

// worker has the scratch space of a goroutine.
type worker struct {
	*docstep.Document
	block       corpus.Block
	number      int  // of block
	rows, next  rows // as they are, and what they become
	logits      rows
	theta, gram blas64.General
	normal      *logisticnormal.Document // nil before passes under a logistic-normal prior
	below       []uint16                 // of descend: blocks of topics
	tokens      []float32                // and those of these topics
}

// cut shares out the documents, and makes room for what is kept of them. first are their topic
// counts, nil if they are to be found.
func (f *stripes) cut(first []float32) error {
	if f.first = first; first != nil && len(first) != f.info.Documents*f.k {
		return fmt.Errorf("%d topic counts for %d documents and %d topics", len(first), f.info.Documents, f.k)
	}
	// A word has few enough tokens in a part for float32.
	parts := max(partCount(f.info.Nonzeros, f.n), int(slices.Max(f.seen.words)/maxTokens)+1)
	f.cuts = cuts(f.docs, parts)
	f.slots = parallel.Workers(f.workers, min(parts, maxSlots))
	f.parts = make([]*estep.Rows, f.slots)
	for i := range f.parts {
		f.parts[i] = estep.NewRows(f.n, f.k)
	}
	var err error
	some := 0
	if f.groups != nil && (f.given == nil || f.givenFamily != nil) && f.sparse() {
		some = f.docs.Blocks()
	}
	f.state, err = openState(f.info.Documents, f.k, some, f.scratch)
	return err
}

// partCount returns the least number of parts, a power of two. More parts take longer to add
// up.
func partCount(nnz int64, n int) int {
	parts := 1
	for parts < maxSlots && int64(parts*parts*parts)*24*int64(n) < nnz {
		parts *= 2
	}
	return parts
}

// cuts shares out the blocks among parts with about equal numbers of nonzeros: part p has the
// blocks from entry p up to entry p+1.
func cuts(e *corpus.Encoded, parts int) []int {
	nnz := e.Info().Nonzeros
	cuts, before := []int{0}, int64(0)
	for i := range e.Blocks() {
		// A block goes to the part in which its middle lies.
		b := int64(e.BlockNonzeros(i))
		for len(cuts) < parts && (2*before+b)*int64(parts) >= 2*nnz*int64(len(cuts)) {
			cuts = append(cuts, i)
		}
		before += b
	}
	for len(cuts) <= parts {
		cuts = append(cuts, e.Blocks())
	}
	return cuts
}

// sweep reads all documents. It calls do for each block, in w.block: those of a part in order,
// several parts at once, each with a slot of its own. When these are done it calls after with
// the number of slots, and goes on with the next parts. What do adds up by slot and after
// merges in the order of the slots does not depend on the number of workers.
func (f *stripes) sweep(ctx context.Context, do func(w *worker, slot int) error, after func(slots int) error) error {
	for lo := 0; lo+1 < len(f.cuts); lo += f.slots {
		slots := min(f.slots, len(f.cuts)-1-lo)
		workers := parallel.Workers(f.workers, slots)
		for len(f.work) < workers {
			f.work = append(f.work, worker{Document: docstep.NewDocument(f.k)})
		}
		err := parallel.Chunks(ctx, slots, 1, workers, func(number, slot, _, _ int) error {
			w := &f.work[number]
			for i := f.cuts[lo+slot]; i < f.cuts[lo+slot+1]; i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				w.number = i
				if err := f.docs.Block(i, &w.block); err != nil {
					return err
				}
				if err := do(w, slot); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && after != nil {
			err = after(slots)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// visit is a sweep that calls do for each document, with its numbers in w.rows, which are put back if they
// change.
func (f *stripes) visit(ctx context.Context, change bool, do func(w *worker, slot, d int) error, after func(slots int) error) error {
	return f.sweep(ctx, func(w *worker, slot int) error {
		if err := f.state.get(&w.rows, w.number, &w.block, false); err != nil {
			return err
		}
		for d := range w.block.Docs() {
			if err := do(w, slot, d); err != nil {
				return w.fail(d, err)
			}
		}
		if !change {
			return nil
		}
		return f.state.put(&w.rows, w.number, &w.block, false)
	}, after)
}

// prepare sets what steps of documents take, with the topics that there are.
func (f *stripes) prepare(leave bool) {
	f.rule = docstep.NewRule(f.rows, float32(f.alpha), f.alive, f.unigram)
	f.rule.Leave = leave
	if f.family != nil {
		f.rule.Families = docstep.NewFamilies(f.family, f.normal.K(), f.rule.Prior)
	}
}

// drain adds what the first n parts hold to the sums.
func (f *stripes) drain(ctx context.Context, n int) error {
	err := parallel.Chunks(ctx, f.n, rowsAtOnce, f.workers, func(_, _, lo, hi int) error {
		f.sums.Drain(f.keep, f.scale, f.parts[:n], lo, hi)
		return nil
	})
	f.keep = 1
	return err
}

// has reports whether a document has its tokens by topic.
func (f *stripes) has(key uint64) bool { return f.have < noDocuments && holdout.Thinned(key, f.have) }

// holdsOut reports whether a document has hidden tokens before the closing passes.
func (f *stripes) holdsOut(key uint64) bool { return f.seen.hides && holdout.HeldOut(key) }

// load sets w to document d of its block, with its counts times its weight.
func (f *stripes) load(w *worker, d int, hide bool) {
	words, counts := w.block.Doc(d)
	w.Load(words, counts, f.seen.share(w.block.First+d), hide)
}

// fail names document d of the block in an error.
func (w *worker) fail(d int, err error) error {
	return fmt.Errorf("document %s: %w", w.block.Name(d), err)
}

// general returns an r×c matrix in the memory of data, if that is large enough.
// Its content is undefined.
func general(data []float64, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: vec.Resize(data, r*c)}
}
