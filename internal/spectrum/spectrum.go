// Package spectrum lets eigenproblems of one matrix for several numbers of pairs
// share their products.
package spectrum

import (
	"context"
	"reflect"
	"slices"

	"github.com/jsmf-go/spectral/internal/linalg"
)

// Shared holds the first cycle of Lanczos vectors of one matrix. The cycle for
// few pairs is the beginning of that for many, so results do not change by a bit.
//
// It is not safe for concurrent use. Memory: 8·N bytes for each of some 2K + 50
// vectors of the largest K.
type Shared struct {
	of    any
	start linalg.LanczosStart
	found []float64
}

// New returns a Shared for eigenproblems of c.
func New(c any) *Shared { return &Shared{of: c} }

// key is what a context keeps a Shared by.
type key struct{}

// With returns a context that carries s, for the rectifications below it; s may be nil.
func With(ctx context.Context, s *Shared) context.Context { return context.WithValue(ctx, key{}, s) }

// For returns the Shared that ctx carries if it was made for the very matrix c, and nil
// otherwise.
func For(ctx context.Context, c any) *Shared {
	s, _ := ctx.Value(key{}).(*Shared)
	if s == nil || c == nil || s.of == nil || !reflect.ValueOf(c).Comparable() || !reflect.ValueOf(s.of).Comparable() || s.of != c {
		return nil
	}
	return s
}

// Start returns the cycle, to go into linalg.LanczosOptions; nil if s is nil.
func (s *Shared) Start() *linalg.LanczosStart {
	if s == nil {
		return nil
	}
	return &s.start
}

// Found records eigenvalues, descending, if they are more than those so far.
func (s *Shared) Found(theta []float64) {
	if s != nil && len(theta) > len(s.found) {
		s.found = slices.Clone(theta)
	}
}

// Values returns the largest eigenvalues of the matrix, descending: as many as the
// largest K of the eigenproblems so far, none before the first.
func (s *Shared) Values() []float64 { return slices.Clone(s.found) }
