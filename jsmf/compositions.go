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
	"github.com/jsmf-go/spectral/internal/fields"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Compositions are the topic proportions of M documents.
type Compositions struct {
	// Method is the description of the method.
	Method string
	// W is M×K: row m holds the proportions of the topics in document m, with sum 1. (For infer.TLI
	// see infer.AllZero.) It is empty without documents.
	W *mat.Dense
	// IDs and Labels are those of the documents. A document without an id has its number, from 1.
	// Labels is nil if no document has one.
	IDs, Labels []string
	// Metadata are the values of the documents in columns; nil if there are none.
	Metadata *corpus.Metadata
	// Docs describes the inference of each document.
	Docs []infer.Doc
	// Unknown counts for each document the tokens of words that the model lacks. (Docs[m].Unknown
	// counts those of words that are in no topic, or of topics that were dropped.)
	Unknown []int64
}

// Explained reports whether topics explain document m. The proportions of one that they do not explain say nothing,
// and are to be left out of means, charts and lists: it has no word that the model knows, nine in ten of its words
// are unknown, or those that are known are as unlikely as [infer.NoTopic] says.
func (c *Compositions) Explained(m int) bool { return c.Docs[m].Explained(float64(c.Unknown[m])) }

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

// Validate returns what is wrong with c as the proportions of k topics: parts that are not of the
// same documents, rows of W that have negative entries or whose sum is not 1 to within 1e-6 (0 where
// the status is [infer.AllZero]), and counts of tokens that cannot be. W may be nil without
// documents. Nothing is wrong with nil. O(M·K).
func (c *Compositions) Validate(k int) error {
	if c == nil {
		return nil
	}
	n := len(c.IDs)
	if len(c.Docs) != n || len(c.Unknown) != n || c.Labels != nil && len(c.Labels) != n || c.Metadata != nil && c.Metadata.NumDocs() != n {
		return fmt.Errorf("%d ids, %d labels, metadata of %d, and what inference says of %d and %d documents", n, len(c.Labels), c.Metadata.NumDocs(), len(c.Docs), len(c.Unknown))
	}
	rows, cols := 0, 0
	if c.W != nil && !c.W.IsEmpty() {
		rows, cols = c.W.Dims()
	}
	if rows != n || n > 0 && cols != k {
		return fmt.Errorf("the proportions are %d×%d, want %d×%d", rows, cols, n, k)
	}
	for m := range n {
		sum := 0.0
		for t, w := range c.W.RawRowView(m) {
			if !(w >= 0 && w <= 1+1e-6) {
				return fmt.Errorf("the proportion of topic %d in document %s is %v", t, c.IDs[m], w)
			}
			sum += w
		}
		d := &c.Docs[m]
		if !(math.Abs(sum-1) <= 1e-6) && !(sum == 0 && d.Status == infer.AllZero) {
			return fmt.Errorf("the proportions of topics in document %s have the sum %.6g, want 1", c.IDs[m], sum)
		}
		if !(d.Tokens >= 0) || !(d.Unknown >= 0) || !vec.Finite(d.Tokens+d.Unknown) || c.Unknown[m] < 0 || d.Iterations < 0 || d.Status > infer.NoTopic {
			return fmt.Errorf("document %s has %v, %v and %d tokens after %d iterations, status %d", c.IDs[m], d.Tokens, d.Unknown, c.Unknown[m], d.Iterations, int(d.Status))
		}
	}
	return nil
}

// bytes returns what a model file holds of the documents, nil for nil.
func (c *Compositions) bytes() (b []byte, err error) {
	if c == nil {
		return nil, nil
	}
	for _, s := range slices.Concat([]string{c.Method}, c.IDs, c.Labels) {
		if len(s) > math.MaxInt32 {
			return nil, fmt.Errorf("an id or label of %d bytes, %.40q…", len(s), s)
		}
	}
	le := binary.LittleEndian
	texts := func(list ...string) {
		for _, s := range list {
			b = append(le.AppendUint32(b, uint32(len(s))), s...)
		}
	}
	b = le.AppendUint64(b, uint64(len(c.IDs)))
	texts(c.Method)
	for _, w := range packed(c.W) {
		b = le.AppendUint64(b, math.Float64bits(w))
	}
	texts(c.IDs...)
	b = le.AppendUint32(b, uint32(min(len(c.Labels), 1))) // whether there are labels
	texts(c.Labels...)
	for m, d := range c.Docs {
		b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(d.Tokens)), math.Float64bits(d.Unknown))
		b = le.AppendUint64(le.AppendUint64(b, uint64(c.Unknown[m])), uint64(d.Iterations))
		b = le.AppendUint32(b, uint32(d.Status))
	}
	at := len(b)
	b = le.AppendUint64(b, 0)
	if c.Metadata == nil {
		return b, nil
	}
	b, err = c.Metadata.AppendBinary(b)
	if err == nil {
		le.PutUint64(b[at:], uint64(len(b)-at-8))
	}
	return b, err
}

// readCompositions reads what bytes returned.
func readCompositions(b []byte, k int) (*Compositions, error) {
	r := fields.Reader{B: b}
	texts := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = string(r.Take(uint64(r.U32())))
		}
		return list
	}
	docs := r.U64()
	if docs > uint64(len(r.B))/uint64(8*k+36) {
		return nil, fmt.Errorf("%d documents in %d bytes", docs, len(r.B))
	}
	n := int(docs)
	c := &Compositions{Method: texts(1)[0], W: new(mat.Dense), Docs: make([]infer.Doc, n), Unknown: make([]int64, n)}
	if n > 0 {
		w := make([]float64, n*k)
		for i := range w {
			w[i] = r.F64()
		}
		c.W = mat.NewDense(n, k, w)
	}
	c.IDs = texts(n)
	switch r.U32() {
	case 0:
	case 1:
		c.Labels = texts(n)
	default:
		return nil, errors.New("whether there are labels is neither 0 nor 1")
	}
	for m := range c.Docs {
		tokens, unknown, lacking, iterations, status := r.F64(), r.F64(), r.U64(), r.U64(), r.U32()
		c.Unknown[m] = int64(lacking)
		c.Docs[m] = infer.Doc{Tokens: tokens, Unknown: unknown, Iterations: int(iterations), Status: infer.Status(min(status, math.MaxUint8))}
	}
	if size := r.U64(); size > 0 {
		c.Metadata = new(corpus.Metadata)
		if err := c.Metadata.UnmarshalBinary(r.Take(size)); err != nil {
			return nil, err
		}
	}
	if r.Short || len(r.B) > 0 {
		return nil, errors.New("they do not fill the section to its end")
	}
	return c, nil
}
