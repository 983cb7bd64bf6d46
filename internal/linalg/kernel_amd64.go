//go:build amd64 && !noasm && !purego

package linalg

import "golang.org/x/sys/cpu"

// available returns the kernels this machine can run and GODEBUG leaves on, the best
// one last.
func available() []*kernels {
	all := []*kernels{&generic}
	x := &cpu.X86
	if !x.HasAVX || !x.HasAVX2 || !x.HasFMA || !x.HasPOPCNT {
		return all
	}
	all = append(all, &kernels256)
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
		all = append(all, &kernels512)
	}
	return all
}

// checkTile panics, with the message of an index out of range, unless all that
// a tile reads and writes lies in its slices.
func checkTile(k int, a []float64, rs, ks int, b []float64, bs, nb, last int, c []float64, ldc int) {
	if k < 1 || rs < 0 || ks < 0 || bs < 0 || ldc < 0 || nb < 1 || nb > 3 || last < 1 || last > panel {
		panic("linalg: wrong arguments of a tile")
	}
	_ = a[(panel-1)*rs+(k-1)*ks]
	_ = b[(nb-1)*bs+k*panel-1]
	_ = c[(panel-1)*ldc+(nb-1)*panel+last-1]
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

// spmmBlock is how many values a call in assembly takes at most, except for a longer
// row: the scheduler cannot interrupt it, and the values and column numbers should
// still be in the cache for the next strip of columns.
const spmmBlock = 1 << 14

// spmmStrips computes rows [lo, hi) of dst (+)= S·X by calls in assembly, which take the
// columns in strips of at most 8 vectors of the given number of lanes, all about equally
// wide. call computes rows [from, to) of v vectors from column j on, the last of which has
// last columns. It returns the position of a column number out of range, or −1.
//
// The caller has checked rowPtr, x and dst; column numbers are checked as they are met.
func spmmStrips(lanes, n int, rowPtr []int, cols []int32, vals, x []float64, xs int, dst []float64, ds, p, lo, hi int, accumulate bool,
	call func(from, to, j, v, last int) int) int {
	vectors := (p + lanes - 1) / lanes
	strips := (vectors + 7) / 8
	for lo < hi {
		top := spmmTop(rowPtr, lo, hi)
		if rowPtr[top] == rowPtr[lo] { // nothing to point to
			spmmGeneric(n, rowPtr, cols, vals, x, xs, dst, ds, p, lo, top, accumulate)
			lo = top
			continue
		}
		j := 0
		for s := range strips {
			v := (vectors + s) / strips
			if bad := call(lo, top, j, v, min(lanes, p-j-(v-1)*lanes)); bad >= 0 {
				return bad
			}
			j += v * lanes
		}
		lo = top
	}
	return -1
}

// flag returns 1 for true, as assembly takes it.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spmmTop returns the end of the rows from lo on that one call takes.
func spmmTop(rowPtr []int, lo, hi int) int {
	top := lo + 1
	for top < hi && rowPtr[top+1]-rowPtr[lo] <= spmmBlock {
		top++
	}
	return top
}
