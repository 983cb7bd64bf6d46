package rectify

import (
	"math"
)

// Size is what is known of data before a fit: N words, M documents, and NNZ
// pairs of a document and a word in it. Docs and NNZ of 0 are unknown. Stream says
// that the documents are read in passes (cooc.Stream).
type Size struct {
	Words, Docs int
	NNZ         int64
	Stream      bool
}

// Cost is what a method will take, estimated before it starts.
type Cost struct {
	// Method is what will be run: for Auto, what it chooses.
	Method string
	// Bytes is by how much the process grows at the peak, beside what it is
	// given: what is needed at a time, and about as much again that the garbage
	// collector lets stand (GOGC = 100).
	Bytes int64
	// Kept is what remains of it afterwards, the result.
	Kept int64
	// Flops counts floating-point operations, additions and multiplications
	// each.
	Flops float64
	// Products counts the vectors that C is multiplied by, and Passes the
	// products with a block of them, which for a cooc.Stream are passes over the
	// documents.
	Products, Passes float64
	// Alternative is what takes less, "" where there is nothing in this package.
	Alternative string
}

// Entries estimates how many entries of C the projection on the non-negative
// matrices lifts in a matrix of rank K: the share 0.135·(K/50)^0.85/√q of all N²,
// at most half, where two words meet in q = NNZ²/(M·N²) documents in the mean. The
// rule was found on nips17 and kos, N = 1500 and 5000, K = 20 to 100, where
// between 1.4 and 20 % are lifted and it is at most 1.4 times as much and 3 % less. Of retail
// baskets, where few words are frequent, 42 to 47 % are lifted, up to four times
// what it says. Where NNZ is not known a twentieth is assumed, as Auto does.
func (s Size) Entries(k int) int64 {
	n := float64(s.Words)
	if s.NNZ <= 0 || s.Docs <= 0 {
		return int64(n * n / autoShare)
	}
	share := 0.135 * math.Pow(float64(k)/50, 0.85) * n * math.Sqrt(float64(s.Docs)) / float64(s.NNZ)
	return int64(n * n * min(0.5, share))
}

// autoShare: one in so many entries is what Auto assumes to be lifted.
const autoShare = 20

// mul is what a product of C with p vectors takes.
func (s Size) mul(p float64) float64 {
	if s.NNZ <= 0 {
		return 2 * float64(s.Words) * float64(s.Words) * p
	}
	return 4 * float64(s.NNZ) * p
}

// eigBytes estimates the memory of a cold eigenproblem: Lanczos's 2K + 50 vectors,
// Ritz vectors and blocks, with the garbage of its restarts.
func eigBytes(n, k int) int64 { return 14 * 8 * int64(n) * int64(k+guard) }

// eigWork is the work of a cold eigenproblem, in products and operations.
func eigWork(s Size, k int) (products, flops float64) {
	n, m := float64(s.Words), float64(2*k+guard+32)
	products = 2 * m
	return products, s.mul(products) + 8*n*m*m
}

// rectified is what YYᵀ + r·eeᵀ + E takes.
func rectified(n, k int, entries int64) int64 { return 8*int64(n)*int64(k) + 12*entries }

// iteration is the work of a step of AP or ENN: a lookup of rows rows, and 3.5
// products with K + 10 vectors.
func iteration(n, k, rows int, entries int64) float64 {
	p := float64(k + guard)
	return 2*float64(n)*float64(rows)*float64(k)/2 + 3.5*p*(4*float64(n)*float64(k)+2*float64(entries)) + 8*float64(n)*p*p
}

// Cost estimates what AP takes.
func (a AP) Cost(s Size, k int) Cost {
	c := Cost{Method: a.String(), Alternative: "rectify.LR{}"}
	n, e := s.Words, s.Entries(k)
	t := float64(a.iterations())
	if a.Dense {
		c.Bytes, c.Kept, c.Alternative = denseBytes(n, 4), denseBytes(n, 1), "rectify.AP{}"
		c.Products = t * float64(2*k+20)
		c.Passes, c.Flops = c.Products, c.Products*2*float64(n)*float64(n)
		return c
	}
	c.Bytes, c.Kept = eigBytes(n, k)+apBytes(n, k, e)-apBytes(n, k, 0), rectified(n, k, e)
	c.Products, c.Flops = eigWork(s, k)
	c.Passes = c.Products / 8
	c.Flops += t * iteration(n, k, n, e)
	return c
}

// Cost estimates what ENN takes, for 25 iterations where their number is left to
// convergence.
func (e ENN) Cost(s Size, k int) Cost {
	c := Cost{Method: e.String(), Alternative: "rectify.LR{}"}
	c.Products, c.Flops = eigWork(s, k)
	c.Passes = c.Products / 8
	bytes, flops := e.iterating(s, k)
	c.Bytes, c.Flops = eigBytes(s.Words, k)*12/7+bytes, c.Flops+flops
	c.Kept = e.kept(s, k)
	return c
}

