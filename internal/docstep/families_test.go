package docstep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
)

// Steps under a prior of families, of documents with some blocks of topics and with all, are those of
// the definition in float64.
func TestFamilies(t *testing.T) {
	const k, families = 40, 3
	rnd := rand.New(rand.NewPCG(5, 6))
	cov := mat.NewSymDense(families, []float64{1.2, 0.5, -0.3, 0.5, 0.9, 0, -0.3, 0, 1.5})
	prior, err := logisticnormal.From([]float64{0.2, -0.4, 0.2}, cov, 0.6)
	if err != nil {
		t.Fatal(err)
	}
	of := make([]int, k)
	for c := range of {
		of[c] = rnd.IntN(families)
	}
	for _, blocks := range [][]uint16{nil, {0}, {1}, {0, 2}} {
		for _, weight := range []float64{1, 1.5} {
			all := blocks
			if blocks == nil {
				all = []uint16{0, 1, 2}
			}
			r, _ := blocked(rnd, k, all)
			r.Leave, r.Families = true, NewFamilies(of, families, r.Prior)
			d, x := NewDocument(k), logisticnormal.NewDocument(prior)
			load(rnd, weight, false, d)
			in := d.Within(&r, blocks)
			columns := chosen(k, all)
			n, eta := make([]float32, estep.BlockSize*len(all)), []float32{0.1, 0.3, -0.6}
			if blocks == nil {
				n = n[:k]
			}
			for i, c := range columns {
				if r.Prior[c] > 0 {
					n[i] = 2 * rnd.Float32()
				}
			}
			before, from := slices.Clone(n), slices.Clone(eta)
			visible, _, err := d.Correlate(in, x, eta, n, 1, 7, Sums{Rows: estep.NewRows(40, k)}, true)
			if err != nil {
				t.Fatal(err)
			}
			tokens, phi, sum := float64(d.Visible.Sum), make([]float64, families), 0.0
			for f, v := range from {
				phi[f] = math.Exp(float64(v))
				sum += phi[f]
			}
			counts := make([]float64, families) // and α, of all topics
			for c, f := range of {
				counts[f] += float64(r.Prior[c])
			}
			for i, c := range columns {
				counts[of[c]] += float64(before[i])
			}
			weights, total := make([]float64, len(columns)), 0.0
			for i, c := range columns {
				f := of[c]
				weights[i] = (tokens + 2.5) * phi[f] / sum * (float64(before[i]) + float64(r.Prior[c])) / counts[f]
				total += weights[i]
			}
			got, by, loglik := make([]float64, len(columns)), make([]float64, families), 0.0
			for j, w := range d.Visible.Words {
				row, p := r.Topics.Row(int(w)), 0.0
				for i, c := range columns {
					p += weights[i] * float64(row[c])
				}
				left, all := make([]float64, len(columns)), 0.0
				for i, c := range columns {
					v := weights[i] * float64(row[c])
					left[i] = max(weights[i]-v/p, float64(r.Columns[c])) * float64(row[c])
					all += left[i]
				}
				count := float64(d.Visible.Counts[j])
				loglik += count * math.Log(p/total)
				for i, v := range left {
					got[i] += count / weight * v / all
				}
			}
			if math.Abs(visible-loglik) > 1e-4*math.Abs(loglik) {
				t.Errorf("blocks %v: log-likelihood %v, want %v", blocks, visible, loglik)
			}
			for i, want := range got {
				by[of[columns[i]]] += want
				if math.Abs(float64(n[i])-want) > 1e-4 {
					t.Errorf("blocks %v: %v tokens of topic %d, want %v", blocks, n[i], columns[i], want)
				}
			}
			// Newton: (Σ⁻¹ + W)·step = n − N·φ − Σ⁻¹(η − μ).
			var h mat.Dense
			if err := h.Inverse(cov); err != nil {
				t.Fatal(err)
			}
			g, step := make([]float64, families), mat.NewVecDense(families, nil)
			for f := range families {
				g[f] = by[f] - tokens*phi[f]/sum
				for e := range families {
					g[f] -= h.At(f, e) * (float64(from[e]) - prior.Mean[e])
				}
			}
			for f := range families {
				for e := range families {
					w := -phi[f] * phi[e] / sum / sum
					if e == f {
						w += phi[f] / sum
					}
					h.Set(f, e, h.At(f, e)+0.6*tokens*w)
				}
			}
			if err := step.SolveVec(&h, mat.NewVecDense(families, g)); err != nil {
				t.Fatal(err)
			}
			scale := min(1, 1.5/mat.Norm(step, math.Inf(1)))
			for f, v := range eta {
				if want := float64(from[f]) + scale*step.AtVec(f); math.Abs(float64(v)-want) > 2e-3 {
					t.Errorf("blocks %v: η_%d = %v, want %v", blocks, f, v, want)
				}
			}
		}
	}
}
