package metrics

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// maxWindowWords bounds the table of one size of windows to 256 MiB.
const maxWindowWords = 1 << 13

// windows counts in how many windows of text chosen words occur, alone and together. A
// window holds a number of consecutive tokens; it slides by one token, and a word in it
// counts once (the "boolean sliding window" of Röder, Both and Hinneburg 2015). A text of L
// tokens has L − size + 1 windows, one if it is not longer than the window, none without
// tokens.
//
// It is PairCounts of windows instead of documents.
type windows struct {
	index map[string]int // of the words
	size  int            // in tokens; 0: whole texts
	count int
	pairs []int64 // upper triangle by rows, the words alone on the diagonal

	// Of the window that slides. A pair of words is counted when one of them leaves, once
	// for each window that held both.
	times []int   // how often each word is in the window
	since []int64 // the first window of the text that a word in it has been in ever since
	here  []int   // the words in the window
}

// countWindows counts words in the windows of texts, read once, for each of the
// sizes in tokens; 0 stands for whole texts. All tokens count for the length of a
// window. The words differ from each other.
func countWindows(ctx context.Context, texts iter.Seq2[[]string, error], words []string, sizes ...int) ([]*windows, error) {
	n := len(words)
	if n > maxWindowWords {
		return nil, fmt.Errorf("metrics: %d words are too many to count in windows; choose at most %d", n, maxWindowWords)
	}
	index := make(map[string]int, n)
	for i, w := range words {
		index[w] = i
	}
	out := make([]*windows, len(sizes))
	for s, size := range sizes {
		out[s] = &windows{index: index, size: size, pairs: make([]int64, n*(n+1)/2), times: make([]int, n), since: make([]int64, n)}
	}
	var text []int
	for tokens, err := range texts {
		if err := cmp.Or(err, ctx.Err()); err != nil {
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
		for _, w := range out {
			w.add(text)
		}
	}
	return out, nil
}

// add counts the windows of a text: numbers of words, −1 for others.
func (p *windows) add(tokens []int) {
	n := len(tokens)
	if n == 0 {
		return
	}
	size := min(cmp.Or(p.size, n), n)
	for _, w := range tokens[:size] {
		p.enter(w, 0)
	}
	last := n - size
	for t := range last {
		p.leave(tokens[t], int64(t)+1)
		p.enter(tokens[t+size], int64(t)+1)
	}
	for _, w := range tokens[last:] {
		p.leave(w, int64(last)+1)
	}
	p.count += last + 1
}

func (p *windows) enter(w int, at int64) {
	if w < 0 {
		return
	}
	if p.times[w]++; p.times[w] == 1 {
		p.since[w] = at
		p.here = append(p.here, w)
	}
}

func (p *windows) leave(w int, at int64) {
	if w < 0 {
		return
	}
	if p.times[w]--; p.times[w] > 0 {
		return
	}
	for _, v := range p.here { // w among them
		p.pairs[p.pair(v, w)] += at - max(p.since[v], p.since[w])
	}
	i := slices.Index(p.here, w)
	p.here = slices.Delete(p.here, i, i+1)
}

func (p *windows) pair(a, b int) int {
	if a > b {
		a, b = b, a
	}
	return a*len(p.times) - a*(a-1)/2 + b - a
}

// Has, D1, At and Docs make PairCounts of windows; At(i, i) is D1(i).
func (p *windows) Has(i int) bool  { return i >= 0 && i < len(p.times) }
func (p *windows) D1(i int) int    { return p.At(i, i) }
func (p *windows) At(i, j int) int { return int(p.pairs[p.pair(i, j)]) }
func (p *windows) Docs() int       { return p.count }

// distinct returns the different words of lists, in order of first appearance.
func distinct(lists [][]string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, w := range slices.Concat(lists...) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
