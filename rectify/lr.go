package rectify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/splitmix"
)

// LR is low-rank JSMF (dong-2019, §4.4, Algorithm 6): [ENN] from eigenpairs of C that a fixed
// number of passes over the documents approximates. It only multiplies C by blocks of
// vectors: the method for vocabularies and corpora of any size, with [cooc.Moments] and, for
// documents that do not fit in memory, [cooc.FromEncoded].
//
// The approximation is block Krylov with full orthogonalisation and Rayleigh–Ritz:
// of the space of all vectors seen in the passes, the K algebraically largest Ritz
// pairs. Ritz values never exceed the eigenvalues, and grow with each pass. The start
// vectors are random numbers from Seed.
//
// Cost: Passes products with p = K + Oversample vectors, 4·nnz(H)·p operations each on
// documents, 4·N·p²·Passes² operations for the orthogonalisation, and ENN. Memory:
// 8·N·p·(Passes + 3) bytes for the eigenpairs, then that of ENN.
type LR struct {
	// Passes is the number of passes; 0 means 8. Fewer than 6 are noisy.
	Passes int
	// Oversample is how many vectors beyond K the block has, as far as there are words; 0
	// means max(K, 50). With few, slowly decaying spectra lose pairs.
	Oversample int
	// Seed chooses the random start vectors.
	Seed uint64
	// ENN sets the iterations that follow; a Tol does not count before the tenth.
	ENN ENN
}

func (l LR) settings() settings {
	s := l.ENN.settings()
	s.name, s.least = "LR", minIterations
	return s
}

func (l LR) String() string {
	over := fmt.Sprintf("max(K,%d)", minOver)
	if l.Oversample > 0 {
		over = fmt.Sprint(l.Oversample)
	}
	return fmt.Sprintf("LR(passes=%d, p=K+%s, seed=%d, %v)", l.passes(), over, l.Seed, l.ENN)
}

// minOver is the least default of Oversample.
const minOver = 50

func (l LR) passes() int { return cmp.Or(l.Passes, 8) }

// vectors returns how many vectors the block has.
func (l LR) vectors(n, k int) int { return k + min(n-k, cmp.Or(l.Oversample, max(k, minOver))) }

// Validate reports settings out of range.
func (l LR) Validate() error {
	var errs []error
	if l.Passes < 0 {
		errs = append(errs, fmt.Errorf("rectify: LR: %d passes", l.Passes))
	}
	if l.Oversample < 0 {
		errs = append(errs, fmt.Errorf("rectify: LR: Oversample is %d", l.Oversample))
	}
	return errors.Join(append(errs, l.ENN.Validate())...)
}

// Rectify implements Rectifier. The result is that of [ENN], with Y N×K', K' ≤ K: pairs
// whose λ is not positive are left out. If Clipped is not zero, C does not have K
// positive eigenvalues, or Passes or Oversample are too small. Errors are those of ENN,
// and of a file that [cooc.FromEncoded] reads.
func (l LR) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, l, &lrMethod{LR: l, ennMethod: ennMethod{ENN: l.ENN}})
}

func (l LR) bytes(n, k int, opt Options) int64 {
	p, t := float64(l.vectors(n, k)), float64(l.passes())
	dim := min(p*t, float64(n))
	krylov := float64(8*float64(n)*(dim+float64(3*p)+float64(2*blockSize(n, k)))) + float64(48*dim*dim) + float64(600*p*p)
	return whole(krylov + float64(l.ENN.bytes(n, k, opt)))
}

// lrMethod is ENN with other first eigenpairs.
type lrMethod struct {
	LR
	ennMethod
}

func (m *lrMethod) begin(ctx context.Context, l *loop) error {
	n, vectors := l.n, m.vectors(l.n, l.k)
	x, err := randomBlock(ctx, l.c.Marginals(), vectors, m.Seed+l.opt.Seed, l.opt.Workers)
	if err != nil {
		return err
	}
	block, st, err := linalg.Krylov(ctx, l.op, x, l.k, min(vectors, (l.k+guard+7)/8*8), m.passes(), l.opt.Workers)
	if err != nil {
		return err
	}
	m.collect(n, vectors)
	least := math.NaN()
	for _, v := range block.Theta[:l.k] {
		if v > 0 {
			least = v
		} else {
			l.res.Clipped++
		}
	}
	l.block = block
	l.res.Products += st.Products
	l.res.ColdStarts++
	l.res.Passes, l.res.StartResidual = st.Restarts, st.Residual/least
	return m.first(ctx, l)
}

func (m *lrMethod) finish(ctx context.Context, l *loop) error {
	err := m.ennMethod.finish(ctx, l)
	m.collect(l.n, m.vectors(l.n, l.k))
	return err
}

// collect frees the Krylov space before E comes, and E before the next stage: each is so
// large that the heap would double first.
func (m *lrMethod) collect(n, vectors int) {
	if vectors*n*m.passes() > 1<<24 {
		runtime.GC()
	}
}

// randomBlock returns an n×p block of independent normal numbers, each row from a
// stream of its own. The standard deviation of row i is in proportion to c_i, but not
// zero, because the leading eigenvectors of C are long in frequent words.
func randomBlock(ctx context.Context, c []float64, p int, seed uint64, workers int) (blas64.General, error) {
	n := len(c)
	x := linalg.NewGeneral(n, p)
	mean := 0.0
	for _, v := range c {
		mean += math.Abs(v) / float64(n)
	}
	if mean == 0 || math.IsNaN(mean) || math.IsInf(mean, 0) {
		mean = 1 // the products will fail
	}
	err := parallel.Chunks(ctx, n, 512, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			rng := rand.New(rand.NewPCG(splitmix.Step(seed), splitmix.Step(uint64(i))))
			row := linalg.Row(x, i)
			scale := max(math.Abs(c[i])/mean, 1e-2)
			for j := range row {
				row[j] = scale * arith.Normal(rng)
			}
		}
		return nil
	})
	return x, err
}
