package refine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// lumped is a start that has the planted topic 0 twice, as columns 0 and 3, and
// the planted topics 2 and 3 as one, in column 2.
func lumped(p *testutil.Planted) *mat.Dense {
	b := mat.DenseCopyOf(p.B)
	for i := range p.N {
		b.Set(i, 3, 0.9*p.B.At(i, 0)+0.1*p.B.At(i, 1))
		b.Set(i, 2, (p.B.At(i, 2)+p.B.At(i, 3))/2)
	}
	return b
}

// worst is the largest ℓ₁ distance of a planted topic from the nearest one of b.
func worst(p *testutil.Planted, b *mat.Dense) float64 {
	most := 0.0
	for k := range p.K {
		least := math.Inf(1)
		for l := range p.K {
			s := 0.0
			for i := range p.N {
				s += math.Abs(b.At(i, l) - p.B.At(i, k))
			}
			least = min(least, s)
		}
		most = max(most, least)
	}
	return most
}

// Passes do not find a topic that the start has not: it stays at an ℓ₁ distance of
// 0.8 from all. With a swap they come to 0.4 at least. Where all topics are there,
// none is swapped, however many may be, and no bit changes.
func TestPassesSwapsPlanted(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: many documents")
	}
	for seed, method := range []refine.Method{refine.CVB0, refine.MAPEM} {
		p := testutil.NewPlanted(150, 6, 0, 20+uint64(seed))
		c := drawn(t, p, 1500, 100, 30+uint64(seed))
		s := refine.Passes{N: 20, Method: method}
		start := refine.Start{B: lumped(p)}
		without := worst(p, fit(t, s, c.Source(), start, 0).B)
		s.Swaps = 1
		r := fit(t, s, c.Source(), start, 0)
		with := worst(p, r.B)
		t.Logf("%v: the farthest topic is at %.3f without, at %.3f with a swap", method, without, with)
		if without < 0.7 || r.Swaps != 1 || with > 0.4 {
			t.Errorf("%v: the farthest topic is at %v without swaps and at %v with %d", method, without, with, r.Swaps)
		}
		start.B, s.N = p.B, 8
		s.Swaps = 0
		want := fit(t, s, c.Source(), start, 0)
		s.Swaps = 2
		sameRefined(t, method.String()+", from the truth", want, fit(t, s, c.Source(), start, 0))
	}
}

