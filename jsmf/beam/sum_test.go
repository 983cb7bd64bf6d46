package beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
)

// testWords is such that a census has more numbers than a stripe.
const testWords = 150_000

// docs are documents by number of word.
type docs []corpus.Document

func (d docs) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Vocabulary: make([]string, testWords)}, nil
}
func (d docs) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, doc := range d {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// generate draws n documents, in which common words have low numbers.
func generate(n int) docs {
	rng := rand.New(rand.NewPCG(15, 22))
	all := make(docs, n)
	for i := range all {
		d := corpus.Document{ID: fmt.Sprintf("document %d", i)}
		for range 1 + rng.IntN(60) {
			d.Words = append(d.Words, int32(testWords*rng.Float64()*rng.Float64()*rng.Float64()))
			d.Counts = append(d.Counts, int32(1+rng.IntN(5)))
		}
		all[i] = d
	}
	return all
}

// testPieces writes documents to n pieces of a state folder, dealt out like cards.
func testPieces(t testing.TB, folder string, all docs, n int) []file {
	t.Helper()
	pieces := make([]file, n)
	for i := range pieces {
		var mine docs
		for j := i; j < len(all); j += n {
			mine = append(mine, all[j])
		}
		var err error
		pieces[i], err = writeFile(t.Context(), folder, "piece", func(w io.Writer) error {
			_, err := corpus.EncodeTo(t.Context(), mine, w)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pieces
}

// testPlan is a census of the documents, and its sum in this process.
func testPlan(t testing.TB, all docs) (sums.Plan, []int64) {
	t.Helper()
	e, err := corpus.Encode(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sums.NewCensus(e.Info().DocFrequencies, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sums.NewLocal(e, 1).Sum(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return plan, want
}

// TestSum: the sum is that of one process, for any number of pieces and shares, wherever the
// workers are.
func TestSum(t *testing.T) {
	all := generate(2000)
	plan, want := testPlan(t, all)
	for name, prepare := range map[string]func(t *testing.T) Runner{
		"in process":       func(t *testing.T) Runner { return Runner{} },
		"shares":           func(t *testing.T) Runner { return Runner{Shares: 5} },
		"worker processes": func(t *testing.T) Runner { workerProcesses(t, nil); return Runner{Shares: 3} },
		"Prism elsewhere": func(t *testing.T) Runner {
			setFlag(t, "endpoint", startPrism(t))
			setFlag(t, "environment_type", "LOOPBACK")
			return Runner{Shares: 3}
		},
		"all elsewhere": func(t *testing.T) Runner {
			setFlag(t, "endpoint", startPrism(t))
			workerProcesses(t, nil)
			return Runner{Name: "universal", Shares: 3}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepare(t)
			for _, n := range []int{1, 4, 16, 64} {
				st := openedState(t, t.TempDir())
				got, err := st.sum(t.Context(), r, "all", testPieces(t, st.folder, all, n), plan)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d pieces: the sum differs", n)
				}
			}
		})
	}
}

// TestTwoJobs: two fits at once in one process, of other documents, by workers in it and by
// worker processes.
func TestTwoJobs(t *testing.T) {
	for _, processes := range []bool{false, true} {
		t.Run(fmt.Sprint("processes ", processes), func(t *testing.T) {
			if processes {
				workerProcesses(t, nil)
			}
			var group errgroup.Group
			for _, n := range []int{600, 700} {
				all := generate(n)
				plan, want := testPlan(t, all)
				st := openedState(t, t.TempDir())
				pieces := testPieces(t, st.folder, all, 8)
				group.Go(func() error {
					for i := range 3 { // jobs of each, under other keys
						got, err := st.sum(t.Context(), Runner{Shares: 4}, fmt.Sprint(n, i), pieces, plan)
						if err != nil {
							return err
						}
						if !slices.Equal(got, want) {
							return fmt.Errorf("the sum of %d differs", n)
						}
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPack: packed numbers add up to what they were, and no damage panics.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		x, sum := make([]int64, n), make([]int64, n)
		for i := range x {
			x[i] = rng.Int64() >> rng.IntN(64)
			if rng.IntN(2) == 0 {
				x[i] = -x[i]
			}
			if i/64%3 == 0 {
				x[i] = 0
			}
			sum[i] = int64(i)
		}
		if n > 0 {
			x[n-1] = math.MinInt64
		}
		b := pack(nil, x)
		if err := addPacked(sum, b); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if sum[i] != x[i]+int64(i) {
				t.Fatalf("n = %d: number %d is %d, want %d", n, i, sum[i]-int64(i), x[i])
			}
		}
		for cut := range b {
			if err := addPacked(sum, b[:cut]); !errors.Is(err, errDamaged) {
				t.Fatalf("n = %d: cut off at %d: %v", n, cut, err)
			}
		}
		if err := addPacked(sum, append(b, 0)); !errors.Is(err, errDamaged) {
			t.Fatalf("n = %d: one byte more: %v", n, err)
		}
	}
	if b := pack(nil, make([]int64, 6400)); len(b) != 100 {
		t.Errorf("6400 zeros are %d bytes, want 100", len(b))
	}
}

func FuzzAddPacked(f *testing.F) {
	f.Add(70, pack(nil, make([]int64, 70)))
	f.Add(3, []byte{2, 1, 2, 3, 4, 5, 6})
	f.Fuzz(func(t *testing.T, n int, b []byte) {
		if n < 0 || n > 1000 {
			return
		}
		addPacked(make([]int64, n), b) // an error, or none
	})
}

func BenchmarkPack(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	sum := make([]int64, stripeLen)
	for name, draw := range map[string]func() int64{
		"dense":  func() int64 { return rng.Int64() >> 4 },
		"counts": func() int64 { return rng.Int64() >> 34 },
		"sparse": func() int64 { return rng.Int64() >> 34 * int64(rng.IntN(500)/499) },
		"zeros":  func() int64 { return 0 },
	} {
		x := make([]int64, stripeLen)
		for i := range x {
			x[i] = draw()
		}
		var buf []byte
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * stripeLen)
			for b.Loop() {
				buf = pack(buf[:0], x)
				if err := addPacked(sum, buf); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(buf))/stripeLen, "B/number")
		})
	}
}
