package rss

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Peak returns the most memory the process has had resident, in bytes, 0 if
// that is not known. The kernel's VmHWM comes first because ru_maxrss also
// holds the peak of the process that started this one, up to its exec.
func Peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(status)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" && f[2] == "kB" {
				if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					return kb << 10
				}
			}
		}
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Maxrss) << 10
}
