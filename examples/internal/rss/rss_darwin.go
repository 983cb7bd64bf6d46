package rss

import "syscall"

// Peak returns the most memory the process has had resident, in bytes, 0 if
// that is not known.
func Peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Maxrss) // in bytes here, in KiB on Linux
}
