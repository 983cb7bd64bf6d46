package sums

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/fields"
)

// Moment is a plan that adds up the second moment of documents by tf-idf over some of
// their words: Σ_m w_m d_m d_mᵀ, where d_m holds h_mi·idf_i of the n words, scaled to the
// Euclidean length 1, and w_m is the weight of the document, at most 1. Documents with
// fewer than two different of these words are left out.
//
// A document adds at most 1 to an entry, and only if it has both words, so that the rarer of
// the two says how many bits the entry has behind the point. The sum has the words by rank,
// the rarest first, and of each the entries with words of its rank and above.
type Moment struct {
	all     int // number of words of the documents
	words   []int
	df      []int     // of each of words
	idf     []float64 // of each of words
	visible bool
	weights documentWeights

	order  []int        // the place in words of each rank
	stripe []sync.Mutex // each for the rows of stripeRows ranks; the last for the rest
}

// stripeRows is for how many rows an adder locks a sum at once.
const stripeRows = 32

// NewMoment returns the plan for some words, ascending, of documents with these document
// frequencies and idf of all their words. With visible the hidden tokens (package holdout)
// are left out. weights are those of the documents in their order, at most 1 each; nil:
// all weigh 1.
func NewMoment[W int | int32](df []int, idf []float64, words []W, visible bool, weights []float64) (*Moment, error) {
	if len(df) != len(idf) {
		return nil, fmt.Errorf("document frequencies of %d words and idf of %d", len(df), len(idf))
	}
	m := &Moment{all: len(idf), visible: visible, weights: weights}
	for i, w := range words {
		if w < 0 || int(w) >= len(idf) || i > 0 && w <= words[i-1] {
			return nil, fmt.Errorf("word %d at place %d; want words ascending in [0, %d)", w, i, len(idf))
		}
		m.words, m.df, m.idf = append(m.words, int(w)), append(m.df, df[w]), append(m.idf, idf[w])
	}
	return m, m.prepare()
}

// prepare checks the numbers and ranks the words.
func (m *Moment) prepare() error {
	n := len(m.words)
	if n == 0 {
		return corpus.ErrEmptyVocabulary
	}
	m.order = make([]int, n)
	for i, w := range m.words {
		m.order[i] = i
		if m.df[i] < 0 || !(m.idf[i] >= 0) || math.IsInf(m.idf[i], 1) {
			return fmt.Errorf("word %d is in %d documents and has the idf %g", w, m.df[i], m.idf[i])
		}
	}
	slices.SortFunc(m.order, func(i, j int) int { return cmp.Or(cmp.Compare(m.df[i], m.df[j]), cmp.Compare(i, j)) })
	m.stripe = make([]sync.Mutex, (n-1)/stripeRows+2)
	return m.weights.check()
}

func (m *Moment) Len() int { return triangle(len(m.words)) + 1 }

func (m *Moment) Shared() bool { return true }

// row returns a slice in which entry (i, j) of a sum is at place j, for ranks i ≤ j.
func (m *Moment) row(sum []int64, i int) []int64 {
	n := len(m.words)
	at := i*n - i*(i-1)/2 - i
	return sum[at : at+n]
}

// scale returns what the entries of rank i are multiplied by. Products are at most
// exact: addProducts.
func (m *Moment) scale(i int) float64 { return power(min(shift(int64(m.df[m.order[i]])), exactBits)) }

// Matrix returns the matrix that a sum stands for, divided by the sum of its entries. Row
// i is the i-th of the words. The error wraps cooc.ErrNoDocuments if no document has two of
// them.
func (m *Moment) Matrix(sum []int64) (*cooc.Dense, corpus.Info, error) {
	if err := checkSum(m, sum); err != nil {
		return nil, corpus.Info{}, err
	}
	n, docs := len(m.words), int(sum[len(sum)-1])
	if docs == 0 {
		return nil, corpus.Info{}, fmt.Errorf("%w: none has two of the %d words", cooc.ErrNoDocuments, n)
	}
	total := 0.0
	for i := range n {
		row, above := m.row(sum, i), 0.0
		for _, v := range row[i+1:] {
			above += float64(v)
		}
		total += (float64(row[i]) + float64(2*above)) / m.scale(i)
	}
	if !(total > 0) {
		return nil, corpus.Info{}, fmt.Errorf("%w: none of the %d words has a weight", cooc.ErrNoDocuments, n)
	}
	x := mat.NewSymDense(n, nil)
	data := x.RawSymmetric().Data
	for i, at := range m.order {
		row, scale := m.row(sum, i), 1/m.scale(i)
		for j, v := range row[i:] {
			to := m.order[i+j]
			data[min(at, to)*n+max(at, to)] = float64(v) * scale / total
		}
	}
	d, err := cooc.NewDense(x)
	if err != nil {
		return nil, corpus.Info{}, err
	}
	info := d.Info()
	info.Form, info.Documents = info.Form+" (tf-idf)", docs
	return d, info, nil
}

func (m *Moment) MarshalBinary() ([]byte, error) {
	if m.weights != nil {
		return nil, errWeights
	}
	le := binary.LittleEndian
	b := le.AppendUint64([]byte{0}, uint64(m.all))
	if m.visible {
		b[0] = 1
	}
	chosen := make([]byte, (m.all+7)/8) // a bit for each word
	for _, w := range m.words {
		chosen[w/8] |= 1 << (w % 8)
	}
	b = append(b, chosen...)
	for i, n := range m.df {
		b = le.AppendUint64(binary.AppendUvarint(b, uint64(n)), math.Float64bits(m.idf[i]))
	}
	return seal(kindMoment, b), nil
}

func readMoment(b []byte) (*Moment, error) {
	r := fields.Reader{B: b}
	flags, all := r.U8(), r.U64()
	if flags > 1 || all > 8*uint64(len(r.B)) || all > math.MaxInt32 {
		return nil, fmt.Errorf("flags %#x, %d words in %d bytes", flags, all, len(b))
	}
	m := &Moment{all: int(all), visible: flags == 1}
	for at, bits := range r.Take((all + 7) / 8) {
		for i := range 8 {
			if bits>>i&1 != 0 {
				m.words = append(m.words, 8*at+i)
			}
		}
	}
	if n := len(m.words); n > 0 && m.words[n-1] >= m.all {
		return nil, fmt.Errorf("word %d of %d", m.words[n-1], m.all)
	}
	for _, w := range m.words {
		df := r.Uvarint()
		if df > math.MaxInt {
			return nil, fmt.Errorf("word %d is in %d documents", w, df)
		}
		if m.df, m.idf = append(m.df, int(df)), append(m.idf, r.F64()); r.Short {
			break
		}
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return m, m.prepare()
}
