package refine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/vec"
)

// byNumber is a source of n words without names, which are the numbers of rows.
type byNumber struct {
	corpus.Source
	n int
}

func (s byNumber) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	if err == nil && desc.Remote {
		err = fmt.Errorf("the documents of a %T are on other machines; use Batch, or bring them here by corpus.EncodeFile", s.Source)
	}
	desc.Vocabulary = make([]string, s.n)
	return desc, err
}

// encoded returns the documents of a source encoded.
func encoded(ctx context.Context, src corpus.Source, n int) (*corpus.Encoded, error) {
	switch src := src.(type) {
	case *corpus.Encoded:
		return src, nil
	case *sums.Local:
		return src.Encoded, nil
	}
	return corpus.Encode(ctx, byNumber{src, n})
}

// docState holds K numbers per document, in memory or in a temporary file.
type docState struct {
	k    int
	mem  []float32
	file *os.File
}

// rowBuffer holds the numbers of a few documents on the way from and to a file.
type rowBuffer struct {
	vals  []float32
	bytes []byte
}

func (s *docState) open(docs, k int, folder string) (err error) {
	s.k = k
	if folder == "" {
		s.mem = make([]float32, docs*k)
		return nil
	}
	s.file, err = os.CreateTemp(folder, "topic-counts-*.tmp")
	return err
}

func (s *docState) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// get returns the numbers of n documents, to be changed and passed to put with the same
// buffer. With fresh they are zero.
func (s *docState) get(b *rowBuffer, first, n int, fresh bool) ([]float32, error) {
	if s.file == nil {
		return s.mem[first*s.k : (first+n)*s.k], nil
	}
	b.vals = vec.Resize(b.vals, n*s.k)
	if fresh {
		clear(b.vals)
		return b.vals, nil
	}
	b.bytes = vec.Resize(b.bytes, 4*n*s.k)
	if _, err := s.file.ReadAt(b.bytes, 4*int64(first)*int64(s.k)); err != nil {
		return nil, err
	}
	for i := range b.vals {
		b.vals[i] = math.Float32frombits(binary.LittleEndian.Uint32(b.bytes[4*i:]))
	}
	return b.vals, nil
}

// row returns the numbers of document d of those that get returned.
func (s *docState) row(vals []float32, d int) []float32 { return vals[d*s.k:][:s.k] }

// put stores what get returned.
func (s *docState) put(b *rowBuffer, first int, vals []float32) error {
	if s.file == nil {
		return nil
	}
	b.bytes = b.bytes[:0]
	for _, v := range vals {
		b.bytes = binary.LittleEndian.AppendUint32(b.bytes, math.Float32bits(v))
	}
	_, err := s.file.WriteAt(b.bytes, 4*int64(first)*int64(s.k))
	return err
}
