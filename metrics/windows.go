package metrics

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// maxWindowWords bounds the table of a Windows to 512 MiB.
const maxWindowWords = 1 << 13

// Windows holds in how many windows of text chosen words occur, alone and
// together. A window is a stretch of so many consecutive tokens; it slides by
// one token at a time, and a word in it counts once however often it is there
// (the "boolean sliding window" of Röder, Both and Hinneburg 2015). A text of L
// tokens has L − size + 1 windows, one that is not longer than the window has
// one, and one without tokens none.
//
// It implements PairCounts, "documents" being windows and word i the i-th of
// the words it was made with. It is immutable and safe for concurrent use.
type Windows struct {
	index map[string]int
	words int
	count int
	pairs []int64 // upper triangle by rows, the words alone on the diagonal
}

// CountWindows counts words in the windows of texts, read once, for each of the
// given sizes in tokens; 0 stands for whole texts. All tokens count for the
// length of a window, so give the texts as they are read, stop words and rare
// words among them. words must differ from each other and be at most 8192. An
// error of the texts ends the count and is returned.
//
// Cost: for each token that is one of the words, the number of others in its
// window; 4·L² bytes for L words and each size, 64 MB for the 20 top words of
// 200 topics.
func CountWindows(ctx context.Context, texts iter.Seq2[[]string, error], words []string, sizes ...int) ([]*Windows, error) {
	if len(words) > maxWindowWords {
		return nil, fmt.Errorf("metrics: %d words are too many to count in windows; choose at most %d", len(words), maxWindowWords)
	}
	index := make(map[string]int, len(words))
	for i, w := range words {
		if j, ok := index[w]; ok {
			return nil, fmt.Errorf("metrics: words %d and %d to count are both %q", j, i, w)
		}
		index[w] = i
	}
	out := make([]*Windows, len(sizes))
	counters := make([]windowCounter, len(sizes))
	for s, size := range sizes {
		if size < 0 {
			return nil, fmt.Errorf("metrics: a window of %d tokens", size)
		}
		out[s] = &Windows{index: index, words: len(words), pairs: make([]int64, len(words)*(len(words)+1)/2)}
		counters[s] = windowCounter{Windows: out[s], size: size, times: make([]int, len(words)), since: make([]int64, len(words)), place: make([]int, len(words))}
	}
	var text []int
	for tokens, err := range texts {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("metrics: windows: %w", err)
		}
		text = text[:0]
		for _, t := range tokens {
			i, ok := index[t]
			if !ok {
				i = -1
			}
			text = append(text, i)
		}
		for s := range counters {
			counters[s].text(text)
		}
	}
	return out, nil
}

// windowCounter slides a window. A pair of words is counted when one of them
// leaves: since both were there, for as many windows.
type windowCounter struct {
	*Windows
	size  int
	times []int   // how often each word is in the window
	since []int64 // from which window on, where it is
	here  []int   // the words in the window
	place []int   // their places in here
}

func (c *windowCounter) enter(w int, at int64) {
	if w < 0 {
		return
	}
	if c.times[w]++; c.times[w] == 1 {
		c.since[w], c.place[w] = at, len(c.here)
		c.here = append(c.here, w)
	}
}

func (c *windowCounter) leave(w int, at int64) {
	if w < 0 {
		return
	}
	if c.times[w]--; c.times[w] > 0 {
		return
	}
	last := c.here[len(c.here)-1]
	c.here[c.place[w]], c.place[last] = last, c.place[w]
	c.here = c.here[:len(c.here)-1]
	c.pairs[c.pair(w, w)] += at - c.since[w]
	for _, v := range c.here {
		c.pairs[c.pair(v, w)] += at - max(c.since[v], c.since[w])
	}
}

func (c *windowCounter) text(tokens []int) {
	n := len(tokens)
	if n == 0 {
		return
	}
	size := c.size
	if size == 0 || size > n {
		size = n
	}
	for _, w := range tokens[:size] {
		c.enter(w, 0)
	}
	last := n - size
	for t := 1; t <= last; t++ {
		c.leave(tokens[t-1], int64(t))
		c.enter(tokens[t+size-1], int64(t))
	}
	for _, w := range tokens[last:] {
		c.leave(w, int64(last)+1)
	}
	c.count += last + 1
}

func (p *Windows) pair(a, b int) int {
	if a > b {
		a, b = b, a
	}
	return a*p.words - a*(a-1)/2 + b - a
}

// Index returns the number of a word, and whether it was counted.
func (p *Windows) Index(word string) (int, bool) {
	i, ok := p.index[word]
	return i, ok
}

// Has tells whether there is a word with number i.
func (p *Windows) Has(i int) bool { return i >= 0 && i < p.words }

// Docs returns the number of windows.
func (p *Windows) Docs() int { return p.count }

// D1 returns the number of windows that hold word i. It panics where there is
// no such word.
func (p *Windows) D1(i int) int { return p.At(i, i) }

// At returns the number of windows that hold words i and j. It panics where
// there is no such word.
func (p *Windows) At(i, j int) int {
	if !p.Has(i) || !p.Has(j) {
		panic(fmt.Sprintf("metrics: words %d and %d of %d", i, j, p.words))
	}
	return int(p.pairs[p.pair(i, j)])
}

// distinct returns the different words of lists, in the order in which they
// first stand there.
func distinct(lists [][]string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, l := range lists {
		for _, w := range l {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return slices.Clip(out)
}
