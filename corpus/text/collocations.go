package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/internal/arith"
)

// limits are those of a phrase.
type limits struct {
	words    int     // 2 or 3
	count    int64   // least number of occurrences
	g2, npmi float64 // least values

	skip func(word string) bool // is a word in no phrase; nil: none is
}

// findPhrases finds the phrases of documents, which it reads in each round anew: to count words,
// then pairs, then phrases of two words next to a third word.
func findPhrases(ctx context.Context, docs func() iter.Seq2[[]string, error], o limits) (*Phrases, error) {
	f := finder{o: o, words: new(wordTable), found: &Phrases{List: []Phrase{}, Function: []string{}}}
	if err := f.read(ctx, docs(), f.countWords); err != nil {
		return nil, err
	}
	f.chooseWords()
	for n := 2; n <= o.words; n++ {
		count := f.countPairs
		if n == 3 {
			f.index = newPhraseIndex(f.found.List, f.words)
			f.units = make([]int64, len(f.words.list)+len(f.found.List))
			f.tokens, count = 0, f.countTriples
		}
		f.pairs = newPairTable(maxPairs)
		if err := f.read(ctx, docs(), count); err != nil {
			return nil, err
		}
		f.choosePairs()
	}
	return f.found, nil
}

// finder is the state of findPhrases.
type finder struct {
	o     limits
	found *Phrases

	words   *wordTable // all words, then those that may be in a phrase, most frequent first
	squares float64    // the sum of the squares of the documents' lengths
	fn      []uint8    // 1, 2, … for function words, by number; 0 for others

	pairs  pairTable
	index  *phraseIndex // the phrases of the first round
	units  []int64      // counts of words, then of phrases, once these are joined
	tokens int64        // of units
	buf    []int32      // numbers of the words of a document
}

// maxWords and maxPairs bound the memory for words and pairs.
const (
	maxWords = 1 << 22
	maxPairs = 1 << 22 // some 30 bytes each
)

// read reads the documents once.
func (f *finder) read(ctx context.Context, docs iter.Seq2[[]string, error], each func([]string) error) error {
	n := int64(0)
	for tokens, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		n++
		if err == nil {
			if err = each(tokens); err != nil {
				err = fmt.Errorf("text: document %d: %w", n, err)
			}
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// countWords counts the words of a document.
func (f *finder) countWords(doc []string) error {
	f.found.Documents++
	n := int64(0)
	for _, t := range doc {
		if t != Break {
			n++
		}
	}
	f.found.Tokens += n
	f.squares += float64(float64(n) * float64(n))
	if len(f.words.list) >= maxWords {
		f.found.Missed += f.words.forget()
	}
	for i, id := range f.numbers(doc) {
		t := doc[i]
		if t == Break {
			continue
		}
		if id < 0 {
			id = f.words.add(t)
		}
		c := &f.words.list[id]
		if c.n == 0 && (t == "" || !utf8.ValidString(t)) {
			return fmt.Errorf("token %q is empty or not valid UTF-8", t)
		}
		if c.last != f.found.Documents {
			c.last, c.here = f.found.Documents, 0
		}
		c.here++
		c.n++
		c.squares += 2*c.here - 1
		c.lengths += n
	}
	return nil
}

// chooseWords keeps the words that may be in a phrase, and finds the function words.
func (f *finder) chooseWords() {
	f.words.list = slices.DeleteFunc(f.words.list, func(c wordCount) bool {
		return c.n < f.o.count || f.o.skip != nil && f.o.skip(c.word)
	})
	slices.SortFunc(f.words.list, func(a, b wordCount) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.word, b.word))
	})
	f.words.renumber()
	f.fn = make([]uint8, len(f.words.list))
	words, counts := make([]string, len(f.words.list)), make([]float64, len(f.words.list))
	for id, c := range f.words.list {
		words[id], counts[id] = c.word, float64(c.n)
	}
	languages, listed := stopwords.Detect(words, counts)
	for id, c := range f.words.list {
		if len(f.found.Function) < math.MaxUint8 && (languages != nil && listed[id] || languages == nil && f.function(c)) {
			f.found.Function = append(f.found.Function, c.word)
			f.fn[id] = uint8(len(f.found.Function))
		}
	}
}

// numbers returns the numbers of the words of a document: −1 for words that the table lacks,
// and for Break.
func (f *finder) numbers(doc []string) []int32 {
	f.buf = f.buf[:0]
	for _, w := range doc {
		f.buf = append(f.buf, f.words.find(w))
	}
	return f.buf
}

