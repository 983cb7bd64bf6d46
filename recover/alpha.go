package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/run"
)

// AlphaMethod is a way to fit a Dirichlet prior to A.
type AlphaMethod uint8

const (
	// AlphaMoments minimises the loss of FitAlpha exactly: it is quadratic in
	// 1/(α₀ + 1).
	AlphaMoments AlphaMethod = iota

	// AlphaGradient is lee-2018's Algorithm 4, which comes to the same
	// minimum: gradient steps from the mean of the candidates. The paper
	// leaves the step open; ∇ is linear in α₀, and half the step that would
	// end at once is taken.
	AlphaGradient

	// AlphaLineSearch searches all α₀ > 0, on the scale of 1/(α₀ + 1), for the
	// minimum, by golden sections.
	AlphaLineSearch

	// AlphaFormula is that of Arora, Ge and Moitra of 2012: it solves
	// A_kk = a_k(α₀a_k + 1)/(α₀ + 1) for the topic of the least a_k and looks at no
	// other entry.
	AlphaFormula

	numAlphaMethods
)

// String returns the name of the method.
func (m AlphaMethod) String() string {
	switch m {
	case AlphaMoments:
		return "moments"
	case AlphaGradient:
		return "gradient"
	case AlphaLineSearch:
		return "line search"
	case AlphaFormula:
		return "2012 formula"
	}
	return fmt.Sprintf("AlphaMethod(%d)", uint8(m))
}

// Alpha is a Dirichlet prior fitted to A.
type Alpha struct {
	// Alpha holds the K parameters α = α₀a, where a = A·1 once A is divided by
	// its sum.
	Alpha []float64
	// Alpha0 is their sum. A small one means documents of few topics.
	Alpha0 float64
	// Loss is what FitAlpha minimises, at Alpha0.
	Loss float64
	// Candidates holds, for each topic, the α₀ that its entries ask for by
	// themselves, v_k = 1/(Ā_kk − mean_{l≠k} Ā_lk) − 1. They may be negative or
	// infinite; how far they lie apart shows how little A is like a
	// Dirichlet's.
	Candidates []float64
	// Iterations of AlphaGradient and AlphaLineSearch.
	Iterations int
}

// AlphaError says that no Dirichlet distribution has moments like A's.
type AlphaError struct {
	Method AlphaMethod
	Reason string
}

func (e *AlphaError) Error() string {
	return fmt.Sprintf("recovery: α by %v: %s", e.Method, e.Reason)
}

