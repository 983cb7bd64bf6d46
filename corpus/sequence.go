package corpus

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
)

// FromSeq returns a Source of the documents of a sequence, with the columns of their
// Values. Every pass goes through seq, from its beginning. A later pass that yields another
// number of documents than the first ends with ErrSourceChanged, as for a sequence that can
// be gone through only once; Encode such documents first.
func FromSeq(seq iter.Seq2[Document, error], columns ...Column) Described {
	return &sequence{seq: seq, columns: columns}
}

type sequence struct {
	seq     iter.Seq2[Document, error]
	columns []Column
	docs    atomic.Int64 // 1 + the number of documents of a whole pass; 0: not known
}

func (s *sequence) Columns() []Column { return slices.Clone(s.columns) }

func (s *sequence) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		n := int64(1)
		for d, err := range s.seq {
			if err == nil && ctx.Err() != nil {
				err = fmt.Errorf("corpus: document %d: %w", n, ctx.Err())
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			if !yield(d, nil) {
				return
			}
			n++
		}
		if !s.docs.CompareAndSwap(0, n) && s.docs.Load() != n {
			yield(Document{}, fmt.Errorf("corpus: sequence: %w: %d documents, before %d", ErrSourceChanged, n-1, s.docs.Load()-1))
		}
	}
}
