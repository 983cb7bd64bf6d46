// Package sums adds up numbers over documents in fixed point. A sum is a slice of int64, and
// what one document adds to it is rounded first. Integers add up to the same in any order, so
// a sum is the same to the bit however documents are shared out among goroutines, processes
// and machines. A [Plan] says what is added up. [Documents] are where it is done: in this
// process ([Local]), or on other machines (package jsmf/beam).
package sums

import (
	"context"
	"encoding"

	"github.com/jsmf-go/spectral/corpus"
)

// Documents are documents by number of word that can be added up where they are.
type Documents interface {
	corpus.Source
	// Info describes the documents. Every word of its vocabulary is in one of them.
	Info() corpus.Info
	// Sum adds up what a plan takes of each document.
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
}

// Adder adds documents to a sum. A goroutine needs its own.
type Adder interface {
	// Add adds the documents of a block. It may put some of the work off.
	Add(ctx context.Context, b *corpus.Block, sum []int64) error
	// Flush does the work that is put off. It is called when no documents follow.
	Flush(ctx context.Context, sum []int64) error
}