// FitAlpha fits the parameters of a Dirichlet prior of topic shares to the
// topic correlations A (K×K, K ≥ 2). A is divided by its sum first. The mean
// α/α₀ is a = A·1; α₀ is chosen so that the row-normalised Ā is near that of the
// second moments of the prior (lee-2018 §3.3, Algorithm 4):
//
//	minimise Σ_kl ((α₀a_l + δ_kl)/(α₀ + 1) − Ā_kl)² over α₀ > 0.
//
// A Dirichlet knows weak negative correlations only, and one number fits all of
// them: use it where a method asks for a prior, A itself for all else.
//
// Errors: A not square, not finite, not symmetric; *AlphaError where it has a
// row of no or negative sum, or the best α₀ is 0 or infinite. O(K²).
func FitAlpha(a mat.Matrix, method AlphaMethod) (*Alpha, error) {
	if method >= numAlphaMethods {
		return nil, fmt.Errorf("recovery: there is no method %v", method)
	}
	k, err := checkCorrelations(a)
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) (*Alpha, error) {
		return nil, &AlphaError{method, fmt.Sprintf(format, args...)}
	}
	if k < 2 {
		return fail("a single topic has no correlations")
	}
	sum := mat.Sum(a)
	if !(sum > 0) {
		return fail("A sums to %g", sum)
	}
	share, bar := make([]float64, k), mat.NewDense(k, k, nil)
	for i := range k {
		row := bar.RawRowView(i)
		for j := range row {
			row[j] = a.At(i, j) / sum
			share[i] += row[j]
		}
		if !(share[i] > 0) {
			return fail("topic %d has the share %g", i, share[i])
		}
		for j := range row {
			row[j] /= share[i]
		}
	}
	res := &Alpha{Candidates: make([]float64, k)}
	// With t = 1/(α₀+1) the model is a_l + t(δ_kl − a_l), and the loss
	// Σ(t·d_kl − r_kl)² with d = δ − a, r = Ā − a.
	dd, dr := 0.0, 0.0
	for l := range k {
		off := -bar.At(l, l)
		for i := range k {
			d := -share[l]
			if i == l {
				d++
			}
			dd += d * d
			dr += d * (bar.At(i, l) - share[l])
			off += bar.At(i, l)
		}
		res.Candidates[l] = 1/(bar.At(l, l)-off/float64(k-1)) - 1
	}
	loss := func(t float64) float64 {
		s := 0.0
		for i := range k {
			for j, v := range bar.RawRowView(i) {
				m := (1 - t) * share[j]
				if i == j {
					m += t
				}
				s += (m - v) * (m - v)
			}
		}
		return s
	}
	if method != AlphaFormula {
		switch t := dr / dd; {
		case t <= 0:
			return fail("the topics of two words of a document depend on each other no more than in a document of all topics: the best α₀ is infinite")
		case t >= 1:
			return fail("the topics of two words of a document are the same: the best α₀ is 0")
		}
	}
	switch method {
	case AlphaMoments:
		res.Alpha0 = dd/dr - 1
	case AlphaGradient:
		// ∇ = (1−α₀−K) + α₀KΣa² + (α₀+1)ΣĀ_kk − (α₀+1)Σ(Āa)_k, which is
		// (α₀+1)·dr − dd: the loss' own derivative times (α₀+1)³/2.
		begin, count := 0.0, 0
		for _, v := range res.Candidates {
			if v > 0 && !math.IsInf(v, 1) {
				begin += v
				count++
			}
		}
		res.Alpha0 = 1
		if count > 0 {
			res.Alpha0 = begin / float64(count)
		}
		for step := 1 / (2 * dr); res.Iterations < 200; {
			res.Iterations++
			next := max(res.Alpha0-step*((res.Alpha0+1)*dr-dd), 0)
			moved := math.Abs(next - res.Alpha0)
			res.Alpha0 = next
			if moved <= 1e-14*(1+next) {
				break
			}
		}
	case AlphaLineSearch:
		inv := 1 / math.Phi
		lo, hi := 0.0, 1.0
		x, y := hi-inv*(hi-lo), lo+inv*(hi-lo)
		fx, fy := loss(x), loss(y)
		for hi-lo > 1e-9*hi && res.Iterations < 200 {
			res.Iterations++
			if fx <= fy {
				hi, y, fy = y, x, fx
				x = hi - inv*(hi-lo)
				fx = loss(x)
			} else {
				lo, x, fx = x, y, fy
				y = lo + inv*(hi-lo)
				fy = loss(y)
			}
		}
		res.Alpha0 = 2/(lo+hi) - 1
	case AlphaFormula:
		t := 0
		for i, v := range share {
			if v < share[t] {
				t = i
			}
		}
		r := bar.At(t, t)
		if !(r > share[t] && r < 1) {
			return fail("p(topic %d | topic %d) = %g is not between p(topic %d) = %g and 1", t, t, r, t, share[t])
		}
		res.Alpha0 = (1 - r) / (r - share[t])
	}
	res.Loss = loss(1 / (res.Alpha0 + 1))
	res.Alpha = scaled(share, res.Alpha0)
	return res, nil
}

func scaled(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] *= by
	}
	return out
}

