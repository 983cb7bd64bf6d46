package jsmf

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/recover/refine"
)

// refine runs StageRefine on the topics of all words.
func (r *run) refine(ctx context.Context, b, a *mat.Dense) (x *refine.Result, err error) {
	err = r.tr.run(&r.st, StageRefine, r.ask.refiner.String(), func() (string, error) {
		n, start := b.Dims()
		k := start
		if r.topics > r.ask.k {
			k = min(k, r.ask.k)
		} else if r.topics < r.ask.k {
			k = r.ask.k
		}
		x, err = r.ask.refiner.Refine(ctx, r.pr.info.Source, refine.Start{B: b, A: a}, refine.Options{
			K:        k,
			Function: r.pr.function,
			Workers:  r.ask.workers,
			Progress: func(done, total int, loglik float64) { r.tr.progress(done, total, "loglik", loglik) },
		})
		if err != nil {
			return "", err
		}
		if x == nil || x.B == nil || x.A == nil {
			return "", fmt.Errorf("%v returned no model", r.ask.refiner)
		}
		if rows, cols := x.B.Dims(); rows != n || cols != k {
			return "", fmt.Errorf("%v returned topics of %d×%d instead of %d×%d", r.ask.refiner, rows, cols, n, k)
		}
		if x.Tree != nil {
			x.From = nil
		} else if err := checkFrom(x.From, k, start); err != nil {
			return "", fmt.Errorf("%v: %w", r.ask.refiner, err)
		}
		out := fmt.Sprintf("%d passes, %s", x.Passes, x.Status())
		if h := x.History; len(h) > 0 {
			out += ", log-likelihood " + console.Number("%.4f", h[len(h)-1].LogLik) + " a token"
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	r.st.Refine = x.Stats
	r.st.Refine.Method = cmp.Or(x.Method, r.ask.refiner.String())
	return x, nil
}

// checkFrom checks that each of the k topics that a refiner made is of another topic of the start.
func checkFrom(of []int, k, start int) error {
	if of == nil && k == start {
		return nil // each is of its own
	}
	if len(of) != k {
		return fmt.Errorf("Result.From has %d numbers for %d topics of a start with %d", len(of), k, start)
	}
	if err := distinct(of, start); err != nil {
		return fmt.Errorf("Result.From: %w", err)
	}
	return nil
}
