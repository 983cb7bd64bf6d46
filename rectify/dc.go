package rectify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/vec"
)

// DC is diagonal completion (lee-2018, Algorithm 7 in its Appendix A.3). It replaces the
// diagonal of the matrix, its worst part, by what the other entries imply if the rank is K.
//
// The words are split in two random halves. Their off-diagonal block G has no diagonal
// entries. Its K left singular vectors U span, in a matrix of rank K, the columns of the
// first half's block F, and the entry d_j that puts column j of F into that space, by least
// squares over its other entries, is
//
//	d_j = u_jᵀUᵀ(F − diag F)_j / (1 − ‖u_j‖²)
//
// with u_jᵀ row j of U. The right singular vectors do the same for the second half.
// The entry is the median over several halvings. Then negative entries are set to zero
// and the matrix is divided by its sum.
//
// The result is neither low-rank nor positive semidefinite (Violations). A matrix of exact
// rank K gets its own diagonal back, unless a word is the only one to carry a direction.
//
// A halving costs about 3K + 30 products of C with two vectors, more where the singular
// values of G are crowded. Besides the halvings there is one pass over the rows of C and
// one eigenproblem. Memory: 8·N·K bytes for each of a few blocks and 8·N for each
// halving. The result keeps the matrix given.
type DC struct {
	// Halvings is the number of halvings; 0 means 30.
	Halvings int
	// Seed of the stream of halvings (math/rand/v2, PCG), to which Options.Seed is
	// added.
	Seed uint64
	// EigenTol bounds the residual of the K singular triples by EigenTol·σ_K, at most 0.1; 0
	// means 1e-6.
	EigenTol float64
}

func (d DC) settings() settings {
	return settings{name: "DC", iterations: cmp.Or(d.Halvings, 30), eigenTol: cmp.Or(d.EigenTol, 1e-6), rows: true}
}

func (d DC) String() string {
	s := d.settings()
	return fmt.Sprintf("DC(halvings=%d, seed=%d, %s)", s.iterations, d.Seed, s.eigen())
}

// Validate reports settings out of range.
func (d DC) Validate() error {
	if d.Halvings < 0 {
		return fmt.Errorf("rectify: DC: %d halvings", d.Halvings)
	}
	return d.settings().validate()
}

// Rectify implements Rectifier, for 1 ≤ k < ⌊N/2⌋, as a half must hold more words than
// there are directions. Iterations is the number of halvings, and Changes[t] by how
// much halving t moved the median of the diagonal (at first, the diagonal given), in
// Euclidean norm. Nonzeros has one entry, the number of entries below zero at the end.
// Undetermined counts the words whose entry no halving determined. Eigenvalues are the
// K largest of the result. Errors: settings or k out of range, a matrix that has no
// rows or holds numbers that are not finite, singular vectors that do not converge,
// ctx's.
func (d DC) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	return iterate(ctx, c, k, opt, d, &dcMethod{seed: d.Seed + opt.Seed})
}

// bytes is what Bytes returns, for a matrix without negative entries.
func (d DC) bytes(n, k int, opt Options) int64 {
	return whole(2*eigenBytes(n, k) + 16*float64(n)*float64(d.settings().iterations))
}

// dcMethod is DC in the loop.
type dcMethod struct {
	seed   uint64
	rng    *rand.Rand
	out    *patched
	votes  [][]float64 // of each word, ascending
	median []float64
	first  []bool // whether a word is in the first half
}

func (d *dcMethod) begin(ctx context.Context, l *loop) (err error) {
	if l.k >= l.n/2 {
		return fmt.Errorf("number of topics K = %d is not below %d, half the number of words", l.k, l.n/2)
	}
	if d.out, err = newPatched(ctx, l.m, l.opt.Workers); err != nil {
		return err
	}
	d.rng = rand.New(rand.NewPCG(d.seed, 0xd1a6))
	d.votes, d.median, d.first = make([][]float64, l.n), slices.Clone(d.out.diag), make([]bool, l.n)
	return nil
}

func (d *dcMethod) step(ctx context.Context, l *loop, t int) (step, error) {
	n := len(d.first)
	for i, w := range d.rng.Perm(n) {
		d.first[w] = i < n/2
	}
	entries, err := l.complete(ctx, d.out.diag, d.first, t)
	if err != nil {
		return step{}, err
	}
	change := 0.0
	for j, v := range entries {
		if math.IsNaN(v) {
			continue
		}
		at, _ := slices.BinarySearch(d.votes[j], v)
		d.votes[j] = slices.Insert(d.votes[j], at, v)
		m := len(d.votes[j])
		v = 0.5 * (d.votes[j][(m-1)/2] + d.votes[j][m/2])
		change += (v - d.median[j]) * (v - d.median[j])
		d.median[j] = v
	}
	return step{change: math.Sqrt(change), zeroed: -1}, nil
}

func (d *dcMethod) finish(ctx context.Context, l *loop) error {
	for j := range d.votes {
		if len(d.votes[j]) == 0 {
			l.res.Undetermined++
		}
	}
	negative, err := d.out.finish(d.median)
	if err != nil {
		return err
	}
	l.res.C, l.res.Nonzeros = d.out, []int{negative}
	l.op = operator(d.out, l.opt.Workers)
	if err := l.next(ctx, l.iterations); err != nil {
		return err
	}
	l.res.Eigenvalues = slices.Clone(l.theta())
	fro, err := frobenius2(ctx, d.out, l.opt.Workers)
	if err != nil {
		return err
	}
	rest := fro
	for _, v := range l.res.Eigenvalues {
		v = max(v, 0)
		rest -= v * v
	}
	l.res.Violations = &Violations{SumError: vec.Sum(d.out.Marginals()) - 1, RankResidual: math.Sqrt(max(rest, 0) / fro)}
	return nil
}
