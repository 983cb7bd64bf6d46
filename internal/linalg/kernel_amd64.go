//go:build amd64 && !noasm && !purego

package linalg

import "golang.org/x/sys/cpu"

// name4 is the name of kernels4.
const name4 = "avx2"

// available returns the kernels this machine can run and GODEBUG leaves on, the best
// one last.
func available() []*kernels {
	all := []*kernels{&generic}
	x := &cpu.X86
	if !x.HasAVX || !x.HasAVX2 || !x.HasFMA || !x.HasPOPCNT {
		return all
	}
	all = append(all, &kernels4)
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		all = append(all, &kernels512)
	}
	return all
}

// checkStage panics unless 8 rows of st from row0 on can take another tile.
func checkStage(st *stage, row0 int) {
	full := st.stride - tileCols - panel
	for _, n := range st.cnt[row0 : row0+panel] {
		if uint(n) > uint(full) {
			panic("linalg: the stage of a scan overflows")
		}
	}
	_ = st.cols[(row0+panel)*st.stride-1]
	_ = st.vals[(row0+panel)*st.stride-1]
}
