package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
)

// learn runs StageTopics, and makes the model.
func (r *run) learn(ctx context.Context) (*Model, error) {
	var res *anchorfree.Result
	var status string
	var err error
	c, pr, method := r.rect.C, r.pr, r.ask.learner.String()
	r.st.AnchorFree.Duration, err = r.tr.run(StageTopics, method, func() (string, error) {
		res, err = r.ask.learner.Learn(ctx, c, r.ask.k, anchorfree.Options{Workers: r.ask.workers, Progress: func(done, total int, v float64) {
			r.tr.progress(done, total, "value", v)
		}})
		if err != nil {
			var ie *anchorfree.InfeasibleError
			if errors.As(err, &ie) && pr.info.Vocabulary != nil {
				err = fmt.Errorf("%w (%q)", err, pr.name(ie.Word))
			}
			return "", err
		}
		if res == nil || res.B == nil || res.Breve == nil || res.A == nil {
			return "", fmt.Errorf("%s returned no model", method)
		}
		r.st.Sum = mat.Sum(res.A)
		if !(misfit(r.st.Sum) <= mostMisfit) {
			r.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit", r.st.Sum)
		}
		if status = "converged"; res.Limited {
			status = "iteration limit"
			r.warn("%s stopped at its iteration limit", method)
		}
		if res.Negative > 1e-6 {
			r.warn("%d probabilities of words were below zero, by %.2g in sum in the worst topic, and were set to 0", res.Clipped, res.Negative)
		}
		if res.NegativeShares > 0 {
			r.warn("%d topics have a share below zero; p(topic | word) is 0 for them", res.NegativeShares)
		}
		return fmt.Sprintf("%d iterations, %s", res.Iterations, status), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	a := &r.st.AnchorFree
	a.Method, a.Iterations, a.Rounds, a.Programs, a.Pivots = method, res.Iterations, res.Rounds, res.Programs, res.Pivots
	a.Status, a.LogDet, a.Eigenvalues, a.Products = status, res.LogDet, res.Eigenvalues, res.Products
	a.Clipped, a.Negative, a.NegativeShares, a.Empty = res.Clipped, res.Negative, res.NegativeShares, res.Empty
	parts := modelParts{
		Vocabulary: pr.info.Vocabulary, Topics: pr.expand(res.B), WordTopics: pr.expand(res.Breve), Correlations: res.A,
		Marginals: pr.expandMarginals(res.Marginals, c.Marginals()),
	}
	state := r.rect.State
	r.rect = nil // room for what follows
	return r.finish(ctx, parts, state, method)
}

// refine runs StageRefine on the topics of all words.
func (r *run) refine(ctx context.Context, b, a *mat.Dense) (x *refine.Result, err error) {
	var ended string // why it ended
	r.st.Refine.Duration, err = r.tr.run(StageRefine, r.ask.refiner.String(), func() (string, error) {
		n, start := b.Dims()
		k := start
		if r.topics > r.ask.k {
			k = min(k, r.ask.k)
		}
		x, err = r.ask.refiner.Refine(ctx, r.pr.info.Source, refine.Start{B: b, A: a}, refine.Options{
			K:        k,
			Workers:  r.ask.workers,
			Progress: func(done, total int, loglik float64) { r.tr.progress(done, total, "loglik", loglik) },
		})
		if err != nil {
			return "", err
		}
		if x == nil || x.B == nil || x.Breve == nil || x.A == nil {
			return "", fmt.Errorf("%v returned no model", r.ask.refiner)
		}
		if rows, cols := x.B.Dims(); rows != n || cols != k {
			return "", fmt.Errorf("%v returned topics of %d×%d instead of %d×%d", r.ask.refiner, rows, cols, n, k)
		}
		if err := checkFrom(x.From, k, start); err != nil {
			return "", fmt.Errorf("%v: %w", r.ask.refiner, err)
		}
		if ended = "pass limit"; x.Early {
			ended = "held-out gain"
		}
		out := fmt.Sprintf("%d passes, %s", x.Passes, ended)
		if h := x.History; len(h) > 0 {
			out += fmt.Sprintf(", log-likelihood %.4f a token", h[len(h)-1].LogLik)
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	s := &r.st.Refine
	s.Method, s.Passes, s.Status = r.ask.refiner.String(), x.Passes, ended
	s.Reading = x.LastRead
	s.Docs, s.Watched, s.Tokens, s.Beta = x.Docs, x.Watched, x.Tokens, x.Beta
	for _, h := range x.History {
		s.LogLik = append(s.LogLik, h.LogLik)
		if !math.IsNaN(h.Objective) {
			s.Objective = append(s.Objective, h.Objective)
		}
		if !math.IsNaN(h.HeldOut) {
			s.HeldOut = append(s.HeldOut, h.HeldOut)
		}
	}
	return x, nil
}

// checkFrom checks that each of the k topics that a refiner made is of another topic of the
// start, which has so many.
func checkFrom(of []int, k, start int) error {
	if of == nil && k == start {
		return nil // each is of its own
	}
	if len(of) != k {
		return fmt.Errorf("Result.From has %d numbers for %d topics of a start with %d", len(of), k, start)
	}
	taken := make([]bool, start)
	for t, s := range of {
		if s < 0 || s >= start || taken[s] {
			return fmt.Errorf("Result.From: %d, of topic %d, is not in [0, %d), or is there twice", s, t, start)
		}
		taken[s] = true
	}
	return nil
}
