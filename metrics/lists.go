package metrics

import (
	"context"
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// ListSmoothing is the ε of UMass, CNPMI and CV. It is added to the probability
// of a pair; that of Coherence, 0.01, to a number of documents.
const ListSmoothing = 1e-12

// Windows that Röder, Both and Hinneburg found best, in tokens.
const (
	CNPMIWindow = 10
	CVWindow    = 110
)

// ListCoherence holds the coherences of lists of words.
type ListCoherence struct {
	UMass, CNPMI, CV Stat // one value a list

	// Missing counts, for each list, the words that the reference does not
	// hold. Pairs with them count 0 in all three, which is neither good nor bad.
	Missing []int
}

// TextCoherence scores lists of top words, most probable first, by how their
// words go together in texts, which are read once. The lists may come from any
// program; nothing else is known of the topics. u_mass is counted in whole
// texts, c_npmi in windows of 10 tokens and c_v in windows of 110, as Röder,
// Both and Hinneburg define them (Exploring the space of topic coherence
// measures, WSDM 2015). The texts may be those the topics were learned from or
// a reference of their own; give all tokens in their order. See UMass, CNPMI, CV
// for what they mean and CountWindows for the cost. SourceTexts makes texts of
// a corpus.Source.
//
// A list without words has the value NaN. Errors: no lists, a word twice in a
// list, an error of the texts or texts without tokens, ctx's.
func TextCoherence(ctx context.Context, lists [][]string, texts iter.Seq2[[]string, error]) (*ListCoherence, error) {
	if err := checkLists(lists); err != nil {
		return nil, err
	}
	words := distinct(lists)
	counts, err := CountWindows(ctx, texts, words, 0, CNPMIWindow, CVWindow)
	if err != nil {
		return nil, err
	}
	return scoreLists(lists, counts[0].Index, counts[0], counts[1], counts[2])
}

// BagCoherence is TextCoherence against a corpus of word counts, in which
// tokens have no order: all three measures are then counted in whole documents.
// Values of c_npmi and c_v are not to be compared with those from windows.
func BagCoherence(ctx context.Context, lists [][]string, c *corpus.Corpus) (*ListCoherence, error) {
	if err := checkLists(lists); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("metrics: no corpus")
	}
	var numbers []int
	for _, w := range distinct(lists) {
		if i, ok := c.Index(w); ok {
			numbers = append(numbers, i)
		}
	}
	pairs, err := cooc.CountPairs(ctx, c, numbers, 0)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return scoreLists(lists, c.Index, pairs, pairs, pairs)
}

// SourceTexts returns the tokens of each document of a source for TextCoherence.
// The source must keep them in their order, as readers of text do; a document
// with counts or numbers of words in their place is an error.
func SourceTexts(ctx context.Context, src corpus.Source) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		m := 0
		for d, err := range src.Docs(ctx) {
			m++
			if err == nil && (d.Counts != nil || d.Words != nil) {
				err = fmt.Errorf("metrics: document %d of the source is word counts, not a sequence of tokens; use BagCoherence", m)
			}
			if !yield(d.Tokens, err) || err != nil {
				return
			}
		}
	}
}

func checkLists[W comparable](lists [][]W) error {
	if len(lists) == 0 {
		return fmt.Errorf("metrics: no lists of words")
	}
	for k, l := range lists {
		at := make(map[W]int, len(l))
		for i, w := range l {
			if j, ok := at[w]; ok {
				return fmt.Errorf("metrics: the list of topic %d has the word %v twice, at %d and %d", k, w, j, i)
			}
			at[w] = i
		}
	}
	return nil
}

// scoreLists scores lists of words that index gives the numbers of; the counts
// are those for the three measures, with one numbering.
func scoreLists(lists [][]string, index func(string) (int, bool), docs, near, wide PairCounts) (*ListCoherence, error) {
	numbered := make([][]int, len(lists))
	r := &ListCoherence{Missing: make([]int, len(lists))}
	for k, l := range lists {
		for _, w := range l {
			i, ok := index(w)
			if !ok || docs.D1(i) == 0 {
				i = -1
				r.Missing[k]++
			}
			numbered[k] = append(numbered[k], i)
		}
	}
	var err error
	if r.UMass, err = UMass(numbered, docs); err != nil {
		return nil, err
	}
	if r.CNPMI, err = CNPMI(numbered, near); err != nil {
		return nil, err
	}
	if r.CV, err = CV(numbered, wide); err != nil {
		return nil, err
	}
	return r, nil
}

