package cooc

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Pairs holds the numbers of documents in which chosen words occur, D1, and occur
// together, D2. Measures of coherence use it for the top words of topics. It is
// immutable and safe for concurrent use.
type Pairs struct {
	at    []int32 // word → position among the chosen, −1 for the others
	count int
	d1    []int32
	d2    []int32 // upper triangle by rows, diagonal included
	docs  int
	meet  []float32 // as d2: the sum of 1/n over the documents with both, of n different words each

	// Documents of about as many different words are alike to Association: of each kind, how many they are, of how many
	// words, and in what part of them a word is if words come independently (word × kind).
	kinds, sizes []float64
	part         []float64
}

// maxPairWords bounds the tables to 2 GiB each.
const maxPairWords = 1 << 15

// CountPairs counts the chosen words in all documents of c. words are word numbers,
// in any order; repetitions are ignored. L different words, at most 32768, take 4·L²
// bytes and O(nnz + Σ_m l_m²) time, where document m holds l_m of them. More words, or
// one out of range, are an error.
func CountPairs(ctx context.Context, c *corpus.Corpus, words []int) (*Pairs, error) {
	p := &Pairs{at: slices.Repeat([]int32{-1}, c.NumWords()), docs: c.NumDocs()}
	for _, w := range words {
		if w < 0 || w >= len(p.at) {
			return nil, fmt.Errorf("cooc: pairs: word %d is not in [0, %d)", w, len(p.at))
		}
		if p.at[w] < 0 {
			p.at[w] = int32(p.count)
			p.count++
		}
	}
	if p.count > maxPairWords {
		return nil, fmt.Errorf("cooc: pairs of %d words are too many to count; choose at most %d", p.count, maxPairWords)
	}
	p.d1 = make([]int32, p.count)
	p.d2 = make([]int32, p.count*(p.count+1)/2)
	p.meet = make([]float32, len(p.d2))
	var here []int32
	alike := make(map[int]*[2]float64) // documents and their different words
	err := parallel.Chunks(ctx, c.NumDocs(), 4096, 1, func(_, _, lo, hi int) error {
		for m := lo; m < hi; m++ {
			ids, counts := c.Doc(m)
			if n := float64(len(ids)); n > 0 {
				kind := int(arith.Log(n) / arith.Log(likeness))
				if alike[kind] == nil {
					alike[kind] = new([2]float64)
				}
				alike[kind][0]++
				alike[kind][1] += n
			}
			here = here[:0]
			for i, w := range ids {
				a := p.at[w]
				if a < 0 {
					continue
				}
				p.d1[a]++
				for _, b := range here {
					at := p.index(int(a), int(b))
					p.d2[at]++
					p.meet[at] += 1 / float32(len(ids))
				}
				if counts[i] >= 2 {
					p.d2[p.index(int(a), int(a))]++
				}
				here = append(here, a)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := p.independent(ctx, alike); err != nil {
		return nil, err
	}
	return p, nil
}

// likeness is how many times as many different words documents have at most that are alike to Association.
const likeness = 1.2

// independent sets kinds, sizes and part. A document of n different words has word i with the probability 1 − exp(−λ_i·n), where λ_i
// is such that as many documents have it as do.
func (p *Pairs) independent(ctx context.Context, alike map[int]*[2]float64) error {
	for _, kind := range slices.Sorted(maps.Keys(alike)) {
		docs, words := alike[kind][0], alike[kind][1]
		p.kinds, p.sizes = append(p.kinds, docs), append(p.sizes, words/docs)
	}
	n := len(p.sizes)
	p.part = make([]float64, p.count*n)
	for w, df := range p.d1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := p.part[w*n : (w+1)*n]
		lo, hi := 0.0, 64.0 // of λ times the words of the shortest documents
		for range 60 {
			at := (lo + hi) / 2
			for b, n := range p.sizes {
				part[b] = -arith.Expm1(-at * n / p.sizes[0])
			}
			if vec.Dot(part, p.kinds) < float64(df) {
				lo = at
			} else {
				hi = at
			}
		}
	}
	return nil
}

// index of the pair in the packed upper triangle.
func (p *Pairs) index(a, b int) int {
	if a > b {
		a, b = b, a
	}
	return a*p.count - a*(a-1)/2 + b - a
}

// Has reports whether word i is among the chosen.
func (p *Pairs) Has(i int) bool { return i >= 0 && i < len(p.at) && p.at[i] >= 0 }

// Docs returns the number of documents that were counted.
func (p *Pairs) Docs() int { return p.docs }

// D1 returns the number of documents in which word i occurs. It panics if i is not
// among the chosen words.
func (p *Pairs) D1(i int) int { return int(p.d1[p.at[i]]) }

// Association says whether two different words meet more often than by chance: how many times as often, and how many
// standard deviations more. By chance words come independently, each in as many documents as it does, and more often in those of
// more different words. A document counts 1/n if it has n of them, since in a long one most words meet. It panics if i or j is not
// among the chosen words.
func (p *Pairs) Association(i, j int) (times, deviations float64) {
	n := len(p.kinds)
	x, y := p.part[int(p.at[i])*n:], p.part[int(p.at[j])*n:]
	var chance, square float64
	for b, docs := range p.kinds {
		e := docs * x[b] * y[b] / p.sizes[b]
		chance += e
		square += e * (1 - x[b]) * (1 - y[b]) / p.sizes[b]
	}
	meet := float64(p.meet[p.index(int(p.at[i]), int(p.at[j]))])
	return meet / chance, (meet - chance) / math.Sqrt(square)
}

// At returns D2_ij, the number of documents in which words i and j both occur, or for
// i = j those in which word i occurs at least twice. It panics if i or j is not among
// the chosen words.
func (p *Pairs) At(i, j int) int { return int(p.d2[p.index(int(p.at[i]), int(p.at[j]))]) }
