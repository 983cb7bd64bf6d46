package anchor

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// givenError says what is wrong with a given anchor.
type givenError struct {
	anchor, word int // its place among the given ones, and its row
	reason       string
}

func (e *givenError) Error() string {
	return fmt.Sprintf("anchor: given anchor %d, word %d: %s", e.anchor, e.word, e.reason)
}

// refuse returns an error if anchors are given or words excluded, for finders that can do
// neither.
func (o Options) refuse(name string) error {
	switch {
	case o.Given != nil:
		return fmt.Errorf("anchor: %s cannot complete given anchors; QR, Projected, SPA, SNPA and XRAY can", name)
	case len(o.Exclude) > 0:
		return fmt.Errorf("anchor: %s cannot leave out words (Options.Exclude)", name)
	}
	return nil
}

// noPoints returns an error if anchors have points, which are rows of C̄, for a search in
// others.
func (g *Given) noPoints(where string) error {
	if g != nil && slices.ContainsFunc(g.Points, func(p []float64) bool { return p != nil }) {
		return fmt.Errorf("anchor: groups of words cannot be completed in %s; use QR", where)
	}
	return nil
}

// checkGiven checks the given anchors, and admits them whatever their frequency.
func (s *search) checkGiven() error {
	p := s.opt.Given
	if p == nil {
		return nil
	}
	if len(p.Anchors) > s.k {
		return fmt.Errorf("anchor: %d anchors are given for %d topics", len(p.Anchors), s.k)
	}
	if p.Points != nil && len(p.Points) != len(p.Anchors) {
		return fmt.Errorf("anchor: %d points are given for %d anchors", len(p.Points), len(p.Anchors))
	}
	seen := make(map[int]int, len(p.Anchors))
	for g, w := range p.Anchors {
		bad := func(format string, args ...any) error { return &givenError{g, w, fmt.Sprintf(format, args...)} }
		if w < 0 || w >= s.n {
			return bad("not in [0, %d)", s.n)
		}
		if h, ok := seen[w]; ok {
			return bad("is given anchor %d too", h)
		}
		seen[w] = g
		point := s.point(g)
		switch {
		case point == nil && !(s.u[w] > 0):
			return bad("has no co-occurrence row")
		case point != nil && len(point) != s.d:
			return bad("its point has %d coordinates, the rows have %d", len(point), s.d)
		}
		size := 0.0
		for j, v := range point {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return bad("coordinate %d of its point is %g", j, v)
			}
			size += v * v
		}
		if point != nil && !(size > 0) {
			return bad("its point is zero")
		}
		s.shut(w)
	}
	s.given = p.Anchors
	s.res.Candidates += len(p.Anchors)
	return nil
}

// point is what replaces the row of the t-th anchor, or nil.
func (s *search) point(t int) []float64 {
	if p := s.opt.Given; p != nil && t < len(p.Points) {
		return p.Points[t]
	}
	return nil
}

// rowTo writes the row of the t-th anchor, word w.
func (s *search) rowTo(dst []float64, t, w int) {
	if p := s.point(t); p != nil {
		copy(dst, p)
		return
	}
	s.rows.RowTo(dst, w)
}

// complete has a finder complete the given anchors, and checks that it has. The other
// words given may not become anchors.
func complete(ctx context.Context, name string, f Finder, rows cooc.Rows, k int, opt Options, g *Given, words []int) (*Result, error) {
	if err := opt.refuse(name); err != nil {
		return nil, err
	}
	switch n := len(g.Anchors); {
	case n > k:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics", name, n, k)
	case n < k && f == nil:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics, and nothing to complete them by", name, n, k)
	case f == nil:
		f = QR{}
	}
	opt.Given, opt.Exclude = g, words
	res, err := f.Find(ctx, rows, k, opt)
	if err != nil {
		return nil, err
	}
	if n := len(g.Anchors); res == nil || len(res.Anchors) < n || !slices.Equal(res.Anchors[:n], g.Anchors) {
		return nil, fmt.Errorf("anchor: %s: %v does not keep the given anchors (Options.Given); QR, Projected, SPA, SNPA and XRAY do", name, f)
	}
	return res, nil
}
