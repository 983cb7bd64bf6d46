package anchor

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/spelling"
)

// UnknownWordError names words that are not in the vocabulary.
type UnknownWordError struct {
	Words []string
	// Near holds for each of them up to three words of the vocabulary that are spelt like
	// it, the nearest first.
	Near [][]string
}

func (e *UnknownWordError) Error() string {
	return "anchor: not in the vocabulary: " + strings.Join(spelling.With(e.Words, e.Near), ", ")
}

// lookup finds rows by word.
type lookup struct {
	n       int
	vocab   []string
	numbers []int
}

func newLookup(rows cooc.Rows, opt Options) (*lookup, error) {
	n, _ := rows.Dims()
	if opt.Vocabulary != nil && len(opt.Vocabulary) != n {
		return nil, fmt.Errorf("anchor: a vocabulary of %d words for %d rows", len(opt.Vocabulary), n)
	}
	if opt.Numbers != nil && (len(opt.Numbers) != n || !slices.IsSorted(opt.Numbers)) {
		return nil, fmt.Errorf("anchor: %d numbers of words, ascending or not, for %d rows; want one for each row, ascending", len(opt.Numbers), n)
	}
	return &lookup{n, opt.Vocabulary, opt.Numbers}, nil
}

// number returns the row of the word the caller knows by that number.
func (l *lookup) number(w int) (int, error) {
	largest := l.n - 1
	if l.numbers != nil {
		largest = l.numbers[l.n-1]
		if i, ok := slices.BinarySearch(l.numbers, w); ok {
			return i, nil
		}
	} else if w >= 0 && w < l.n {
		return w, nil
	}
	if w >= 0 && w < largest {
		return 0, fmt.Errorf("anchor: word %d has an empty co-occurrence row and cannot be an anchor", w)
	}
	return 0, fmt.Errorf("anchor: there is no word %d; numbers go from 0 to %d", w, largest)
}

// words returns the rows of words; the lowest where the vocabulary repeats one.
func (l *lookup) words(names []string) ([]int, error) {
	index := make(map[string]int, len(names))
	for _, w := range names {
		index[w] = -1
	}
	if l.vocab == nil {
		for w := range index {
			if v, err := strconv.Atoi(w); err == nil && strconv.Itoa(v) == w {
				if i, err := l.number(v); err == nil {
					index[w] = i
				}
			}
		}
	}
	for i, w := range l.vocab {
		if at, ok := index[w]; ok && at < 0 {
			index[w] = i
		}
	}
	rows := make([]int, len(names))
	var unknown UnknownWordError
	for i, w := range names {
		if rows[i] = index[w]; rows[i] < 0 {
			unknown.Words, unknown.Near = append(unknown.Words, w), append(unknown.Near, spelling.Near(w, l.vocab))
		}
	}
	if unknown.Words != nil {
		return nil, &unknown
	}
	return rows, nil
}

// groups finds all words at once, so that the error names all unknown ones.
func (l *lookup) groups(names [][]string) ([][]int, error) {
	all, err := l.words(slices.Concat(names...))
	if err != nil {
		return nil, err
	}
	groups := make([][]int, len(names))
	for i, f := range names {
		groups[i], all = all[:len(f):len(f)], all[len(f):]
	}
	return groups, nil
}

// named adds the word to the error of a given anchor.
func (l *lookup) named(err error) error {
	var ge *givenError
	if errors.As(err, &ge) && l.vocab != nil && ge.word >= 0 && ge.word < l.n {
		return fmt.Errorf("%w (%.60q)", err, l.vocab[ge.word])
	}
	return err
}
