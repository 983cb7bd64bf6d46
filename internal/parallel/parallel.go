// Package parallel executes loops over fixed chunks on a bounded number of goroutines.
//
// The chunks depend on the size of the problem alone, never on the number of
// workers, so that a caller that merges per-chunk results in the order of the
// chunks gets the same bits from one worker and from many.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// perProc bounds the goroutines per processor. More would only take scratch space.
const perProc = 4

// Workers returns how many goroutines Chunks starts for the given number of chunks when
// a caller asks for n: n itself, or GOMAXPROCS if n ≤ 0, but at least 1 and at most the
// number of chunks and 4·GOMAXPROCS. A caller with scratch space per worker passes the
// result on to Chunks, because GOMAXPROCS may change in between.
func Workers(n, chunks int) int {
	procs := runtime.GOMAXPROCS(0)
	if n <= 0 {
		n = procs
	}
	return max(1, min(n, chunks, perProc*procs))
}

// Count returns how many chunks of the given size cover n items.
func Count(n, size int) int {
	if n <= 0 {
		return 0
	}
	return (n-1)/size + 1
}

// Panic carries a panic of a chunk to the goroutine that called Chunks, with
// the stack of the place where it happened.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Progress calls Chunks and, if report is not nil, reports after each chunk how many of
// the n items are done, from one goroutine at a time.
func Progress(ctx context.Context, n, size, workers int, report func(done, total int), f func(worker, lo, hi int) error) error {
	var (
		mu   sync.Mutex
		done int
	)
	return Chunks(ctx, n, size, workers, func(worker, _, lo, hi int) error {
		if err := f(worker, lo, hi); err != nil {
			return err
		}
		if report != nil {
			mu.Lock()
			defer mu.Unlock()
			done += hi - lo
			report(done, n)
		}
		return nil
	})
}

// Chunks calls f for every chunk [lo, hi) of [0, n). All chunks have the given
// size except the last. At most w = Workers(workers, Count(n, size)) calls run
// at once; worker is a number in [0, w) that no two concurrent calls share, for
// per-worker scratch space.
//
// ctx is checked before each chunk: after cancellation the chunks in flight, at
// most one per worker, are finished and no other is started. Chunks returns the
// error of the lowest failing chunk, or else that of ctx. When it returns, its
// goroutines have ended. A panic in f is raised again in the caller.
func Chunks(ctx context.Context, n, size, workers int, f func(worker, chunk, lo, hi int) error) error {
	count := Count(n, size)
	workers = Workers(workers, count)
	if workers == 1 {
		for c := range count {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(0, c, c*size, c*size+min(size, n-c*size)); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	var (
		next     atomic.Int64
		wg       sync.WaitGroup
		mu       sync.Mutex
		failed   = count // the lowest chunk that failed
		firstErr error
		stop     atomic.Bool
	)
	fail := func(chunk int, err error) {
		mu.Lock()
		if chunk < failed {
			failed, firstErr = chunk, err
		}
		mu.Unlock()
		stop.Store(true)
	}
	for w := range workers {
		wg.Go(func() {
			c := 0
			defer func() {
				if v := recover(); v != nil {
					fail(c, &Panic{v, debug.Stack()})
				}
			}()
			for !stop.Load() && ctx.Err() == nil {
				c = int(next.Add(1)) - 1
				if c >= count {
					return
				}
				if err := f(w, c, c*size, c*size+min(size, n-c*size)); err != nil {
					fail(c, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if p, ok := firstErr.(*Panic); ok {
		panic(p)
	}
	if firstErr != nil {
		return firstErr
	}
	return ctx.Err()
}
