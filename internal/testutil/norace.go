//go:build !race

package testutil

// Race reports whether the race detector is on, under which long numerical tests
// take minutes and show nothing that short ones do not.
const Race = false
