//go:build arm64 && !noasm && !purego

package estep

// kernels are all implementations, whether or not this machine can run them.
var kernels = []*kernel{&generic, {"neon", 4, runNEON, gatherNEON, scatterNEON}}

//go:noescape
func runNEON(a *args)

//go:noescape
func gatherNEON(m *move)

//go:noescape
func scatterNEON(m *move)
