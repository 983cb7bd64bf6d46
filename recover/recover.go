// Package recovery learns topics and their correlations once the anchor words are
// known. (Its folder is called recover; a package of that name would shadow the
// builtin function.)
//
// Every row of C̄ is nearly a convex combination of the anchors' rows, with the
// coefficients B̆_kn = p(topic k | word n). They solve one simplex-constrained
// least-squares problem per word (package scls). Bayes' rule turns them into the
// topics B_nk = p(word n | topic k), and the co-occurrence of the anchors gives
// the correlations A_kl = p(topics k and l) of two words of a document (lee-2020 §3,
// steps 3 and 4).
//
// # Which method
//
//   - [SCLS]: least squares, exact in its zero value. Use it.
//   - [L2]: RecoverL2 of arora-2013, the same by exponentiated gradient and with A
//     from the pseudo-inverse of B.
//   - [KL]: RecoverKL of arora-2013, with the Kullback–Leibler divergence instead of
//     squares. It needs explicit rows and N times the work of a sweep of [L2].
//   - [Inverse]: the method of 2012, which inverts the anchors' block of C and
//     uses no other row. It is there for comparison.
//
// [Finish] says how [SCLS] and [KL] compute A. [FitAlpha] fits a Dirichlet prior to A.
// Package refine improves A and B by passes over the documents.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Recoverer is a way to recover topics and correlations from anchors.
type Recoverer interface {
	// Recover returns the model of the rows with the given anchors. The result
	// is the same to the bit for any opt.Workers.
	Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt Options) (*Result, error)
	// String names the method and its settings.
	String() string
}

// Options are what every Recoverer takes besides its own settings.
type Options struct {
	// Workers bounds the goroutines; 0 means GOMAXPROCS.
	Workers int
	// Points replace the rows of anchors that are more than one word
	// (anchor.Tandem). It is nil or has one point per topic: nil for the anchor's
	// own row, or the coordinates, of length d. A Recoverer that cannot use points
	// returns an error if there are any.
	Points [][]float64
	// Progress, if not nil, is called with the number of words done, from one
	// goroutine at a time.
	Progress func(done, total int)
}

// Result is a recovered model.
type Result struct {
	// WordTopics is N×K: row n holds p(topic | word n) and sums to 1. It is the
	// transpose of the papers' B̆. Rows of words that never occur are zero.
	WordTopics *mat.Dense
	// B is N×K: column k holds p(word | topic k) and sums to 1.
	B *mat.Dense
	// A is K×K and symmetric: A_kl is the probability that two words of a document come from
	// topics k and l. Unless Finish says otherwise it is neither clipped nor normalised: its
	// distance from the sum 1 measures how well the model fits (metrics.Report.Legality).
	A *mat.Dense
	// Residuals holds ‖c̄_n − Σ_k B̆_kn c̄_{s_k}‖₂ for every word, of the matrix that was
	// factorised; 0 for anchors and words that never occur. They come from ‖c̄_n‖² by
	// subtraction: below 1e-7·‖c̄_n‖ they are rounding.
	Residuals []float64
	// Marginals are the word probabilities used in Bayes' rule, length N: those of
	// rows.WithAnchors. They belong to the rows and must not be written to.
	Marginals []float64

	Stats
}

// Stats describes the problems over the simplex that give B̆, one for each word that is no
// anchor. Anchors count as 0 in the means.
type Stats struct {
	// Method names what was run; if empty, a jsmf.Pipeline takes the Recoverer's String.
	Method string `json:"method"`
	// Words is how many problems were solved: N less the anchors and the words
	// that never occur.
	Words int `json:"solved"`
	// Objective is the mean over all N words of ½·Residuals².
	Objective float64 `json:"mean_objective"`
	// MeanIterations and MaxIterations are over the words solved for.
	MeanIterations float64 `json:"mean_iterations"`
	MaxIterations  int     `json:"max_iterations"`
	// MaxGap is the largest primal-dual gap: no objective is farther than
	// this above its minimum.
	MaxGap float64 `json:"max_gap"`
	// MeanResidual and MaxResidual are those of Residuals, over all N words.
	MeanResidual float64 `json:"mean_residual"`
	MaxResidual  float64 `json:"max_residual"`
	// Converged counts the words that met the solver's rule, Limited those that hit its
	// iteration limit, and Stalled those that rounding stopped before.
	Converged int `json:"converged"`
	Limited   int `json:"limited"`
	Stalled   int `json:"stalled"`
	// Divergence is, for KL, the mean over all N words of the Kullback–Leibler
	// divergence of c̄_n from the mixture of the anchors' rows, in nats. Unreached is
	// the mean, over the words solved for, of the mass of c̄_n on words that no anchor
	// co-occurs with, which the divergence leaves out. Both are 0 for other methods.
	Divergence float64 `json:"divergence,omitempty"`
	Unreached  float64 `json:"unreached,omitempty"`
	// Updates counts the updates of A by Multiplicative, and Change is the last
	// ‖A_t − A_{t−1}‖_F.
	Updates int     `json:"updates,omitempty"`
	Change  float64 `json:"change,omitempty"`
	// Warnings name the limits that were hit in computing A, in words.
	Warnings []string `json:"warnings,omitempty"`
}

// AnchorError says that an anchor cannot represent its topic.
type AnchorError struct {
	Topic, Word int
	Reason      string
}

