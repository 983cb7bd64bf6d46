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

// minShare of the largest weight is the least that is told from 0: what documents of less
// add up to is lost in rounding.
const minShare = 0x1p-40

// Relative returns the weights of n documents as shares of the largest weight, and that
// weight; nil and 1 for nil, where all weigh 1. It is an error if they are not n finite
// numbers that are not negative.
func Relative(w []float64, n int) (shares []float64, most float64, err error) {
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
		if x /= most; x >= minShare {
			shares[m] = x
		}
	}
	return shares, most, nil
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

// Counter reads one document after the other. The zero value is ready to use.
type Counter struct {
	// Words and Counts are the words of the document in hand and how often each
	// occurs, at least once. Sorted makes the words distinct.
	Words, Counts []int32

	// Unknown is the number of tokens of the document that were left out.
	Unknown int64

	from   *Words
	id     string
	number int
	pairs  []uint64
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
	c.Words, c.Counts = slices.Grow(c.Words, n), slices.Grow(c.Counts, n)
	for i := range n {
		x := int32(1)
		if d.Counts != nil {
			x = d.Counts[i]
		}
		if len(d.Words) > 0 && uint(d.Words[i]) >= uint(w.Size) {
			return c.fail(RangeError("word", int64(d.Words[i]), 0, int64(w.Size)-1))
		}
		switch {
		case x < 0:
			return CountError(c.doc(), w.given(d, i), float64(x))
		case x == 0:
			continue
		case len(d.Words) > 0:
			c.add(d.Words[i], x)
			continue
		case d.Tokens[i] == "":
			return c.fail(errors.New("a token is the empty string"))
		}
		k, err := w.Token(d.Tokens[i])
		if err != nil {
			return c.fail(err)
		}
		c.add(k, x)
	}
	return nil
}

// given returns word i of a document as the document gives it, or by its name.
func (w *Words) given(d Document, i int) string {
	if len(d.Tokens) > 0 {
		return d.Tokens[i]
	}
	word := strconv.Itoa(int(d.Words[i]))
	if w.Names != nil {
		word = cmp.Or(w.Names[d.Words[i]], word)
	}
	return word
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
func (c *Counter) doc() string { return cmp.Or(c.id, strconv.Itoa(c.number)) }

func (c *Counter) fail(err error) error { return fmt.Errorf("document %s: %w", c.doc(), err) }

// tooMany is the error of a word whose counts add up to more than MaxCount.
func (c *Counter) tooMany(w int32, sum float64) error {
	word := strconv.Itoa(int(w))
	if c.from.Name != nil {
		word = cmp.Or(c.from.Name(w), word)
	}
	return CountError(c.doc(), word, sum)
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

// Merge sorts the words of a document and adds up the counts of equal ones, in
// place. It returns how many words are left, or the first word whose sum exceeds
// MaxCount, with the sum; word is −1 where there is none.
func Merge(words, counts []int32, buf *[]uint64) (n int, word int32, sum float64) {
	i := 1
	for i < len(words) && words[i-1] < words[i] {
		i++
	}
	if i >= len(words) { // they are sorted and distinct
		return len(words), -1, 0
	}
	p := slices.Grow((*buf)[:0], len(words))
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

// RangeError reports a document or a word by a number that does not exist; lo
// and hi are the smallest and the largest that do.
func RangeError(what string, value, lo, hi int64) error {
	if hi < lo {
		return fmt.Errorf("%s %d: there are none", what, value)
	}
	return fmt.Errorf("%s %d is not in [%d, %d]", what, value, lo, hi)
}

// CountError reports a count that is negative, not integral or above MaxCount,
// by itself or as a sum of duplicates. doc and word may be empty.
func CountError(doc, word string, count float64) error {
	s := ""
	if word != "" {
		s += fmt.Sprintf(" of word %q", word)
	}
	if doc != "" {
		s += fmt.Sprintf(" in document %s", doc)
	}
	return fmt.Errorf("count %.17g%s is not an integer from 1 to %d", count, s, MaxCount)
}

// maxNames is how many documents left out are listed at most. Model files hold the names.
const maxNames = 1000

// Leave counts a document that is left out, and lists its name. Beyond 1000 documents no
// name is listed.
func Leave(count *int, names *[]string, name string) {
	if *count++; *count > maxNames {
		*names = nil
		return
	}
	*names = append(*names, name)
}
