// Package sums adds up numbers over documents in fixed point. A sum is a slice of int64, and
// what one document adds to it is rounded first. Integers add up to the same in any order, so
// a sum is the same to the bit however documents are shared out among goroutines, processes
// and machines. A [Plan] says what is added up. [Documents] are where it is done: in this
// process ([Local]), or on other machines (package jsmf/beam).
package sums

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"

	"github.com/jsmf-go/spectral/corpus"
)

// Documents are documents by number of word that can be added up where they are.
type Documents interface {
	corpus.Source
	// Info describes the documents. Every word of its vocabulary is in one of them.
	Info() corpus.Info
	// Sum adds up what a plan takes of each document. What plans leave of each document is kept
	// until Carry says otherwise; if it is lost, the error wraps ErrLost.
	Sum(ctx context.Context, p Plan) ([]int64, error)
}

// Of returns the documents of a source as those that can be added up where they are. A source
// that wraps such documents cannot: it may yield others.
func Of(src corpus.Source) (Documents, bool) {
	docs, ok := src.(Documents)
	return docs, ok
}

// Plan says what is added up of each document. It is only read.
type Plan interface {
	// MarshalBinary encodes the plan for ReadPlan. Plans with the same bytes have the same
	// sum over the same documents on one type of CPU.
	encoding.BinaryMarshaler
	// Len returns how many numbers the sum has.
	Len() int
	// Adder returns scratch space to add documents with.
	Adder() Adder
	// Shared reports whether adders of one Plan may add to one sum at the same time, so that
	// goroutines do not need a sum each.
	Shared() bool
	// Carry returns what goes from one plan to the next besides the sum.
	Carry() Carry
}

// Carry is what a plan takes of each document that an earlier plan left, and what it leaves.
type Carry struct {
	// After is the earlier plan, which has left Old numbers of each document. Zero: none.
	After Key
	Old   int
	// Last says that no later plan takes them, so that they can be forgotten.
	Last bool
	// New is how many numbers of each document the plan leaves.
	New int
}

// Kept are the numbers of Carry of some documents, one document after the other: Old are
// those that an earlier plan left, and New, zero at first, are those to leave.
type Kept struct{ Old, New []float32 }

// documents returns the numbers of documents lo to hi.
func (k Kept) documents(c Carry, lo, hi int) Kept {
	return Kept{k.Old[lo*c.Old : hi*c.Old], k.New[lo*c.New : hi*c.New]}
}

// ErrLost is wrapped by the error of a Sum whose plan takes what is no longer kept.
var ErrLost = errors.New("what an earlier pass has left of the documents is gone")

// Key stands for the bytes of a plan, and by those for the plans before it.
type Key [sha256.Size]byte

// KeyOf returns the key of a plan, and the plan encoded.
func KeyOf(p Plan) (Key, []byte, error) {
	b, err := p.MarshalBinary()
	return sha256.Sum256(b), b, err
}

// Adder adds documents to a sum. A goroutine needs its own.
type Adder interface {
	// Add adds the documents of a block, whose numbers are kept. It may put some of the work
	// off, but sets kept.New.
	Add(ctx context.Context, b *corpus.Block, kept Kept, sum []int64) error
	// Flush does the work that is put off. It is called when no documents follow.
	Flush(ctx context.Context, sum []int64) error
}
