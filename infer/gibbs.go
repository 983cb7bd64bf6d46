package infer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Gibbs samples the topics of the tokens of a document by collapsed Gibbs sampling,
// with the topics fixed and a Dirichlet prior α (lee-2018 §4.4). Each sweep draws the
// topic of each token anew, given those of the others, with a probability
// proportional to p(word | topic k)·(α_k + n_k). The topic proportions are the mean
// of (α + n)/Σ(α + n) over the sweeps after the first BurnIn. It is the papers'
// reference for quality, and the slowest method.
//
// The random numbers come from Seed and the document itself, so that a document has
// the same result anywhere. Counts must be whole numbers.
//
// Doc.Iterations counts sweeps. Cost of a sweep: for each token, the topics its word
// is in. Memory: 4 bytes for each token, per goroutine.
type Gibbs struct {
	BurnIn int    // sweeps before those that count; 0: 200, as in the paper; negative: none
	Sweeps int    // sweeps that count; 0: 1000, as in the paper
	Seed   uint64 // of the random numbers
}

// maxSweeps bounds either kind of sweeps, so that their sum is a number.
const maxSweeps = 1 << 30

func (g Gibbs) fill() (Gibbs, error) {
	if g.Sweeps < 0 || g.Sweeps > maxSweeps {
		return g, &SettingError{"Gibbs", "Sweeps", float64(g.Sweeps), "in [1, 2³⁰], or 0 for 1000"}
	}
	if g.BurnIn > maxSweeps {
		return g, &SettingError{"Gibbs", "BurnIn", float64(g.BurnIn), "at most 2³⁰"}
	}
	g.BurnIn, g.Sweeps = max(cmp.Or(g.BurnIn, 200), 0), cmp.Or(g.Sweeps, 1000)
	return g, nil
}

func (g Gibbs) String() string {
	q, _ := g.fill()
	return fmt.Sprintf("Gibbs(burn-in=%d, sweeps=%d, seed=%d)", q.BurnIn, q.Sweeps, q.Seed)
}

// Prepare implements Method. It needs t.Alpha or t.A. O(NK).
func (g Gibbs) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	q, err := g.fill()
	if err != nil {
		return nil, err
	}
	c, alpha, err := checkPrior(t)
	if err != nil {
		return nil, err
	}
	return newInferer(g.String(), c, &gibbs{q, c.rows(), alpha}), ctx.Err()
}

type gibbs struct {
	Gibbs
	rows  *rows
	alpha []float64
}

type gibbsScratch struct {
	t, sum, cum []float64 // K: α + n; its sum over the sweeps; running sums
	z           []int32   // by token: the topic
	pcg         rand.PCG
}

func (g *gibbs) scratch() any {
	k := len(g.alpha)
	return &gibbsScratch{t: make([]float64, k), sum: make([]float64, k), cum: make([]float64, k)}
}

// maxTokens bounds the tokens of a document of Gibbs, which looks at ctx once in looks draws.
const maxTokens, looks = 1 << 27, 1024

func (d *document) checkWhole() error {
	for i, x := range d.x {
		if x != math.Trunc(x) {
			return fmt.Errorf("the weight of word %d is %g: sampling needs whole numbers", d.ids[i], x)
		}
	}
	if d.n > maxTokens {
		return fmt.Errorf("the document has %g tokens: sampling takes at most %d", d.n, maxTokens)
	}
	return nil
}

// seed sets the state of a generator from a seed and the document.
func (d *document) seed(pcg *rand.PCG, seed uint64) {
	h := seed ^ 0x9e3779b97f4a7c15
	mix := func(v uint64) {
		h ^= v
		h *= 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	for i, w := range d.ids {
		mix(uint64(w)<<32 ^ uint64(d.x[i]))
	}
	pcg.Seed(seed, h)
}

// uniform returns a number in [0, 1).
func uniform(pcg *rand.PCG) float64 { return float64(pcg.Uint64()>>11) * 0x1p-53 }

func (g *gibbs) infer(ctx context.Context, dst []float64, d *document, scratch any) (Status, int, error) {
	if err := d.checkWhole(); err != nil {
		return 0, 0, err
	}
	s := scratch.(*gibbsScratch)
	d.seed(&s.pcg, g.Seed)
	copy(s.t, g.alpha)
	clear(s.sum)
	if n := int(d.n); cap(s.z) < n {
		s.z = make([]int32, n)
	}
	z := s.z[:int(d.n)]
	for sweep := range g.BurnIn + g.Sweeps {
		at := 0
		for i, w := range d.ids {
			idx, val := g.rows.row(w)
			for range int(d.x[i]) {
				if at%looks == 0 && ctx.Err() != nil {
					return 0, sweep, ctx.Err()
				}
				if sweep > 0 {
					s.t[z[at]]--
				}
				k := draw(&s.pcg, idx, val, s.t, s.cum)
				s.t[k]++
				z[at] = k
				at++
			}
		}
		if sweep >= g.BurnIn {
			for k, v := range s.t {
				s.sum[k] += v
			}
		}
	}
	copy(dst, s.sum)
	vec.Normalise(dst)
	return Converged, g.BurnIn + g.Sweeps, nil
}

// draw draws a topic with the probability ∝ val·t. cum is scratch.
func draw(pcg *rand.PCG, idx []int32, val, t, cum []float64) int32 {
	cum = cum[:len(idx)]
	total := 0.0
	for j, k := range idx {
		total += float64(val[j] * t[k])
		cum[j] = total
	}
	u := uniform(pcg) * total
	j := 0
	for j < len(idx)-1 && cum[j] <= u {
		j++
	}
	return idx[j]
}