// DirichletMoments returns E[wwᵀ] of a Dirichlet with the given parameters: the
// A that it asks for. K×K, of sum 1. Parameters must be > 0 and finite.
func DirichletMoments(alpha []float64) (*mat.SymDense, error) {
	sum := 0.0
	for t, v := range alpha {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("recovery: the Dirichlet parameter of topic %d is %g, want > 0", t, v)
		}
		sum += v
	}
	if len(alpha) == 0 {
		return nil, errors.New("recovery: no Dirichlet parameters")
	}
	a := mat.NewSymDense(len(alpha), nil)
	for i, v := range alpha {
		for j := i; j < len(alpha); j++ {
			a.SetSym(i, j, v/sum*alpha[j]/(sum+1))
		}
		a.SetSym(i, i, v/sum*(v+1)/(sum+1))
	}
	return a, nil
}

// Likelihood returns the logarithm of the probability of some documents if the
// prior of their topic shares is Dirichlet(alpha), or an estimate or a bound of it.
type Likelihood func(ctx context.Context, alpha []float64) (float64, error)

// AlphaGrid is the outcome of GridAlpha.
type AlphaGrid struct {
	Alpha  []float64 // α = α₀a at the best α₀
	Alpha0 float64
	// Grid holds the α₀ tried, ascending, and LogLikelihoods theirs.
	Grid, LogLikelihoods []float64
	// Edge tells that the best lies at an end of the grid, and that there may
	// be a better one beyond.
	Edge bool
}

// GridAlpha chooses the α₀ of a Dirichlet prior α = α₀a by the likelihood of
// documents, as arora-2013 §3 recommends over moments: it tries all values of a
// grid and takes the best, the smallest of equal ones. share is a, K numbers > 0,
// which are divided by their sum: the topics' shares, A·1. grid holds values > 0,
// ascending; nil means 0.05, 0.1, 0.2, … 102.4. See DocumentBound for
// a likelihood. Cost: one call of it for each value.
func GridAlpha(ctx context.Context, share, grid []float64, likelihood Likelihood) (*AlphaGrid, error) {
	sum := 0.0
	for t, v := range share {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("recovery: α by likelihood: topic %d has the share %g", t, v)
		}
		sum += v
	}
	if len(share) == 0 || likelihood == nil {
		return nil, errors.New("recovery: α by likelihood: no topics or no likelihood")
	}
	if grid == nil {
		for v := 0.05; v < 103; v *= 2 {
			grid = append(grid, v)
		}
	}
	for i, v := range grid {
		if !(v > 0) || math.IsInf(v, 1) || i > 0 && v <= grid[i-1] {
			return nil, fmt.Errorf("recovery: α by likelihood: α₀ = %g, number %d of the grid, is not > 0 and ascending", v, i)
		}
	}
	if len(grid) == 0 {
		return nil, errors.New("recovery: α by likelihood: an empty grid")
	}
	res := &AlphaGrid{Grid: slices.Clone(grid)}
	best := 0
	for i, v := range grid {
		l, err := likelihood(ctx, scaled(share, v/sum))
		if err != nil {
			return nil, fmt.Errorf("recovery: α by likelihood at α₀ = %g: %w", v, err)
		}
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return nil, fmt.Errorf("recovery: α by likelihood: at α₀ = %g it is %g", v, l)
		}
		res.LogLikelihoods = append(res.LogLikelihoods, l)
		if l > res.LogLikelihoods[best] {
			best = i
		}
	}
	res.Alpha0, res.Alpha = grid[best], scaled(share, grid[best]/sum)
	res.Edge = best == 0 || best == len(grid)-1
	return res, nil
}

// boundChunk is how many documents a goroutine takes at a time.
const boundChunk = 16

const (
	boundTol        = 1e-4 // of the change of γ, a topic and α₀ + n
	boundIterations = 200
)

