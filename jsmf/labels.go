package jsmf

import "github.com/jsmf-go/spectral/metrics"

// LabelWord is a word that labels a topic.
type LabelWord struct {
	WordProb
	Score float64 // by which it was chosen; what it means depends on the ranking
}

// Labels returns for each topic the n best words by a ranking: by FREX, lift
// or relevance (metrics.ByFREX and so on), or one of the caller's own;
// nil means by probability, as TopWords. Only words that the topic has are
// among them, so that there may be fewer. The anchor is AnchorWords'. p(word) is
// that of Marginals. n is 20 for 0. Errors: n < 0, settings of the ranking out of range, and for
// lift and relevance a marginal ≤ 0 of a word that is in a topic.
func (m *Model) Labels(r metrics.Ranking, n int) ([][]LabelWord, error) {
	labels, err := metrics.RankWords(m.TopicsTo(nil), m.Marginals(), r, n)
	if err != nil {
		return nil, wrap(err)
	}
	out := make([][]LabelWord, len(labels))
	for k, l := range labels {
		out[k] = make([]LabelWord, len(l))
		for i, x := range l {
			out[k][i] = LabelWord{WordProb{x.Word, m.Word(x.Word), x.Prob}, x.Score}
		}
	}
	return out, nil
}

// TopLists returns the n most probable words of each topic, without those of
// probability 0: the lists that metrics.TextCoherence and metrics.BagCoherence
// take. None for n ≤ 0.
func (m *Model) TopLists(n int) [][]string {
	lists := make([][]string, m.k)
	for k := range lists {
		lists[k] = []string{}
		for _, w := range m.TopWords(k, n) {
			if w.Prob > 0 {
				lists[k] = append(lists[k], w.Word)
			}
		}
	}
	return lists
}
