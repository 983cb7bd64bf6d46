package rectify_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

var ctx = context.Background()

func near(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.17g, want %.17g (differ by %.2g, tolerance %.2g)", name, got, want, math.Abs(got-want), tol)
	}
}

// moments returns the matrix of a golden corpus, the same one to all tests: it is
// immutable.
func moments(t testing.TB, name string) *cooc.Moments {
	t.Helper()
	c := golden.Corpus(t, name)
	if m, ok := made.Load(c); ok {
		return m.(*cooc.Moments)
	}
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made.Store(c, m)
	return m
}

// made holds what moments has made, *cooc.Moments by *corpus.Corpus.
var made sync.Map

// The reference program solved its eigenproblems to about 1e-14; with the
// tolerance at the edge of double precision the whole matrix agrees to 1e-12
// of its largest entry, and the checksums to 1e-8 as asked.
func TestGoldenTiny(t *testing.T) {
	g := golden.ReadTiny(t)
	m := moments(t, "tiny")
	for _, c := range []struct {
		iterations int
		want       golden.Full
	}{{15, g.FullAP15}, {150, g.FullAP150}} {
		for _, dense := range []bool{false, true} {
			res := apOf(t, dense, rectify.AP{Iterations: c.iterations, EigenTol: 1e-13}, m, g.K)
			row := make([]float64, g.N)
			for i := range g.N {
				res.C.RowTo(row, i)
				for j, v := range row {
					near(t, "C", v, c.want.CRect[i][j], 1e-12)
				}
			}
			if c.iterations == 15 {
				for i, v := range g.AP15[0] {
					near(t, "change", res.Changes[i], v, 1e-9*g.AP15[0][0])
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	for _, name := range []string{"synth", "kos1000"} {
		t.Run(name, func(t *testing.T) {
			m := moments(t, name)
			for _, g := range golden.Rows(t, name) {
				var r rectify.Rectifier
				switch g.Rectifier {
				case "AP15":
					r = rectify.AP{EigenTol: 1e-12}
				case "AP150":
					if g.K > 10 {
						continue
					}
					r = rectify.AP{Iterations: 150, EigenTol: 1e-12}
				case "Baseline":
					r = rectify.None{}
				default:
					continue
				}
				t.Run(g.Rectifier+"/K="+string(rune('0'+g.K/10))+string(rune('0'+g.K%10)), func(t *testing.T) {
					res, err := r.Rectify(ctx, m, g.K, rectify.Options{Workers: 1})
					if err != nil {
						t.Fatal(err)
					}
					for i, it := range g.ValuesIters {
						if res.Changes != nil {
							// Changes are differences of nearly equal
							// matrices: 1e-9 of the first one.
							near(t, "change", res.Changes[it-1], g.Values1[i], 1e-9*g.Values1[0])
						}
					}
					compare(t, res.C, g)
				})
			}
		})
	}
}

func compare(t *testing.T, c cooc.Matrix, g golden.Row) {
	t.Helper()
	d := golden.Dense(t, c)
	const rel = 1e-8
	sum, fro, trace, least, most := 0.0, 0.0, 0.0, math.Inf(1), 0.0
	for i := range g.N {
		trace += d.At(i, i)
		for j := range g.N {
			v := d.At(i, j)
			sum += v
			fro += v * v
			least, most = min(least, v), max(most, v)
		}
	}
	near(t, "fro", math.Sqrt(fro), g.Rect.Fro, rel*g.Rect.Fro)
	near(t, "sum", sum, g.Rect.Sum, rel)
	near(t, "trace", trace, g.Rect.Trace, rel*g.Rect.Trace)
	near(t, "max", most, g.Rect.Max, rel*g.Rect.Max)
	near(t, "min", least, g.Rect.Min, 1e-18)
	for i, row := range g.Rect.Block {
		for j, v := range row {
			near(t, "block", d.At(i, j), v, rel*g.Rect.Max)
		}
	}
	for i, v := range g.Rect.DiagFirst10 {
		near(t, "diagonal", d.At(i, i), v, rel*g.Rect.Max)
	}
	near(t, "least row sum", slices.Min(c.Marginals()), g.Rect.RowsumMin, rel*g.Rect.RowsumMin)
	for i, v := range g.Rect.RowsumFirst10 {
		near(t, "row sum", c.Marginals()[i], v, rel*v)
	}
}