// countPairs counts neighbours, and words with a function word between them.
func (f *finder) countPairs(doc []string) error {
	last, between := int32(-1), uint8(0) // the word before, and the function word after it
	for _, id := range f.numbers(doc) {
		switch {
		case id < 0:
			last = -1
		case f.fn[id] == 0:
			if last >= 0 && last != id {
				f.pairs.add(pairKey(last, between, id))
			}
			last, between = id, 0
		case between == 0:
			between = f.fn[id]
		default:
			last = -1
		}
	}
	return nil
}

// countTriples counts phrases of two words next to a third word.
func (f *finder) countTriples(doc []string) error {
	ids := f.numbers(doc)
	last, words := int32(-1), 0 // the unit before, and of how many words it is
	for i := 0; i < len(ids); {
		unit, n := f.index.match(ids[i:])
		if unit >= 0 {
			unit += int32(len(f.words.list))
		} else {
			unit = ids[i]
		}
		if doc[i] != Break {
			f.tokens++
		}
		i += n
		if unit >= 0 {
			f.units[unit]++
		}
		if unit < 0 || n == 1 && f.fn[unit] > 0 {
			last = -1
			continue
		}
		if last >= 0 && words+n == 3 {
			f.pairs.add(pairKey(last, 0, unit))
		}
		last, words = unit, n
	}
	return nil
}

// choosePairs adds the pairs that pass the limits to the phrases.
func (f *finder) choosePairs() {
	f.found.Missed = max(f.found.Missed, f.pairs.missed)
	old, words := f.found.List, f.words.list
	for key, n := range f.pairs.count {
		if n < f.o.count {
			continue
		}
		x, between, y := key.parts()
		p := Phrase{Count: n}
		total := f.found.Tokens
		if f.units == nil {
			p.Left, p.Right = words[x].n, words[y].n
			p.Words = []string{words[x].word, words[y].word}
			if between > 0 {
				p.Words = slices.Insert(p.Words, 1, f.found.Function[between-1])
			}
		} else {
			p.Left, p.Right, total = f.units[x], f.units[y], f.tokens
			for _, u := range []int32{x, y} {
				if n := int(u) - len(f.words.list); n >= 0 {
					p.Words = append(p.Words, old[n].Words...)
				} else {
					p.Words = append(p.Words, words[u].word)
				}
			}
		}
		p.G2, p.NPMI = association(p.Count, p.Left, p.Right, total)
		if p.G2 >= f.o.g2 && p.NPMI >= f.o.npmi && len(p.Words) <= f.o.words {
			f.found.List = append(f.found.List, p)
		}
	}
	slices.SortFunc(f.found.List, func(a, b Phrase) int {
		return cmp.Or(cmp.Compare(b.G2, a.G2), slices.Compare(a.Words, b.Words), cmp.Compare(a.Left, b.Left))
	})
	// Three words may be two and one in either way: the stronger one counts.
	seen := make(map[string]bool, len(f.found.List))
	f.found.List = slices.DeleteFunc(f.found.List, func(p Phrase) bool {
		key := strings.Join(p.Words, Break)
		again := seen[key]
		seen[key] = true
		return again
	})
}

// association returns G² and NPMI of two parts that meet n times among total words, and
// occur left and right times.
func association(n, left, right, total int64) (g2, npmi float64) {
	left, right = max(left, n), max(right, n) // some may have been forgotten
	all := float64(total)
	term := func(k, row, column int64) float64 {
		if k <= 0 {
			return 0
		}
		return float64(k) * arith.Log(float64(k)*all/(float64(row)*float64(column)))
	}
	g2 = 2 * (term(n, left, right) + term(left-n, left, total-right) + term(right-n, total-left, right) +
		term(total-left-right+n, total-left, total-right))
	if n == total {
		return 0, 1
	}
	npmi = arith.Log(float64(n)*all/(float64(left)*float64(right))) / arith.Log(all/float64(n))
	return max(g2, 0), npmi
}

// function reports whether a word is a function word: its counts in documents vary little more
// than by chance, whereas words with content come in clusters. The measure is φ in
// Var(n) = E(n) + φE(n)², by the method of moments, where E(n) is in proportion to a document's
// length. φ and twice its standard error under chance must stay within 0.35: articles,
// prepositions and pronouns of manual pages and of the comments in Go's library have 0.02 to 0.3,
// most nouns 1 to 20.
func (f *finder) function(c wordCount) bool {
	const (
		limit = 0.35
		docs  = 10 // fewer say nothing about variance
	)
	p := float64(c.n) / float64(f.found.Tokens)
	expected := float64(p * p * f.squares) // the sum of E(n)² over documents
	phi := (float64(c.squares-c.n) - float64(2*p*float64(c.lengths)) + expected) / expected
	return f.found.Documents >= docs && max(phi, 0)+float64(2*math.Sqrt(2/expected)) <= limit
}

