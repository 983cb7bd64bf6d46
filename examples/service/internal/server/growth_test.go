package server

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// Models that are no longer served, and what was made of them, are not kept.
func TestGrowth(t *testing.T) {
	if testutil.Race {
		t.Skip("memory is another under the race detector")
	}
	s := start(t, Config{})
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers and pools held
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var at [3]uint64
	for i := range 21 {
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(5, uint64(50+i)), 1000+5*i), 200)
		refit(t, s)
		want(t, s, "GET", "/v1/report", "", "", 200)
		for j := range 5 {
			want(t, s, "DELETE", "/v1/documents/d"+strconv.Itoa(1000+5*i+j), "", "", 200)
		}
		if i%10 == 0 {
			at[i/10] = live()
		}
	}
	// A report alone has more than 10 kB, so that ten that are kept would show.
	if at[2] > at[1]+100<<10 {
		t.Errorf("the heap grew from %d to %d in the first ten refits, and to %d in the second", at[0], at[1], at[2])
	}
}
