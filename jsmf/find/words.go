package find

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
)

// Words finds words and topics of a model. For preference data, words are items and documents are
// users. It is safe for concurrent use.
type Words struct {
	m       *jsmf.Model
	n, k    int
	b       []float64 // N×K, p(word | topic)
	roots   []float64 // N×K, square roots of p(topic | word); a row of 0 for a word in no topic
	p       []float64 // N, p(word) = Σ_k p(word | topic k) p(topic k)
	alpha   []float64 // Dirichlet parameters
	inferer *infer.Inferer
}

// NewWords prepares a model, in 20·N·K bytes for N words and K topics. Errors: no model, one
// without a Dirichlet prior of topic proportions ([recovery.FitAlpha] fails), and ctx's.
func NewWords(ctx context.Context, m *jsmf.Model) (*Words, error) {
	if m == nil {
		return nil, errNoModel
	}
	w := &Words{m: m, n: m.N(), k: m.K(), alpha: m.Alpha(), p: make([]float64, m.N())}
	var err error
	if w.inferer, err = m.Inferer(ctx, infer.MAP{}, infer.Options{}); err != nil {
		return nil, wrap(err)
	}
	if w.alpha == nil {
		if w.alpha, err = recovery.FitAlpha(mat.DenseCopyOf(m.Correlations())); err != nil {
			return nil, wrap(err)
		}
	}
	w.b = mat.DenseCopyOf(m.Topics()).RawMatrix().Data
	w.roots = mat.DenseCopyOf(m.WordTopics()).RawMatrix().Data
	shares := m.TopicShares()
	for t, s := range shares {
		shares[t] = max(s, 0)
	}
	for i := range w.p {
		w.p[i] = floats.Dot(shares, w.of(w.b, i))
		if row := w.of(w.roots, i); !roots(row, row) {
			clear(row)
		}
	}
	return w, ctx.Err()
}

func (w *Words) of(a []float64, word int) []float64 { return a[word*w.k : (word+1)*w.k] }

// SimilarWords returns the n words whose p(topic | word) is most similar to that of a word, which
// is left out. Score is the similarity of the package documentation, in [0, 1]. Words of one topic
// alone have similarity 1 to each other; of equally similar words, to 1e-6, the most probable come
// first. O(N·K).
func (w *Words) SimilarWords(word string, n int) ([]Match, error) {
	self, ok := w.m.Index(word)
	if !ok {
		return nil, errorf("the model has no word %q", word)
	}
	of := w.of(w.roots, self)
	if floats.Max(of) == 0 {
		return nil, errorf("the word %q is in no topic", word)
	}
	return w.search(n, func(i int) float64 {
		if i == self || floats.Max(w.of(w.roots, i)) == 0 {
			return math.Inf(-1)
		}
		return min(floats.Dot(of, w.of(w.roots, i)), 1)
	})
}

// search ranks words by score, −Inf for those left out; to 1e-6 equal ones by p(word).
func (w *Words) search(n int, score func(word int) float64) ([]Match, error) {
	b, err := newBest(n)
	if err != nil {
		return nil, wrap(err)
	}
	for i := range w.n {
		if s := score(i); !math.IsInf(s, -1) {
			b.add(i, math.Round(s*1e6)+w.p[i]) // p(word) < 1 decides among equals
		}
	}
	out := b.list(w.m.Word)
	for i := range out {
		out[i].Score = score(out[i].Index)
	}
	return out, nil
}

// Recommend returns the n items that a user with the given items is most likely to have besides
// them, most likely first, ties by number. The user's topic proportions are inferred from the items
// ([infer.MAP]); Score is p(item | proportions). An item that is given twice counts twice. Without
// items the result is what users like on the whole. METHODS.md has what this finds on lastfm.
//
// It is an error, which names them, if the model lacks items: leave those out for which
// [jsmf.Model.Index] finds none. O(N·K).
func (w *Words) Recommend(items []string, n int) ([]Match, error) {
	b, err := newBest(n)
	if err != nil {
		return nil, wrap(err)
	}
	var ids []int32
	var missing []string
	has := make([]bool, w.n)
	for _, item := range items {
		if at, ok := w.m.Index(item); ok {
			ids, has[at] = append(ids, int32(at)), true
		} else {
			missing = append(missing, fmt.Sprintf("%q", item))
		}
	}
	if missing != nil {
		return nil, errorf("the model has no item %s", strings.Join(missing, ", "))
	}
	theta := make([]float64, w.k)
	if _, err := w.inferer.InferTo(theta, ids, nil); err != nil {
		return nil, wrap(err)
	}
	for i := range w.n {
		if !has[i] {
			b.add(i, floats.Dot(theta, w.of(w.b, i)))
		}
	}
	return b.list(w.m.Word), nil
}

// Explanation says which words a document has its topics from, and how much of it the model does
// not cover.
type Explanation struct {
	// Proportions are the K topic proportions of the document, with sum 1. They are those of
	// infer.MAP{}, and so of jsmf.Model.Transform; under a Dirichlet prior after one more step in
	// float64.
	Proportions []float64
	// Prior is the part of each proportion that comes from the prior and not from words:
	// Proportions[k] is Prior[k] plus the sum of Words[i].Topics[k]. Under a logistic-normal prior
	// ([jsmf.Model.Logits]) it is below 0 where the other topics of the document speak against k.
	Prior []float64
	// Words are the words of the document that are in a topic, by decreasing count, then by number.
	Words []ExplainedWord
	// Tokens is the number of tokens of Words, and Unknown that of the others: of words that the
	// model lacks or that are in no topic.
	Tokens, Unknown int64
	// Unlikely is how many of Tokens are of words that are Unlikely.
	Unlikely int64
	// LogGain is the mean ln(ExplainedWord.Gain) of Tokens, in nats: how much the topics say of
	// the document; NaN without tokens. It grows with K. A document that is of no topic, although
	// the model knows its words, has less than the documents of the fit.
	LogGain float64
}