// Learning says what Learn looks for. The zero value means lines of boilerplate, and phrases of
// two or three words.
//
// Two neighbouring words make a phrase if neither is a function word and they pass all limits
// below; so do two words with one function word between them, as in end of file. A phrase of two
// words and a neighbour make one of three by the same limits. Only blanks, hyphens and one line
// break may be between the words. A word is no phrase with itself. Function words are those of the
// documents' languages (stopwords.Detect), or, where no language is found, words that the documents
// use as evenly: see Phrases.Function. Pairs of characters of scripts without blanks make none.
type Learning struct {
	KeepBoilerplate bool // does not look for boilerplate
	KeepWords       bool // does not look for phrases

	MaxWords int     // words of a phrase, 2 or 3; 0: 3
	MinCount int64   // least number of occurrences of a phrase; 0: 10
	MinG2    float64 // least G²; 0: 28.4, which independent words reach once in ten million times
	MinNPMI  float64 // least NPMI, in (0, 1]; 0: 0.4
}

func (o Learning) limits() (limits, error) {
	if o.MaxWords != 0 && o.MaxWords != 2 && o.MaxWords != 3 {
		return limits{}, fmt.Errorf("text: phrases of up to %d words; want 2 or 3, or 0 for 3", o.MaxWords)
	}
	if o.MinCount < 0 || !(o.MinG2 >= 0) || math.IsInf(o.MinG2, 1) || !(o.MinNPMI >= 0 && o.MinNPMI <= 1) {
		return limits{}, fmt.Errorf("text: limits of phrases out of range: count %d, G² %v, NPMI %v", o.MinCount, o.MinG2, o.MinNPMI)
	}
	return limits{cmp.Or(o.MaxWords, 3), cmp.Or(o.MinCount, 10), cmp.Or(o.MinG2, 28.4), cmp.Or(o.MinNPMI, 0.4), nil}, nil
}

// Learn finds the boilerplate, with signatures, and the phrases of a collection of documents, and returns a
// tokenizer with the setting and the tools of t and these. docs reads the documents, split by
// the tokenizer that it is given; corpus.LearnPhrases is Learn for readers. Phrases and
// boilerplate that t has are found anew, unless Learn does not look for them.
//
// The documents are read once for boilerplate and three times for phrases. Time is linear in
// their size. Memory holds the different words, up to 262,144 lines, and up to some four million
// pairs of words in 150 MB. The same documents in the same order give the same result. Errors:
// settings out of range, a tokenizer made by Own, those of docs, ctx's.
func Learn(ctx context.Context, t Tokenizer, docs func(Tokenizer) iter.Seq2[[]string, error], o Learning) (Tokenizer, error) {
	limits, err := o.limits()
	if err != nil {
		return nil, err
	}
	given, ok := t.(*tokenizer)
	if !ok {
		return nil, fmt.Errorf("text: phrases cannot be learned for the tokenizer %q of your own", t.Setting().Own)
	}
	learned := *given
	if !o.KeepBoilerplate {
		reader := *given
		reader.lines = true
		if learned.setting.Boilerplate, err = findBoilerplate(ctx, splitBy(&reader, docs)); err != nil {
			return nil, err
		}
	}
	if !o.KeepWords {
		limits.skip = given.pair
		reader := learned
		reader.setting.Phrases, reader.breaks = nil, true
		read := func() iter.Seq2[[]string, error] { return splitBy(&reader, docs) }
		if learned.setting.Phrases, err = findPhrases(ctx, read, limits); err != nil {
			return nil, err
		}
		learned.breaks = true
	}
	return &learned, nil
}

// pair reports whether a word is a pair of characters that no Segmenter made: such pairs
// overlap, and their phrases would say nothing.
func (t *tokenizer) pair(word string) bool {
	if Unsegmented(word) == "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(word)
	return t.runOf(string(r), noRun) < len(unbroken)
}

// splitBy returns the documents, with an error if no text of the first is split by t.
func splitBy(t *tokenizer, docs func(Tokenizer) iter.Seq2[[]string, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		noting := &notingUse{Tokenizer: t}
		for tokens, err := range docs(noting) {
			if err == nil && !noting.used.Load() {
				err = errors.New("text: learn: the documents are not split by the tokenizer that was given to read them")
			}
			if !yield(tokens, err) || err != nil {
				return
			}
		}
	}
}

// notingUse is a Tokenizer that knows whether it was used.
type notingUse struct {
	Tokenizer
	used atomic.Bool
}

func (n *notingUse) Tokenize(dst []string, s string) []string {
	n.used.Store(true)
	return n.Tokenizer.Tokenize(dst, s)
}
