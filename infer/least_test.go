package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

// exactWeights returns Bw for each row w: what an endless document holds.
func exactWeights(b, w *mat.Dense) *mat.Dense {
	var h mat.Dense
	h.Mul(w, b.T())
	return &h
}

func allWords(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// On exact word probabilities least squares gives the compositions back; so do
// PADD, with A from these compositions, and the unthresholded TLI.
func TestExactRecovery(t *testing.T) {
	testutil.NotWithRace(t)
	for _, k := range []int{3, 20, 50} {
		t.Run(fmt.Sprint("K=", k), func(t *testing.T) {
			p := newPlanted(300, k, 80, 10, uint64(k))
			// Some compositions have zeros, as those of real documents do.
			rng := rand.New(rand.NewPCG(uint64(k), 5))
			for m := range 40 {
				w := p.w.RawRowView(m)
				for t := range w {
					if rng.IntN(2) == 0 && t != m%k {
						w[t] = 0
					}
				}
				vec.Normalise(w)
			}
			p.A.Mul(p.w.T(), p.w)
			h := exactWeights(p.B, p.w)
			ids := allWords(300)

			c, err := check(p.Topics)
			if err != nil {
				t.Fatal(err)
			}
			var f mat.Dense
			f.Mul(h, p.B)
			learned, err := PADD{Tol: 1e-12}.mustFill(t).learn(ctx, c, &f, Options{})
			if err != nil {
				t.Fatal(err)
			}
			// Λ = 0 already fulfils the constraint.
			if learned.Residual > 1e-9 || learned.Documents != 80 {
				t.Errorf("PADD learned %+v", learned)
			}
			tp := p.Topics
			tp.Dual = learned.Dual
			for _, m := range []Method{LeastSquares{}, PADD{}} {
				inf := prepare(t, m, tp)
				w := make([]float64, k)
				for d := range 80 {
					doc, err := inf.InferWeightsTo(w, ids, h.RawRowView(d))
					if err != nil || doc.Status != Converged {
						t.Fatal(doc, err)
					}
					for i, v := range w {
						if math.Abs(v-p.w.At(d, i)) > 1e-8 {
							t.Fatalf("%v, document %d, topic %d: %v, want %v", m, d, i, v, p.w.At(d, i))
						}
					}
				}
			}
		})
	}
}

func (p PADD) mustFill(t testing.TB) PADD {
	t.Helper()
	q, err := p.fill()
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The compositions of least squares fulfil the conditions of optimality, which
// are checked from B and the document alone.
func TestLeastSquaresOptimal(t *testing.T) {
	p := newPlanted(150, 12, 40, 80, 6)
	inf := prepare(t, LeastSquares{}, p.Topics)
	b, err := inf.Infer(ctx, p.docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for d := range 40 {
		w := b.W.RowView(d)
		r := mat.NewVecDense(150, nil)
		r.MulVec(p.B, w)
		ids, counts := p.docs.Doc(d)
		for i, id := range ids {
			r.SetVec(int(id), r.AtVec(int(id))-float64(counts[i])/80)
		}
		var g mat.VecDense
		g.MulVec(p.B.T(), r)
		level := mat.Dot(&g, w)
		for k := range 12 {
			if g.AtVec(k) < level-1e-14 { // entries of BᵀB are of the order 1e-2
				t.Errorf("document %d: topic %d would lower the distance: gradient %v, level %v", d, k, g.AtVec(k), level)
			}
		}
	}
}

// SPI is the product B̆h̃; without B̆ it comes from Bayes' rule and the topic shares
// A·1, of which a prior of other proportions changes nothing.
func TestSPI(t *testing.T) {
	p := newPlanted(100, 6, 30, 50, 7)
	tp := p.Topics
	tp.WordTopics = mat.NewDense(100, 6, nil)
	for i := range 100 {
		row := tp.WordTopics.RawRowView(i)
		for k := range row {
			row[k] = p.B.At(i, k) * mat.Sum(p.A.RowView(k))
		}
		vec.Normalise(row)
	}
	prior := p.Topics
	prior.Alpha = []float64{6, 5, 4, 3, 2, 1}
	given, derived := prepare(t, SPI{}, tp), prepare(t, SPI{}, prior)
	w, v := make([]float64, 6), make([]float64, 6)
	for d := range 30 {
		ids, counts := p.docs.Doc(d)
		if _, err := given.InferTo(w, ids, counts); err != nil {
			t.Fatal(err)
		}
		if _, err := derived.InferTo(v, ids, counts); err != nil {
			t.Fatal(err)
		}
		for k := range w {
			want := 0.0
			for i, id := range ids {
				want += tp.WordTopics.At(int(id), k) * float64(counts[i]) / 50
			}
			if math.Abs(w[k]-want) > 1e-14 || math.Abs(v[k]-want) > 1e-14 {
				t.Fatalf("document %d: %v and %v, want %v in topic %d", d, w, v, want, k)
			}
		}
	}
}
