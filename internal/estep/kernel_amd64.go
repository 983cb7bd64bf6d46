//go:build amd64 && !noasm && !purego

package estep

// kernels are all implementations, whether or not this machine can run them.
var kernels = []*kernel{&generic, {"avx2", 8, run256, gatherAVX, scatterAVX}, {"avx512", 16, run512, gatherAVX, scatterAVX}}

//go:noescape
func run256(a *args)

//go:noescape
func run512(a *args)

//go:noescape
func gatherAVX(m *move)

//go:noescape
func scatterAVX(m *move)
