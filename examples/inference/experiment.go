package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"gonum.org/v1/gonum/mat"
)

// experiment is one setting for one K.
type experiment struct {
	name        string
	k           int
	topics      infer.Topics
	docs        [2]*corpus.Corpus // learned from, and not
	truth       [2]*mat.Dense
	otherA      *mat.Dense // for PADD with its own prior
	gibbsIsTrue bool       // FR
}

// topicsOf returns the model as package infer takes it.
func topicsOf(m *jsmf.Model) infer.Topics {
	return infer.Topics{B: mat.DenseCopyOf(m.Topics()), A: mat.DenseCopyOf(m.Correlations()), Breve: mat.DenseCopyOf(m.WordTopics()), Alpha: m.Alpha()}
}

func prepare(ctx context.Context, o options, setting string, m *jsmf.Model, train, unseen *corpus.Corpus, note func(string, ...any)) (*experiment, error) {
	e := &experiment{name: setting, k: m.K(), topics: topicsOf(m)}
	gibbs := infer.Gibbs{BurnIn: o.burnIn, Sweeps: o.sweeps, Seed: o.seed}
	if setting == "FR" {
		e.docs, e.gibbsIsTrue = [2]*corpus.Corpus{train, unseen}, true
		inf, err := gibbs.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		for i, c := range e.docs {
			note("FR, K=%d: %v on %d documents", e.k, gibbs, c.NumDocs())
			b, err := inf.Infer(ctx, c, infer.Options{Workers: o.workers})
			if err != nil {
				return nil, err
			}
			e.truth[i] = b.W
		}
		e.otherA = moment(e.truth[0])
		return e, nil
	}
	lengths := []int{o.length}
	if o.length == 0 {
		lengths = make([]int, train.NumDocs())
		for d := range lengths {
			lengths[d] = int(train.DocLen(d))
		}
	}
	alpha := slices.Repeat([]float64{o.alphaSum / float64(e.k)}, e.k)
	gen := corpus.Generator{Topics: e.topics.B, Prior: corpus.Dirichlet{Alpha: alpha}, Lengths: lengths, Docs: 2 * o.docs, Seed: o.seed, Workers: o.workers}
	if setting == "SR" {
		inf, err := infer.MAP{}.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		b, err := inf.Infer(ctx, train, infer.Options{Workers: o.workers})
		if err != nil {
			return nil, err
		}
		prior, err := corpus.FitLogisticNormal(b.W, 0)
		if err != nil {
			return nil, err
		}
		gen.Prior = prior
	}
	all, w, err := gen.Generate(ctx)
	if err != nil {
		return nil, err
	}
	for i := range e.docs {
		part := make([]int, o.docs)
		for d := range part {
			part[d] = i*o.docs + d
		}
		if e.docs[i], err = all.Select(part, nil); err != nil {
			return nil, err
		}
		e.truth[i] = mat.DenseCopyOf(w.Slice(i*o.docs, (i+1)*o.docs, 0, e.k))
	}
	e.otherA, e.topics.A = e.topics.A, moment(e.truth[0])
	e.topics.Breve = nil // by Bayes' rule with the shares of A
	if setting == "SS" {
		e.topics.Alpha = alpha
	}
	return e, nil
}

// moment returns WᵀW for compositions with a row a document.
func moment(w *mat.Dense) *mat.Dense {
	var a mat.Dense
	a.Mul(w.T(), w)
	return &a
}

