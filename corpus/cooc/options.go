package cooc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Options sets how C is estimated, by [NewMoments] and [FromEncoded] alike. The zero value
// is the setting of the papers.
type Options struct {
	// Weighting says which second moment of the documents C is. Default: Unbiased.
	// FromEncoded takes this and OffDiagonal only.
	Weighting Weighting
	// MinTokens leaves out documents with fewer tokens. 0 means 5 (lee-2018 §2.4);
	// the least that counts is 2, as a single token holds no pair.
	MinTokens int
	// DropUnused leaves out the words of no document that is used, whose rows would
	// be empty. The others keep their order.
	DropUnused bool
	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

func (o Options) minTokens() int64 {
	if o.MinTokens == 0 {
		return 5
	}
	return int64(max(o.MinTokens, 2))
}

func (o Options) validate() error {
	if o.MinTokens < 0 {
		return fmt.Errorf("cooc: MinTokens is %d, want 0 for the default, or more", o.MinTokens)
	}
	if o.Weighting < Unbiased || o.Weighting > TFIDF {
		return fmt.Errorf("cooc: %v: no such weighting", o.Weighting)
	}
	return nil
}

// reasons returns why documents were left out that are too short or have no weight. It is
// an error if none was used.
func (o Options) reasons(used int, short, light corpus.Dropped) ([]corpus.Dropped, error) {
	switch {
	case used == 0 && light.Count > 0 && short.Count == 0:
		return nil, fmt.Errorf("cooc: %w (all %d documents have the weight 0)", ErrNoDocuments, light.Count)
	case used == 0:
		return nil, fmt.Errorf("cooc: %w (%d documents, at least %d tokens asked for)",
			ErrNoDocuments, short.Count+light.Count, o.minTokens())
	}
	short.Reason, light.Reason = fmt.Sprintf("fewer than %d tokens", o.minTokens()), "of weight 0"
	return slices.DeleteFunc([]corpus.Dropped{short, light}, func(d corpus.Dropped) bool { return d.Count == 0 }), nil
}

const unused = "in no document that is left"

// used returns the documents of c that are long enough and have a weight, with the words
// that the options keep, and their Info.
func (o Options) used(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, corpus.Info, error) {
	weights := c.Weights()
	var docs []int
	var short, light corpus.Dropped
	seen := make([]bool, c.NumWords())
	for m := range c.NumDocs() {
		if m%4096 == 0 && ctx.Err() != nil {
			return nil, corpus.Info{}, ctx.Err()
		}
		in, _ := c.Doc(m)
		if c.DocLen(m) < o.minTokens() {
			bag.Leave(&short.Count, &short.Names, c.ID(m))
			continue
		}
		if weights != nil && weights[m] == 0 {
			bag.Leave(&light.Count, &light.Names, c.ID(m))
			continue
		}
		docs = append(docs, m)
		for _, w := range in {
			seen[w] = true
		}
	}
	reasons, err := o.reasons(len(docs), short, light)
	if err != nil {
		return nil, corpus.Info{}, err
	}
	var words []int // nil: all
	var gone []string
	if o.DropUnused && slices.Contains(seen, false) {
		for w, ok := range seen {
			if ok {
				words = append(words, w)
			} else {
				gone = append(gone, c.Word(w))
			}
		}
	}
	if len(docs) < c.NumDocs() || words != nil {
		if c, err = c.Select(docs, words); err != nil {
			return nil, corpus.Info{}, fmt.Errorf("cooc: %w", err)
		}
	}
	info := c.Info()
	info.DroppedDocuments = slices.Concat(info.DroppedDocuments, reasons)
	if len(gone) > 0 { // words are all listed
		info.DroppedWords = []corpus.Dropped{{Reason: unused, Count: len(gone), Names: gone}}
	}
	return c, info, nil
}

// Weighting says which second moment of the documents C is.
type Weighting int

const (
	// Unbiased is the estimate from pairs of different tokens, ĤĤᵀ − D (lee-2020,
	// eq. 1). Its entries are probabilities.
	Unbiased Weighting = iota
	// OffDiagonal is Unbiased without its diagonal, divided by the sum of the rest: the
	// probability of two words given that they differ. The program published with
	// arora-2013 takes its anchors from its rows. BABᵀ has a diagonal, so that no model
	// fits it exactly; rectify.DC fills it in, to the same result as from Unbiased.
	OffDiagonal
	// TFIDF is DDᵀ with d = h·ln(M/df), scaled to the Euclidean length 1 (fu-2018
	// §6.1). Words in every document have an empty row.
	TFIDF
)

// String returns the name in lower case, such as "tf-idf".
func (w Weighting) String() string {
	switch w {
	case Unbiased:
		return "unbiased"
	case OffDiagonal:
		return "off-diagonal"
	case TFIDF:
		return "tf-idf"
	}
	return fmt.Sprintf("Weighting(%d)", int(w))
}

// form returns Info.Form: the name and, unless it is Unbiased, the Weighting.
func (w Weighting) form(name string) string {
	if w == Unbiased {
		return name
	}
	return fmt.Sprintf("%s (%v)", name, w)
}

// errAlone is the error where no pair of different words is left.
func errAlone(docs int) error {
	return fmt.Errorf("cooc: %w: none of the %d documents has two different words", ErrNoDocuments, docs)
}

// offDiagonal leaves out the diagonal of the unbiased estimate.
func (m *Moments) offDiagonal() error {
	for w, v := range m.self {
		m.diag[w] += v
	}
	clear(m.self)
	clear(m.c)
	for d := range m.docs {
		m.addOthers(m.byDoc.Row(d))
	}
	total := vec.Sum(m.c)
	if !(total > 0) {
		return errAlone(m.docs)
	}
	scale := 1 / total
	floats.Scale(scale, m.diag)
	floats.Scale(scale, m.c)
	floats.Scale(math.Sqrt(scale), m.byDoc.Vals)
	floats.Scale(math.Sqrt(scale), m.byWord.Vals)
	return nil
}

// tfidf computes DDᵀ divided by its sum.
func (m *Moments) tfidf(c *corpus.Corpus) error {
	idf := c.IDF()
	share, all := shares(c), float64(m.docs)
	total := 0.0
	sums := make([]float64, m.docs)
	for d := range m.docs {
		words, counts := c.Doc(d)
		lo, length := len(m.byDoc.Cols), 0.0
		for i, word := range words {
			v := float64(counts[i]) * idf[word]
			length += float64(v * v)
			m.byDoc.Cols, m.byDoc.Vals = append(m.byDoc.Cols, word), append(m.byDoc.Vals, v)
		}
		length = math.Sqrt(length)
		if length == 0 { // every word is in all documents
			length = 1
		}
		if c.Weights() != nil {
			length /= math.Sqrt(all / share(d))
		}
		for i, v := range m.byDoc.Vals[lo:] {
			v /= length
			m.byDoc.Vals[lo+i] = v
			sums[d] += v
		}
		total += float64(sums[d] * sums[d])
		m.byDoc.RowPtr[d+1] = len(m.byDoc.Cols)
	}
	if !(total > 0) {
		return fmt.Errorf("cooc: %w: every word is in every one of the %d documents, so that tf-idf leaves no weight", ErrNoDocuments, m.docs)
	}
	scale := 1 / math.Sqrt(total)
	for d := range m.docs {
		lo, hi := m.byDoc.RowPtr[d], m.byDoc.RowPtr[d+1]
		for i := lo; i < hi; i++ {
			v := m.byDoc.Vals[i] * scale
			word := m.byDoc.Cols[i]
			m.byDoc.Vals[i] = v
			m.self[word] += float64(v * v)
			m.c[word] += float64(v * sums[d] * scale)
		}
	}
	m.byDoc.Transpose(&m.byWord, m.n)
	return nil
}
