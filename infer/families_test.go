package infer

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

// familyTopics returns topics with families of neighbours in turn, whose logits are correlated.
func familyTopics(p *planted, families int) Topics {
	k := p.B.RawMatrix().Cols
	cov, of, alpha := mat.NewSymDense(families, nil), make([]int, k), make([]float64, k)
	for f := range families {
		for g := range f + 1 {
			cov.SetSym(f, g, 0.6*math.Pow(-0.5, float64(f-g)))
		}
		cov.SetSym(f, f, 1+0.2*float64(f%3))
	}
	for t := range of {
		of[t], alpha[t] = t*families/k, 0.05+0.01*float64(t%4)
	}
	mean := make([]float64, families)
	for f := range mean {
		mean[f] = 0.4 * math.Sin(float64(f))
	}
	return Topics{B: p.B, Alpha: alpha, Logits: &recovery.LogisticNormal{Mean: mean, Covariance: cov, Families: of, Information: 0.7}}
}

// With EM proportions are those of the definition: the mode of the logits of families, where the
// gradient Σ⁻¹(η − μ) is n_f − nφ_f, and within a family α and the tokens of each topic.
func TestFamiliesMode(t *testing.T) {
	p := newPlanted(60, 9, 20, 80, 5)
	tp := familyTopics(p, 3)
	prior, k := tp.Logits, len(tp.Alpha)
	method := prepare(t, MAP{EM: true, Tol: 1e-6, Steps: 3000}, tp)
	theta := make([]float64, k)
	for m, ids := range p.docs.ids {
		counts := p.docs.counts[m]
		doc, err := method.InferTo(theta, ids, counts)
		if err != nil || doc.Status != Converged {
			t.Fatal(doc, err)
		}
		tokens := make([]float64, k)
		for i, w := range ids {
			sum := 0.0
			for j, v := range theta {
				sum += v * p.B.At(int(w), j)
			}
			for j, v := range theta {
				tokens[j] += float64(counts[i]) * v * p.B.At(int(w), j) / sum
			}
		}
		n := make([]float64, 3) // tokens, then the gradient
		alpha, phi := make([]float64, 3), make([]float64, 3)
		for j, f := range prior.Families {
			n[f] += tokens[j]
			alpha[f] += tp.Alpha[j]
			phi[f] += theta[j]
		}
		for j, f := range prior.Families {
			if want := phi[f] * (tokens[j] + tp.Alpha[j]) / (n[f] + alpha[f]); math.Abs(theta[j]-want) > 1e-4 {
				t.Errorf("document %d, topic %d: %.6f, want %.6f", m, j, theta[j], want)
			}
		}
		for f := range n {
			n[f] -= doc.Tokens * phi[f]
		}
		var eta mat.VecDense
		eta.MulVec(prior.Covariance, mat.NewVecDense(3, n))
		shift := math.Log(phi[0]) - prior.Mean[0] - eta.AtVec(0)
		for f := range phi {
			if d := math.Log(phi[f]) - prior.Mean[f] - eta.AtVec(f) - shift; math.Abs(d) > 0.01 {
				t.Errorf("document %d, family %d: the logit is off by %.4f", m, f, d)
			}
		}
	}
}

// Families of one topic each are topics with logits of their own.
func TestFamiliesOfOne(t *testing.T) {
	p := newPlanted(60, 5, 30, 60, 6)
	tp := familyTopics(p, 5)
	flat := tp
	prior := *tp.Logits
	prior.Families = nil
	flat.Logits = &prior
	method := MAP{EM: true, Tol: 1e-6, Steps: 2000}
	got, err := prepare(t, method, tp).Infer(ctx, p.docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := prepare(t, method, flat).Infer(ctx, p.docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := totalVariation(got.W, want.W); d[len(d)-1] > 1e-3 {
		t.Errorf("documents are up to %.5f apart", d[len(d)-1])
	}
}

// Proportions without the topics that a document hardly has are near those with all of them.
func TestFamiliesFew(t *testing.T) {
	testutil.NotWithRace(t)
	for name, p := range map[string]*planted{
		"short": sparseModel(2000, 320, 100, 30, 31),
		"long":  sparseModel(2000, 320, 100, 400, 32),
	} {
		tp := familyTopics(p, 20)
		for i := range tp.Alpha {
			tp.Alpha[i] = 2.5 / 320
		}
		run := func(tol float64, workers int) *mat.Dense {
			out, err := prepare(t, MAP{Tol: tol}, tp).Infer(ctx, p.docs, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			return out.W
		}
		few := run(0, 1)
		far := totalVariation(few, run(allTopics, 1))
		if d := far[len(far)*99/100-1]; d > 0.02 { // as MAP says
			t.Errorf("%s: %.4f apart in 99 %% of the documents", name, d)
		}
		if !mat.Equal(few, run(0, 3)) {
			t.Errorf("%s: three workers differ from one", name)
		}
	}
}

// Draws have the mean proportions as their mean, and vary about it.
func TestFamiliesDraw(t *testing.T) {
	p := newPlanted(60, 9, 1, 80, 5)
	tp := familyTopics(p, 3)
	mean, theta := make([]float64, 9), make([]float64, 9)
	const draws = 400
	for seed := range draws {
		if _, err := prepare(t, Draw{Seed: uint64(seed)}, tp).InferTo(theta, p.docs.ids[0], p.docs.counts[0]); err != nil {
			t.Fatal(err)
		}
		for k, v := range theta {
			mean[k] += v / draws
		}
	}
	if _, err := prepare(t, MAP{}, tp).InferTo(theta, p.docs.ids[0], p.docs.counts[0]); err != nil {
		t.Fatal(err)
	}
	for k, v := range theta { // the error of a mean of 400 is at most 0.5/20
		if math.Abs(v-mean[k]) > 0.03 {
			t.Errorf("topic %d: %.3f in the mean of draws, %.3f by MAP", k, mean[k], v)
		}
	}
}

func TestFamiliesBad(t *testing.T) {
	p := newPlanted(60, 9, 1, 80, 5)
	for name, change := range map[string]func(*recovery.LogisticNormal){
		"too few":  func(x *recovery.LogisticNormal) { x.Families = x.Families[:8] },
		"too high": func(x *recovery.LogisticNormal) { x.Families[2] = 3 },
		"negative": func(x *recovery.LogisticNormal) { x.Families[2] = -1 },
		"empty":    func(x *recovery.LogisticNormal) { x.Families = slices.Repeat([]int{0, 1}, 5)[:9] },
	} {
		t.Run(name, func(t *testing.T) {
			tp := familyTopics(p, 3)
			change(tp.Logits)
			if _, err := (MAP{}).Prepare(context.Background(), tp, Options{}); err == nil {
				t.Error("no error")
			}
		})
	}
	tp := familyTopics(p, 3)
	method := prepare(t, MAP{}, tp)
	dst := make([]float64, 9)
	if n := testing.AllocsPerRun(20, func() { method.InferTo(dst, p.docs.ids[0], p.docs.counts[0]) }); n > 0 && !testutil.Race { // that detector empties pools at random
		t.Errorf("%v allocations", n)
	}
}
