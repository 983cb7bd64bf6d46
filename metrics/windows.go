package metrics

import (
	"context"
	"fmt"
	"iter"
	"slices"
)

// maxWindowWords bounds the table of one size of windows to 256 MiB.
const maxWindowWords = 1 << 13

// windows holds in how many windows of text chosen words occur, alone and
// together. A window is a stretch of so many consecutive tokens; it slides by one
// token, and a word in it counts once (the "boolean sliding window" of Röder, Both
// and Hinneburg 2015). A text of L tokens has L − size + 1 windows, one if it is
// not longer than the window, none without tokens.
//
// It is PairCounts of windows, in place of documents; word i is the i-th of the
// words it was made with.
type windows struct {
	index map[string]int
	words int
	count int
	pairs []int64 // upper triangle by rows, the words alone on the diagonal
}

// countWindows counts words in the windows of texts, read once, for each of the
// sizes in tokens; 0 stands for whole texts. All tokens count for the length of a
// window. The words differ from each other.
func countWindows(ctx context.Context, texts iter.Seq2[[]string, error], words []string, sizes ...int) ([]*windows, error) {
	if len(words) > maxWindowWords {
		return nil, fmt.Errorf("metrics: %d words are too many to count in windows; choose at most %d", len(words), maxWindowWords)
	}
	index := make(map[string]int, len(words))
	for i, w := range words {
		index[w] = i
	}
	out := make([]*windows, len(sizes))
	counters := make([]windowCounter, len(sizes))
	for s, size := range sizes {
		out[s] = &windows{index: index, words: len(words), pairs: make([]int64, len(words)*(len(words)+1)/2)}
		counters[s] = windowCounter{windows: out[s], size: size, times: make([]int, len(words)), since: make([]int64, len(words)), place: make([]int, len(words))}
	}
	var text []int
	for tokens, err := range texts {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("metrics: texts: %w", err)
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
// leaves, for as many windows as both were there.
type windowCounter struct {
	*windows
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

func (p *windows) pair(a, b int) int {
	if a > b {
		a, b = b, a
	}
	return a*p.words - a*(a-1)/2 + b - a
}

func (p *windows) number(word string) (int, bool) {
	i, ok := p.index[word]
	return i, ok
}

// Has, D1, At and Docs make PairCounts of windows; At(i, i) is D1(i).
func (p *windows) Has(i int) bool  { return i >= 0 && i < p.words }
func (p *windows) D1(i int) int    { return p.At(i, i) }
func (p *windows) At(i, j int) int { return int(p.pairs[p.pair(i, j)]) }
func (p *windows) Docs() int       { return p.count }

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
