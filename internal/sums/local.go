package sums

import (
	"context"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/parallel"
)

// Local are documents in this process, in memory or in a file.
type Local struct {
	*corpus.Encoded
	workers int
}

var _ Documents = (*Local)(nil)

// NewLocal returns the documents of e, added up by this many goroutines; 0: GOMAXPROCS.
func NewLocal(e *corpus.Encoded, workers int) *Local { return &Local{Encoded: e, workers: workers} }

// Sum implements Documents. Each goroutine has a sum of its own, unless the plan's are shared.
func (l *Local) Sum(ctx context.Context, p Plan) ([]int64, error) {
	n := parallel.Workers(l.workers, l.Blocks())
	type worker struct {
		block corpus.Block
		adder Adder
		sum   []int64
	}
	work := make([]worker, n)
	for i := range work {
		w := &work[i]
		if w.adder = p.Adder(); i > 0 && p.Shared() {
			w.sum = work[0].sum
		} else {
			w.sum = make([]int64, p.Len())
		}
	}
	err := parallel.Chunks(ctx, l.Blocks(), 1, n, func(i, block, _, _ int) error {
		w := &work[i]
		if err := l.Block(block, &w.block); err != nil {
			return err
		}
		return w.adder.Add(ctx, &w.block, w.sum)
	})
	if err == nil {
		err = parallel.Chunks(ctx, n, 1, n, func(_, i, _, _ int) error { return work[i].adder.Flush(ctx, work[i].sum) })
	}
	if err != nil {
		return nil, err
	}
	sum := work[0].sum
	if n == 1 || p.Shared() {
		return sum, nil
	}
	return sum, parallel.Chunks(ctx, len(sum), 1<<15, l.workers, func(_, _, lo, hi int) error {
		for _, w := range work[1:] {
			for i, x := range w.sum[lo:hi] {
				sum[lo+i] += x
			}
		}
		return nil
	})
}
