//go:build amd64 && !noasm && !purego

package sums

// kernels are all implementations, whether or not this machine can run them.
var kernels = map[string]kernelFunc{
	"generic": addGeneric,
	"avx2": func(sum []int64, x []float32, scale float32, next *int64) {
		n := len(sum) &^ 3
		if n > 0 {
			add256(&sum[0], &x[:len(sum)][0], n, scale, next)
		}
		addGeneric(sum[n:], x[n:], scale, nil)
	},
	"avx512": func(sum []int64, x []float32, scale float32, next *int64) {
		n := len(sum) &^ 7
		if n > 0 {
			add512(&sum[0], &x[:len(sum)][0], n, scale, next)
		}
		addGeneric(sum[n:], x[n:], scale, nil)
	},
}

// add256 adds n numbers, a multiple of 4 above 0.
//
//go:noescape
func add256(sum *int64, x *float32, n int, scale float32, next *int64)

// add512 adds n numbers, a multiple of 8 above 0.
//
//go:noescape
func add512(sum *int64, x *float32, n int, scale float32, next *int64)
