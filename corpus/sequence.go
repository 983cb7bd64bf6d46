package corpus

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
)

// FromSeq returns a Source of the documents of a sequence. desc says what is known of them,
// nothing for documents of tokens without metadata. Every pass goes through seq from its
// beginning. A later pass that yields another number of documents than the first ends with
// [ErrSourceChanged]: Encode a sequence that can be gone through only once.
func FromSeq(seq iter.Seq2[Document, error], desc Description) Source {
	return &sequence{seq: seq, desc: desc}
}

type sequence struct {
	seq  iter.Seq2[Document, error]
	desc Description
	docs atomic.Int64 // 1 + the number of documents of a whole pass; 0: not known
}

func (s *sequence) Describe(context.Context) (Description, error) { return s.desc, nil }

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
