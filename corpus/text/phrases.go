package text

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// PhraseJoiner joins the words of a phrase, as in machine_learning.
	PhraseJoiner = "_"

	// Break is the token by which a tokenizer tells Learn that the words before and after it
	// are no neighbours. No phrase reaches across it.
	Break = "\n"

	maxPhraseWords = 3
)

// Phrases are the phrases that a tokenizer joins: words that are neighbours far more often than
// by chance. Learn finds them. They must not be changed while a tokenizer uses them.
type Phrases struct {
	// List is in the order of G2, largest first, then by bytes.
	List []Phrase `json:"list"`

	// Tokens is N, the number of words that were counted, and Documents the number of
	// documents. Rare words and pairs are forgotten to bound memory: no count is too low by more
	// than Missed, 0 up to some four million different words or pairs.
	Tokens    int64 `json:"tokens"`
	Documents int64 `json:"documents"`
	Missed    int64 `json:"missed,omitempty"`

	// Function are the function words that were found, most frequent first. No phrase begins or
	// ends with one, and one may be between two others, as in end_of_file.
	Function []string `json:"function"`

	once  sync.Once
	index *phraseIndex
}

// Phrase is a sequence of two or three words.
type Phrase struct {
	Words []string `json:"words"`

	// Count is how often the phrase occurs, Left how often its first part does and Right how
	// often its last. A phrase of three words without a function word has a phrase of two words
	// and a third as its parts.
	Count int64 `json:"count"`
	Left  int64 `json:"left"`
	Right int64 `json:"right"`

	// G2 is Dunning's log-likelihood ratio of the two parts (dunning-1993), and NPMI
	// their normalised pointwise mutual information, in [-1, 1] (bouma-2009).
	G2   float64 `json:"g2"`
	NPMI float64 `json:"npmi"`
}

// String returns the phrase as one word.
func (p Phrase) String() string { return strings.Join(p.Words, PhraseJoiner) }

// Validate reports what is wrong with the phrases, nil for nothing.
func (p *Phrases) Validate() error {
	seen := make(map[string]bool, len(p.List))
	for i, x := range p.List {
		if n := len(x.Words); n < 2 || n > maxPhraseWords {
			return fmt.Errorf("text: phrase %d (%.60q) has %d words; want 2 or 3", i, x, n)
		}
		for _, w := range x.Words {
			if w == "" || w == Break || !utf8.ValidString(w) {
				return fmt.Errorf("text: phrase %d (%.60q) has the word %.40q", i, x, w)
			}
		}
		if math.IsNaN(x.G2) || math.IsInf(x.G2, 0) || math.IsNaN(x.NPMI) || math.IsInf(x.NPMI, 0) {
			return fmt.Errorf("text: phrase %d (%.60q) has G2 %v and NPMI %v", i, x, x.G2, x.NPMI)
		}
		key := strings.Join(x.Words, Break)
		if seen[key] {
			return fmt.Errorf("text: phrase %d (%.60q) is there twice", i, x)
		}
		seen[key] = true
	}
	return nil
}

// phraseIndex is a trie of phrases. Its nodes are beginnings of phrases; that of one word has the
// number of the word.
type phraseIndex struct {
	words *wordTable       // all words of phrases, perhaps more
	next  map[uint64]int32 // node<<32 | word → node
	ends  []int32          // the phrase that ends at a node, or −1
	first []bool           // does a phrase begin with this word
	join  []string         // the phrases as words
}

// newPhraseIndex returns the index of a list. words numbers the words; nil: those of the
// list.
func newPhraseIndex(list []Phrase, words *wordTable) *phraseIndex {
	if words == nil {
		words = new(wordTable)
		for _, p := range list {
			for _, w := range p.Words {
				words.add(w)
			}
		}
	}
	n := len(words.list)
	x := &phraseIndex{words: words, next: map[uint64]int32{}, first: make([]bool, n), ends: slices.Repeat([]int32{-1}, n)}
	for i, p := range list {
		node := words.find(p.Words[0])
		x.first[node] = true
		for _, w := range p.Words[1:] {
			id := words.find(w)
			key := uint64(node)<<32 | uint64(id)
			child, ok := x.next[key]
			if !ok {
				child = int32(len(x.ends))
				x.ends = append(x.ends, -1)
				x.next[key] = child
			}
			node = child
		}
		x.ends[node] = int32(i)
		x.join = append(x.join, p.String())
	}
	return x
}

