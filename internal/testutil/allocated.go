package testutil

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// Allocated returns how many bytes f allocates in all. The collector is off meanwhile and one
// processor runs, so that what is in a sync.Pool is found there. Under the race detector,
// which takes memory of its own and empties pools at random, the test is skipped.
func Allocated(t testing.TB, f func()) int64 {
	t.Helper()
	if Race {
		t.Skip("the race detector allocates, too")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
