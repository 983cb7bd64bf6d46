package testutil

import (
	"runtime"
	"runtime/debug"
)

// Allocated returns how many bytes f allocates in all. The collector is off meanwhile
// and one processor runs, so that what lies in a sync.Pool is found there.
func Allocated(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
