package anchor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	projectedDims    = 1000 // Projected.Dims by default (arora-2013 §4)
	projectedDensity = 0.1  // Projected.Density by default (lee-2018 §1.4)
)

// Projected is FastAnchorWords (arora-2013, Algorithm 4): the rows of C̄ are
// projected at random to fewer dimensions, which nearly keeps their distances
// (to about a factor 1 ± 2√(ln N/Dims)); there the rows farthest from the span
// of those already chosen are found, and then each in turn gives way to the
// row farthest from the span of the others, the clean-up.
//
// Projected is for comparison with arora-2013, and for rows that are expensive to
// multiply by; [QR] without a projection is exact, needs less memory and is faster here.
// Rows of at most Dims dimensions, as of a small vocabulary or a low-rank representation,
// are not projected, and the seed has no effect. The Norms of the result are those of the
// projected rows. Projected can complete the anchors of Fixed, and those of Tandem if it
// does not project.
//
// Cost: one product of C̄ with Dims vectors, and QR's with N×Dims rows. Memory:
// 8·N·Dims bytes, and 8·K·Dims. The zero value is arora-2013's: Gaussian, 1000
// dimensions, clean-up.
type Projected struct {
	// Dims is the number of dimensions, at least K; 0 means 1000.
	Dims int
	// Sparse projects by a matrix of zeros and ±1/√(Dims·Density), not of Gaussian numbers.
	Sparse bool
	// Density is the share of nonzero entries of a sparse projection, in (0, 1]; 1/3
	// is Achlioptas' matrix. 0 means 0.1, that is 5 % negative and 5 % positive ones.
	// Only with Sparse.
	Density float64
	// Seed of the random numbers; Options.Seed is added.
	Seed uint64
	// NoCleanUp leaves out the clean-up.
	NoCleanUp bool
	// MinDocs, MinDocFraction, RankTol and AllowFewer are those of QR.
	MinDocs        int
	MinDocFraction float64
	RankTol        float64
	AllowFewer     bool
}

func (p Projected) String() string {
	opts := []string{fmt.Sprintf("dims=%d", p.dims())}
	if p.Sparse {
		opts = append(opts, fmt.Sprintf("sparse=%.4g", p.density()))
	}
	if p.Seed != 0 {
		opts = append(opts, fmt.Sprintf("seed=%d", p.Seed))
	}
	if p.NoCleanUp {
		opts = append(opts, "no clean-up")
	}
	return withOptions("Projected", p.admit().describe(opts, "rank tol", p.RankTol))
}

func (p Projected) dims() int { return cmp.Or(p.Dims, projectedDims) }

func (p Projected) density() float64 { return cmp.Or(p.Density, projectedDensity) }

func (p Projected) admit() admit { return admit{p.MinDocs, p.MinDocFraction, p.AllowFewer} }

// Validate reports settings out of range.
func (p Projected) Validate() error {
	switch {
	case p.Dims < 0:
		return fmt.Errorf("anchor: Projected: Dims %d is negative", p.Dims)
	case !(p.Density >= 0 && p.Density <= 1):
		return fmt.Errorf("anchor: Projected: Density %g is not in [0, 1]", p.Density)
	case p.Density != 0 && !p.Sparse:
		return fmt.Errorf("anchor: Projected: Density %g is for sparse projections, and Sparse is not set", p.Density)
	}
	return p.admit().validate("Projected", "RankTol", p.RankTol)
}

// Find implements Finder. Errors: those of [QR], and Dims below K.
func (p Projected) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	dims := p.dims()
	if _, d := rows.Dims(); d > dims {
		if dims < k {
			return nil, fmt.Errorf("anchor: Projected: %d dimensions for %d anchors", dims, k)
		}
		if err := opt.Given.noPoints("projected rows"); err != nil {
			return nil, err
		}
		var err error
		if rows, err = p.project(ctx, rows, dims, opt); err != nil {
			return nil, err
		}
	}
	s, err := begin(ctx, "Projected", rows, k, p.admit(), opt)
	if err != nil {
		return nil, err
	}
	return s.pursue(ctx, p.RankTol, !p.NoCleanUp)
}

// blockDims is how many columns of the projection are made at a time.
const blockDims = 64

// project returns C̄·Ω. Each block of columns of Ω has random numbers of its own.
func (p Projected) project(ctx context.Context, rows cooc.Rows, dims int, opt Options) (*projection, error) {
	n, d := rows.Dims()
	r := &projection{Rows: rows, x: linalg.NewGeneral(n, dims), norms: make([]float64, n)}
	for c := 0; c*blockDims < dims; c++ {
		omega := p.omega(d, dims, c, opt.Seed)
		_, cols := omega.Dims()
		y := mat.NewDense(n, cols, nil)
		if err := rows.MulTo(ctx, y, omega, opt.Workers); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		for i := range n {
			copy(linalg.Row(r.x, i)[c*blockDims:], y.RawRowView(i))
		}
	}
	err := parallel.Chunks(ctx, n, 256, opt.Workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			r.norms[i] = vec.Dot(linalg.Row(r.x, i), linalg.Row(r.x, i))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	return r, nil
}

// omega returns the c-th block of columns of the d×dims projection.
func (p Projected) omega(d, dims, c int, seed uint64) *mat.Dense {
	cols := min(blockDims, dims-c*blockDims)
	o := mat.NewDense(d, cols, nil)
	rng := rand.New(rand.NewPCG(p.Seed+seed, 0xa2_0a_00_00+uint64(c)))
	data := o.RawMatrix().Data
	if !p.Sparse {
		s := 1 / math.Sqrt(float64(dims))
		for i := range data {
			data[i] = s * arith.Normal(rng)
		}
		return o
	}
	q := p.density()
	s := 1 / math.Sqrt(float64(dims)*q)
	for i := range data {
		switch u := rng.Float64(); {
		case u < q/2:
			data[i] = -s
		case u < q:
			data[i] = s
		}
	}
	return o
}

// projection is C̄Ω as rows. Marginals and entries are those of C.
type projection struct {
	cooc.Rows
	x     blas64.General // N×dims
	norms []float64
}

func (r *projection) Dims() (n, d int) { return r.x.Rows, r.x.Cols }

func (r *projection) Norms2(ctx context.Context, _ int) ([]float64, error) { return r.norms, ctx.Err() }

func (r *projection) RowTo(dst []float64, i int) { copy(dst, linalg.Row(r.x, i)) }

func (r *projection) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	return linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, r.x, x.RawMatrix(), 0, dst.RawMatrix(), workers)
}
