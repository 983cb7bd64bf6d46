//go:build !unix

package testutil

// CPU returns the seconds of processor time that the process has taken; false
// where that is not known, as here.
func CPU() (float64, bool) { return 0, false }
