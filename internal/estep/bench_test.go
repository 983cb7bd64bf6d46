package estep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/cputime"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// documents are words and counts; those of document d are [ptr[d], ptr[d+1]).
type documents struct {
	n      int
	ptr    []int
	words  []int32
	counts []float32
}

// synthetic documents are draws, between least and most, of words by Zipf's law.
func synthetic(docs, n, least, most int) documents {
	rnd := rand.New(rand.NewPCG(10, 11))
	zipf := rand.NewZipf(rnd, 1.05, 40, uint64(n-1))
	d := documents{n: n, ptr: []int{0}}
	for range docs {
		seen := map[int32]bool{}
		for range least + rnd.IntN(most-least) {
			seen[int32(zipf.Uint64())] = true
		}
		first := len(d.words)
		for w := range seen {
			d.words, d.counts = append(d.words, w), append(d.counts, float32(1+rnd.IntN(12)/9))
		}
		slices.Sort(d.words[first:])
		d.ptr = append(d.ptr, len(d.words))
	}
	return d
}

// BenchmarkStep times passes over the documents of one corpus, synthetic or, with
// JSMF_DATA, real, in processor time: the mean and the least of all passes.
func BenchmarkStep(b *testing.B) {
	sets := map[string]func(b *testing.B) documents{
		"kos-like":  func(*testing.B) documents { return synthetic(3087, 5000, 65, 195) },
		"nips-like": func(*testing.B) documents { return synthetic(2235, 5000, 350, 1050) },
	}
	for _, name := range []string{"kos-split", "nips17-split"} {
		sets[name] = func(b *testing.B) documents {
			c, err := corpus.ReadUCI(b.Context(), testutil.Data(b, name, "docword.train.txt.gz"), testutil.Data(b, name, "vocab.txt"))
			if err != nil {
				b.Fatal(err)
			}
			d := documents{n: c.NumWords(), ptr: []int{0}}
			for m := range c.NumDocs() {
				words, counts := c.Doc(m)
				d.words = append(d.words, words...)
				for _, x := range counts {
					d.counts = append(d.counts, float32(x))
				}
				d.ptr = append(d.ptr, len(d.words))
			}
			return d
		}
	}
	for _, name := range []string{"kos-like", "nips-like", "kos-split", "nips17-split"} {
		b.Run("corpus="+name, func(b *testing.B) {
			d := sets[name](b)
			for _, k := range []int{50, 100} {
				for _, f := range forms {
					for _, kr := range kernels {
						if !slices.Contains(linalg.Kernels(), kr.name) {
							continue
						}
						b.Run(fmt.Sprintf("K=%d/form=%s/kernel=%s", k, f.name, kr.name), func(b *testing.B) {
							benchmarkStep(b, d, newProblem(rand.New(rand.NewPCG(12, 13)), d.n, k, 0, f.form, f.sums), 0, kr)
						})
					}
				}
			}
		})
	}
}

// BenchmarkColumns times passes in which each document has some blocks of 1000 topics, of
// its own, next to ones with all of them and with 100. The rows do not fit a cache.
func BenchmarkColumns(b *testing.B) {
	d := synthetic(2000, 10000, 60, 100)
	for _, x := range []struct{ k, blocks int }{{100, 0}, {1000, 2}, {1000, 4}, {1000, 6}, {1000, 8}, {1000, 16}, {1000, 0}} {
		b.Run(fmt.Sprintf("K=%d/blocks=%d", x.k, x.blocks), func(b *testing.B) {
			p := newProblem(rand.New(rand.NewPCG(12, 13)), d.n, x.k, 0, LeaveDocument, true)
			for _, kr := range kernels {
				if slices.Contains(linalg.Kernels(), kr.name) {
					b.Run("kernel="+kr.name, func(b *testing.B) { benchmarkStep(b, d, p, x.blocks, kr) })
				}
			}
		})
	}
}

// benchmarkStep times passes over all documents, each with that many blocks; 0 are all.
func benchmarkStep(b *testing.B, d documents, p *problem, blocks int, kr *kernel) {
	rnd := rand.New(rand.NewPCG(14, 15))
	w := newWorker(p.B.K, kr)
	k := p.B.K
	docs := len(d.ptr) - 1
	use := make([][]uint16, docs)
	if blocks > 0 {
		k = blocks * BlockSize
		for m := range use {
			for _, j := range rnd.Perm(p.B.K / BlockSize)[:blocks] { // not the last, with padding
				use[m] = append(use[m], uint16(j))
			}
			slices.Sort(use[m])
		}
	}
	state := make([]float32, docs*k)
	for i := range state {
		state[i] = rnd.Float32()
	}
	best, passes, begun := math.Inf(1), 0, cputime.Seconds()
	for b.Loop() {
		passes++
		start := cputime.Seconds()
		for m := range docs {
			n := state[m*k:][:k]
			if blocks > 0 {
				w.Use(use[m])
			}
			for j, v := range n {
				w.T[j] = v + p.Floor[j]
			}
			lo, hi := d.ptr[m], d.ptr[m+1]
			if _, err := w.Step(&p.Step, d.words[lo:hi], d.counts[lo:hi]); err != nil {
				b.Fatal(err)
			}
			copy(n, w.N)
		}
		best = min(best, cputime.Seconds()-start)
	}
	b.ReportMetric(1e9*best/float64(len(d.words)), "least-cpu-ns/nnz·pass")
	b.ReportMetric(1e9*(cputime.Seconds()-begun)/float64(passes*len(d.words)), "cpu-ns/nnz·pass")
}

// BenchmarkFoldIn times steps of one document whose topics are sought, in processor
// time.
func BenchmarkFoldIn(b *testing.B) {
	for _, words := range []int{30, 140, 1000} {
		for _, f := range []struct {
			name string
			form Form
		}{{"plain", Plain}, {"leave-document", LeaveDocument}, {"leave-last", LeaveLast}} {
			for _, kr := range kernels {
				if !slices.Contains(linalg.Kernels(), kr.name) {
					continue
				}
				b.Run(fmt.Sprintf("words=%d/K=100/form=%s/kernel=%s", words, f.name, kr.name), func(b *testing.B) {
					p := newProblem(rand.New(rand.NewPCG(26, 27)), 5000, 100, words, f.form, false)
					p.NoLikelihood, p.Token = true, 1
					w := newWorker(100, kr)
					copy(w.T, p.t)
					w.Keep(words)
					begun := cputime.Seconds()
					for b.Loop() {
						if _, err := w.Step(&p.Step, p.words, p.counts); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(1e9*(cputime.Seconds()-begun)/float64(b.N*words), "cpu-ns/word")
				})
			}
		}
	}
}