// UMass is the u_mass coherence of lists of words, most probable first, in the
// form of Röder, Both and Hinneburg 2015: the mean over pairs i > j of
//
//	ln((P(t_i, t_j) + ε)/P(t_j)),  ε = 10⁻¹²,
//
// with P the share of the documents (or windows) that hold both words, or the
// one. At most 0 but for ε; closer to 0 is better. Coherence is the form of this
// library's papers: the same sum over pairs, not divided by their number
// n(n−1)/2, and with ε = 0.01 documents. Where all pairs of a list meet the two
// differ by that factor, but for about 0.01 over the number of documents a pair
// meets in. A pair that never meets adds 27.6 − ln M less here than one that
// meets once, M being the number of documents, and 4.6 less there.
//
// The lists hold numbers of words that p must know, each once, or −1 for words
// that the reference does not have; pairs with these, and with words that are in
// no document, count 0. Values has one entry a list, undefined (NaN) for one of
// fewer than two words.
func UMass(lists [][]int, p PairCounts) (Stat, error) {
	return listMeasure(lists, p, func(l []int, m float64) float64 {
		return pairMean(l, func(hi, lo int) float64 {
			d := count1(p, hi)
			if d == 0 || count1(p, lo) == 0 {
				return 0
			}
			return math.Log((float64(p.At(lo, hi))/m + ListSmoothing) / (d / m))
		})
	})
}

// CNPMI is the c_npmi coherence of lists of words (Röder, Both and Hinneburg
// 2015; Aletras and Stevenson 2013): the mean over all pairs of their normalised
// pointwise mutual information
//
//	npmi(a, b) = ln((P(a, b) + ε)/(P(a)P(b)))/(−ln(P(a, b) + ε)),  ε = 10⁻¹²,
//
// in [−1, 1]. Higher is better, 0 is independence. NPMI is the same with ε = 0,
// where a pair that never meets counts −1; here it counts −1 − ln(P(a)P(b))/27.6,
// which is −0.5 for words that are in one window of a thousand each. A pair that
// is in every window counts 1.
//
// Arguments and undefined values as for UMass. Counted in windows of CNPMIWindow
// tokens it is c_npmi, otherwise something near it.
func CNPMI(lists [][]int, p PairCounts) (Stat, error) {
	return listMeasure(lists, p, func(l []int, _ float64) float64 {
		return pairMean(l, func(a, b int) float64 { return smoothNPMI(p, a, b) })
	})
}

// CV is the c_v coherence of lists of words (Röder, Both and Hinneburg 2015).
// Each word a of the list has a vector of npmi(a, b) with all words b of the
// list, itself among them (npmi as for CNPMI), and the whole list the sum of
// these vectors; c_v is the mean over the words of the cosine between the two.
// In [−1, 1], for related words near 1; higher is better. A word that is not in
// the reference has the cosine 0.
//
// Arguments and undefined values as for UMass. Counted in windows of CVWindow
// tokens it is c_v, otherwise something near it.
func CV(lists [][]int, p PairCounts) (Stat, error) {
	return listMeasure(lists, p, func(l []int, _ float64) float64 {
		n := len(l)
		if n < 2 {
			return math.NaN()
		}
		v, whole := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
		for i, a := range l {
			for j, b := range l[:i+1] {
				x := smoothNPMI(p, a, b)
				v.Set(i, j, x)
				v.Set(j, i, x)
			}
		}
		for i := range n {
			whole.AddVec(whole, v.RowView(i))
		}
		s := 0.0
		for i := range n {
			row := v.RowView(i)
			if q := mat.Norm(row, 2) * mat.Norm(whole, 2); q > 0 {
				s += mat.Dot(row, whole) / q
			}
		}
		return s / float64(n)
	})
}

