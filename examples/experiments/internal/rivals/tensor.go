package rivals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/simplex"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Tensor learns the topics of latent Dirichlet allocation from the third moments of
// words (Anandkumar, Ge, Hsu, Kakade and Telgarsky 2012). With the sum α₀ of the
// Dirichlet parameters known, M₁ = E[x₁] and
//
//	M₂ = E[x₁⊗x₂] − α₀/(α₀+1)·M₁⊗M₁ = Σ_k a_k·b_k⊗b_k,             a_k = α_k/(α₀(α₀+1)),
//	M₃ = E[x₁⊗x₂⊗x₃] − α₀/(α₀+2)·(E[x₁⊗x₂⊗M₁] and its two rotations)
//	     + 2α₀²/((α₀+1)(α₀+2))·M₁⊗M₁⊗M₁ = Σ_k 2a_k/(α₀+2)·b_k⊗b_k⊗b_k.
//
// W, made of the K largest eigenpairs of M₂, whitens it: WᵀM₂W = I. Then M₃(W, W, W) is
// a K×K×K tensor with orthonormal eigenvectors √a_k·Wᵀb_k and eigenvalues
// 2/((α₀+2)√a_k), which power iterations with deflation find. M₃ itself is never formed.
type Tensor struct {
	K        int
	AlphaSum float64 // α₀
	Restarts int     // random starts for each eigenvector, of which the best counts
	Steps    int     // power iterations, at most, from each start
	Seed     uint64
}

// Fit fits the model. Estimated topics have negative entries; they are projected to the
// simplex. The α_k are scaled to sum α₀.
func (o Tensor) Fit(ctx context.Context, c *corpus.Corpus) (*Model, error) {
	if err := check(o.K, c); err != nil {
		return nil, err
	}
	d, err := cooc.NewMoments(ctx, c, cooc.Options{Workers: 1})
	if err != nil {
		return nil, fmt.Errorf("rivals: %w", err)
	}
	return o.fit(ctx, d, func(ctx context.Context, w *mat.Dense) (tensor, error) { return thirdMoment(ctx, c, w) })
}

// fit is Fit with E[x₁⊗x₂⊗x₃](W, W, W) for any W from a function.
func (o Tensor) fit(ctx context.Context, d cooc.Operator, third func(ctx context.Context, w *mat.Dense) (tensor, error)) (*Model, error) {
	w, back, err := o.whiten(ctx, d)
	if err != nil {
		return nil, err
	}
	raw, err := third(ctx, w)
	if err != nil {
		return nil, err
	}
	n, k, a0 := d.Dim(), o.K, o.AlphaSum
	var mean mat.VecDense // WᵀM₁
	mean.MulVec(w.T(), mat.NewVecDense(n, d.Marginals()))
	raw.correct(mean.RawVector().Data, a0)
	values, vectors, err := o.decompose(ctx, raw)
	if err != nil {
		return nil, err
	}
	b, alpha := mat.NewDense(n, k, nil), make([]float64, k)
	column := mat.NewVecDense(n, nil)
	for t, v := range values {
		column.MulVec(back, mat.NewVecDense(k, vectors[t]))
		column.ScaleVec(v*(a0+2)/2, column) // 1/√a_k
		simplex.Project(column.RawVector().Data, column.RawVector().Data)
		b.SetCol(t, column.RawVector().Data)
		alpha[t] = 1 / (v * v)
	}
	vec.Normalise(alpha)
	pairs := mat.NewSymDense(k, nil) // E[wwᵀ]
	for i, x := range alpha {
		for j, y := range alpha[:i+1] {
			pairs.SetSym(i, j, a0*x*y/(a0+1))
		}
		pairs.SetSym(i, i, x*(a0*x+1)/(a0+1))
	}
	return &Model{B: b, A: pairs}, nil
}

