//go:build !linux && !darwin

package rss

// Peak returns 0: not known on this system.
func Peak() int64 { return 0 }
