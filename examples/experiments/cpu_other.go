//go:build !unix

package main

import "time"

// cpuIs says what cpuSeconds returns.
const cpuIs = "seconds by the clock"

var begun = time.Now()

// cpuSeconds returns the seconds since the program began: CPU time is not to be
// had here.
func cpuSeconds() float64 { return time.Since(begun).Seconds() }
