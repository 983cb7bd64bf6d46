package refine

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/logisticnormal"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

// unknown is a start with families of so many neighbours, and a prior that says nothing of them.
func unknown(p *testutil.Planted, each int) Start {
	cov := mat.NewSymDense(p.K/each, nil)
	for f := range p.K / each {
		cov.SetSym(f, f, 4)
	}
	of := make([]int, p.K)
	for t := range of {
		of[t] = t / each
	}
	return Start{
		B: p.B, Tree: &recovery.Tree{Groups: [][]int{of}},
		Prior: &recovery.LogisticNormal{Mean: make([]float64, p.K/each), Covariance: cov, Families: of, Information: 0.75},
	}
}

// byFamily adds up the rows and columns of A.
func byFamily(a *mat.Dense, each int) *mat.Dense {
	k, _ := a.Dims()
	out := mat.NewDense(k/each, k/each, nil)
	for i := range k {
		for j := range k {
			out.Set(i/each, j/each, out.At(i/each, j/each)+a.At(i, j))
		}
	}
	return out
}

// From the true topics, passes under a prior of families give the correlations of these back, of
// documents with some topics and with all; those under a Dirichlet prior shrink them.
func TestFamiliesPlanted(t *testing.T) {
	testutil.NotWithRace(t)
	const each = 8
	p := testutil.NewPlantedTree(6, each, 5)
	for name, length := range map[string]int{"some topics": 60, "all topics": 9} {
		docs := 2000
		if length < 10 {
			docs = 200
		}
		c, want := correlatedDocs(t, p, each, docs, length)
		start := unknown(p, each)
		r, err := Passes{Correlated: 12}.Refine(t.Context(), c.Source(), start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (r.Counts != nil) != (length < 10) || r.Correlated != r.Passes || !slices.Equal(r.Prior.Families, start.Prior.Families) || r.Prior.Validate(p.K) != nil {
			t.Errorf("%s: counts %v, %d of %d passes under the prior, families %v", name, r.Counts != nil, r.Correlated, r.Passes, r.Prior.Families)
		}
		if s := mat.Sum(r.A); math.Abs(s-1) > 1e-12 || !mat.EqualApprox(r.A, r.A.T(), 0) {
			t.Errorf("%s: A sums to %v, or is not symmetric", name, s)
		}
		if length < 10 {
			continue
		}
		start.Prior = nil
		dirichlet, err := Passes{N: 12, Correlated: -1}.Refine(t.Context(), c.Source(), start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		with, without := slopeOf(byFamily(r.A, each), want), slopeOf(byFamily(dirichlet.A, each), want)
		t.Logf("slopes %.3f and %.3f", with, without)
		if off := math.Abs(with - 1); off > 0.1 || off > (1-without)/2 {
			t.Errorf("slope %.3f of the correlations, %.3f without a prior that knows them; want 1, and less", with, without)
		}
	}
}

// The same bits for any number of workers and with the state in files, for topics that are split and
// for those of a start with a prior, whose numbers are in any order.
func TestFamiliesSameBits(t *testing.T) {
	testutil.NotWithRace(t)
	const each = 11
	p := testutil.NewPlantedTree(12, each, 3)
	if p.K <= ofTopics {
		t.Fatal("too few topics")
	}
	c, _ := correlatedDocs(t, p, each, 400, 40)
	run := func(s Passes, start Start) *Result {
		t.Helper()
		var first *Result
		for _, workers := range []int{1, 3} {
			s.Scratch = ""
			if workers == 3 {
				s.Scratch = t.TempDir()
			}
			r, err := s.Refine(t.Context(), c.Source(), start, Options{K: p.K, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			} else if !mat.Equal(r.A, first.A) || !mat.Equal(r.B, first.B) || !mat.Equal(r.Reading, first.Reading) || !mat.Equal(r.Prior.Covariance, first.Prior.Covariance) || !slices.Equal(r.Prior.Mean, first.Prior.Mean) {
				t.Error("three workers with files differ from one")
			}
		}
		return first
	}
	s := Passes{N: 4, Correlated: 2}
	r := run(s, Start{B: Families(p, each)})
	if len(r.Prior.Mean) != 12 || !slices.Equal(r.Prior.Families, r.Tree.Groups[0]) {
		t.Errorf("%d logits, families %v of the tree %v", len(r.Prior.Mean), r.Prior.Families, r.Tree)
	}
	// Another order of the topics: blocks have other topics then.
	order := rand.New(rand.NewPCG(1, 2)).Perm(p.K)
	mixed := Start{B: mat.NewDense(p.N, p.K, nil), Tree: &recovery.Tree{Groups: [][]int{make([]int, p.K)}}}
	prior := *r.Prior
	prior.Families = make([]int, p.K)
	mixed.Prior = &prior
	for to, from := range order {
		prior.Families[to], mixed.Tree.Groups[0][to] = r.Prior.Families[from], r.Tree.Groups[0][from]
		for w := range p.N {
			mixed.B.Set(w, to, r.B.At(w, from))
		}
	}
	m := run(s, mixed)
	if m.Passes != 2 || !slices.Equal(m.Prior.Families, prior.Families) {
		t.Errorf("%d passes, families %v", m.Passes, m.Prior.Families)
	}
	if _, err := (Batch{}).Refine(t.Context(), c.Source(), mixed, Options{}); err == nil || !strings.Contains(err.Error(), "families") {
		t.Errorf("Batch: %v", err)
	}
	if _, err := (Passes{N: 1, Correlated: -1}).Refine(t.Context(), c.Source(), mixed, Options{}); err != nil { // it is not used
		t.Error(err)
	}
}

// E[θθᵀ] of documents with some blocks of topics is that of their definition.
func TestMoments(t *testing.T) {
	const k, families = 37, 4
	rng := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{1, families} {
		s := &topics{k: k, alpha: 0.3}
		if n > 1 {
			s.family = make([]int, k)
			for i := range s.family {
				s.family[i] = rng.IntN(n)
			}
			s.normal = logisticnormal.New(slices.Repeat([]float64{0.25}, n))
		}
		of := s.family
		if n == 1 {
			of = make([]int, k)
		}
		m, want := s.newMoments(), mat.NewDense(k, k, nil)
		for _, blocks := range [][]uint16{{0}, {2}, {0, 2}, {1, 2}, nil} {
			columns := 16 * len(blocks)
			if blocks == nil {
				columns = k
			}
			tokens, all := make([]float32, columns), make([]float64, k)
			for i := range tokens {
				c := i
				if blocks != nil {
					c = 16*int(blocks[i/16]) + i%16
				}
				if c < k && rng.IntN(3) > 0 {
					tokens[i] = 4 * rng.Float32()
					all[c] = float64(tokens[i])
				}
			}
			shares := [2][]float64{{1}, {0}}
			if n > 1 {
				shares = [2][]float64{make([]float64, n), make([]float64, n)}
				for f := range n {
					shares[0][f], shares[1][f] = rng.Float64(), rng.Float64()
				}
			}
			weight, sums := 0.5+rng.Float64(), make([]float64, n)
			for i, v := range all {
				sums[of[i]] += v + s.alpha
			}
			for i := range k {
				for j := range k {
					f, g := of[i], of[j]
					both := shares[0][f]*shares[0][g] + shares[1][f]*shares[1][g]
					x, y := all[i]+s.alpha, all[j]+s.alpha
					v := x * y / (sums[f] * sums[g])
					if f == g {
						v = x * y / (sums[f] * (sums[f] + 1))
					}
					if i == j {
						v += x / (sums[f] * (sums[f] + 1))
					}
					want.Set(i, j, want.At(i, j)+weight*both*v)
				}
			}
			m.document(tokens, blocks, shares, weight)
		}
		if got := m.matrix(); !mat.EqualApprox(got, want, 1e-12) {
			t.Errorf("%d families: %v, want %v", n, mat.Formatted(got), mat.Formatted(want))
		}
	}
}