// whiten returns W = UΛ^−½ and what goes back, UΛ^½, of M₂ ≈ UΛUᵀ.
func (o Tensor) whiten(ctx context.Context, d cooc.Operator) (w, back *mat.Dense, err error) {
	n, m1 := d.Dim(), d.Marginals()
	op := func(ctx context.Context, dst, x blas64.General) error {
		if err := d.MulTo(ctx, dense(dst), dense(x), 1); err != nil {
			return err
		}
		for j := range x.Cols {
			dot := 0.0
			for i, v := range m1 {
				dot += v * x.Data[i*x.Stride+j]
			}
			dot *= o.AlphaSum / (o.AlphaSum + 1)
			for i, v := range m1 {
				dst.Data[i*dst.Stride+j] -= dot * v
			}
		}
		return nil
	}
	values, vectors, stats, err := linalg.Lanczos(ctx, n, op, linalg.LanczosOptions{Pairs: o.K, Tol: 1e-9, MaxRestarts: 300, Block: 8, Workers: 1})
	if err != nil {
		return nil, nil, fmt.Errorf("rivals: whitening: %w", err)
	}
	if !stats.Converged || len(values) < o.K || values[o.K-1] <= 0 {
		return nil, nil, fmt.Errorf("rivals: the second moment has fewer than %d positive eigenvalues that can be found", o.K)
	}
	w, back = mat.NewDense(n, o.K, nil), mat.NewDense(n, o.K, nil)
	for t, v := range values {
		root := math.Sqrt(v)
		for i, u := range linalg.Row(vectors, t) {
			w.Set(i, t, u/root)
			back.Set(i, t, u*root)
		}
	}
	return w, back, nil
}

func dense(g blas64.General) *mat.Dense {
	var d mat.Dense
	d.SetRawMatrix(g)
	return &d
}

// tensor is a symmetric K×K×K tensor.
type tensor struct {
	k  int
	at []float64
}

// thirdMoment returns the mean over the documents of E[x₁⊗x₂⊗x₃](W, W, W) for three
// different tokens. With the counts h, their sum n and y = Wᵀh that of a document is
//
//	[y⊗y⊗y − Σ_i h_i (w_i⊗w_i⊗y and its two rotations) + 2Σ_i h_i w_i⊗w_i⊗w_i] / (n(n−1)(n−2)).
//
// The second sum is taken over all documents at once, Σ_i w_i⊗w_i⊗g_i, and so is the
// third. Documents of fewer than three tokens are left out.
func thirdMoment(ctx context.Context, c *corpus.Corpus, w *mat.Dense) (tensor, error) {
	n, k := w.Dims()
	t := tensor{k, make([]float64, k*k*k)}
	g, h, y := mat.NewDense(n, k, nil), make([]float64, n), make([]float64, k)
	used := 0.0
	for m := range c.NumDocs() {
		if err := stopped(ctx, m); err != nil {
			return t, err
		}
		size := float64(c.DocLen(m))
		if size < 3 {
			continue
		}
		used++
		scale := 1 / (size * (size - 1) * (size - 2))
		words, counts := c.Doc(m)
		clear(y)
		for i, id := range words {
			for j, v := range w.RawRowView(int(id)) {
				y[j] += float64(counts[i]) * v
			}
		}
		t.add(scale, y, y)
		for i, id := range words {
			part := scale * float64(counts[i])
			h[id] += part
			row := g.RawRowView(int(id))
			for j, v := range y {
				row[j] += part * v
			}
		}
	}
	if used == 0 {
		return t, errors.New("rivals: no document has three tokens")
	}
	for i := range n {
		if err := stopped(ctx, i); err != nil {
			return t, err
		}
		row := w.RawRowView(i)
		t.add(-3, row, g.RawRowView(i))
		t.add(2*h[i], row, row)
	}
	t.mirror(1 / used)
	return t, nil
}

