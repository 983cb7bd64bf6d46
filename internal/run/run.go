// Package run executes loops over fixed chunks on a bounded number of goroutines.
//
// The chunks depend on the size of the problem alone, never on the number of
// workers, so that a caller that merges per-chunk results in the order of the
// chunks gets the same bits from one worker and from many.
package run

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers returns how many goroutines to use when a caller asked for n: n
// itself, or GOMAXPROCS where n ≤ 0.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Count returns how many chunks of the given size cover n items.
func Count(n, size int) int {
	if n <= 0 {
		return 0
	}
	return (n + size - 1) / size
}

// Panic carries a panic of a chunk to the goroutine that called Chunks, with
// the stack of the place where it happened.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Chunks calls f for every chunk [lo, hi) of [0, n), each of the given size
// but for the last. At most Workers(workers) calls run at once; worker is a
// number in [0, Workers(workers)) that no two concurrent calls share, for
// per-worker scratch space.
//
// ctx is looked at before each chunk: after cancellation the chunks in flight
// (at most one a worker) are finished and no other is begun. The error of the
// lowest failing chunk is returned, or else ctx's. When Chunks returns, its
// goroutines have ended. A panic in f is raised again in the caller.
func Chunks(ctx context.Context, n, size, workers int, f func(worker, chunk, lo, hi int) error) error {
	count := Count(n, size)
	workers = min(Workers(workers), count)
	if workers <= 1 {
		for c := range count {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(0, c, c*size, min(n, (c+1)*size)); err != nil {
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
		wg.Add(1)
		go func() {
			defer wg.Done()
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
				if err := f(w, c, c*size, min(n, (c+1)*size)); err != nil {
					fail(c, err)
					return
				}
			}
		}()
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
