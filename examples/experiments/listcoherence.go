package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/metrics"
)

// listEpsilon is ε of u_mass, c_npmi and c_v, added to the probability of a pair.
const listEpsilon = 1e-12

// listCoherence holds three coherences of lists of words t_1, …, t_n, most
// probable first, in the form of Röder, Both and Hinneburg (Exploring the space
// of topic coherence measures, WSDM 2015). ε is 10⁻¹², and P the share of the
// documents that hold one word or both. Each metrics.Stat has one
// value per list, NaN for a list of fewer than two words. Higher is better. Pairs with a
// word that the reference lacks count 0.
type listCoherence struct {
	// UMass is the mean over pairs i > j of ln((P(t_i, t_j) + ε)/P(t_j)). At most 0 except for ε. Report.Coherence is the sum, with ε in documents,
	// and takes off less for pairs that never meet.
	UMass metrics.Stat

	// CNPMI is the mean over pairs of
	//
	//	npmi(a, b) = ln((P(a, b) + ε)/(P(a)P(b)))/(−ln(P(a, b) + ε)),
	//
	// in [−1, 1]; 0 for independent words, 1 for words in every document.
	// Report.NPMI is the same with ε = 0: there a pair that never meets counts −1, here
	// −1 − ln(P(a)P(b))/27.6.
	CNPMI metrics.Stat

	// CV is in [−1, 1], near 1 for related words. Each word a has the vector of
	// npmi(a, b) for all words b of the list, itself included, and the list the sum of
	// these vectors. CV is the mean cosine between the words' vectors and the
	// list's, 0 for a word that the reference lacks.
	CV metrics.Stat

	// Missing counts the words of each list that the reference lacks.
	Missing []int
}

// bagCoherence scores lists of top words, from any program, by how their words go together
// in the documents of a corpus: those the topics were learned from, or others. CNPMI and CV
// cannot be compared with those of other programs that count in windows of text.
//
// Errors: no corpus, one without documents, ctx's.
func bagCoherence(ctx context.Context, lists [][]string, c *corpus.Corpus) (*listCoherence, error) {
	if c == nil {
		return nil, fmt.Errorf("no corpus")
	}
	index := make(map[string]int)
	for _, w := range slices.Concat(lists...) {
		if i, ok := c.Index(w); ok {
			index[w] = i
		}
	}
	pairs, err := cooc.CountPairs(ctx, c, slices.Sorted(maps.Values(index)))
	if err != nil {
		return nil, err
	}
	return scoreLists(lists, index, pairs)
}

// scoreLists scores lists of words, whose numbers in the counts are in index.
func scoreLists(lists [][]string, index map[string]int, p metrics.PairCounts) (*listCoherence, error) {
	if p.Docs() < 1 {
		return nil, fmt.Errorf("pair counts of no documents")
	}
	numbered := make([][]int, len(lists)) // −1: not in the reference
	r := &listCoherence{Missing: make([]int, len(lists))}
	for k, l := range lists {
		for _, w := range l {
			i, ok := index[w]
			if !ok || p.D1(i) == 0 {
				i = -1
				r.Missing[k]++
			}
			numbered[k] = append(numbered[k], i)
		}
	}
	r.UMass, r.CNPMI, r.CV = uMass(numbered, p), cNPMI(numbered, p), cV(numbered, p)
	return r, nil
}

// uMass is listCoherence.UMass of lists of numbers of words.
func uMass(lists [][]int, p metrics.PairCounts) metrics.Stat {
	m := float64(p.Docs())
	return perList(lists, func(l []int) float64 {
		return pairMean(l, func(hi, lo int) float64 {
			d := count1(p, hi)
			if d == 0 || count1(p, lo) == 0 {
				return 0
			}
			return arith.Log((float64(p.At(lo, hi))/m + listEpsilon) / (d / m))
		})
	})
}

// cNPMI is listCoherence.CNPMI of lists of numbers of words.
func cNPMI(lists [][]int, p metrics.PairCounts) metrics.Stat {
	return perList(lists, func(l []int) float64 {
		return pairMean(l, func(a, b int) float64 { return smoothNPMI(p, a, b) })
	})
}

// cV is listCoherence.CV of lists of numbers of words.
func cV(lists [][]int, p metrics.PairCounts) metrics.Stat {
	return perList(lists, func(l []int) float64 {
		n := len(l)
		if n < 2 {
			return math.NaN()
		}
		v, whole := mat.NewDense(n, n, nil), make([]float64, n)
		for i, a := range l {
			for j, b := range l[:i+1] {
				x := smoothNPMI(p, a, b)
				v.Set(i, j, x)
				v.Set(j, i, x)
			}
		}
		for i := range n {
			floats.Add(whole, v.RawRowView(i))
		}
		s := 0.0
		for i := range n {
			row := v.RawRowView(i)
			if q := vec.Norm(row) * vec.Norm(whole); q > 0 {
				s += vec.Dot(row, whole) / q
			}
		}
		return s / float64(n)
	})
}

// count1 is the number of documents that hold a word, 0 for the word −1.
func count1(p metrics.PairCounts, w int) float64 {
	if w < 0 {
		return 0
	}
	return float64(p.D1(w))
}

// smoothNPMI is npmi(a, b) of listCoherence, 0 for a word that the reference lacks.
func smoothNPMI(p metrics.PairCounts, a, b int) float64 {
	m, da, db := float64(p.Docs()), count1(p, a), count1(p, b)
	if da == 0 || db == 0 {
		return 0
	}
	both := da
	if a != b {
		both = float64(p.At(a, b))
	}
	if both == m { // the limit; by the formula ε would decide
		return 1
	}
	x := both/m + listEpsilon
	return arith.Log(x/(da/m*db/m)) / -arith.Log(x)
}

// perList returns f of each list.
func perList(lists [][]int, f func(l []int) float64) metrics.Stat {
	values := make([]float64, len(lists))
	for k, l := range lists {
		values[k] = f(l)
	}
	return metrics.NewStat(values)
}

// pairMean returns the mean of f over the pairs of a list, NaN where it has none.
func pairMean(l []int, f func(hi, lo int) float64) float64 {
	s, n := 0.0, 0
	for i, lo := range l {
		for _, hi := range l[:i] {
			s, n = s+f(hi, lo), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return s / float64(n)
}
