package infer

import (
	"context"
	"fmt"
	"math"
)

// MAP folds a document in by deterministic steps under a Dirichlet prior α
// (Asuncion and others: On smoothing and inference for topic models, UAI 2009).
// A step shares each token out among the
// topics in proportion to
//
//	p(word | topic k)·(α_k + n_k),
//
// n_k being the tokens the topic has from the step before, and the composition is
// α + n, divided by its sum. By default (CVB0) a token's own share is left out of
// the n_k that it is shared out by; with EM it is not, which is the fixed point of
// the maximum a posteriori estimate under Dirichlet(α + 1).
//
// Doc.Iterations counts steps. Cost a step: the nonzeros of the document's rows
// of B; nothing depends on N. Memory: 16 bytes for each of them, a goroutine.
type MAP struct {
	// EM takes plain steps instead of CVB0.
	EM bool

	// Steps bounds the steps; 0 means 50.
	Steps int

	// Tol ends them when no share of the composition changes by more; 0 means
	// 1e-5, negative is refused.
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

// Prepare implements Method; it takes Topics.Alpha, or α from Topics.A. O(NK).
func (m MAP) Prepare(ctx context.Context, t Topics, opt Options) (*Inferer, error) {
	q, err := m.fill()
	if err != nil {
		return nil, err
	}
	c, err := check(t)
	if err != nil {
		return nil, err
	}
	alpha, err := c.alpha("MAP")
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for _, v := range alpha {
		sum += v
	}
	return newInferer(m.String(), c, &mapEM{q, c.rows, alpha, sum}), ctx.Err()
}

type mapEM struct {
	MAP
	rows  *rows
	alpha []float64
	sum   float64 // of alpha
}

type mapScratch struct {
	t, next []float64 // K: α + n
	gamma   []float64 // CVB0: the tokens each word has in each of its topics
}

func (m *mapEM) scratch() any {
	k := len(m.alpha)
	return &mapScratch{t: make([]float64, k), next: make([]float64, k)}
}

func (m *mapEM) infer(dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*mapScratch)
	total := m.sum + d.n
	for k, a := range m.alpha { // the mean composition
		s.t[k] = a / m.sum * total
	}
	s.gamma = s.gamma[:0]
	for it := 1; ; it++ {
		copy(s.next, m.alpha)
		if m.EM || it == 1 {
			m.em(s, d, !m.EM)
		} else {
			m.cvb0(s, d)
		}
		change := 0.0
		for k, v := range s.next {
			change = max(change, math.Abs(v-s.t[k]))
		}
		s.t, s.next = s.next, s.t
		st := Converged
		if change > m.Tol*total {
			if it < m.Steps {
				continue
			}
			st = IterationLimit
		}
		copy(dst, s.t)
		normalise(dst)
		return st, it, nil
	}
}

// em adds the tokens of each topic to next. If keep is set, it also notes how
// each word was shared out.
func (m *mapEM) em(s *mapScratch, d *document, keep bool) {
	for i, w := range d.ids {
		idx, val := m.rows.row(w)
		den := 0.0
		for j, k := range idx {
			den += val[j] * s.t[k]
		}
		r := d.x[i] / den
		for j, k := range idx {
			v := r * val[j] * s.t[k]
			s.next[k] += v
			if keep {
				s.gamma = append(s.gamma, v)
			}
		}
	}
}

// cvb0 is em with the share of one token of the word left out of t.
func (m *mapEM) cvb0(s *mapScratch, d *document) {
	at := 0
	for i, w := range d.ids {
		idx, val := m.rows.row(w)
		g := s.gamma[at : at+len(idx)]
		at += len(idx)
		one := 1 / d.x[i] // γ holds all tokens of the word
		if d.x[i] < 1 {
			one = 1 // a word of less than a token leaves out all of itself
		}
		den := 0.0
		for j, k := range idx {
			v := val[j] * max(s.t[k]-one*g[j], 0)
			g[j] = v
			den += v
		}
		if !(den > 0) { // all of t there was this word's own, which α > 0 leaves to rounding
			for j, k := range idx {
				g[j] = val[j] * s.t[k]
				den += g[j]
			}
		}
		r := d.x[i] / den
		for j, k := range idx {
			g[j] *= r
			s.next[k] += g[j]
		}
	}
}
