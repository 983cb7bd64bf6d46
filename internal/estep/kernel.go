package estep

import (
	"sync"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// args are the arguments of a kernel. It adds to g the numbers
//
//	Plain:  (x/z)·b
//	others: (x/Σ out)·out
//
// of n words, and to sums the latter, with Plain those times t; and it sets z to
// tᵀb, except with LeaveLast, which finds out and left as the last step left them.
// Without g the others stop at out and left.
// Where z or Σ out is below least, least takes its place.
type args struct {
	words, next *int32   // n; rows of B of the next words are fetched ahead
	counts, z   *float32 // n
	left        *float32 // n: Σ out
	scale       *float32 // n: space for x/Σ out
	n           int      // at most block
	b, sums     *float32 // rows, stride bytes apart; sums may be nil
	t, g        *float32
	out         *float32 // n rows, width bytes apart
	prior       *float32
	k           int // without padding
	width       int // bytes of a row up to the end of the last vector needed
	stride      int
	mode        int
	least, one  float32
	token       float32
}

// block is how many words a kernel takes at a time.
const block = 16

type kernel struct {
	name  string
	lanes int // of a vector
	run   func(a *args)

	gather, scatter func(m *move) // between rows and the columns in use of them
}

// best returns the kernel of the name that linalg has chosen.
var best = sync.OnceValue(func() *kernel {
	for _, k := range kernels {
		if k.name == linalg.KernelName() {
			return k
		}
	}
	return &generic
})