// swap is Passes.Swaps word for word, one topic after the other, with all pairs
// of topics for merges. It returns how many swaps were made.
func (s *transcript) swap(most int) int {
	m, n, k := len(s.x), len(s.b), len(s.alpha)
	x := make([][][]float64, k) // topic, document, word
	size, total := grid(k, m), grid(k, n)
	for t := range x {
		x[t] = grid(m, n)
		for d := range m {
			for w, c := range s.x[d] {
				if c > 0 {
					v := c * s.plain(d, w)[t]
					x[t][d][w] = v
					size[t][d] += v
					total[t][w] += v
				}
			}
		}
	}
	lg := func(v float64) float64 { y, _ := math.Lgamma(v); return y }
	evidence := func(c []float64) float64 {
		sum, all := 0.0, 0.0
		for _, v := range c {
			sum += lg(v+s.beta) - lg(s.beta)
			all += v
		}
		return sum + lg(s.beta*float64(n)) - lg(s.beta*float64(n)+all)
	}
	sum := func(c []float64) float64 {
		all := 0.0
		for _, v := range c {
			all += v
		}
		return all
	}
	plus := func(a, b []float64, f float64) []float64 {
		c := make([]float64, len(a))
		for i := range c {
			c[i] = max(a[i]+f*b[i], 0)
		}
		return c
	}
	first, part, gain := make([][]bool, k), grid(k, n), make([]float64, k)
	for t := range k {
		long, weight, centre := 0, 0.0, make([]float64, n)
		for d := range m {
			if size[t][d] > size[t][long] {
				long = d
			}
			if size[t][d] >= 2 {
				weight += size[t][d]
				for w := range n {
					centre[w] += math.Sqrt(size[t][d] * x[t][d][w])
				}
			}
		}
		dir := make([]float64, n)
		for w := range n {
			centre[w] /= weight
			dir[w] = math.Sqrt(x[t][long][w]/size[t][long]) - centre[w]
		}
		along := func(d int) float64 {
			if size[t][d] < 2 {
				return 0
			}
			at, length := 0.0, 0.0
			for w, v := range dir {
				at += (math.Sqrt(x[t][d][w]) - math.Sqrt(size[t][d])*centre[w]) * v
				length += v * v
			}
			return at / math.Sqrt(length)
		}
		for range 3 {
			next := make([]float64, n)
			for d := range m {
				at := along(d)
				for w := range next {
					if size[t][d] >= 2 {
						next[w] += (math.Sqrt(x[t][d][w]) - math.Sqrt(size[t][d])*centre[w]) * at
					}
				}
			}
			dir = next
		}
		first[t] = make([]bool, m)
		for d := range m {
			first[t][d] = along(d) > 0
		}
		for step := range 3 {
			if step > 0 {
				rest := plus(total[t], part[t], -1)
				pa, ra := 0.0, 0.0
				for w := range n {
					pa += part[t][w] + s.beta
					ra += rest[w] + s.beta
				}
				for d := range m {
					l := 0.0
					for w, v := range x[t][d] {
						l += v * (math.Log((part[t][w]+s.beta)/pa) - math.Log((rest[w]+s.beta)/ra))
					}
					first[t][d] = l > 0
				}
			}
			clear(part[t])
			for d, in := range first[t] {
				if in {
					part[t] = plus(part[t], x[t][d], 1)
				}
			}
		}
		gain[t] = evidence(part[t]) + evidence(plus(total[t], part[t], -1)) - evidence(total[t])
		if in, all := sum(part[t]), sum(total[t]); min(in, all-in) <= 0.1*all {
			gain[t] = math.Inf(-1)
		}
	}
	used, done := make([]bool, k), 0
	for done < most {
		into, from, cost := -1, -1, math.Inf(1)
		for i := range k {
			for j := i + 1; j < k; j++ {
				if c := evidence(total[i]) + evidence(total[j]) - evidence(plus(total[i], total[j], 1)); !used[i] && !used[j] && c < cost {
					into, from, cost = i, j, c
				}
			}
		}
		split := -1
		for t := range k {
			if !used[t] && t != into && t != from && (split < 0 || gain[t] > gain[split]) {
				split = t
			}
		}
		if into < 0 || split < 0 || gain[split] <= cost {
			break
		}
		total[into], total[from], total[split] = plus(total[into], total[from], 1), plus(total[split], part[split], -1), part[split]
		for d, nd := range s.nd {
			nd[into], nd[from] = nd[into]+nd[from], 0
			if !first[split][d] {
				nd[from], nd[split] = nd[split], 0
			}
		}
		s.alpha[into] += s.alpha[from]
		s.alpha[split] /= 2
		s.alpha[from] = s.alpha[split]
		used[into], used[from], used[split] = true, true, true
		done++
	}
	if done == 0 {
		return 0
	}
	for t := range k {
		all := 0.0
		for _, v := range total[t] {
			all += v + s.beta
		}
		for w, v := range total[t] {
			s.b[w][t] = (v + s.beta) / all
			s.nw[w][t] = v
		}
	}
	for d := range m {
		s.setTheta(d)
	}
	return done
}

// The swaps equal their transcription, as the passes do. At K = 5 the 2K nearest pairs are all.
func TestPassesSwapsTranscript(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	made := 0
	for seed := range uint64(4) {
		for _, method := range []refine.Method{refine.CVB0, refine.MAPEM} {
			for _, temperature := range []float64{1, 1.4} {
				p := testutil.NewPlanted(40, 5, 0, 40+seed)
				c := drawn(t, p, 120, 40, 50+seed)
				b := lumped(p)
				s := refine.Passes{N: 5, Method: method, Alpha: 0.2, Beta: 0.07, Temperature: temperature, Smoothing: 0.03, FoldIn: 4, Swaps: 1 + int(seed%2)}
				got := fit(t, s, c.Source(), refine.Start{B: b}, 0)
				want := newTranscript(c, b, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 0.07, 1, 0.03, 4)
				swaps := 0
				for i := range 5 { // four are annealed: the swaps come after the third
					want.temp = 1
					if i < 4 {
						want.temp = temperature - (temperature-1)*float64(i)/4
					}
					want.pass(method == refine.CVB0 && i > 0 && want.temp == 1)
					if want.temp = 1; i == 2 { // they look at responsibilities at T = 1
						swaps = want.swap(s.Swaps)
					}
				}
				name := fmt.Sprintf("seed %d, %v, temperature %v: ", seed, method, temperature)
				if got.Swaps != swaps {
					t.Errorf("%s%d swaps, want %d", name, got.Swaps, swaps)
				}
				made += swaps
				for k, a := range want.alpha {
					near(t, name+"α", got.Alpha[k], a, rounding)
					for w := range want.b {
						near(t, name+"B", got.B.At(w, k), want.b[w][k], rounding)
					}
				}
			}
		}
	}
	if made < 8 {
		t.Errorf("%d swaps in 16 runs: too few to tell anything", made)
	}
}

