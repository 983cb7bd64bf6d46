//go:build unix

// Package cputime measures the processor time that the process has taken, which unlike the
// clock's does not depend on what else the machine does.
package cputime

import "syscall"

// Known reports whether Seconds is known: on Unix systems.
const Known = true

// Seconds returns the processor time that the process has taken so far, in user and system
// mode and on all cores together; 0 where it is not Known.
func Seconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no such failure for the process itself
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) * 1e-9
}
