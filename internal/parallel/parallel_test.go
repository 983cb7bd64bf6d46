package parallel

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestChunksCoverEveryItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 100} {
		for _, workers := range []int{0, 1, 2, 5, 200} {
			seen := make([]atomic.Int32, n)
			err := Chunks(context.Background(), n, 8, workers, func(w, c, lo, hi int) error {
				if lo != c*8 || hi > n || w >= Workers(workers, Count(n, 8)) {
					t.Errorf("n=%d: chunk %d is [%d,%d), worker %d", n, c, lo, hi, w)
				}
				for i := lo; i < hi; i++ {
					seen[i].Add(1)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Fatalf("n=%d workers=%d: item %d seen %d times", n, workers, i, seen[i].Load())
				}
			}
		}
	}
}

func TestChunksStopAfterCancel(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		var after atomic.Int32
		err := Chunks(ctx, 1000, 1, workers, func(_, c, _, _ int) error {
			if ctx.Err() != nil {
				after.Add(1)
			}
			if c == 10 {
				cancel()
			}
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("workers=%d: err = %v", workers, err)
		}
		// Each of the other workers may have passed its check just before.
		if int(after.Load()) > workers-1 {
			t.Errorf("workers=%d: %d chunks were begun after the cancellation", workers, after.Load())
		}
	}
}

func TestChunksLowestError(t *testing.T) {
	want := errors.New("three")
	err := Chunks(context.Background(), 4, 1, 4, func(_, c, _, _ int) error {
		if c == 3 {
			return want
		}
		return nil
	})
	if !errors.Is(err, want) {
		t.Errorf("err = %v", err)
	}
}

func TestChunksPanicReachesCaller(t *testing.T) {
	defer func() {
		p, ok := recover().(*Panic)
		if !ok || p.Value != "boom" || len(p.Stack) == 0 {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = Chunks(context.Background(), 10, 1, 3, func(_, c, _, _ int) error {
		if c == 5 {
			panic("boom")
		}
		return nil
	})
	t.Error("no panic")
}

func TestWorkers(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for _, c := range []struct{ n, chunks, want int }{
		{0, 1000, procs},
		{-1, 1000, procs},
		{1, 1000, 1},
		{2, 1000, 2},
		{3, 2, 2},
		{3, 0, 1},
		{math.MaxInt, 3, min(3, perProc*procs)},
		{math.MaxInt, math.MaxInt, perProc * procs},
	} {
		if got := Workers(c.n, c.chunks); got != c.want {
			t.Errorf("Workers(%d, %d) = %d, want %d", c.n, c.chunks, got, c.want)
		}
	}
}

// The scratch space of a caller suffices when GOMAXPROCS grows in between.
func TestChunksAfterMoreProcs(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	for _, n := range []int{0, 4, math.MaxInt} {
		runtime.GOMAXPROCS(1)
		workers := Workers(n, 100)
		runtime.GOMAXPROCS(16)
		err := Chunks(context.Background(), 100, 1, workers, func(w, _, _, _ int) error {
			if w >= workers {
				t.Errorf("worker %d of %d", w, workers)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
