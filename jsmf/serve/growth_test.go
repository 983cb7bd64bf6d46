package serve

import (
	"runtime"
	"strconv"
	"testing"
	"weak"
)

// Models that are no longer served, and what was made of them, are not kept.
func TestGrowth(t *testing.T) {
	s := start(t, Settings{})
	const refits = 8
	var models []weak.Pointer[served]
	for i := range refits {
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(5, uint64(50+i)), 1000+5*i), 200)
		refit(t, s)
		want(t, s, "GET", "/v1/report", "", "", 200)
		for j := range 5 {
			want(t, s, "DELETE", "/v1/documents/d"+strconv.Itoa(1000+5*i+j), "", "", 200)
		}
		models = append(models, weak.Make(s.current.Load()))
	}
	runtime.GC()
	kept := 0
	for _, m := range models {
		if m.Value() != nil {
			kept++
		}
	}
	if kept > refits/2 {
		t.Errorf("%d of %d models are still held", kept, refits)
	}
}
