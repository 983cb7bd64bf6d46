// Package bag turns documents into bags of words: it checks their words and
// counts, maps the words to the numbers of a vocabulary, and adds up the counts
// of a word that a document holds several times. All packages that read
// documents use it, so that they accept the same ones with the same errors.
package bag

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// MaxCount is the largest number of times a word may occur in one document.
const MaxCount = math.MaxInt32

// Document has what is counted of a corpus.Document.
type Document struct {
	ID     string
	Tokens []string
	Words  []int32
	Counts []int32
}

// Weighted is a source that may have weights for its documents, one each: nil where all
// weigh 1.
type Weighted interface{ Weights() []float64 }

// Weights returns the weights of a source's documents, or nil where all weigh 1.
func Weights(src any) []float64 {
	if w, ok := src.(Weighted); ok {
		return w.Weights()
	}
	return nil
}

// leastShare of the largest weight is the least that is told from 0: what documents of less
// add up to is lost in rounding.
const leastShare = 0x1p-40

// Relative returns the weights of the documents of a source as shares of the largest weight,
// and that weight; nil and 1 where all weigh 1. It is an error if they are not n finite
// numbers that are not negative.
func Relative(src any, n int) (shares []float64, most float64, err error) {
	w := Weights(src)
	if w == nil {
		return nil, 1, nil
	}
	if len(w) != n {
		return nil, 0, fmt.Errorf("%d weights for %d documents", len(w), n)
	}
	for m, x := range w {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, 0, fmt.Errorf("document %d has the weight %g; want a finite number that is not negative", m+1, x)
		}
		most = max(most, x)
	}
	shares = make([]float64, n)
	if most == 0 {
		return shares, 1, nil
	}
	for m, x := range w {
		if x /= most; x >= leastShare {
			shares[m] = x
		}
	}
	return shares, most, nil
}

// Copied is a source whose documents may have the ids of others, because they are copies.
type Copied interface{ Copies() bool }

// Copies tells whether documents of a source may have the ids of others.
func Copies(src any) bool {
	c, ok := src.(Copied)
	return ok && c.Copies()
}

// Numbers that Words.Token returns for tokens to leave out.
const (
	Unknown = -1 // counted in Counter.Unknown
	Ignored = -2
)

// Words says which words documents may hold and how they are numbered.
type Words struct {
	// Token returns the number of a token; nil: documents may not hold tokens.
	Token func(token string) (int32, error)

	// Size is the number of words that a document may give by their number; 0:
	// documents may not hold numbers.
	Size int

	// To maps the number of a token or word to the one it gets, Unknown for
	// none; nil: numbers stay as they are.
	To []int32

	// Names are the Size words, for errors; nil, and "" for one: called by number.
	Names []string

	// Name returns the word with a number that To has mapped, for errors; nil, or ""
	// for one: called by number.
	Name func(w int32) string
}

// Renumber applies one more map after To.
func (w *Words) Renumber(to []int32) {
	if w.To == nil {
		w.To = to
		return
	}
	for i, j := range w.To {
		if j >= 0 {
			w.To[i] = to[j]
		}
	}
}

// Counter reads one document after the other. The zero value is ready to use.
type Counter struct {
	// Words and Counts are the words of the document in hand and how often each
	// occurs, at least once. Sorted or Distinct makes the words distinct.
	Words, Counts []int32

	// Unknown is the number of tokens of the document that were left out.
	Unknown int64

	from   *Words
	id     string
	number int
	pairs  []uint64
	at     []int32 // for Distinct: 1 + the place of a word, 0: not there
}

// Read takes over the words of a document that have a number. number is the
// document's own, from 1, by which errors call it if it has no ID.
func (c *Counter) Read(w *Words, d Document, number int) error {
	c.Words, c.Counts, c.Unknown, c.from = c.Words[:0], c.Counts[:0], 0, w
	c.id, c.number = d.ID, number
	n := max(len(d.Words), len(d.Tokens))
	switch {
	case len(d.Words) > 0 && len(d.Tokens) > 0:
		return c.fail(errors.New("both Tokens and Words are given"))
	case len(d.Words) > 0 && w.Size == 0:
		return c.fail(errors.New("words are given by number, but there is no vocabulary"))
	case len(d.Tokens) > 0 && w.Token == nil:
		return c.fail(errors.New("tokens are given where numbers of words are wanted"))
	case d.Counts != nil && len(d.Counts) != n:
		return c.fail(fmt.Errorf("%d counts for %d words", len(d.Counts), n))
	}
	if len(d.Words) > 0 {
		return c.numbers(d)
	}
	for i, t := range d.Tokens {
		x := int32(1)
		if d.Counts != nil {
			x = d.Counts[i]
		}
		if x < 0 {
			return CountError(c.doc(), t, float64(x))
		}
		if x == 0 {
			continue
		}
		if t == "" {
			return c.fail(errors.New("a token is the empty string"))
		}
		k, err := w.Token(t)
		if err != nil {
			return c.fail(err)
		}
		c.add(k, x)
	}
	return nil
}