func (e *experiment) run(ctx context.Context, o options, t *table, note func(string, ...any)) error {
	if err := e.bounds(o, t); err != nil {
		return err
	}
	methods := []infer.Method{infer.SPI{}, infer.TLI{}, infer.LeastSquares{}, infer.PADD{}, infer.PADD{Prior: e.otherA}, infer.MAP{EM: true}, infer.MAP{}}
	if e.gibbsIsTrue {
		methods = append(methods, infer.PADD{Tol: 0.3})
	} else {
		if err := e.spiBias(ctx, o, t); err != nil {
			return err
		}
		methods = append(methods, infer.Gibbs{BurnIn: o.burnIn, Sweeps: o.sweeps, Seed: o.seed})
	}
	for _, m := range methods {
		tp := e.topics
		name := m.String()
		begun := time.Now()
		switch x := m.(type) {
		case infer.TLI:
			if o.noTLI {
				continue
			}
		case infer.PADD:
			l, err := x.Learn(ctx, tp, e.docs[0], infer.Options{Workers: o.workers})
			if err != nil {
				return err
			}
			note("%s, K=%d: PADD: ‖A − WWᵀ/M‖ %.4g → %.4g, %v in %d steps", e.name, e.k, l.Residuals[0], l.Residual, l.Status, len(l.Residuals))
			tp.Dual = l.Dual
		}
		inf, err := m.Prepare(ctx, tp, infer.Options{Workers: o.workers})
		var bad *infer.TopicsError
		if _, ok := m.(infer.TLI); ok && errors.As(err, &bad) { // B has no left inverse
			note("%s, K=%d: %v", e.name, e.k, err)
			continue
		}
		if err != nil {
			return err
		}
		prep := time.Since(begun)
		var got [2]*infer.Batch
		begun = time.Now()
		for i, c := range e.docs {
			if got[i], err = inf.Infer(ctx, c, infer.Options{Workers: 1}); err != nil {
				return err
			}
		}
		each := time.Since(begun).Seconds() / float64(e.docs[0].NumDocs()+e.docs[1].NumDocs())
		note("%s, K=%d: %s: %.3g ms a document", e.name, e.k, name, 1e3*each)
		if err := e.report(t, name, [2]*mat.Dense{got[0].W, got[1].W}, 1e3*each, prep.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

// spiBias measures SPI of the exact word probabilities Bw of the true compositions.
func (e *experiment) spiBias(ctx context.Context, o options, t *table) error {
	inf, err := infer.SPI{}.Prepare(ctx, e.topics, infer.Options{Workers: o.workers})
	if err != nil {
		return err
	}
	words, _ := e.topics.B.Dims()
	ids := make([]int32, words)
	for i := range ids {
		ids[i] = int32(i)
	}
	var out [2]*mat.Dense
	for i, w := range e.truth {
		m, _ := w.Dims()
		out[i] = mat.NewDense(m, e.k, nil)
		p := mat.NewVecDense(words, nil)
		for d := range m {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.MulVec(e.topics.B, w.RowView(d))
			if _, err := inf.InferWeightsTo(out[i].RawRowView(d), ids, p.RawVector().Data); err != nil {
				return err
			}
		}
	}
	return e.report(t, "SPI of Bw", out, math.NaN(), math.NaN())
}

// bounds measures compositions drawn from the uniform distribution over the simplex,
// and the true ones.
func (e *experiment) bounds(o options, t *table) error {
	rng := rand.New(rand.NewPCG(o.seed, 0x5eed))
	var w [2]*mat.Dense
	for i := range w {
		m, _ := e.truth[i].Dims()
		w[i] = mat.NewDense(m, e.k, nil)
		for d := range m {
			row, sum := w[i].RawRowView(d), 0.0
			for k := range row {
				row[k] = rng.ExpFloat64()
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
		}
	}
	if err := e.report(t, "random", w, math.NaN(), math.NaN()); err != nil {
		return err
	}
	return e.report(t, "truth", e.truth, math.NaN(), math.NaN())
}

func (e *experiment) report(t *table, method string, w [2]*mat.Dense, ms, prep float64) error {
	var r [2]*metrics.CompositionReport
	for i := range r {
		var err error
		if r[i], err = metrics.Compositions(e.truth[i], w[i], e.topics.A); err != nil {
			return err
		}
	}
	t.row(e.name, e.k, method, r, w, ms, prep)
	return nil
}
