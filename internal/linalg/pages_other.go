//go:build !linux

package linalg

import "unsafe"

func largePages(unsafe.Pointer, uintptr) {}