// match returns the longest phrase at the beginning of words, and how many words it has;
// −1 and 1 for none.
func (x *phraseIndex) match(words []int32) (phrase int32, n int) {
	phrase, n = -1, 1
	node := words[0]
	if node < 0 || !x.first[node] {
		return phrase, n
	}
	for i := 1; i < len(words) && words[i] >= 0; i++ {
		child, ok := x.next[uint64(node)<<32|uint64(words[i])]
		if !ok {
			break
		}
		if node = child; x.ends[node] >= 0 {
			phrase, n = x.ends[node], i+1
		}
	}
	return phrase, n
}

// joinFrom joins phrases among tokens[from:], in place, and leaves Breaks out. From left to
// right, the longest phrase that begins at a word is taken. It is safe for concurrent use.
func (p *Phrases) joinFrom(tokens []string, from int) []string {
	p.once.Do(func() { p.index = newPhraseIndex(p.List, nil) })
	return p.index.joinFrom(tokens, from)
}

func (x *phraseIndex) joinFrom(tokens []string, from int) []string {
	var window [maxPhraseWords]int32 // the numbers of the next tokens
	known, k := 0, from
	for i := from; i < len(tokens); {
		for known < len(window) && i+known < len(tokens) {
			window[known] = x.words.find(tokens[i+known])
			known++
		}
		p, n := x.match(window[:known])
		switch {
		case p >= 0:
			tokens[k] = x.join[p]
			k++
		case tokens[i] != Break:
			tokens[k] = tokens[i]
			k++
		}
		known = copy(window[:], window[n:known])
		i += n
	}
	clear(tokens[k:])
	return tokens[:k]
}

// wordTable numbers words from 0, as they come.
type wordTable struct {
	list   []wordCount
	number map[string]int32
}

// wordCount is a word and what is counted of it: its occurrences n in all and here in the
// document last, the sum over documents of the squares of their occurrences, and the sum
// over occurrences of the length of their document.
type wordCount struct {
	word                            string
	n, last, here, squares, lengths int64
}

// find returns the number of a word, −1 if the table lacks it.
func (t *wordTable) find(word string) int32 {
	if id, ok := t.number[word]; ok {
		return id
	}
	return -1
}

// add returns the number of a word, which it adds if the table lacks it.
func (t *wordTable) add(word string) int32 {
	if id, ok := t.number[word]; ok {
		return id
	}
	word = strings.Clone(word) // it may be a piece of a whole document
	t.list = append(t.list, wordCount{word: word})
	if t.number == nil {
		t.number = map[string]int32{}
	}
	id := int32(len(t.list)) - 1
	t.number[word] = id
	return id
}

// forget forgets the rarest words, at least half of all, and returns how often the most
// frequent of these was counted. The numbers of the others change.
func (t *wordTable) forget() int64 {
	counts := make([]int64, len(t.list))
	for i, c := range t.list {
		counts[i] = c.n
	}
	least := median(counts)
	t.list = slices.DeleteFunc(t.list, func(c wordCount) bool { return c.n <= least })
	t.renumber()
	return least
}

// renumber gives the words of the list their places as numbers.
func (t *wordTable) renumber() {
	t.number = make(map[string]int32, len(t.list))
	for i, c := range t.list {
		t.number[c.word] = int32(i)
	}
}

// pair is two words and what is between them, in 28 bits, 28 bits and 8 bits.
type pair uint64

func pairKey(x int32, between uint8, y int32) pair {
	return pair(x)<<36 | pair(between)<<28 | pair(y)
}

func (p pair) parts() (x int32, between uint8, y int32) {
	return int32(p >> 36), uint8(p >> 28), int32(p & (1<<28 - 1))
}

// pairTable counts pairs, at most limit of them: when it is full it forgets the rarest half.
type pairTable struct {
	count  map[pair]int64
	limit  int
	missed int64 // no count is too low by more than this
}

func newPairTable(limit int) pairTable { return pairTable{count: map[pair]int64{}, limit: limit} }

// add counts a pair once more.
func (t *pairTable) add(p pair) {
	if len(t.count) >= t.limit && t.count[p] == 0 {
		least := median(slices.Collect(maps.Values(t.count)))
		t.missed += least
		maps.DeleteFunc(t.count, func(_ pair, n int64) bool { return n <= least })
	}
	t.count[p]++
}

// median sorts counts and returns the middle one.
func median(counts []int64) int64 {
	slices.Sort(counts)
	return counts[(len(counts)-1)/2]
}
