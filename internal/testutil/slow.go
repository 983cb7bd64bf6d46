package testutil

import "testing"

// NotWithRace skips a test that is about numbers, and long, under the race detector.
func NotWithRace(t *testing.T) {
	t.Helper()
	if Race {
		t.Skip("skipped: long, and about numbers alone")
	}
}
