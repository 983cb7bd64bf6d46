package jsmf_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/recover/scls"
	"github.com/jsmf-go/spectral/rectify"
)

// Any number of workers is allowed; what they take is bounded by the work.
func TestManyWorkers(t *testing.T) {
	_, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, docs)
	for name, p := range map[string]jsmf.Pipeline{
		"AP":      jsmf.Published(4).Rectify(rectify.AP{Iterations: 2}).Refine(refine.Passes{N: 2}),
		"AP/ADMM": jsmf.Published(4).Rectify(rectify.AP{Iterations: 2}).Recover(recovery.SCLS{Solver: scls.ADMM{}}),
		"ENN":     jsmf.Published(4).Rectify(rectify.ENN{Iterations: 2}).Recover(recovery.SCLS{Solver: scls.ExpGrad{}}),
		"LR":      jsmf.Published(4).Rectify(rectify.LR{}),
		"DC":      jsmf.Published(4).Rectify(rectify.DC{}),
		"None/KL": jsmf.Published(4).Rectify(rectify.None{}).Recover(recovery.KL{}),
	} {
		t.Run(name, func(t *testing.T) {
			m := fit(t, p.Workers(1), c)
			p = p.Workers(math.MaxInt)
			if !bytes.Equal(encoded(t, fit(t, p, c)), encoded(t, m)) {
				t.Error("another model")
			}
			if _, err := p.Evaluate(ctx, m, c); err != nil {
				t.Error(err)
			}
			for _, method := range []infer.Method{infer.MAP{}, infer.LeastSquares{}, infer.Gibbs{}} {
				if _, err := m.TransformBy(ctx, c.Source(), method, infer.Options{Workers: math.MaxInt}); err != nil {
					t.Errorf("%T: %v", method, err)
				}
			}
		})
	}
}
