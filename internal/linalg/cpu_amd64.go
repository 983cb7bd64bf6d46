//go:build amd64 && !noasm && !purego

package linalg

import (
	"os"
	"strings"
)

// cpuid executes CPUID.
//
//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// xgetbv reads XCR0, the register states the operating system saves. It must
// not be called where CPUID does not report OSXSAVE.
//
//go:noescape
func xgetbv() (eax, edx uint32)

// detect reports which of the two instruction sets the processor and the operating
// system support and GODEBUG leaves on.
func detect() (avx2, avx512 bool) {
	const (
		// Leaf 1, ECX.
		fma     = 1 << 12
		popcnt  = 1 << 23
		osxsave = 1 << 27
		avx     = 1 << 28
		// Leaf 7, EBX.
		avx2Bit = 1 << 5
		f       = 1 << 16
		dq      = 1 << 17
		bw      = 1 << 30
		vl      = 1 << 31
		// XCR0: the halves of the YMM registers; and the mask registers and
		// the two parts that AVX-512 adds to the ZMM file.
		ymm = 0x06
		zmm = 0xe6
	)
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return false, false
	}
	_, _, c1, _ := cpuid(1, 0)
	if all := uint32(fma | popcnt | osxsave | avx); c1&all != all {
		return false, false
	}
	saved, _ := xgetbv()
	_, b7, _, _ := cpuid(7, 0)
	avx2 = b7&avx2Bit != 0 && saved&ymm == ymm
	all := uint32(f | dq | bw | vl)
	avx512 = b7&all == all && saved&zmm == zmm
	godebug := os.Getenv("GODEBUG")
	avx2 = avx2 && allowed(godebug, "avx", "avx2", "fma", "popcnt")
	avx512 = avx2 && avx512 && allowed(godebug, "avx512f", "avx512dq", "avx512bw", "avx512vl")
	return avx2, avx512
}

// allowed reports whether the settings cpu.NAME=off and cpu.all=off in GODEBUG leave
// all of the named features on. As in the runtime the last setting of a feature
// counts.
func allowed(godebug string, names ...string) bool {
	off := make(map[string]bool)
	for setting := range strings.SplitSeq(godebug, ",") {
		key, value, _ := strings.Cut(setting, "=")
		for _, name := range names {
			if (key == "cpu."+name || key == "cpu.all") && (value == "on" || value == "off") {
				off[name] = value == "off"
			}
		}
	}
	for _, is := range off {
		if is {
			return false
		}
	}
	return true
}
