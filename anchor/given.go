package anchor

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// given is a set of anchors with which the result of a finder is to begin.
type given struct {
	anchors []int // row numbers, each once and at most K
	// points are rows, of length d, that stand in for those of the anchors:
	// nil, or one for each anchor, nil where it is the anchor's own row.
	points [][]float64
}

// givenError says what is wrong with a given anchor.
type givenError struct {
	anchor, word int // its place among the given ones, and its row
	reason       string
}

func (e *givenError) Error() string {
	return fmt.Sprintf("anchor: given anchor %d, word %d: %s", e.anchor, e.word, e.reason)
}

// refuse returns an error where anchors are given or words excluded, for finders that
// do not know how to.
func (o Options) refuse(name string) error {
	switch {
	case o.given != nil:
		return fmt.Errorf("anchor: %s cannot complete given anchors; QR, Projected, SPA, SNPA and XRAY can", name)
	case len(o.Exclude) > 0:
		return fmt.Errorf("anchor: %s cannot leave out words (Options.Exclude)", name)
	}
	return nil
}

// checkGiven checks the given anchors, and admits them whatever their frequency; who
// gives them knows why.
func (s *search) checkGiven() error {
	p := s.opt.given
	if p == nil {
		return nil
	}
	if len(p.anchors) > s.k {
		return fmt.Errorf("anchor: %d anchors are given for %d topics", len(p.anchors), s.k)
	}
	if p.points != nil && len(p.points) != len(p.anchors) {
		return fmt.Errorf("anchor: %d points are given for %d anchors", len(p.points), len(p.anchors))
	}
	seen := make(map[int]int, len(p.anchors))
	for g, w := range p.anchors {
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
	s.given = p.anchors
	s.res.Candidates += len(p.anchors)
	return nil
}

// point is what stands in for the row of the t-th anchor, or nil.
func (s *search) point(t int) []float64 {
	if p := s.opt.given; p != nil && t < len(p.points) {
		return p.points[t]
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

// complete has a finder complete the given anchors, and sees that it has. Words are
// those that may not become anchors beside them.
func complete(ctx context.Context, name string, f Finder, rows cooc.Rows, k int, opt Options, g *given, words []int) (*Result, error) {
	if err := opt.refuse(name); err != nil {
		return nil, err
	}
	switch n := len(g.anchors); {
	case n > k:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics", name, n, k)
	case n < k && f == nil:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics, and nothing to complete them by", name, n, k)
	case f == nil:
		f = QR{}
	}
	opt.given, opt.Exclude = g, words
	res, err := f.Find(ctx, rows, k, opt)
	if err != nil {
		return nil, err
	}
	if n := len(g.anchors); res == nil || len(res.Anchors) < n || !slices.Equal(res.Anchors[:n], g.anchors) {
		return nil, fmt.Errorf("anchor: %s: %v does not keep the given anchors; QR, Projected, SPA, SNPA and XRAY do", name, f)
	}
	return res, nil
}
