package infer

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/vec"
)

// MAP infers topic proportions by deterministic steps under a Dirichlet prior α
// (Asuncion and others, On smoothing and inference for topic models, UAI 2009). A
// step shares each token out among the topics in proportion to
//
//	p(word | topic k)·(α_k + n_k),
//
// where n_k are the tokens that the topic got in the previous step. The topic
// proportions are α + n divided by its sum. By default (CVB0) a token's own share is
// left out of the n_k that it is shared out by. With EM it is not: the fixed point is
// then the maximum a posteriori estimate under Dirichlet(α + 1).
//
// The steps converge linearly. Once no share changes by more than 100·Tol, every
// third step is followed by an extrapolation from the last three (SQUAREM: Varadhan
// and Roland, Simple and globally convergent methods for accelerating the convergence
// of any EM algorithm, Scandinavian Journal of Statistics 35, 2008), as long as this
// makes the steps smaller. The fixed points stay the same.
//
// Doc.Iterations counts steps. Cost of a step: the nonzeros in the document's rows of
// B; nothing depends on N. Memory: 20 bytes for each of them, per goroutine.
type MAP struct {
	// EM takes the steps of the EM algorithm instead of those of CVB0.
	EM bool

	// Steps is the most steps taken; 0 means 50.
	Steps int

	// Tol, in [0, 1), ends the steps when no topic proportion changes by more; 0
	// means 1e-5.
	Tol float64
}

func (m MAP) fill() (MAP, error) {
	switch {
	case m.Steps < 0:
		return m, &SettingError{"MAP", "Steps", float64(m.Steps), "≥ 1, or 0 for 50"}
	case !(m.Tol >= 0 && m.Tol < 1):
		return m, &SettingError{"MAP", "Tol", m.Tol, "in (0, 1), or 0 for 1e-5"}
	}
	if m.Steps == 0 {
		m.Steps = 50
	}
	if m.Tol == 0 {
		m.Tol = 1e-5
	}
	return m, nil
}

func (m MAP) String() string {
	q, err := m.fill()
	if err != nil {
		q = m
	}
	form := "CVB0"
	if q.EM {
		form = "EM"
	}
	return fmt.Sprintf("MAP(%s, steps=%d, tol=%g)", form, q.Steps, q.Tol)
}

// Prepare implements Method. It needs t.Alpha or t.A. O(NK).
func (m MAP) Prepare(ctx context.Context, t Topics, opt Options) (_ *Inferer, err error) {
	defer named(&err)
	q, err := m.fill()
	if err != nil {
		return nil, err
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	alpha, err := c.alpha()
	if err != nil {
		return nil, err
	}
	return newInferer(m.String(), c, &mapEM{q, c.rows, alpha, vec.Sum(alpha)}), ctx.Err()
}

type mapEM struct {
	MAP
	rows  *rows
	alpha []float64
	sum   float64 // of alpha
}

const (
	// near·Tol is the change of a step from which on steps are extrapolated.
	near = 100
	// farthest bounds the extrapolation, in steps.
	farthest = 32
)

type mapScratch struct {
	t, next     []float64 // K: α + n
	first, then []float64 // K: t of the first two of three steps

	// The entries of B in the rows of the document's words: those of word i are
	// from ptr[i] to ptr[i+1].
	ptr   []int
	topic []int32
	val   []float64
	gamma []float64 // the tokens that a word has in a topic
	own   []float64 // for each word, the part of γ that is left out of t
}

func (m *mapEM) scratch() any {
	k := len(m.alpha)
	x := make([]float64, 4*k)
	return &mapScratch{t: x[:k:k], next: x[k : 2*k : 2*k], first: x[2*k : 3*k : 3*k], then: x[3*k:]}
}

// gather collects the entries of B, with γ = 0.
func (m *mapEM) gather(s *mapScratch, d *document) {
	s.ptr, s.topic, s.val, s.own = append(s.ptr[:0], 0), s.topic[:0], s.val[:0], s.own[:0]
	for i, w := range d.ids {
		idx, val := m.rows.row(w)
		s.topic, s.val = append(s.topic, idx...), append(s.val, val...)
		s.ptr = append(s.ptr, len(s.topic))
		own := 0.0
		if !m.EM { // γ holds all tokens of the word; one of less than a token leaves out all of itself
			own = min(1/d.x[i], 1)
		}
		s.own = append(s.own, own)
	}
	s.gamma = slices.Grow(s.gamma[:0], len(s.topic))[:len(s.topic)]
	clear(s.gamma)
}

func (m *mapEM) infer(dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*mapScratch)
	m.gather(s, d)
	total := m.sum + d.n
	for k, a := range m.alpha { // the mean proportions
		s.t[k] = a / m.sum * total
	}
	limit := near * m.Tol * total // of the change of a step, for extrapolation
	kept := 0                     // steps since then
	for it := 1; ; it++ {
		copy(s.next, m.alpha)
		s.step(d.x)
		change := 0.0
		for k, v := range s.next {
			change = max(change, math.Abs(v-s.t[k]))
		}
		s.t, s.next = s.next, s.t
		if change <= m.Tol*total || it == m.Steps {
			copy(dst, s.t)
			vec.Normalise(dst)
			if change <= m.Tol*total {
				return Converged, it, nil
			}
			return IterationLimit, it, nil
		}
		switch {
		case kept == 0 && change <= limit:
			limit = change // of the step after the next extrapolation
			copy(s.first, s.t)
			kept = 1
		case kept == 1:
			copy(s.then, s.t)
			kept = 2
		case kept == 2:
			m.extrapolate(s)
			kept = 0
		}
	}
}

// extrapolate continues along the last two steps, which led to t.
func (m *mapEM) extrapolate(s *mapScratch) {
	rr, vv := 0.0, 0.0
	for k, x := range s.t {
		r := s.then[k] - s.first[k]
		v := x - s.then[k] - r
		rr += r * r
		vv += v * v
	}
	if !(rr > vv) { // no farther than the steps have led
		return
	}
	c := min(math.Sqrt(rr/vv), farthest)
	for k, x := range s.t {
		r := s.then[k] - s.first[k]
		v := x - s.then[k] - r
		s.t[k] = max(s.first[k]+2*c*r+c*c*v, m.alpha[k])
	}
}

// step shares out the tokens x of the words by t and γ, and adds them to next.
func (s *mapScratch) step(x []float64) {
	t, next := s.t, s.next
	for i, n := range x {
		lo, hi := s.ptr[i], s.ptr[i+1]
		topic := s.topic[lo:hi]
		val, g, own := s.val[lo:hi][:len(topic)], s.gamma[lo:hi][:len(topic)], s.own[i]
		den := 0.0
		for j, k := range topic {
			v := val[j] * (t[k] - own*g[j])
			if v < 0 { // max would look for NaN
				v = 0
			}
			g[j] = v
			den += v
		}
		if !(den > 0) { // all of t there was this word's own, which α > 0 leaves to rounding
			for j, k := range topic {
				g[j] = val[j] * t[k]
				den += g[j]
			}
		}
		r := n / den
		for j, k := range topic {
			v := g[j] * r
			g[j] = v
			next[k] += v
		}
	}
}
