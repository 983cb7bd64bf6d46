package rectify

import (
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/run"
)

// Size is what is known of data before a fit: N words, M documents, and NNZ
// pairs of a document and a word in it. Docs and NNZ of 0 are unknown. Stream says
// that the documents are read in passes (cooc.Stream).
type Size struct {
	Words, Docs int
	NNZ         int64
	Stream      bool
	// Sets says that no word occurs twice in a document: baskets, tags, listeners.
	Sets bool
	// Lifted is how many entries of C a fit of nearly the same data lifted at most
	// (the largest of Result.Nonzeros, of AP); 0: not known, see Entries.
	Lifted int64
	// Workers is the number of goroutines, each of which takes some memory of its
	// own; 0 means GOMAXPROCS.
	Workers int
}

// Cost is what a method will take, estimated before it starts.
type Cost struct {
	// Method is what will be run: for Auto, what it chooses.
	Method string
	// InUse is how many bytes are needed at a time, beside what the method is
	// given, and Steps how that comes about.
	InUse int64
	Steps []Step
	// Bytes is by how much the process grows at the peak, garbage included: Peak
	// of the Steps, with nothing given.
	Bytes int64
	// Kept is what remains of it afterwards, the result, and LowRank tells that
	// this is YYᵀ alone, of which cooc.NewRows makes rows of K numbers.
	Kept    int64
	LowRank bool
	// Entries is what the largest of Result.Nonzeros was taken for; 0 where the
	// method has none, or counts others.
	Entries int64
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

// Step is a part of the work: how many bytes it allocates, and how many are in use
// at its end. In between their number changes evenly. Collected says that what is garbage
// at its end is collected then, come what may.
type Step struct {
	Allocated, InUse int64
	Collected        bool
}

// Peak returns by how many bytes a process grows at most in the steps, one after
// the other, under the default garbage collection (GOGC = 100), if given bytes are in
// use beside.
//
// When the collector has last looked, x bytes of the steps were in use. It comes
// again before there are 2·(given + x); and what there is by now is at most x and what
// was allocated since. The peak is the most that the smaller of the two can be, over all
// moments at which it can have looked.
func Peak(given int64, steps []Step) int64 {
	peak, use := 0.0, 0.0
	for len(steps) > 0 {
		n := 1 + slices.IndexFunc(steps, func(s Step) bool { return s.Collected })
		if n == 0 {
			n = len(steps)
		}
		peak = max(peak, peakOf(float64(given), use, steps[:n]))
		use = float64(steps[n-1].InUse)
		steps = steps[n:]
	}
	return whole(peak)
}

// peakOf is Peak of steps that begin with use bytes in use and no garbage.
func peakOf(given, use float64, steps []Step) (peak float64) {
	left := 0.0 // to be allocated yet
	for _, s := range steps {
		left += float64(s.Allocated)
	}
	looked := func(use, left float64) { peak = max(peak, min(given+2*use, use+left)) }
	looked(use, left)
	for _, s := range steps {
		more, made := float64(s.InUse)-use, float64(s.Allocated)
		// In the part f of the step the bounds meet: given + 2u = u + l,
		// u = use + f·more, l = left − f·made.
		if f := (left - given - use) / (more + made); f > 0 && f < 1 {
			looked(use+f*more, left-f*made)
		}
		use, left = use+more, left-made
		looked(use, left)
		peak = max(peak, use)
	}
	return peak
}

// path is the steps of a method.
type path []Step

// to adds a step.
func (p path) to(use, made float64) path {
	return append(p, Step{InUse: whole(use), Allocated: whole(made)})
}

// remember fills in the bytes; in the end kept remain.
func (c *Cost) remember(p path, kept float64) {
	c.Steps, c.Kept = p.to(kept, 0), whole(kept)
	for _, s := range c.Steps {
		c.InUse = max(c.InUse, s.InUse)
	}
	c.Bytes = Peak(0, c.Steps)
}

// whole converts a number of bytes; far too many are an eighth of what an int64
// holds, so that several can be added.
func whole(x float64) int64 { return int64(min(x, math.MaxInt64/8)) }

// Entries estimates how many entries of C the projection on the non-negative
// matrices lifts at most in a matrix of rank K: Lifted, where that is known, or else
// by an empirical rule. Where two words meet in q = NNZ²/(M·N²) documents in the
// mean, it is the share 0.01 + 0.16·(K/50)^0.75/√q of all N², and for Sets
// 0.38·(K/50)^0.05/q^¼, at most 0.52.
//
// The truth depends on the spectrum, which is not known before. Of nips17, kos and
// bbc, 1000 to 5000 words and K = 10 to 100, between 0.8 and 20 % are lifted: the
// rule says 1.0 to 2 times as many for K ≥ 50, more for fewer topics, of which few
// are lifted, and for 1000 words of bbc and K = 10 a tenth too few. Of retail and
// lastfm, which are sets, it is 14 to 50 %, and the rule says 1.0 to 2 times that. Of
// reviews (imdb), in which topics are faint, as little as a quarter or a tenth of what
// the rule says. Where NNZ is not known a tenth is assumed, as Auto does.
func (s Size) Entries(k int) int64 {
	n := float64(s.Words)
	if s.Lifted > 0 {
		return int64(min(float64(s.Lifted), n*n))
	}
	if s.NNZ <= 0 || s.Docs <= 0 {
		return int64(min(n*n/autoShare, math.MaxInt64/1024))
	}
	q := float64(s.NNZ) / float64(s.Docs) / n * float64(s.NNZ) / n
	share := 0.01 + 0.16*math.Pow(float64(k)/50, 0.75)/math.Sqrt(q)
	if s.Sets {
		share = 0.38 * math.Pow(float64(k)/50, 0.05) / math.Sqrt(math.Sqrt(q))
	}
	return int64(min(n*n*min(0.52, share), math.MaxInt64/1024)) // bytes must fit too
}

// autoShare: one in so many entries is what Auto assumes to be lifted.
const autoShare = 10

// mul is the work of a product of C with p vectors.
func (s Size) mul(p float64) float64 {
	if s.NNZ <= 0 {
		return 2 * float64(s.Words) * float64(s.Words) * p
	}
	return 4 * float64(s.NNZ) * p
}

// strip is what such a product takes: one number for each document and vector, of
// at most 64 vectors at a time; of a stream, two chunks of documents and one number
// for each of these and all vectors, and half as much that they have outgrown.
func (s Size) strip(p int) float64 {
	if s.Stream {
		const docs, counts = 8192, 1 << 18
		return 3 * (24*min(float64(s.NNZ), max(counts, 4*float64(s.Words))) + 8*min(float64(s.Docs), docs)*float64(p))
	}
	return 8 * float64(s.Docs) * float64(min(p, 64))
}

// The counts below are those of what the code allocates, with n words, k topics and
// p vectors in a block. What cannot be known before is taken as it was found on
// nips17, kos, bbc, retail and lastfm.
const (
	// restarts of a cold eigenproblem: 2 or 3 on texts, up to 6 on baskets.
	restarts = 3
	// warmSteps of a warm-started one: a product with p vectors each.
	warmSteps = 3.5
	// ennIterations are made where their number is left to convergence: 25 to 35.
	ennIterations = 30
	// meanEntries is the share of the most lifted entries that are lifted in the
	// mean over the iterations of AP, and meanInside that of ENN.
	meanEntries, meanInside = 0.7, 0.5
)

// block is how many vectors a warm-started eigenproblem has.
func block(n, k int) int { return min(n, (k+guard+7)/8*8) }

// small is what the arrays take of an eigenproblem of n vectors, garbage.
func small(n float64) float64 { return 56 * n * n }

// lanczos is a cold eigenproblem: the vectors multiplied by, in how many blocks, the
// work beside these products, and the memory.
func lanczos(s Size, pairs, need int) (products, passes, flops float64, p path) {
	size, b := pairs+need+32, 8
	if s.Words < 8*size {
		b = 1
	}
	n, m := float64(s.Words), float64(min(s.Words, (size+b-1)/b*b))
	keep := min(m-float64(b), (float64(pairs)+m)/2)
	products = m + restarts*(m-keep)
	flops = 4*n*m*m + restarts*(2*n*m*keep+8*n*m*(m-keep)) + 2*n*m*float64(pairs) + (restarts+1)*9*m*m*m
	use := 8*n*(m+3*float64(b)+keep) + small(m) + s.strip(b)
	p = p.to(use, use).to(use, 8*n*((restarts-1)*keep+2*float64(pairs))+restarts*small(m)+16*m*m+s.strip(b))
	return products, products / float64(b), flops, p.to(8*n*float64(pairs), 0)
}

// cold adds the eigenproblem that all exact methods begin with.
func (c *Cost) cold(s Size, k int) path {
	products, passes, flops, p := lanczos(s, block(s.Words, k), k)
	c.Products, c.Passes = products, passes
	c.Flops = s.mul(products) + flops
	return p
}

// warmWork is that of a warm-started eigenproblem of YYᵀ + r·eeᵀ + E and of the
// comparison of its Y with the one before.
func warmWork(n, k int, entries float64) float64 {
	N, K, p := float64(n), float64(k), float64(block(n, k))
	return warmSteps*p*(4*N*K+2*entries) + 13.5*N*p*p + 10*p*p*p + 10*N*K*K
}

// iterating is what the iterations need at a time but for E and what looks for it,
// and the garbage that they make.
func iterating(n, k, iterations int) (use, garbage float64) {
	N, K, p := float64(n), float64(k), float64(block(n, k))
	use = 32*N*p + 24*N*K + 16*float64(min(n, changeRows))*K + small(p) + 400*N
	garbage = warmSteps*(12*N+24*K*p) + 4*N*K + 1.2*small(p) + 200*p*p + 160*K*K + 32*N
	return use, 8*N*K + garbage*float64(iterations)
}

// looking is the memory in which so many chunks of rows, with entries each in a
// row, are looked up at a time, and the garbage until it is large enough.
func looking(n int, chunks, entries float64) (use, garbage float64) {
	found := 12 * scanRows * entries
	return chunks * (384*float64(n+32) + 1.25*found), chunks * 1.75 * found
}

// rectified is what YYᵀ + r·eeᵀ + E takes.
func rectified(n, k int, entries int64) float64 {
	return 8*float64(n)*float64(k) + 1.125*12*float64(entries)
}

// exact is AP from the first projection on. In use are two E with some room and the
// rows that they are made of, 27 and 7 bytes an entry; the rest of perEntry may become garbage.
func (p path) exact(s Size, k, iterations int, entries int64) path {
	use, garbage := iterating(s.Words, k, iterations)
	u, g := looking(s.Words, float64(run.Workers(s.Workers, run.Count(s.Words, scanRows))), float64(entries)/float64(s.Words))
	const held = 34
	use += u + held*float64(entries)
	return p.to(use, use).to(use, garbage+g+(perEntry-held)*float64(entries))
}

// firstDistance is the work of comparing the first iterate with C itself: pairs of
// words of a document, of which long ones have more than the mean.
func (s Size) firstDistance() float64 {
	if s.NNZ <= 0 || s.Docs <= 0 {
		return 2 * float64(s.Words) * float64(s.Words)
	}
	return 1.5 * float64(s.NNZ) * float64(s.NNZ) / float64(s.Docs)
}

// lookupWork is that of looking for negative entries in so many rows; of all rows,
// only half of each.
func lookupWork(n, k, rows int) float64 {
	if rows == n {
		return float64(n) * float64(n) * float64(k)
	}
	return 2 * float64(n) * float64(rows) * float64(k)
}

// Cost estimates what AP takes.
func (a AP) Cost(s Size, k int) Cost {
	c := Cost{Method: a.String(), Alternative: "rectify.LR{}"}
	n, e := s.Words, s.Entries(k)
	t := a.iterations()
	if a.Dense {
		c.Alternative = "rectify.AP{}"
		c.remember(dense(n, k, t), float64(denseBytes(n, 1)))
		c.Products = float64(t) * float64(2*k+20)
		c.Passes, c.Flops = 1, c.Products*2*float64(n)*float64(n)+float64(t)*2*float64(n)*float64(n)*float64(k)
		return c
	}
	c.remember(c.cold(s, k).exact(s, k, t, e), rectified(n, k, e))
	c.Entries = e
	c.Flops += s.firstDistance() + float64(t)*lookupWork(n, k, n) + float64(t-1)*warmWork(n, k, meanEntries*float64(e))
	return c
}

// dense is what the methods take that iterate on two arrays.
func dense(n, k, iterations int) (p path) {
	_, _, _, eig := lanczos(Size{Words: n}, k, k)
	two, each := float64(denseBytes(n, 2)), 512*float64(n)
	for _, s := range eig {
		each += float64(s.Allocated)
	}
	use := two + float64(eig[0].InUse)
	return p.to(use, use).to(use, float64(iterations)*each).to(two, two/2)
}

// Cost estimates what ENN takes, for 30 iterations where their number is left to
// convergence.
func (e ENN) Cost(s Size, k int) Cost {
	c := Cost{Method: e.String(), Alternative: "rectify.LR{}"}
	m := c.cold(s, k)
	c.iterate(e, s, k, m)
	return c
}

// iterate adds what ENN takes after the first eigenproblem, which took p.
func (c *Cost) iterate(e ENN, s Size, k int, p path) {
	n, t := s.Words, e.Iterations
	if t == 0 {
		t = ennIterations
	}
	r := e.rows(n, k)
	part := float64(r) / float64(n)
	own := float64(s.Entries(k)) * part
	rest := own * (1 - part)
	if r == n {
		p = p.exact(s, k, t, int64(own))
	} else {
		use, garbage := iterating(n, k, t)
		u, g := looking(n, lookupWave, own/float64(r))
		// Twice the rows of I, with room, and once the others.
		use += u + 8*float64(r*block(n, k)) + 25.2*own + 12*rest
		p = p.to(use, use).to(use, garbage+g+7*own)
	}
	c.Flops += float64(t+1)*lookupWork(n, k, r) + float64(t)*warmWork(n, k, meanInside*(own+rest))
	if e.Measure || n <= measured*r {
		c.Flops += lookupWork(n, k, n)
	}
	c.Entries, c.LowRank = int64(own+rest), !e.Sparse
	c.remember(p, e.kept(s, k))
}

func (e ENN) kept(s Size, k int) float64 {
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
	n, p, t := float64(s.Words), float64(min(s.Words, k+over)), float64(l.passes())
	dim := min(t*p, n) // of the Krylov space
	t = math.Ceil(dim / p)
	c := Cost{Method: l.String(), Products: dim, Passes: t}
	keep := float64(block(s.Words, k))
	use := 8*n*(p*(t+1)+keep+float64(k)) + 24*dim*dim + s.strip(int(p))
	krylov := path{}.to(use, use).to(use, 2*t*small(p)+12*small(2*keep+20)+s.strip(int(p))).to(8*n*keep, 0)
	krylov[2].Collected = n*dim > 1<<24
	c.Flops = s.mul(dim) + 4*n*dim*dim + 6*n*dim*p + 2*n*dim*keep + 18*t*p*p*p + 800*dim*dim
	c.iterate(l.ENN, s, k, krylov)
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
	n, e, t := s.Words, s.Entries(k), d.iterations()
	c := Cost{Method: d.String(), Alternative: "rectify.AP{} or rectify.LR{}"}
	p := c.cold(s, k).exact(s, k, 2*t, e)
	// One F is enough, but there are two S of up to as many entries.
	p = p.to(float64(p[len(p)-1].InUse)+24*float64(e), 24*float64(e)+32*float64(t)*float64(n)*float64(k))
	c.remember(p, rectified(n, k, e))
	c.Flops += s.firstDistance() + float64(t)*(lookupWork(n, k, n)+2*warmWork(n, k, meanEntries*float64(e)))
	return c
}

// Cost estimates what Dykstra takes.
func (d Dykstra) Cost(s Size, k int) Cost {
	n, t := s.Words, d.iterations()
	c := Cost{Method: d.String(), Alternative: "rectify.AP{}", Passes: 1}
	c.remember(dense(n, k, t), float64(denseBytes(n, 1)))
	c.Products = float64(t) * float64(2*k+20)
	c.Flops = c.Products*2*float64(n)*float64(n) + float64(t)*2*float64(n)*float64(n)*float64(k)
	return c
}

// Cost estimates what PALM takes.
func (p PALM) Cost(s Size, k int) Cost {
	n, K, t := float64(s.Words), float64(k), float64(p.iterations())
	c := Cost{Method: p.String(), Alternative: "rectify.LR{}", LowRank: true}
	path := c.cold(s, k)
	blocks := 4.0
	if p.Inertial {
		blocks = 6
	}
	use := 8*n*K*blocks + s.strip(k)
	// Both halves of a step take two blocks in parts.
	c.remember(path.to(use, use).to(use, 8*n*K+s.strip(k)+2*t*(16*n*K+60*K*K)), rectified(s.Words, k, 0))
	c.Products += 2 * t * K
	c.Passes += 2 * t
	c.Flops += s.firstDistance() + s.mul(2*t*K) + 7*t*n*K*K
	return c
}

// Cost estimates what DC takes.
func (d DC) Cost(s Size, k int) Cost {
	n, t := float64(s.Words), float64(d.permutations())
	c := Cost{Method: d.String()}
	end := c.cold(s, k)
	products, passes, flops, p := lanczos(s, k, k)
	votes := 8 * n * t
	use := float64(p[0].InUse) + 256*n + 24*n*float64(k) + 2*votes
	made := float64(p[0].Allocated) + float64(p[1].Allocated) + 512*n + 40*n*float64(k)
	p = path{}.to(use, use).to(use, t*made+4*votes)
	for _, s := range end {
		p = p.to(float64(s.InUse)+2*votes, float64(s.Allocated))
	}
	c.remember(p, votes+40*n)
	c.Products += t * 2 * products
	c.Passes += t * passes
	c.Flops += s.mul(t*2*products) + t*(flops+8*n*float64(k)*float64(k)) + s.firstDistance()
	return c
}

// Cost estimates what TruncatedEig takes.
func (e TruncatedEig) Cost(s Size, k int) Cost {
	c := Cost{Method: e.String(), Alternative: "rectify.LR{}", LowRank: true}
	nk := 8 * float64(s.Words) * float64(k)
	p := c.cold(s, k)
	c.remember(p.to(float64(p[len(p)-1].InUse)+2*nk, 2*nk), rectified(s.Words, k, 0))
	if e.Measure {
		c.Flops += lookupWork(s.Words, k, s.Words)
	}
	return c
}

// Cost of None: none.
func (None) Cost(Size, int) Cost { return Cost{Method: None{}.String()} }

// Bytes writes a number of bytes for people, as the errors of this package do.
func Bytes(b int64) string { return byteString(b) }
