package find

import (
	"context"
	"fmt"
	"math"
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
