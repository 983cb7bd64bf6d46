// Package stems merges the words of a vocabulary that have one stem, and finds the words of
// such a vocabulary. Packages corpus and jsmf use it, so that documents of a fit and later
// ones have the same words.
package stems

import (
	"cmp"
	"strings"
	"sync"

	"github.com/jsmf-go/spectral/corpus/text"
)

// of returns the stem of a word. The words of a phrase are stemmed one by one, so that
// "neural_networks" has the stem of "neural_network". A word without a stem is its own.
func of(s text.Stemmer, word string) string {
	parts := strings.Split(word, text.PhraseJoiner)
	for i, p := range parts {
		parts[i] = cmp.Or(s.Stem(p), p)
	}
	return strings.Join(parts, text.PhraseJoiner)
}

// Merge makes one word of all words of a vocabulary that have one stem. shown holds the
// most frequent of each, ties by bytes, in the order in which the stems first occur, and to
// the number in shown of each word.
func Merge(s text.Stemmer, vocab []string, frequency []int64) (shown []string, to []int32) {
	number := make(map[string]int32, len(vocab))
	var best []int // the word shown for each stem
	to = make([]int32, len(vocab))
	for i, w := range vocab {
		stem := of(s, w)
		n, ok := number[stem]
		if !ok {
			n = int32(len(best))
			number[stem], best = n, append(best, i)
		}
		to[i] = n
		b := best[n]
		if frequency[i] > frequency[b] || frequency[i] == frequency[b] && w < vocab[b] {
			best[n] = i
		}
	}
	shown = make([]string, len(best))
	for n, i := range best {
		shown[n] = vocab[i]
	}
	return shown, to
}

// Index finds words of a vocabulary by themselves or by their stems. It is safe for
// concurrent use.
type Index struct {
	stemmer text.Stemmer
	number  func() map[string]int32 // of each stem
}

// NewIndex returns an index of a vocabulary that Merge made with the same stemmer, or of a
// part of one. The first call of Find takes O(N).
func NewIndex(s text.Stemmer, vocab []string) *Index {
	return &Index{s, sync.OnceValue(func() map[string]int32 {
		number := make(map[string]int32, len(vocab))
		for i, w := range vocab {
			stem := of(s, w)
			if _, ok := number[stem]; !ok {
				number[stem] = int32(i)
			}
		}
		return number
	})}
}

// Find returns the number of the word that has the stem of the given one, and whether there
// is one: where a vocabulary has several, the first.
func (x *Index) Find(word string) (int32, bool) {
	n, ok := x.number()[of(x.stemmer, word)]
	return n, ok
}