func (e *AnchorError) Error() string {
	return fmt.Sprintf("recovery: anchor of topic %d, word %d: %s", e.Topic, e.Word, e.Reason)
}

// Tree says which topics were split from which, where many topics were found by splitting fewer.
type Tree struct {
	// Groups has a list for each level above the topics, the coarsest first: the number of the group
	// of each of the K topics. Numbers begin at 0, every group has a topic, and the topics of a group
	// are in one group of the level above. The topics themselves are not listed.
	Groups [][]int `json:"groups"`
}

// Validate checks that t is a tree of k topics with one level or more. O(k) a level.
func (t *Tree) Validate(k int) error {
	if len(t.Groups) == 0 {
		return errors.New("a tree without levels")
	}
	above := make([]int, k) // all topics are in one group
	for level, group := range t.Groups {
		if len(group) != k {
			return fmt.Errorf("level %d has groups of %d topics, want %d", level, len(group), k)
		}
		parent, groups := make(map[int]int), 0
		for topic, g := range group {
			if g < 0 || g >= k {
				return fmt.Errorf("level %d: topic %d is in group %d, which is not in [0, %d)", level, topic, g, k)
			}
			if p, ok := parent[g]; ok && p != above[topic] {
				return fmt.Errorf("level %d: group %d is in groups %d and %d of the level above", level, g, p, above[topic])
			}
			parent[g], groups = above[topic], max(groups, g+1)
		}
		if len(parent) < groups {
			return fmt.Errorf("level %d: of %d groups %d have no topic", level, groups, groups-len(parent))
		}
		above = group
	}
	return nil
}

// Members returns the topics of each group of a level, in ascending order.
func (t *Tree) Members(level int) [][]int {
	var out [][]int
	for topic, g := range t.Groups[level] {
		for len(out) <= g {
			out = append(out, nil)
		}
		out[g] = append(out[g], topic)
	}
	return out
}

// LogisticNormal is a prior of the topic proportions of documents that knows which topics go
// together (Blei and Lafferty, A correlated topic model of Science, 2007): θ = softmax(η) with
// η ~ N(Mean, Covariance). Adding a constant to all means, or to all logits, changes nothing.
//
// Of many topics it is a prior of F families of them: θ_k = φ_f·ψ_k, where f is the family of topic
// k, φ = softmax(η) are the proportions of the families, and ψ, the proportions within one, have a
// Dirichlet prior with the counts α_k of its topics (a Dirichlet tree: Minka, The Dirichlet-tree
// distribution, 1999, with another prior at its root).
type LogisticNormal struct {
	Mean       []float64     // F, or K without families
	Covariance *mat.SymDense // as many rows and columns, positive semidefinite
	// Families has for each of the K topics the number of its family, in [0, F); nil: topics have
	// logits of their own. Each family has a topic.
	Families []int
	// Information, in (0, 1], is how much the tokens of a document say of η, as a share of what
	// they would say if their topics were known: 1 where no word is in two topics. It sets how
	// far the η of a document may be from the most likely one.
	Information float64
}

// Correlations returns the correlations of the logits, less the mean of all logits of a document,
// F×F: those that the prior has before a document is read. That of a logit without variance is 0.
func (p *LogisticNormal) Correlations() *mat.SymDense {
	n := len(p.Mean)
	means, all, out := make([]float64, n), 0.0, mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			means[i] += p.Covariance.At(i, j) / float64(n)
		}
		all += means[i] / float64(n)
	}
	centred := func(i, j int) float64 { return p.Covariance.At(i, j) - means[i] - means[j] + all }
	for i := range n {
		for j := range i + 1 {
			if v := centred(i, i) * centred(j, j); v > 0 {
				out.SetSym(i, j, centred(i, j)/math.Sqrt(v))
			}
		}
	}
	return out
}

// Validate reports a prior that is not one of k topics.
func (p *LogisticNormal) Validate(k int) error {
	if n := len(p.Mean); p.Families == nil && n != k || n == 0 || p.Covariance == nil || p.Covariance.SymmetricDim() != n {
		return fmt.Errorf("has %d means; want K = %d, or one for each family, and a covariance of as many rows", n, k)
	}
	if p.Families != nil {
		if len(p.Families) != k {
			return fmt.Errorf("has families of %d topics; want K = %d", len(p.Families), k)
		}
		topics := make([]int, len(p.Mean))
		for t, f := range p.Families {
			if f < 0 || f >= len(topics) {
				return fmt.Errorf("has topic %d in family %d; want one in [0, %d)", t, f, len(topics))
			}
			topics[f]++
		}
		if f := slices.Index(topics, 0); f >= 0 {
			return fmt.Errorf("has no topic in family %d", f)
		}
	}
	if !(p.Information > 0 && p.Information <= 1) {
		return fmt.Errorf("has the information %v; want one in (0, 1]", p.Information)
	}
	for i, v := range p.Mean {
		if !vec.Finite(v) {
			return fmt.Errorf("has the mean %v of logit %d", v, i)
		}
		for j := range i + 1 {
			if v := p.Covariance.At(i, j); !vec.Finite(v) || i == j && v < 0 {
				return fmt.Errorf("has the covariance %v of logits %d and %d", v, i, j)
			}
		}
	}
	return nil
}
