//go:build unix

package main

import "syscall"

// cpuIs says what cpuSeconds returns.
const cpuIs = "CPU seconds, those of all cores together"

// cpuSeconds returns the CPU time that the process has taken so far.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no such failure for the process itself
	}
	sec := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return sec(u.Utime) + sec(u.Stime)
}
