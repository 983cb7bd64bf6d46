//go:build unix

package testutil

import "syscall"

// CPU returns the seconds of processor time that the process has taken, unlike
// the clock's whatever else the machine does; false where that is not known.
func CPU() (float64, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) * 1e-9, true
}
