package jsmf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Compositions are the topic proportions of M documents.
type Compositions struct {
	// Method is the description of the method.
	Method string
	// W is M×K: row m holds the proportions of the topics in document m, with
	// sum 1. (For infer.TLI see infer.AllZero.) It is empty without documents.
	W *mat.Dense
	// IDs and Labels are those of the documents. A document without an id has
	// its number, from 1. Labels is nil if no document has one.
	IDs, Labels []string
	// Metadata are the values of the documents in columns; nil if there are none.
	Metadata *corpus.Metadata
	// Docs describes the inference of each document.
	Docs []infer.Doc
	// Unknown counts for each document the tokens of words that the model lacks.
	// (Docs[m].Unknown counts those of words that are in no topic.)
	Unknown []int64
}

// WithDocuments returns a copy of the model that holds the topic proportions of
// documents, such as those of the fit, with their ids, labels and metadata; nil: none. The
// file of the model keeps them, in 8·K + 36 bytes a document beside the rest. A model
// knows nothing of single documents otherwise. c is copied. It is an error if c is not of K
// topics or its parts are not of the same documents.
func (m *Model) WithDocuments(c *Compositions) (*Model, error) {
	if c != nil {
		if err := c.check(m.k); err != nil {
			return nil, errorf("documents: %w", err)
		}
	}
	out := *m
	out.docs = c.clone()
	return &out, nil
}

// Documents returns a copy of what WithDocuments was given, with the topics numbered as in
// the model; nil if it was not called.
func (m *Model) Documents() *Compositions { return m.docs.clone() }

// clone returns a deep copy, without unused room.
func (c *Compositions) clone() *Compositions {
	if c == nil {
		return nil
	}
	out := *c
	out.W = new(mat.Dense)
	if len(c.IDs) > 0 {
		out.W = mat.DenseCopyOf(c.W)
	}
	out.IDs, out.Labels, out.Docs, out.Unknown = slices.Clone(c.IDs), slices.Clone(c.Labels), slices.Clone(c.Docs), slices.Clone(c.Unknown)
	return &out
}

// check tells whether the parts are those of the same documents, and of k topics.
func (c *Compositions) check(k int) error {
	n := len(c.IDs)
	if len(c.Docs) != n || len(c.Unknown) != n || c.Labels != nil && len(c.Labels) != n || c.Metadata != nil && c.Metadata.NumDocs() != n || c.W == nil {
		return fmt.Errorf("%d ids, %d labels, metadata of %d, and what inference says of %d and %d documents", n, len(c.Labels), c.Metadata.NumDocs(), len(c.Docs), len(c.Unknown))
	}
	r, cols := c.W.Dims()
	if r != n || n > 0 && cols != k {
		return fmt.Errorf("the proportions are %d×%d, want %d×%d", r, cols, n, k)
	}
	for m := range n {
		for t, w := range c.W.RawRowView(m) {
			if !vec.Finite(w) {
				return fmt.Errorf("the proportion of topic %d in document %s is %v", t, c.IDs[m], w)
			}
		}
	}
	return nil
}

// bytes returns what a model file holds of the documents.
func (c *Compositions) bytes() ([]byte, error) {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, uint64(len(c.IDs)))
	text := func(s string) {
		b = le.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, list := range [][]string{{c.Method}, c.IDs, c.Labels} {
		if _, err := sizeOfTexts(list); err != nil {
			return nil, fmt.Errorf("id or label %w", err)
		}
	}
	text(c.Method)
	for _, w := range packed(c.W) {
		b = le.AppendUint64(b, math.Float64bits(w))
	}
	for _, s := range c.IDs {
		text(s)
	}
	if c.Labels == nil {
		b = le.AppendUint32(b, 0)
	} else {
		b = le.AppendUint32(b, 1)
	}
	for _, s := range c.Labels {
		text(s)
	}
	for m, d := range c.Docs {
		b = le.AppendUint64(b, math.Float64bits(d.Tokens))
		b = le.AppendUint64(b, math.Float64bits(d.Unknown))
		b = le.AppendUint64(b, uint64(c.Unknown[m]))
		b = le.AppendUint64(b, uint64(d.Iterations))
		b = le.AppendUint32(b, uint32(d.Status))
	}
	at := len(b)
	b = le.AppendUint64(b, 0)
	if c.Metadata != nil {
		var err error
		if b, err = c.Metadata.AppendBinary(b); err != nil {
			return nil, err
		}
		le.PutUint64(b[at:], uint64(len(b)-at-8))
	}
	return b, nil
}

// readCompositions reads what bytes returned.
func readCompositions(b []byte, k int) (*Compositions, error) {
	le := binary.LittleEndian
	short := false
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			b, short = nil, true
			return nil
		}
		x := b[:n]
		b = b[n:]
		return x
	}
	u32 := func() uint64 {
		if x := take(4); x != nil {
			return uint64(le.Uint32(x))
		}
		return 0
	}
	u64 := func() uint64 {
		if x := take(8); x != nil {
			return le.Uint64(x)
		}
		return 0
	}
	texts := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = string(take(u32()))
		}
		return list
	}
	docs := u64()
	if docs > uint64(len(b))/uint64(8*k+36) {
		return nil, fmt.Errorf("%d documents in %d bytes", docs, len(b))
	}
	n := int(docs)
	c := &Compositions{Method: string(take(u32())), W: new(mat.Dense), Docs: make([]infer.Doc, n), Unknown: make([]int64, n)}
	if raw := take(8 * docs * uint64(k)); len(raw) > 0 {
		w := make([]float64, n*k)
		for i := range w {
			w[i] = math.Float64frombits(le.Uint64(raw[8*i:]))
		}
		c.W = mat.NewDense(n, k, w)
	}
	c.IDs = texts(n)
	switch u32() {
	case 0:
	case 1:
		c.Labels = texts(n)
	default:
		return nil, errors.New("whether there are labels is neither 0 nor 1")
	}
	for m := range c.Docs {
		d := &c.Docs[m]
		d.Tokens, d.Unknown = math.Float64frombits(u64()), math.Float64frombits(u64())
		c.Unknown[m], d.Iterations = int64(u64()), int(u64())
		status := u32()
		d.Status = infer.Status(status)
		if !(d.Tokens >= 0) || !(d.Unknown >= 0) || !vec.Finite(d.Tokens+d.Unknown) || c.Unknown[m] < 0 || d.Iterations < 0 || status > uint64(infer.Diverged) {
			return nil, fmt.Errorf("document %d has %v, %v and %d tokens after %d iterations, status %d", m, d.Tokens, d.Unknown, c.Unknown[m], d.Iterations, status)
		}
	}
	if size := u64(); size > 0 {
		c.Metadata = new(corpus.Metadata)
		if err := c.Metadata.UnmarshalBinary(take(size)); err != nil {
			return nil, err
		}
	}
	if short || len(b) > 0 {
		return nil, errors.New("they do not fill the section to its end")
	}
	return c, nil
}
