package refine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

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
		b, err := Batch{Correlated: 12}.Refine(t.Context(), c.Source(), start, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if sum := mat.Sum(b.A); b.Correlated != b.Passes || !slices.Equal(b.Prior.Families, start.Prior.Families) || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s, Batch: %d of %d passes under the prior, families %v, A sums to %v", name, b.Correlated, b.Passes, b.Prior.Families, sum)
		}
		if got, passes := slopeOf(byFamily(b.A, each), want), slopeOf(byFamily(r.A, each), want); length > 10 && math.Abs(got-passes) > 0.1 {
			t.Errorf("Batch: slope %.3f of the correlations; Passes have %.3f", got, passes)
		} else {
			t.Logf("%s, Batch: slope %.3f; Passes have %.3f", name, got, passes)
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
	if _, err := (Passes{N: 1, Correlated: -1}).Refine(t.Context(), c.Source(), mixed, Options{}); err != nil { // it is not used
		t.Error(err)
	}
}
