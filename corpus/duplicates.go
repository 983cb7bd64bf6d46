package corpus

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/jsmf-go/spectral/internal/splitmix"
)

// Duplicate is a document that is the same as an earlier one, or nearly.
type Duplicate struct {
	Doc, Of int // numbers of the two documents, from 0; Of is no Duplicate itself

	// Similarity is the number of tokens that the two have in common, as a share of those of
	// either: 1 if they have the same words equally often.
	Similarity float64
}

const (
	// nearly is the least similarity of near-duplicates. It finds second editions of a report,
	// and not two reports on one event.
	nearly = 0.8

	// Duplicates have this number of different words, and near-duplicates this number of tokens:
	// shorter documents are often alike by chance.
	minDuplicateWords  = 5
	minDuplicateTokens = 20

	// The values of a sketch are in bands: documents of similarity s share a band with
	// probability 1 − (1 − s⁴)¹⁶, 0.9998 for s = 0.8.
	sketchSize = 64
	bandSize   = 4
	bands      = sketchSize / bandSize
	bandDocs   = 8 // how many documents of an equal band are compared

	maxSketches = math.MaxUint32/bands - 1 // bands are numbered in 32 bits
)

// sketch is a MinHash of a document's tokens, by one permutation (li-2012).
type sketch [sketchSize]uint16

// duplicates finds those of n documents that repeat an earlier one. It reads them once for
// sketches of 128 bytes, and once more to compare those that look alike, of which it holds the
// earlier ones.
func duplicates(ctx context.Context, src Source, n int) ([]Duplicate, error) {
	s := newSketches(n)
	var found []Duplicate
	doc := 0
	for d, err := range src.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		if of := s.like(doc, d.Words, d.Counts); of >= 0 {
			found = append(found, Duplicate{Doc: doc, Of: of})
		}
		doc++
	}
	if len(found) == 0 {
		return nil, nil
	}
	held := make(map[int]Document, len(found))
	for _, x := range found {
		held[x.Of] = Document{}
	}
	var out []Duplicate
	doc = 0
	for d, err := range src.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		if _, ok := held[doc]; ok {
			held[doc] = Document{Words: slices.Clone(d.Words), Counts: slices.Clone(d.Counts)}
		}
		if len(found) > 0 && found[0].Doc == doc {
			x, first := found[0], held[found[0].Of]
			found = found[1:]
			if x.Similarity = similarity(first.Words, first.Counts, d.Words, d.Counts); x.Similarity >= nearly {
				out = append(out, x)
			}
		}
		doc++
	}
	return out, nil
}

// similarity returns Σ min / Σ max of the counts of two documents.
func similarity(v, m, w, n []int32) float64 {
	common, all := int64(0), int64(0)
	i, j := 0, 0
	for i < len(v) || j < len(w) {
		switch {
		case j == len(w) || i < len(v) && v[i] < w[j]:
			all += int64(m[i])
			i++
		case i == len(v) || w[j] < v[i]:
			all += int64(n[j])
			j++
		default:
			common += int64(min(m[i], n[j]))
			all += int64(max(m[i], n[j]))
			i++
			j++
		}
	}
	return float64(common) / float64(all)
}

// sketches finds documents that look alike.
type sketches struct {
	of    []sketch         // by document; empty for short ones
	whole map[uint64]int32 // a document of these words and counts
	table []uint32         // 1 + document·bands + band, by the values of the band; 0: empty
	mins  [sketchSize]uint32
}

func newSketches(docs int) *sketches {
	whole := make(map[uint64]int32, docs)
	docs = min(docs, maxSketches)
	size := 1 << bits.Len(uint(2*bands*docs))
	return &sketches{whole: whole, table: make([]uint32, size), of: make([]sketch, docs)}
}

// like returns the earlier document that a document looks like, −1 for none: then it is remembered.
func (s *sketches) like(doc int, words, counts []int32) int {
	if len(words) < minDuplicateWords {
		return -1
	}
	sum, tokens := uint64(0), int64(0)
	for i, w := range words {
		sum += splitmix.Step(uint64(w)<<32 | uint64(counts[i]))
		tokens += int64(counts[i])
	}
	if of, ok := s.whole[sum]; ok {
		return int(of)
	}
	if tokens >= minDuplicateTokens && doc < maxSketches {
		s.sketch(&s.of[doc], words, counts)
		if of := s.nearest(doc); of >= 0 {
			return of
		}
	}
	s.whole[sum] = int32(doc)
	return -1
}

// nearest returns the earlier document with most values of the sketch in common, the first of
// equal ones, −1 if none has more than two thirds: then the bands of the document go into the
// table.
func (s *sketches) nearest(doc int) int {
	x := &s.of[doc]
	mask := uint64(len(s.table) - 1)
	best, bestEqual := -1, 2*sketchSize/3
	var end [bands]uint64 // where the band of the document would go
	for b := range bands {
		lo, hi := b*bandSize, (b+1)*bandSize
		h := uint64(b)
		for _, v := range x[lo:hi] {
			h = splitmix.Step(h ^ uint64(v))
		}
		compared := 0
		for ; s.table[h&mask] != 0; h++ {
			of, band := int(s.table[h&mask]-1)/bands, int(s.table[h&mask]-1)%bands
			y := &s.of[of]
			if band != b || [bandSize]uint16(y[lo:hi]) != [bandSize]uint16(x[lo:hi]) || compared == bandDocs {
				continue
			}
			compared++
			equal := 0
			for j, v := range x {
				if v == y[j] {
					equal++
				}
			}
			if equal > bestEqual || equal == bestEqual && of < best {
				best, bestEqual = of, equal
			}
		}
		if end[b] = h; compared == bandDocs {
			end[b] = noBand
		}
	}
	for b, h := range end {
		if best >= 0 || h == noBand {
			continue
		}
		for s.table[h&mask] != 0 {
			h++
		}
		s.table[h&mask] = uint32(doc*bands+b) + 1
	}
	return best
}

const noBand = math.MaxUint64

// sketch fills in the sketch of a document, a set of words with a number for each of their tokens.
func (s *sketches) sketch(x *sketch, words, counts []int32) {
	for j := range s.mins {
		s.mins[j] = math.MaxUint32
	}
	for i, w := range words {
		for n := range uint64(min(counts[i], math.MaxUint8)) {
			h := splitmix.Step(uint64(w)<<8 | n)
			j := h % sketchSize
			s.mins[j] = min(s.mins[j], uint32(h>>32))
		}
	}
	for j := range x {
		d := 0
		for s.mins[(j+d)%sketchSize] == math.MaxUint32 && d < sketchSize {
			d++ // an empty place takes the value of the next one, and how far that is
		}
		x[j] = uint16(splitmix.Step(uint64(s.mins[(j+d)%sketchSize])<<8 | uint64(d)))
	}
}