// DocumentBound returns a Likelihood of all documents of c under topics b (N×K,
// columns sum to 1) for GridAlpha: the sum over documents of the variational
// lower bound of latent Dirichlet allocation. It is deterministic. The gap of the
// bound depends on α₀ too; on documents drawn with a known one the best of the
// default grid, in steps of 2, was that step or the next.
//
// Tokens of words that are in no topic have no probability under any α and are
// left out. Anchors met by chance in a document of other topics cost it much: give
// a B after SmoothAnchors.
//
// Cost of a call: up to 200 sweeps of 2K operations for each distinct word of
// each document; for many documents take a part (corpus.Corpus.Select). workers
// bounds the goroutines (0: GOMAXPROCS) and changes no bit. The Likelihood is
// safe for concurrent use; b must not be changed.
func DocumentBound(c *corpus.Corpus, b *mat.Dense, workers int) (Likelihood, error) {
	if c == nil || b == nil || c.NumDocs() == 0 {
		return nil, errors.New("recovery: bound: no documents or no topics")
	}
	n, k := b.Dims()
	if n != c.NumWords() {
		return nil, fmt.Errorf("recovery: bound: topics over %d words for documents over %d", n, c.NumWords())
	}
	covered := make([]bool, n)
	for i := range n {
		for t, v := range b.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("recovery: bound: p(word %d | topic %d) = %g", i, t, v)
			}
			covered[i] = covered[i] || v > 0
		}
	}
	return func(ctx context.Context, alpha []float64) (float64, error) {
		if len(alpha) != k {
			return 0, fmt.Errorf("%d parameters for %d topics", len(alpha), k)
		}
		sum := 0.0
		for t, v := range alpha {
			if !(v > 0) || math.IsInf(v, 1) {
				return 0, fmt.Errorf("the parameter of topic %d is %g", t, v)
			}
			sum += v
		}
		prior := lgamma(sum)
		for _, v := range alpha {
			prior -= lgamma(v)
		}
		parts := make([]float64, run.Count(c.NumDocs(), boundChunk))
		err := run.Chunks(ctx, c.NumDocs(), boundChunk, workers, func(_, chunk, lo, hi int) error {
			gamma, next, e := make([]float64, k), make([]float64, k), make([]float64, k)
			for m := lo; m < hi; m++ {
				words, counts := c.Doc(m)
				length := 0.0
				for i, w := range words {
					if covered[w] {
						length += float64(counts[i])
					}
				}
				for t, v := range alpha {
					gamma[t] = v + length/float64(k)
				}
				for it := 0; ; it++ {
					if err := ctx.Err(); err != nil {
						return err
					}
					// e = exp(E[ln w]) under q = Dirichlet(γ), and φ is ∝ e∘b.
					total := mathext.Digamma(sum + length)
					for t, v := range gamma {
						e[t] = math.Exp(mathext.Digamma(v) - total)
					}
					copy(next, alpha)
					bound := 0.0
					for i, w := range words {
						if !covered[w] {
							continue
						}
						row, p := b.RawRowView(int(w)), 0.0
						for t, v := range row {
							p += v * e[t]
						}
						x := float64(counts[i])
						// e may underflow where α is tiny: b > 0 then finds no
						// topic that is left, and the document none.
						if !(p > 0) {
							return fmt.Errorf("document %d: word %d has no probability left at α₀ = %g", m, w, sum)
						}
						bound += x * math.Log(p)
						for t, v := range row {
							next[t] += x * v * e[t] / p
						}
					}
					moved := 0.0
					for t, v := range next {
						moved += math.Abs(v - gamma[t])
					}
					if moved <= boundTol*(sum+length) || it == boundIterations {
						// At φ and the γ it came from: a bound for any γ.
						bound += prior - lgamma(sum+length)
						for t, v := range gamma {
							bound += lgamma(v)
							if a := alpha[t]; a != v {
								bound += (a - v) * (mathext.Digamma(v) - total)
							}
						}
						parts[chunk] += bound
						break
					}
					gamma, next = next, gamma
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		total := 0.0
		for _, v := range parts {
			total += v
		}
		return total, nil
	}, nil
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