// As TestPassesSameBits and TestPassesPermuted, with a swap.
func TestPassesSwapsSame(t *testing.T) {
	p := testutil.NewPlanted(200, 6, 0, 60)
	docs := 900
	if testutil.Race {
		docs = 200
	}
	c := drawn(t, p, docs, 40, 61)
	start := refine.Start{B: lumped(p)}
	for _, held := range []float64{0, 0.1} {
		s := refine.Passes{N: 6, HeldOut: held, Swaps: 2}
		want := fit(t, s, c.Source(), start, 1)
		if want.Swaps == 0 {
			t.Fatalf("held out %v: no swap was made", held)
		}
		name := fmt.Sprintf("held out %v", held)
		for _, workers := range []int{2, 5} {
			sameRefined(t, fmt.Sprintf("%s, %d workers", name, workers), want, fit(t, s, c.Source(), start, workers))
		}
		s.Scratch = t.TempDir()
		sameRefined(t, name+", in a file", want, fit(t, s, shuffled{c.Source()}, start, 2))
	}
	// Columns 0 and 3 keep their order: the first of two merged topics keeps its
	// number.
	topics, words := []int{2, 0, 5, 3, 1, 4}, make([]int, p.N)
	for i := range words {
		words[i] = (11*i + 3) % p.N
	}
	pc, err := c.Select(nil, words)
	if err != nil {
		t.Fatal(err)
	}
	pb := mat.NewDense(p.N, p.K, nil)
	for i, w := range words {
		for k, s := range topics {
			pb.Set(i, k, start.B.At(w, s))
		}
	}
	s := refine.Passes{N: 6, Swaps: 1}
	a, b := fit(t, s, c.Source(), start, 0), fit(t, s, pc.Source(), refine.Start{B: pb}, 0)
	if a.Swaps != 1 || b.Swaps != 1 {
		t.Fatalf("%d and %d swaps", a.Swaps, b.Swaps)
	}
	for i, w := range words {
		for k, s := range topics {
			near(t, "B", b.B.At(i, k), a.B.At(w, s), rounding)
		}
	}
}

// Topics without tokens, too few documents and too few topics to swap.
func TestPassesSwapsEdges(t *testing.T) {
	p := testutil.NewPlanted(20, 2, 0, 70)
	c := drawn(t, p, 30, 20, 71)
	for _, s := range []refine.Passes{{N: 5, Swaps: 3}, {N: 2, Swaps: 3}, {N: 1, Swaps: 3}} {
		r := fit(t, s, c.Source(), refine.Start{B: p.B}, 0)
		s.Swaps = 0
		sameRefined(t, fmt.Sprint(s), r, fit(t, s, c.Source(), refine.Start{B: p.B}, 0))
		if r.Swaps != 0 {
			t.Errorf("%v: %d swaps of two topics", s, r.Swaps)
		}
	}
	one, err := c.Select([]int{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := mat.NewDense(20, 8, nil) // more topics than one document has words for
	for i := range 20 {
		for k := range 8 {
			b.Set(i, k, 1.0/20)
		}
	}
	r := fit(t, refine.Passes{N: 6, Swaps: 8, Beta: 1e-3}, one.Source(), refine.Start{B: b}, 0)
	if sum := mat.Sum(r.B); math.Abs(sum-8) > 1e-9 || slices.ContainsFunc(r.B.RawMatrix().Data, func(v float64) bool { return !(v > 0) }) {
		t.Errorf("topics of one document sum to %v", sum)
	}
}
