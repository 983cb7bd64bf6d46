package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// No setting makes a method panic, go on after ctx, or return what is no number.
func TestExtremes(t *testing.T) {
	p := newPlanted(20, 3, 30, 20, 5)
	p.Alpha = []float64{0.3, 0.7, 0.2}
	infers := func(t Topics) func(context.Context, Method, Options) error {
		return func(ctx context.Context, m Method, opt Options) error {
			in, err := m.Prepare(ctx, t, opt)
			if err != nil {
				return err
			}
			b, err := in.Infer(ctx, p.docs, opt)
			if err == nil {
				mustBeNumbers(b.W)
			}
			return err
		}
	}
	plain := infers(p.Topics)
	dual := p.Topics
	dual.Dual = mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	testutil.Extremes(t, Gibbs{}, func(ctx context.Context, g Gibbs) error { return plain(ctx, g, Options{}) })
	testutil.Extremes(t, MAP{}, func(ctx context.Context, m MAP) error { return plain(ctx, m, Options{}) })
	testutil.Extremes(t, MAP{EM: true}, func(ctx context.Context, m MAP) error { return plain(ctx, m, Options{}) })
	testutil.Extremes(t, LeastSquares{}, func(ctx context.Context, m LeastSquares) error { return plain(ctx, m, Options{}) })
	testutil.Extremes(t, TLI{}, func(ctx context.Context, m TLI) error { return plain(ctx, m, Options{}) })
	testutil.Extremes(t, PADD{}, func(ctx context.Context, m PADD) error { return infers(dual)(ctx, m, Options{}) })
	testutil.Extremes(t, PADD{}, func(ctx context.Context, m PADD) error {
		_, err := m.Learn(ctx, p.Topics, p.docs, Options{})
		return err
	})
	testutil.Extremes(t, Options{}, func(ctx context.Context, opt Options) error { return plain(ctx, MAP{}, opt) })
}

func mustBeNumbers(w *mat.Dense) {
	for _, v := range w.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("a proportion is %g and there is no error", v))
		}
	}
}

// one is a document over 20 words.
type one struct{ words, counts []int32 }

func (o one) NumDocs() int                    { return 1 }
func (o one) NumWords() int                   { return 20 }
func (o one) Doc(int) (words, counts []int32) { return o.words, o.counts }

// Within a document, however long, a method looks at ctx often enough, and ends there.
func TestCancelWithinADocument(t *testing.T) {
	p := newPlanted(20, 3, 1, 1, 5)
	p.Alpha = []float64{0.3, 0.7, 0.2}
	const tokens = 200_000
	long := one{words: []int32{1, 4, 9}, counts: []int32{tokens, 1, 1}}
	short := one{words: []int32{4}, counts: []int32{1}}
	infers := func(m Method, docs Documents) func(context.Context) error {
		return func(ctx context.Context) error {
			in, err := m.Prepare(context.WithoutCancel(ctx), p.Topics, Options{})
			if err == nil {
				_, err = in.Infer(ctx, docs, Options{})
			}
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"Gibbs, long document", infers(Gibbs{Sweeps: 1, BurnIn: -1}, long)},
		{"Gibbs, many sweeps", infers(Gibbs{Sweeps: 1 << 30}, short)},
		{"MAP", infers(MAP{Steps: math.MaxInt, Tol: math.SmallestNonzeroFloat64}, long)},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 4 // of which one is before the document
			ending := testutil.EndingAfter(most)
			if err := c.run(ending); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of ctx, which ended within the document", err)
			}
			if n := ending.Looks(); n > most+3 {
				t.Errorf("%d looks at ctx after its end", n-most)
			}
		})
	}
}
