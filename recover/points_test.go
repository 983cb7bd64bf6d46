package recovery_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
)

// Points that are the anchors' own rows give the planted model, its A by least
// squares from all of C; with one point and with all. To 1e-8 as without points.
func TestPointsPlanted(t *testing.T) {
	for _, k := range []int{2, 8} {
		m := testutil.NewPlanted(100, k, 0.6, uint64(50+k))
		r := rowsOf(t, dense(t, m.C))
		for _, pointed := range []int{1, k} {
			points := make([][]float64, k)
			for i, w := range m.Anchors[:pointed] {
				points[i] = make([]float64, 100)
				r.RowTo(points[i], w)
			}
			for _, s := range []recovery.SCLS{{}, recovery.SCLS{Solver: scls.ADMM{}}} {
				tol := 1e-8
				if s.Solver != nil {
					tol = 1e-3 // ADMM stops before the exact optimum
				}
				res, err := s.Recover(ctx, r, m.Anchors, recovery.Options{Points: points})
				if err != nil {
					t.Fatal(err)
				}
				if errB, errA, err := m.Errors(m.Anchors, res.B, res.A); err != nil || errB > tol || errA > 10*tol {
					t.Errorf("K = %d, %d points, %v: B is off by %.2g, A by %.2g, %v", k, pointed, s, errB, errA, err)
				}
				if res.Words != 100-k+pointed {
					t.Errorf("%d words solved for, want %d: the anchors with points too", res.Words, 100-k+pointed)
				}
			}
		}
	}
}

// With facets that are no word's row: B̆ solves the problems of these points,
// with their residuals; anchors without a point keep their unit vectors; and A
// is the minimum of ‖C − BABᵀ‖, where the gradient Bᵀ(C − BABᵀ)B is zero.
func TestPointsInvariants(t *testing.T) {
	_, a := spoiled(t, 80, 6, 2)
	c := dense(t, a)
	r := rowsOf(t, c)
	f := anchor.Tandem{Groups: [][]string{{"3", "8"}, {"5"}, {"11", "20", "31"}}, Complete: anchor.QR{}}
	anch, err := f.Find(ctx, r, 6, anchor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var first *recovery.Result
	for _, workers := range []int{1, 3} {
		res, err := recovery.SCLS{}.Recover(ctx, r, anch.Anchors, recovery.Options{Points: anch.Points, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = res
		} else if !mat.Equal(first.A, res.A) || !mat.Equal(first.WordTopics, res.WordTopics) {
			t.Error("the number of workers changes bits")
		}
	}
	res := first
	n, k := 82, 6
	points := mat.NewDense(k, n, nil)
	for l, w := range anch.Anchors {
		if anch.Points[l] != nil {
			points.SetRow(l, anch.Points[l])
		} else {
			r.RowTo(points.RawRowView(l), w)
			if res.WordTopics.At(w, l) != 1 || res.Residuals[w] != 0 {
				t.Errorf("anchor %d of topic %d has %v", w, l, res.WordTopics.RawRowView(w))
			}
		}
	}
	row := make([]float64, n)
	for i := range n {
		if c.Marginals()[i] == 0 {
			continue
		}
		r.RowTo(row, i)
		sum := 0.0
		for l, v := range res.WordTopics.RawRowView(i) {
			sum += v
			for j, p := range points.RawRowView(l) {
				row[j] -= v * p
			}
		}
		near(t, fmt.Sprintf("sum of B̆ of word %d", i), sum, 1, 1e-12)
		near(t, fmt.Sprintf("residual of word %d", i), res.Residuals[i], math.Sqrt(dot(row, row)), 1e-7)
		// No corner of the simplex is better: the gap of ½‖residual‖² is
		// residualᵀ(p_l − Σ y p) at most 0.
		mixture := make([]float64, n)
		r.RowTo(mixture, i)
		for j := range mixture {
			mixture[j] -= row[j]
		}
		if res.WordTopics.At(i, 1) == 1 { // an anchor
			continue
		}
		for l := range k {
			if gap := dot(row, points.RawRowView(l)) - dot(row, mixture); gap > 1e-12 && res.Residuals[i] > 0 {
				t.Errorf("word %d comes nearer with more of topic %d (%g)", i, l, gap)
			}
		}
	}
	var fit, grad mat.Dense
	fit.Product(res.B, res.A, res.B.T())
	fit.Sub(c.Matrix(), &fit)
	grad.Product(res.B.T(), &fit, res.B)
	var size mat.Dense
	size.Product(res.B.T(), c.Matrix(), res.B)
	if g := mat.Norm(&grad, 2); g > 1e-12*mat.Norm(&size, 2) {
		t.Errorf("the gradient of ‖C − BABᵀ‖² is %g, of BᵀCB = %g", g, mat.Norm(&size, 2))
	}
	if !mat.Equal(res.A, res.A.T()) {
		t.Error("A is not symmetric")
	}
}

func TestPointsBad(t *testing.T) {
	m := testutil.NewPlanted(40, 3, 0, 3)
	r := rowsOf(t, dense(t, m.C))
	row := func(w int) []float64 {
		x := make([]float64, 40)
		r.RowTo(x, w)
		return x
	}
	nan := row(m.Anchors[0])
	nan[7] = math.NaN()
	var ae *recovery.AnchorError
	for _, c := range []struct {
		points [][]float64
		topic  int
		want   string
	}{
		{make([][]float64, 2), -1, "2 points for 3 anchors"},
		{[][]float64{nil, {1, 2}, nil}, 1, "has 2 coordinates, the rows have 40"},
		{[][]float64{nan, nil, nil}, 0, "coordinate 7 of its point is NaN"},
		{[][]float64{row(m.Anchors[0]), row(m.Anchors[0]), row(m.Anchors[0])}, -1, "recovery: "}, // one point for all
	} {
		_, err := recovery.SCLS{}.Recover(ctx, r, m.Anchors, recovery.Options{Points: c.points})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.topic >= 0 && (!errors.As(err, &ae) || ae.Topic != c.topic) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	law, err := low.LAW(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, d := law.Dims()
	if _, err := (recovery.SCLS{}).Recover(ctx, law, m.Anchors, recovery.Options{Points: [][]float64{make([]float64, d), nil, nil}}); err == nil || !strings.Contains(err.Error(), "low-rank rows") {
		t.Errorf("low-rank rows: %v", err)
	}
	// No points at all is none.
	plain := solve(t, recovery.SCLS{}, r, m.Anchors)
	none, err := recovery.SCLS{}.Recover(ctx, r, m.Anchors, recovery.Options{Points: make([][]float64, 3)})
	if err != nil || !mat.Equal(none.A, plain.A) || !mat.Equal(none.B, plain.B) {
		t.Errorf("three times no point: %v", err)
	}
}