// listMeasure applies f to every list; m is the number of documents.
func listMeasure(lists [][]int, p PairCounts, f func(l []int, m float64) float64) (Stat, error) {
	if noPairs(p) {
		return Stat{}, fmt.Errorf("metrics: no pair counts")
	}
	if p.Docs() < 1 {
		return Stat{}, fmt.Errorf("metrics: pair counts of no documents")
	}
	if len(lists) == 0 {
		return Stat{}, fmt.Errorf("metrics: no lists of words")
	}
	values := make([]float64, len(lists))
	for k, l := range lists {
		seen := make(map[int]bool, len(l))
		for i, w := range l {
			switch {
			case w == -1:
			case !p.Has(w):
				return Stat{}, fmt.Errorf("metrics: no pair counts for word %d, at %d in the list of topic %d", w, i, k)
			case seen[w]:
				return Stat{}, fmt.Errorf("metrics: the list of topic %d has the word %d twice", k, w)
			}
			seen[w] = true
		}
		values[k] = f(l, float64(p.Docs()))
	}
	return NewStat(values), nil
}

// pairMean returns the mean of f over the pairs of a list, NaN where it has none.
func pairMean(l []int, f func(hi, lo int) float64) float64 {
	s, n := 0.0, 0
	eachPair(l, func(hi, lo int) { s, n = s+f(hi, lo), n+1 })
	if n == 0 {
		return math.NaN()
	}
	return s / float64(n)
}

// count1 is the number of documents that hold a word, 0 for the word −1.
func count1(p PairCounts, w int) float64 {
	if w < 0 {
		return 0
	}
	return float64(p.D1(w))
}

func smoothNPMI(p PairCounts, a, b int) float64 {
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
	x := both/m + ListSmoothing
	return math.Log(x/(da/m*db/m)) / -math.Log(x)
}

// SimCount is the similarity count of fu-2018 (§6.2, after arora-2013): how many
// top words topics share. Values has one entry a list, the number of its words
// in each other list, added up; total counts every pair of lists once, half the
// sum of the Values. Fewer is better: the topics are more distinct. Lists are of
// words or of their numbers, without repetitions; 20 words in the paper.
func SimCount[W comparable](lists [][]W) (total int, each Stat, err error) {
	in, err := listed(lists)
	if err != nil {
		return 0, Stat{}, err
	}
	values := make([]float64, len(lists))
	for k, l := range lists {
		for _, w := range l {
			values[k] += float64(in[w] - 1)
		}
	}
	for _, n := range in {
		total += n * (n - 1) / 2
	}
	return total, NewStat(values), nil
}

// Diversity is the topic diversity of Dieng, Ruiz and Blei 2020: the share of
// different words among all words of the lists, 25 a topic there. In (0, 1];
// 1: no word is in two lists. Lists as for SimCount; NaN where they are all
// empty.
func Diversity[W comparable](lists [][]W) (float64, error) {
	in, err := listed(lists)
	if err != nil {
		return 0, err
	}
	all := 0
	for _, l := range lists {
		all += len(l)
	}
	return float64(len(in)) / float64(all), nil
}

// listed checks lists and returns in how many of them each word stands.
func listed[W comparable](lists [][]W) (map[W]int, error) {
	if err := checkLists(lists); err != nil {
		return nil, err
	}
	in := make(map[W]int)
	for _, l := range lists {
		for _, w := range l {
			in[w]++
		}
	}
	return in, nil
}

// TopLists returns the numbers of the n most probable words of each topic, as
// TopWords does for one. Words of probability 0 are left out, so that the list
// of a topic with fewer words is shorter and that of an empty one empty. b is
// N×K; n is at least 1.
func TopLists(b *mat.Dense, n int) ([][]int, error) {
	t, err := checkTopics(b)
	if err != nil {
		return nil, err
	}
	if err := checkTopN(n); err != nil {
		return nil, err
	}
	lists := make([][]int, t.k)
	for k := range lists {
		lists[k] = TopWords(b, k, n)
		for i, w := range lists[k] {
			if b.At(w, k) == 0 {
				lists[k] = lists[k][:i]
				break
			}
		}
	}
	return lists, nil
}
