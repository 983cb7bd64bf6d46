package anchor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Rows whose squared norms differ by less than tie, relatively, or by less than tieFirst
// of the first norm, count as equally far. Words of page templates have the same row up to
// rounding, and the squared norms of late pivots are what rounding left of larger ones:
// which word is taken must not depend on how a product was summed.
const (
	tie      = 1e-9
	tieFirst = 4e-15
)

// admit says which words may become anchors.
type admit struct {
	minDocs    int
	fraction   float64
	allowFewer bool
}

func (a admit) bad() bool { return a.minDocs < 0 || !(a.fraction >= 0 && a.fraction <= 1) }

// validate reports settings out of range, with a tolerance of the given name.
func (a admit) validate(finder, name string, tol float64) error {
	if a.bad() || !(tol >= 0 && tol < 1) {
		return fmt.Errorf("anchor: %s: MinDocs %d, MinDocFraction %g, %s %g out of range", finder, a.minDocs, a.fraction, name, tol)
	}
	return nil
}

// describe appends the settings that are not the defaults to opts.
func (a admit) describe(opts []string, name string, tol float64) []string {
	if a.minDocs > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%d", a.minDocs))
	}
	if a.fraction > 0 {
		opts = append(opts, fmt.Sprintf("min docs=%g%%", 100*a.fraction))
	}
	if tol > 0 {
		opts = append(opts, fmt.Sprintf("%s=%g", name, tol))
	}
	if a.allowFewer {
		opts = append(opts, "allow fewer")
	}
	return opts
}

func withOptions(name string, opts []string) string {
	if opts == nil {
		return name
	}
	return name + "(" + strings.Join(opts, ", ") + ")"
}

// search is what all finders check and keep.
type search struct {
	rows    cooc.Rows
	n, d, k int
	opt     Options
	admit   admit
	u       []float64 // ‖c̄_i‖², and then what the method makes of it
	open    []bool    // the words that may be chosen
	largest float64   // of u among the open words, at first
	given   []int     // the anchors to begin with
	res     *Result
}

// begin checks the input and finds the candidates.
func begin(ctx context.Context, name string, rows cooc.Rows, k int, a admit, opt Options) (*search, error) {
	n, d := rows.Dims()
	if k < 1 || k > n {
		return nil, fmt.Errorf("anchor: K = %d is not in [1, %d], the number of words", k, n)
	}
	// 7 % of 100 documents are 7, not the 8 that 0.07·100 rounds up to.
	least := max(a.minDocs, int(math.Ceil(a.fraction*float64(opt.Docs)*(1-1e-12))))
	if a.minDocs > 1 || a.fraction > 0 {
		if len(opt.DocFrequencies) != n {
			return nil, fmt.Errorf("anchor: %s: candidates are to occur in at least %d documents, but the document frequencies of %d words are known, of %d", name, least, len(opt.DocFrequencies), n)
		}
		if a.fraction > 0 && opt.Docs <= 0 {
			return nil, fmt.Errorf("anchor: %s: candidates are to occur in %g of the documents, but their number is not known", name, a.fraction)
		}
	}
	if !(opt.PreferTol >= 0 && opt.PreferTol < 1) {
		return nil, fmt.Errorf("anchor: PreferTol is %g, not in [0, 1)", opt.PreferTol)
	}
	for _, w := range opt.Prefer {
		if w < 0 || w >= n {
			return nil, fmt.Errorf("anchor: the preferred word %d is not in [0, %d)", w, n)
		}
	}
	norms, err := rows.Norms2(ctx, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("anchor: %w", err)
	}
	s := &search{rows: rows, n: n, d: d, k: k, opt: opt, admit: a, u: make([]float64, n), open: make([]bool, n), res: &Result{}}
	for i, v := range norms {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("anchor: the row of word %d has the squared norm %g", i, v)
		}
		s.u[i], s.open[i] = v, v > 0
	}
	for _, w := range rows.Repaired() {
		s.open[w] = false
	}
	if a.minDocs == 0 && a.fraction == 0 {
		least = s.usual()
	}
	for i, ok := range s.open {
		s.open[i] = ok && (least <= 1 || opt.DocFrequencies[i] >= least)
		if s.open[i] {
			s.res.Candidates++
		}
	}
	for _, w := range opt.Exclude {
		if w < 0 || w >= n {
			return nil, fmt.Errorf("anchor: the excluded word %d is not in [0, %d)", w, n)
		}
		s.shut(w)
	}
	if err := s.checkGiven(); err != nil {
		return nil, err
	}
	if s.res.Candidates < k && !a.allowFewer || s.res.Candidates == 0 {
		return nil, &CandidateError{Candidates: s.res.Candidates, K: k, MinDocs: least}
	}
	for i, ok := range s.open {
		if ok {
			s.largest = max(s.largest, s.u[i])
		}
	}
	return s, nil
}

// The default of MinDocs. With fewer words for few topics, only general words are left; in fewer
// documents, a row is noise however large a part of the corpus they are.
const (
	usualTenths = 11   // of the documents of a topic, if all topics have as many
	usualDocs   = 2000 // smaller corpora count as this large
	usualWords  = 10   // a topic
	usualK      = 12   // fewer topics count as this many
)

// usual returns in how many documents a candidate is by default (QR.MinDocs), 0 for any number. It
// is called when all words that have a row of their own are open.
func (s *search) usual() int {
	if len(s.opt.DocFrequencies) != s.n || s.opt.Docs <= 0 {
		return 0
	}
	var docs []int
	for i, ok := range s.open {
		if ok {
			docs = append(docs, s.opt.DocFrequencies[i])
		}
	}
	words := usualWords * max(s.k, usualK)
	if len(docs) <= words {
		return 0
	}
	slices.Sort(docs)
	least := (usualTenths*max(s.opt.Docs, usualDocs) + 10*s.k - 1) / (10 * s.k) // rounded up
	return min(least, docs[len(docs)-words])
}

// shut takes a word out of the candidates.
func (s *search) shut(w int) {
	if s.open[w] {
		s.open[w] = false
		s.res.Candidates--
	}
}

// best returns the first of the open words with the largest value, up to ties; −1 if no
// value is positive.
func best(v []float64, open []bool, largest float64) int {
	top := 0.0
	for i, ok := range open {
		if ok {
			top = max(top, v[i])
		}
	}
	if top == 0 {
		return -1
	}
	bar := top - max(tie*top, tieFirst*largest)
	for i, ok := range open {
		if ok && v[i] >= bar {
			return i
		}
	}
	return -1
}

// preferred returns the farthest of the open words that are preferred, the first of equal
// ones, if it is nearly as far as w; otherwise w.
func (s *search) preferred(w int) int {
	if w < 0 {
		return w
	}
	near := (1 - s.opt.PreferTol) * (1 - s.opt.PreferTol) * s.u[w]
	at := -1
	for _, i := range s.opt.Prefer {
		if s.open[i] && s.u[i] >= near && (at < 0 || s.u[i] > s.u[at]) {
			at = i
		}
	}
	if at < 0 {
		return w
	}
	return at
}

// take adds an anchor to the result.
func (s *search) take(w int, norm float64) {
	s.res.Anchors, s.res.Norms = append(s.res.Anchors, w), append(s.res.Norms, norm)
	s.open[w] = false
	if s.opt.Progress != nil {
		s.opt.Progress(len(s.res.Anchors), s.k, norm)
	}
}

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
			size += float64(v * v)
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
