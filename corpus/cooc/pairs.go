package cooc

import (
	"context"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/parallel"
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
}

// maxPairWords bounds the table to 2 GiB.
const maxPairWords = 1 << 15

// CountPairs counts the chosen words in all documents of c. words are word numbers,
// in any order; repetitions are ignored. L different words, at most 32768, take 2·L²
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
	var here []int32
	err := parallel.Chunks(ctx, c.NumDocs(), 4096, 1, func(_, _, lo, hi int) error {
		for m := lo; m < hi; m++ {
			ids, counts := c.Doc(m)
			here = here[:0]
			for i, w := range ids {
				a := p.at[w]
				if a < 0 {
					continue
				}
				p.d1[a]++
				for _, b := range here {
					p.d2[p.index(int(a), int(b))]++
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
	return p, nil
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

// At returns D2_ij, the number of documents in which words i and j both occur, or for
// i = j those in which word i occurs at least twice. It panics if i or j is not among
// the chosen words.
func (p *Pairs) At(i, j int) int { return int(p.d2[p.index(int(p.at[i]), int(p.at[j]))]) }
