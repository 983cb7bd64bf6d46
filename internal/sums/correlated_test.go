package sums

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/logisticnormal"
)

// correlatedOver returns a pass over the documents of l under a logistic-normal prior.
func correlatedOver(t *testing.T, l list, k int, task Task) *Correlated {
	t.Helper()
	p := passOver(l, k, task)
	p.Pairs, p.Hide, p.Leave, p.Steps = nil, false, false, 5
	mean, cov := make([]float64, k), mat.NewSymDense(k, nil)
	for i := range k {
		mean[i] = 0.3 * float64(i%3)
		cov.SetSym(i, i, 1.5)
		if i > 0 {
			cov.SetSym(i, i-1, 0.4)
		}
	}
	prior, err := logisticnormal.From(mean, cov, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	return &Correlated{Pass: p, Prior: prior, Turn: 3, Informs: 2}
}

// byFamily returns a pass over the documents of l under a prior of four families of k topics, of which
// documents have some.
func byFamily(t *testing.T, l list, k int, task Task) *Correlated {
	t.Helper()
	c := correlatedOver(t, l, 4, task)
	p := passOver(l, k, task)
	p.Pairs, p.Hide, p.Least = nil, false, 2
	c.Pass = p
	for i := range k {
		c.Families = append(c.Families, (i*7)%4)
	}
	return c
}

// An encoded plan adds up to the same, and is encoded to the same; a damaged one is an error.
func TestCorrelatedCode(t *testing.T) {
	l := random(60, 80)
	docs := NewLocal(l.encode(t), 1)
	for _, k := range []int{4, 20, 40} {
		for _, task := range []Task{Learn, Finish} {
			p := correlatedOver(t, l, k, task)
			if k == 40 {
				p = byFamily(t, l, k, task)
			}
			b, err := p.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			q, err := ReadPlan(b)
			if err != nil {
				t.Fatal(err)
			}
			again, err := q.MarshalBinary()
			if err != nil || !bytes.Equal(again, b) {
				t.Errorf("%d topics: another encoding, %v", k, err)
			}
			want, got := sumOf(t, docs, p), sumOf(t, docs, q)
			if !slices.Equal(want, got) {
				t.Errorf("%d topics, task %d: another sum", k, task)
			}
			a, m, err := p.Read(want)
			if err != nil {
				t.Fatal(err)
			}
			tokens, counts := 0.0, make([]float64, k)
			for i := range l.n {
				a.Counts(i, counts)
				for _, v := range counts {
					tokens += v
				}
			}
			if want := float64(p.Pass.tokens()); task == Learn && math.Abs(tokens-want) > 1e-4*want {
				t.Errorf("%d topics: %v tokens, want %v", k, tokens, want)
			}
			if m != nil && (math.Abs(m.Weight-float64(p.Pass.Docs)) > 1e-6 || !(m.Full > m.Observed && m.Observed > 0)) {
				t.Errorf("%d topics: weight %v of %d documents, information %v of %v", k, m.Weight, p.Pass.Docs, m.Observed, m.Full)
			}
			if task == Finish {
				if s := mat.Sum(a.Moments()); math.Abs(s-float64(p.Pass.Docs)) > 1e-4*s {
					t.Errorf("%d topics: moments of the sum %v, want %d", k, s, p.Pass.Docs)
				}
			}
			for cut := range 40 {
				if _, err := readCorrelated(b[planHeader : planHeader+cut]); err == nil {
					t.Errorf("%d topics: no error for %d bytes", k, cut)
				}
			}
		}
	}
}