// add adds scale·x⊗x⊗z, averaged over the three places of z, to the entries with
// i ≤ j ≤ l.
func (t tensor) add(scale float64, x, z []float64) {
	k := t.k
	for i := range k {
		for j := i; j < k; j++ {
			xy, xz := scale/3*x[i]*x[j], scale/3*(x[i]*z[j]+z[i]*x[j])
			row := t.at[(i*k+j)*k:][:k]
			for l := j; l < k; l++ {
				row[l] += xy*z[l] + xz*x[l]
			}
		}
	}
}

// mirror scales the entries with i ≤ j ≤ l and copies them to all others.
func (t tensor) mirror(scale float64) {
	k := t.k
	for i := range k {
		for j := i; j < k; j++ {
			for l := j; l < k; l++ {
				v := scale * t.at[(i*k+j)*k+l]
				for _, p := range [][3]int{{i, j, l}, {i, l, j}, {j, i, l}, {j, l, i}, {l, i, j}, {l, j, i}} {
					t.at[(p[0]*k+p[1])*k+p[2]] = v
				}
			}
		}
	}
}

// correct turns E[x₁⊗x₂⊗x₃] into M₃, in whitened coordinates, where E[x₁⊗x₂] is
// I + α₀/(α₀+1)·mmᵀ with the mean m.
func (t tensor) correct(m []float64, a0 float64) {
	k := t.k
	pairs := func(i, j int) float64 {
		v := a0 / (a0 + 1) * m[i] * m[j]
		if i == j {
			v++
		}
		return v
	}
	for i := range k {
		for j := range k {
			for l := range k {
				t.at[(i*k+j)*k+l] += 2*a0*a0/((a0+1)*(a0+2))*m[i]*m[j]*m[l] -
					a0/(a0+2)*(pairs(i, j)*m[l]+pairs(i, l)*m[j]+pairs(j, l)*m[i])
			}
		}
	}
}

// apply sets dst to T(I, x, x) and returns T(x, x, x).
func (t tensor) apply(dst, x []float64) float64 {
	k, value := t.k, 0.0
	for i := range k {
		sum := 0.0
		for j, v := range x {
			sum += v * vec.Dot(t.at[(i*k+j)*k:][:k], x)
		}
		dst[i] = sum
		value += sum * x[i]
	}
	return value
}

// decompose finds the eigenpairs one after the other: power iterations from random
// starts, of which that of the largest eigenvalue is gone on with; then its part is
// taken off.
func (o Tensor) decompose(ctx context.Context, t tensor) (values []float64, vectors [][]float64, err error) {
	k := t.k
	rng := rand.New(rand.NewPCG(o.Seed, 0x7e4504))
	for len(values) < k {
		best, value := []float64(nil), math.Inf(-1)
		for range o.Restarts {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			x := make([]float64, k)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			scaleTo1(x)
			if v := o.iterate(t, x); v > value {
				best, value = x, v
			}
		}
		value = o.iterate(t, best)
		if !(value > 0) {
			return nil, nil, fmt.Errorf("rivals: eigenvalue %d of the third moment is %g; want a positive one", len(values), value)
		}
		values, vectors = append(values, value), append(vectors, best)
		for i, x := range best {
			for j, y := range best {
				row := t.at[(i*k+j)*k:][:k]
				for l, z := range best {
					row[l] -= value * x * y * z
				}
			}
		}
	}
	return values, vectors, nil
}

// iterate does power iterations in place, until x moves no more, and returns
// T(x, x, x).
func (o Tensor) iterate(t tensor, x []float64) float64 {
	next := make([]float64, len(x))
	for range o.Steps {
		t.apply(next, x)
		if !scaleTo1(next) {
			break
		}
		moved := vec.Distance(next, x)
		copy(x, next)
		if moved < 1e-9 {
			break
		}
	}
	return t.apply(next, x)
}

// scaleTo1 gives x length 1 and reports whether it could.
func scaleTo1(x []float64) bool {
	size := vec.Norm(x)
	if size == 0 {
		return false
	}
	for i := range x {
		x[i] /= size
	}
	return true
}
