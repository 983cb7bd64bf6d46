package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/recover/anchorfree"
)

// learn runs StageTopics, and makes the model.
func (r *run) learn(ctx context.Context) (*Model, error) {
	var res *anchorfree.Result
	c, pr, method := r.rect.C, r.pr, r.ask.learner.String()
	err := r.tr.run(&r.st, StageTopics, method, func() (_ string, err error) {
		res, err = r.ask.learner.Learn(ctx, c, r.ask.k, anchorfree.Options{Workers: r.ask.workers, Progress: func(done, total int, v float64) {
			r.tr.progress(done, total, "value", v)
		}})
		if err != nil {
			if e, ok := errors.AsType[*anchorfree.InfeasibleError](err); ok && pr.info.Vocabulary != nil {
				err = fmt.Errorf("%w (%q)", err, pr.name(e.Word))
			}
			return "", err
		}
		if res == nil || res.B == nil || res.WordTopics == nil || res.A == nil {
			return "", fmt.Errorf("%s returned no model", method)
		}
		r.st.Sum = mat.Sum(res.A)
		if !(misfit(r.st.Sum) <= noFit) {
			r.warn("the topic correlations sum to %.4g and not to about 1: the model does not fit", r.st.Sum)
		}
		if res.Limited {
			r.warn("%s stopped at its iteration limit", method)
		}
		if res.Negative > 1e-6 {
			r.warn("%d probabilities of words were below zero, by %.2g in sum in the worst topic, and were set to 0", res.Clipped, res.Negative)
		}
		if res.NegativeShares > 0 {
			r.warn("%d topics have a share below zero; p(topic | word) is 0 for them", res.NegativeShares)
		}
		return fmt.Sprintf("%d iterations", res.Iterations), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	r.st.AnchorFree = res.Stats
	r.st.AnchorFree.Method = cmp.Or(res.Method, method)
	return r.finish(ctx, new(Model), factors{res.B, res.WordTopics, res.A, res.Marginals, c.Marginals()}, method)
}
