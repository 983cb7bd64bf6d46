package refine

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// A topic is divided as a corpus is: its share of the documents is a corpus of its own, whose
// topics are found by anchors among the words that tell these documents apart.
const (
	// dividedWords, or manyWords for each topic asked for, are the words that take part, at most.
	dividedWords, manyWords = 400, 20
	// fewWords for each topic asked for have to take part.
	fewWords = 4
	// dividedTokens of the topic are the least that a document of the part has.
	dividedTokens = 10
	// leastDocs have a word that takes part.
	leastDocs = 2
	// leastChild over the number of children is the least share of one.
	leastChild = 0.1
	// dividedRounds of rectification are made, to dividedTol.
	dividedRounds, dividedTol = 1, 0.01
)

// part is the share that a topic has of the documents: words with parts of their counts.
type part struct {
	ends    []int // of each document, in words
	words   []int32
	counts  []float32
	weights []float64 // of each document
	tokens  float64
}

// append appends the documents of another part of the same topic.
func (p *part) append(o *part) {
	n := len(p.words)
	p.words, p.counts, p.weights = append(p.words, o.words...), append(p.counts, o.counts...), append(p.weights, o.weights...)
	for _, end := range o.ends {
		p.ends = append(p.ends, n+end)
	}
	p.tokens += o.tokens
}

// doc returns the words of document d.
func (p *part) doc(d int) ([]int32, []float32) {
	lo := 0
	if d > 0 {
		lo = p.ends[d-1]
	}
	return p.words[lo:p.ends[d]], p.counts[lo:p.ends[d]]
}

// child is a topic that is a part of another.
type child struct {
	words []int32   // ascending
	b     []float64 // their probabilities, of sum 1; those of other words are the parent's
	share float64   // of the parent's tokens, about
}

// divide finds at most k topics of a part of documents with n words. None: it is not to be divided.
func (p *part) divide(ctx context.Context, n, k int) ([]child, error) {
	words, idf := p.frequencies(n).telling(k)
	if len(words) < 2*fewWords {
		return nil, nil
	}
	x, err := p.cooccurrence(n, words, idf)
	if err != nil || x == nil {
		return nil, err
	}
	return divide(ctx, x, words, k)
}

// divide finds at most k topics by the co-occurrence of words.
func divide(ctx context.Context, x *cooc.Dense, words []int32, k int) ([]child, error) {
	if k = min(k, len(words)/fewWords); k < 2 {
		return nil, nil
	}
	rect, err := rectify.AP{Iterations: dividedRounds, EigenTol: dividedTol}.Rectify(ctx, x, k, rectify.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	rows, err := rect.Rows(ctx, 1)
	if err != nil {
		return nil, err
	}
	found, err := anchor.QR{MinDocs: 1, AllowFewer: true}.Find(ctx, rows, k, anchor.Options{Workers: 1})
	if err != nil || len(found.Anchors) < 2 {
		return nil, err
	}
	rec, err := recovery.SCLS{}.Recover(ctx, rows, found.Anchors, recovery.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	children := make([]child, len(found.Anchors))
	for t := range children {
		c := child{words: words, b: make([]float64, len(words))}
		sum := 0.0
		for i := range words {
			c.b[i] = max(0, rec.B.At(i, t))
			sum += c.b[i]
		}
		for i := range words {
			c.b[i] /= sum
		}
		for j := range children {
			c.share += max(0, rec.A.At(t, j))
		}
		c.share = max(c.share, leastChild/float64(k))
		children[t] = c
	}
	return children, nil
}

// frequencies are those of the words in the part that a topic has of the documents.
type frequencies struct {
	docs, tokens float64
	df, shares   []float64 // by word: documents, and the sum of its shares of their tokens
}

// frequencies returns those of n words.
func (p *part) frequencies(n int) *frequencies {
	f := &frequencies{tokens: p.tokens, df: make([]float64, n), shares: make([]float64, n)}
	for d := range p.ends {
		words, counts := p.doc(d)
		weight, sum := p.weights[d], 0.0
		for _, v := range counts {
			sum += float64(v)
		}
		f.docs += weight
		for i, w := range words {
			f.df[w] += weight * min(1, float64(counts[i]))
			f.shares[w] += weight * float64(counts[i]) / sum
		}
	}
	return f
}

// telling returns the words that tell the documents of the part apart, ascending, at most as many as
// take part where k topics are asked for, and the idf of all words.
func (f *frequencies) telling(k int) ([]int32, []float64) {
	var words []int32
	idf, best := make([]float64, len(f.df)), make([]float64, len(f.df))
	for w, v := range f.df {
		if v >= leastDocs && v < f.docs {
			idf[w] = math.Log(f.docs / v)
			best[w] = f.shares[w] * idf[w]
			words = append(words, int32(w))
		}
	}
	slices.SortFunc(words, func(a, b int32) int { return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(a, b)) })
	words = words[:min(len(words), max(dividedWords, manyWords*k))]
	slices.Sort(words)
	return words, idf
}

// cooccurrence returns how often words occur together in the documents: the mean of xxᵀ/‖x‖², with
// x a document's counts times idf. nil: never.
func (p *part) cooccurrence(n int, words []int32, idf []float64) (*cooc.Dense, error) {
	at := make([]int32, n)
	for i := range at {
		at[i] = -1
	}
	for i, w := range words {
		at[w] = int32(i)
	}
	c, total := mat.NewSymDense(len(words), nil), 0.0
	raw := c.RawSymmetric()
	var rows []int32
	var vals []float64
	for d := range p.ends {
		ids, counts := p.doc(d)
		rows, vals = rows[:0], vals[:0]
		norm := 0.0
		for i, w := range ids {
			if a := at[w]; a >= 0 {
				v := float64(counts[i]) * idf[w]
				rows, vals = append(rows, a), append(vals, v)
				norm += v * v
			}
		}
		if len(rows) < 2 {
			continue
		}
		for i, v := range vals { // ids ascend, and so do rows
			row, v := raw.Data[int(rows[i])*raw.Stride:], p.weights[d]*v/norm
			for j, u := range vals[i:] {
				x := v * u
				row[rows[i+j]] += x
				if total += x; j > 0 {
					total += x
				}
			}
		}
	}
	if !(total > 0) {
		return nil, nil
	}
	for i := range raw.Data {
		raw.Data[i] /= total
	}
	return cooc.NewDense(c)
}
