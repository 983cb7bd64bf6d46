// Package bytesize writes numbers of bytes for people.
package bytesize

import "fmt"

// String returns b in bytes below 1 MiB, and in MiB or GiB with the bytes in
// parentheses above.
func String(b int64) string {
	if b < 1<<20 && b > -1<<20 {
		return fmt.Sprintf("%d bytes", b)
	}
	unit, name := float64(1<<20), "MiB"
	if b >= 1<<30 {
		unit, name = 1<<30, "GiB"
	}
	return fmt.Sprintf("%.4g %s (%d bytes)", float64(b)/unit, name, b)
}
