package main

import (
	"time"

	"github.com/jsmf-go/spectral/internal/cputime"
)

// cpuSeconds returns the CPU time that the process has taken so far or, where it
// is not available, that of the clock. Only differences mean anything.
func cpuSeconds() float64 {
	if cputime.Known {
		return cputime.Seconds()
	}
	return float64(time.Now().UnixNano()) * 1e-9
}

// cpuIs says what cpuSeconds measures.
func cpuIs() string {
	if cputime.Known {
		return "CPU seconds, those of all cores together"
	}
	return "seconds by the clock"
}
