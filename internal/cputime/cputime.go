// Package cputime tells how much processor time the process has taken, which
// unlike the clock's does not depend on what else the machine does.
package cputime

// Known says whether Seconds can tell: it can on Unix systems.
const Known = known

// Seconds returns the processor time that the process has taken so far, in user
// and system mode and on all cores together; 0 where it is not Known.
func Seconds() float64 { return seconds() }
