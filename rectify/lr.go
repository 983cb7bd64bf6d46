package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// DefaultPasses is the number of passes of LR where none is set.
const DefaultPasses = 8

// LR is low-rank JSMF (dong-2019, §4.4, Algorithm 6): the eigenpairs of C
// that ENN starts from are approximated in a fixed number of passes over the
// documents, and ENN then works on these alone. C is multiplied by blocks of
// vectors and nothing else is asked of it: no row, no norm. That makes it the
// method for vocabularies and corpora of any size, with cooc.Moments and, for
// documents that do not fit in memory, cooc.Stream.
//
// The approximation is block Krylov with full orthogonalisation and
// Rayleigh–Ritz: of all vectors that the passes have seen, those that make the
// K algebraically largest Ritz values (linalg.Krylov). Ritz values never
// exceed the eigenvalues and grow with each pass. The random start vectors
// come from Seed; after the default 8 passes they leave nothing in the result
// that the measures show, on the papers' corpora with up to 100 topics. After 6
// that is true of most, while here and there an anchor changes places with a
// nearly tied word; after 1 or 2 all is noise (examples/lrpasses makes the
// table). Single-pass schemes on the C of real text, whose spectrum decays
// slowly, are not accurate.
//
// Cost: Passes products with p = K + Oversample vectors (4·nnz(H)·p operations
// each on documents), 4·N·p²·Passes² operations for the orthogonalisation, and
// those of ENN. Memory: 8·N·p·(Passes+3) bytes until the eigenpairs are there
// (1.1 GB for N = 10⁵, K = 60 and the defaults), then that of ENN.
//
// The zero value is the default. The result is the same to the bit for the
// same Seed, whatever Workers.
type LR struct {
	// Passes is the number of passes ≥ 1; 0 means 8.
	Passes int

	// Oversample is how many vectors beyond K the block has. 0 means K, at
	// least 50: p ≥ 2K. With few more than K, slowly decaying spectra lose
	// pairs: with p = K + 10 a tenth of the 100 largest Ritz values of a large
	// vocabulary of reviews came out negative. p is at most N.
	Oversample int

	// Seed chooses the random start vectors.
	Seed uint64

	// ENN sets the iterations that follow; ten are made before a Tol counts.
	// With a Tol of 1e-4 instead of the default 5e-5 it is a fifth faster, and
	// approximates C up to 8 % worse than AP does instead of 3 %.
	ENN ENN
}

func (l LR) String() string {
	over := fmt.Sprintf("max(K,%d)", leastOver)
	if l.Oversample > 0 {
		over = fmt.Sprint(l.Oversample)
	}
	return fmt.Sprintf("LR(passes=%d, p=K+%s, seed=%d, %v)", l.passes(), over, l.Seed, l.ENN)
}

func (l LR) passes() int {
	if l.Passes == 0 {
		return DefaultPasses
	}
	return l.Passes
}

// Validate reports settings out of range.
func (l LR) Validate() error {
	var errs []error
	if l.Passes < 0 {
		errs = append(errs, fmt.Errorf("rectify: LR: %d passes", l.Passes))
	}
	if l.Oversample < 0 {
		errs = append(errs, fmt.Errorf("rectify: LR: Oversample is %d", l.Oversample))
	}
	errs = append(errs, l.ENN.Validate())
	return errors.Join(errs...)
}

// leastOver is the least default of Oversample.
const leastOver = 50

// Rectify implements Rectifier. The C of the result is YYᵀ with Y N×K', K' ≤ K:
// pairs whose λ is not positive are left out, and Clipped counts those that the
// start lacked; a nonzero count says that C has not K positive eigenvalues, or
// that Passes or Oversample are too small. Errors: settings or k out of range,
// those of the products of c (among them those of the source that a
// cooc.Stream reads), a matrix with numbers that are not finite, ctx's.
func (l LR) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	ws, err := opt.warm(ctx, c, k)
	if err != nil {
		return nil, fmt.Errorf("rectify: LR: %w", err)
	}
	if ws.block != nil {
		res, err := ennFrom(ctx, l.ENN, ennStart{C: c, Warm: ws, Block: ws.block, Products: ws.products}, k, opt)
		if err != nil {
			return nil, fmt.Errorf("rectify: LR: %w", err)
		}
		return res, nil
	}
	n := c.Dim()
	over := l.Oversample
	if over == 0 {
		over = max(k, leastOver)
	}
	p := min(n, k+over)
	x, err := randomBlock(ctx, c.Marginals(), p, l.Seed+opt.Seed, opt.Workers)
	if err != nil {
		return nil, err
	}
	block, st, err := linalg.Krylov(ctx, operator(c, opt.Workers), x, k, min(p, (k+guard+7)/8*8), l.passes(), opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("rectify: LR: %w", err)
	}
	// The Krylov space is large, and so is ENN's E: without a collection after
	// each, both would be there until the heap has doubled.
	collect := func() {
		if p*n*l.passes() > 1<<24 {
			runtime.GC()
		}
	}
	collect()
	clipped, least := 0, math.NaN()
	for _, v := range block.Theta[:k] {
		if v > 0 {
			least = v
		} else {
			clipped++
		}
	}
	res, err := ennFrom(ctx, l.ENN, ennStart{C: c, Warm: ws, Block: block, Least: leastIterations, Products: ws.products + st.Products, ColdStarts: 1}, k, opt)
	if err != nil {
		return nil, fmt.Errorf("rectify: LR: %w", err)
	}
	collect()
	res.Passes, res.Clipped, res.StartResidual = st.Restarts, clipped, st.Residual/least
	return res, nil
}

// randomBlock returns an n×p block of independent normal numbers, each row from
// a stream of its own. Row i has a standard deviation in proportion to c_i, for it
// is frequent words that the leading eigenvectors of C are long in: that makes
// the residuals three times smaller, for nothing.
func randomBlock(ctx context.Context, c []float64, p int, seed uint64, workers int) (blas64.General, error) {
	n := len(c)
	x := linalg.NewGeneral(n, p)
	mean := 0.0
	for _, v := range c {
		mean += math.Abs(v) / float64(n)
	}
	if mean == 0 || math.IsNaN(mean) || math.IsInf(mean, 0) {
		mean = 1 // the products will tell what is wrong
	}
	err := run.Chunks(ctx, n, 512, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			rng := rand.New(rand.NewPCG(scramble(seed), scramble(uint64(i))))
			row := linalg.Row(x, i)
			// No row is left out, nor any that sums to zero.
			scale := max(math.Abs(c[i])/mean, 1e-2)
			for j := range row {
				row[j] = scale * rng.NormFloat64()
			}
		}
		return nil
	})
	return x, err
}

// scramble is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), which
// sends neighbouring numbers far apart.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