// ExplainedWord is a word of an explained document.
type ExplainedWord struct {
	Index int
	Word  string
	Count int64
	// Topics holds what the word adds to each proportion: its count, over the number of tokens and
	// the sum of the prior, times p(topic | word, document).
	Topics []float64
	// Gain is p(word | document) / p(word): how much likelier than in all documents the rest of the
	// document makes the word. The token itself is left out.
	Gain float64
	// Unlikely says that Gain is below 1/2: the word is of topics that the rest of the document
	// hardly has.
	Unlikely bool
}

// unlikelyGain is the Gain below which a word is unlikely.
const unlikelyGain = 0.5

// Covered returns the part of all tokens that is neither unknown nor unlikely, in [0, 1]; NaN for a
// document without tokens.
func (x *Explanation) Covered() float64 {
	return float64(x.Tokens-x.Unlikely) / float64(x.Tokens+x.Unknown)
}

// Explain explains a text, which it splits as [jsmf.Model.CountWords] does.
func (w *Words) Explain(text string) (*Explanation, error) {
	ids, counts, unknown, err := w.m.CountWords(text)
	if err != nil {
		return nil, wrap(err)
	}
	return w.ExplainCounts(ids, counts, unknown)
}

// ExplainCounts explains a document that has counts[i] ≥ 0 tokens of word ids[i] of the model (nil:
// one each), and unknown tokens of words that it lacks. Counts of repeated words are added. O(K)
// for each word, some ten times.
//
// Errors: those of [infer.Inferer.InferTo], and unknown below 0.
func (w *Words) ExplainCounts(ids, counts []int32, unknown int64) (*Explanation, error) {
	if unknown < 0 {
		return nil, errorf("%d unknown tokens", unknown)
	}
	x := &Explanation{Proportions: make([]float64, w.k), Prior: make([]float64, w.k), Unknown: unknown}
	doc, err := w.inferer.InferTo(x.Proportions, ids, counts)
	if err != nil {
		return nil, wrap(err)
	}
	x.Unknown += int64(doc.Unknown)
	total := doc.Tokens + floats.Sum(w.alpha)
	if doc.Status == infer.NoTokens {
		copy(x.Prior, x.Proportions)
		x.LogGain = math.NaN()
		return x, nil
	}
	tokens, words := make([]float64, w.k), make([]float64, w.k) // what each topic has of the document, and its words of that
	floats.ScaleTo(tokens, total, x.Proportions)
	for _, word := range w.words(ids, counts) {
		gain := w.share(word.Topics, tokens, w.of(w.b, word.Index)) / (total - 1)
		word.Gain = gain / w.p[word.Index]
		word.Unlikely = word.Gain < unlikelyGain
		floats.Scale(float64(word.Count)/total, word.Topics)
		floats.Add(words, word.Topics)
		x.Tokens += word.Count
		if word.Unlikely {
			x.Unlikely += word.Count
		}
		x.LogGain += float64(word.Count) * math.Log(word.Gain)
		x.Words = append(x.Words, word)
	}
	x.LogGain /= float64(x.Tokens)
	if w.m.Logits() != nil {
		floats.SubTo(x.Prior, x.Proportions, words)
		return x, nil
	}
	floats.ScaleTo(x.Prior, 1/total, w.alpha)
	floats.AddTo(x.Proportions, x.Prior, words)
	return x, nil
}

// words returns the words of a document that are in a topic, each once.
func (w *Words) words(ids, counts []int32) []ExplainedWord {
	count := make(map[int]int64, len(ids))
	for i, id := range ids {
		c := int64(1)
		if counts != nil {
			c = int64(counts[i])
		}
		count[int(id)] += c
	}
	var out []ExplainedWord
	for id, c := range count {
		if c > 0 && floats.Max(w.of(w.b, id)) > 0 {
			out = append(out, ExplainedWord{Index: id, Word: w.m.Word(id), Count: c, Topics: make([]float64, w.k)})
		}
	}
	slices.SortFunc(out, func(a, b ExplainedWord) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Index, b.Index))
	})
	return out
}

// share writes to r the share of each topic in a token of a word, p(topic | word, document), and
// returns Σ_k b_k (t_k − r_k), where b_k is p(word | topic k) and t_k the tokens of topic k and its
// prior. As infer.MAP has it, r_k is in proportion to b_k (t_k − r_k), in which the token itself is
// left out. So r_k = s b_k t_k / (1 + s b_k) for the s that makes the sum 1. The sum is concave in
// s, so that Newton's steps from below never pass it.
func (w *Words) share(r, t, b []float64) float64 {
	s := 1 / floats.Dot(b, t)
	for range 100 {
		sum, slope := 0.0, 0.0
		for k, p := range b {
			d := 1 + s*p
			r[k] = s * p * t[k] / d
			sum += r[k]
			slope += p * t[k] / (d * d)
		}
		if 1-sum < 1e-12 {
			break
		}
		next := s + (1-sum)/slope
		if !(next > s) || math.IsInf(next, 1) {
			break
		}
		s = next
	}
	floats.Scale(1/floats.Sum(r), r)
	rest := 0.0
	for k, p := range b {
		rest += p * max(t[k]-r[k], 0)
	}
	return rest
}