// numbers is Read for words given by number.
func (c *Counter) numbers(d Document) error {
	w := c.from
	for i, k := range d.Words {
		if uint(k) >= uint(w.Size) {
			return c.fail(RangeError("word", int64(k), 0, int64(w.Size)-1))
		}
		x := int32(1)
		if d.Counts != nil {
			x = d.Counts[i]
		}
		if x < 0 {
			word := strconv.Itoa(int(k))
			if w.Names != nil {
				word = cmp.Or(w.Names[k], word)
			}
			return CountError(c.doc(), word, float64(x))
		}
		if x > 0 {
			c.add(k, x)
		}
	}
	return nil
}

// add adds a word that occurs x times.
func (c *Counter) add(k, x int32) {
	if to := c.from.To; k >= 0 && to != nil {
		k = to[k]
	}
	if k >= 0 {
		c.Words, c.Counts = append(c.Words, k), append(c.Counts, x)
	} else if k == Unknown {
		c.Unknown += int64(x)
	}
}

// doc returns what the document in hand is called.
func (c *Counter) doc() string {
	if c.id != "" {
		return c.id
	}
	return strconv.Itoa(c.number)
}

func (c *Counter) fail(err error) error { return fmt.Errorf("document %s: %w", c.doc(), err) }

// tooMany is the error of a word whose counts add up to more than MaxCount.
func (c *Counter) tooMany(w int32, sum float64) error {
	word := strconv.Itoa(int(w))
	if c.from.Name != nil {
		word = cmp.Or(c.from.Name(w), word)
	}
	return CountError(c.doc(), word, sum)
}

// Tokens returns the sum of Counts.
func (c *Counter) Tokens() int64 {
	n := int64(0)
	for _, x := range c.Counts {
		n += int64(x)
	}
	return n
}

// Sorted makes the words distinct and ascending.
func (c *Counter) Sorted() error {
	n, w, sum := Merge(c.Words, c.Counts, &c.pairs)
	if w >= 0 {
		return c.tooMany(w, sum)
	}
	c.Words, c.Counts = c.Words[:n], c.Counts[:n]
	return nil
}

// Distinct makes the words, all less than n, distinct, in the order in which
// they first occur. It takes a table of n words and is faster than Sorted.
func (c *Counter) Distinct(n int) (err error) {
	if len(c.at) < n {
		c.at = make([]int32, n)
	}
	k := 0
	for i, w := range c.Words {
		p := c.at[w] - 1
		if p < 0 {
			c.Words[k], c.Counts[k] = w, c.Counts[i]
			k++
			c.at[w] = int32(k)
			continue
		}
		sum := int64(c.Counts[p]) + int64(c.Counts[i])
		if sum > MaxCount {
			err = c.tooMany(w, float64(sum))
			break
		}
		c.Counts[p] = int32(sum)
	}
	c.Words, c.Counts = c.Words[:k], c.Counts[:k]
	for _, w := range c.Words {
		c.at[w] = 0
	}
	return err
}

// Merge sorts the words of a document and adds up the counts of equal ones, in
// place. It returns how many words are left, or the first word whose sum exceeds
// MaxCount, with the sum; word is −1 where there is none.
func Merge(words, counts []int32, buf *[]uint64) (n int, word int32, sum float64) {
	ordered := true
	for i := 1; i < len(words); i++ {
		if words[i] <= words[i-1] {
			ordered = false
			break
		}
	}
	if ordered {
		return len(words), -1, 0
	}
	p := (*buf)[:0]
	for i, w := range words {
		p = append(p, uint64(uint32(w))<<32|uint64(uint32(counts[i])))
	}
	slices.Sort(p)
	*buf = p
	for i := 0; i < len(p); {
		w, total := int32(p[i]>>32), int64(0)
		for ; i < len(p) && int32(p[i]>>32) == w; i++ {
			total += int64(uint32(p[i]))
		}
		if total > MaxCount {
			return 0, w, float64(total)
		}
		words[n], counts[n] = w, int32(total)
		n++
	}
	return n, -1, 0
}