func (e ENN) iterating(s Size, k int) (bytes int64, flops float64) {
	n := s.Words
	r := e.rows(n, k)
	inside := float64(s.Entries(k)) * (2 - float64(r)/float64(n)) * float64(r) / float64(n)
	t := float64(e.Iterations)
	if t == 0 {
		t = 25
	}
	return perEntry * int64(inside), t * iteration(n, k, r, int64(inside))
}

func (e ENN) kept(s Size, k int) int64 {
	if e.Sparse {
		return rectified(s.Words, k, s.Entries(k))
	}
	return rectified(s.Words, k, 0)
}

// Cost estimates what LR takes.
func (l LR) Cost(s Size, k int) Cost {
	over := l.Oversample
	if over == 0 {
		over = max(k, leastOver)
	}
	p, t := float64(min(s.Words, k+over)), float64(l.passes())
	bytes, flops := l.ENN.iterating(s, k)
	// The Krylov space, and what the collector lets stand of it.
	krylov := 3 * 8 * float64(s.Words) * p * (t + 3)
	c := Cost{Method: l.String(), Kept: l.ENN.kept(s, k), Products: t * p, Passes: t}
	c.Bytes = max(int64(krylov), apBytes(s.Words, k, 0)+bytes)
	c.Flops = s.mul(t*p) + 4*float64(s.Words)*p*p*t*t + flops
	return c
}

// Cost estimates what Auto takes: that of what it chooses.
func (a Auto) Cost(s Size, k int) Cost {
	ap, _ := a.choose(s.Words, k)
	if c, ok := ap.(AP); ok && !s.Stream && apBytes(s.Words, k, s.Entries(k)) <= a.limit() {
		return c.Cost(s, k)
	}
	return a.LR.Cost(s, k)
}

// Cost estimates what DR takes.
func (d DR) Cost(s Size, k int) Cost {
	n, e := s.Words, s.Entries(k)
	c := Cost{Method: d.String(), Alternative: "rectify.AP{} or rectify.LR{}", Kept: rectified(n, k, e)}
	c.Bytes = eigBytes(n, k)*10/7 + perEntry*4/3*e
	c.Products, c.Flops = eigWork(s, k)
	c.Passes = c.Products / 8
	c.Flops += float64(d.iterations()) * 2 * iteration(n, k, n, e)
	return c
}

// Cost estimates what Dykstra takes.
func (d Dykstra) Cost(s Size, k int) Cost {
	n := s.Words
	c := Cost{Method: d.String(), Alternative: "rectify.AP{}", Bytes: denseBytes(n, 4), Kept: denseBytes(n, 1)}
	c.Products = float64(d.iterations()) * float64(2*k+20)
	c.Flops, c.Passes = c.Products*2*float64(n)*float64(n), 1
	return c
}

// Cost estimates what PALM takes.
func (p PALM) Cost(s Size, k int) Cost {
	n := float64(s.Words)
	c := Cost{Method: p.String(), Alternative: "rectify.LR{}", Kept: rectified(s.Words, k, 0)}
	c.Bytes = eigBytes(s.Words, k) + 8*8*int64(s.Words)*int64(k)
	c.Products, c.Flops = eigWork(s, k)
	t := float64(p.iterations())
	c.Products += 2 * t * float64(k)
	c.Passes = c.Products / 8
	c.Flops += s.mul(2*t*float64(k)) + 8*t*n*float64(k)*float64(k)
	return c
}

// Cost estimates what DC takes.
func (d DC) Cost(s Size, k int) Cost {
	c := Cost{Method: d.String(), Bytes: eigBytes(s.Words, k), Kept: 16 * int64(s.Words)}
	c.Products = float64(d.permutations()) * float64(2*(3*k+30))
	c.Passes = c.Products / 2
	c.Flops = s.mul(c.Products) + float64(d.permutations())*8*float64(s.Words)*float64(k)*float64(k)
	return c
}

// Cost estimates what TruncatedEig takes.
func (e TruncatedEig) Cost(s Size, k int) Cost {
	c := Cost{Method: e.String(), Bytes: eigBytes(s.Words, k), Kept: rectified(s.Words, k, 0), Alternative: "rectify.LR{}"}
	c.Products, c.Flops = eigWork(s, k)
	c.Passes = c.Products / 8
	return c
}

// Cost of None: none.
func (None) Cost(Size, int) Cost { return Cost{Method: None{}.String()} }

// Bytes writes a number of bytes for people, as the errors of this package do.
func Bytes(b int64) string { return byteString(b) }
