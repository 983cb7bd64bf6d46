package jsmf

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
)

// A topic is background if it fills next to no document by itself: of what documents have of it, less than
// backgroundAlone, and less than half of the median topic's part, is in documents of which it has more than
// half. It is background, too, if it is spread over more than backgroundAll of all documents. In both cases
// the documents that have its words must be backgroundWords times as many as for the median topic, and it
// must be spread over backgroundSpread times as many. METHODS.md says what was measured.
const (
	backgroundAlone  = 0.1
	backgroundAll    = 0.5
	backgroundWords  = 2
	backgroundSpread = 1.4
)

// markBackground finds the background topics of a model, and takes words of which most occurrences are in
// these from the reading weights of the others. alone is refine.Result.Alone.
func (m *Model) markBackground(info corpus.Info, alone []float64) {
	df, docs := info.DocFrequencies, info.Documents
	n, k := m.n, m.k
	if len(df) != n || docs < 1 || m.reading == nil {
		return // not counted documents, or not refined on them
	}
	weights := mat.NewDense(n, k, m.reading)
	if m.background = backgroundTopics(weights, mat.NewDense(k, k, m.corr), df, docs, alone); m.background == nil {
		return
	}
	sums := make([]float64, k)
	m.eachWord(func(i int, of []float64) {
		row, within := weights.RawRowView(i), 0.0
		for t, background := range m.background {
			if background {
				within += of[t]
			}
		}
		for t := range row {
			if !m.background[t] && within > 0.5 {
				row[t] = 0
			}
			sums[t] += row[t]
		}
	})
	for i := range n {
		row := weights.RawRowView(i)
		for t, sum := range sums {
			if sum > 0 {
				row[t] /= sum
			}
		}
	}
}

// backgroundTopics returns which topics are background, nil if none is. weights is N×K and ranks
// the words of each topic, a is K×K; df are the document frequencies of the N words in docs
// documents, and alone is refine.Result.Alone, without which none is known.
//
// The part of the documents over which topic k is spread is E[θ_k]²/E[θ_k²] = a_k²/A_kk for a
// topic's proportions θ_k in the documents: 1 if all documents have as much of it, s if a part s of
// them has it all.
func backgroundTopics(weights, a *mat.Dense, df []int, docs int, alone []float64) []bool {
	n, k := weights.Dims()
	if len(alone) != k {
		return nil
	}
	words, mass, spread := make([]float64, k), make([]float64, k), make([]float64, k)
	for i := range n {
		for t, w := range weights.RawRowView(i) {
			mass[t] += w
			words[t] += w * float64(df[i]) / float64(docs)
		}
	}
	for t := range k {
		if mass[t] > 0 {
			words[t] /= mass[t]
		}
		if share := floats.Sum(a.RawRowView(t)); share > 0 && a.At(t, t) > 0 {
			spread[t] = share * share / a.At(t, t)
		}
	}
	middle := func(x []float64) float64 { return slices.Sorted(slices.Values(x))[k/2] }
	minWords, minSpread, maxAlone := backgroundWords*middle(words), backgroundSpread*middle(spread), min(backgroundAlone, middle(alone)/2)
	out := make([]bool, k)
	for t := range out {
		out[t] = words[t] > 0 && words[t] >= minWords && spread[t] >= minSpread && (alone[t] < maxAlone || spread[t] > backgroundAll)
	}
	if !slices.Contains(out, true) {
		return nil
	}
	return out
}
