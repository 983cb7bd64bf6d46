package refine_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/recover/refine"
)

// list yields some documents and then an error.
type list struct {
	docs []corpus.Document
	err  error
}

func (list) Describe(context.Context) (corpus.Description, error) { return corpus.Description{}, nil }

func (s list) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range s.docs {
			if !yield(d, nil) {
				return
			}
		}
		if s.err != nil {
			yield(corpus.Document{}, s.err)
		}
	}
}

// each yields the documents of a corpus after f has changed them.
func each(t *testing.T, c *corpus.Corpus, f func(d *corpus.Document)) list {
	t.Helper()
	var docs []corpus.Document
	for d, err := range c.Source().Docs(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		d.Words, d.Counts = append([]int32{}, d.Words...), append([]int32{}, d.Counts...)
		f(&d)
		docs = append(docs, d)
	}
	return list{docs: docs}
}

// numbered has a vocabulary of n words.
type numbered struct {
	corpus.Source
	n int
}

func (s numbered) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	desc.Vocabulary = make([]string, s.n)
	return desc, err
}

// shuffle puts the words of a document in another order, some of them in two parts.
func shuffle(d *corpus.Document) {
	var words, counts []int32
	for i := len(d.Words) - 1; i >= 0; i-- {
		words, counts = append(words, d.Words[i]), append(counts, d.Counts[i])
		if d.Counts[i] > 1 && i%2 == 0 {
			counts[len(counts)-1]--
			words, counts = append(words, d.Words[i]), append(counts, 1)
		}
	}
	d.Words, d.Counts = words, counts
}

func empty(t *testing.T, name, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%s: %v is left in the folder, %v", name, left, err)
	}
}

// The same bits for any number of workers, with the topic counts in a file, from
// documents that are encoded, in memory or in a file, and for any order of the words in
// them; with topics to merge too. With large counts the documents are read in several
// rounds.
func TestPassesSameBits(t *testing.T) {
	p := testutil.NewPlanted(300, 6, 0.4, 8)
	c := drawn(t, p, 400, 300, 9) // some 53,000 nonzeros: seven blocks
	start := refine.Start{B: p.B, A: p.A}
	for _, x := range []struct {
		k     int
		times int32
		gain  float64
		last  int // passes under a logistic-normal prior; −1: none
	}{
		{0, 1, 0, -1}, {4, 300, 0, -1}, {3, 1, -1, -1}, {0, 1, -1, -1}, {5, 1, 0, 6}, {4, 1, 0, 3}, {0, 300, -1, 2},
	} {
		if testutil.Race && x.times == 1 {
			continue // several rounds race alike
		}
		s := refine.Passes{N: 7, Gain: x.gain, Correlated: x.last}
		name := fmt.Sprintf("%v, K = %d", s, x.k)
		often := func(d *corpus.Document) {
			for i := range d.Counts {
				d.Counts[i] *= x.times
			}
		}
		docs := each(t, c, often)
		opt := func(workers int) refine.Options { return refine.Options{K: x.k, Workers: workers} }
		want := fitTo(t, s, docs, start, opt(1))
		if (want.HeldOut > 0) != (x.gain == 0) {
			t.Errorf("%s: %d documents are held out", name, want.HeldOut)
		}
		for _, workers := range []int{2, 3, 7} {
			if testutil.Race && workers < 7 {
				continue
			}
			sameRefined(t, fmt.Sprintf("%s, %d workers", name, workers), want, fitTo(t, s, docs, start, opt(workers)))
		}
		memory, err := corpus.Encode(ctx, numbered{docs, p.N})
		if err != nil {
			t.Fatal(err)
		}
		sameRefined(t, name+", encoded documents", want, fitTo(t, s, memory, start, opt(2)))
		file, err := corpus.EncodeFile(ctx, memory, filepath.Join(t.TempDir(), "docs.jenc"))
		if err != nil {
			t.Fatal(err)
		}
		sameRefined(t, name+", documents in a file", want, fitTo(t, s, file, start, opt(2)))
		s.Scratch = t.TempDir()
		sameRefined(t, name+", all in files", want, fitTo(t, s, file, start, opt(3)))
		empty(t, name, s.Scratch)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		other := each(t, c, func(d *corpus.Document) { often(d); shuffle(d) })
		sameRefined(t, name+", words in another order", want, fitTo(t, s, other, start, opt(2)))
	}
}

// Documents in another order are held out, halved and sampled as before, by their ids: the
// results differ by the rounding of sums. Without ids they are others.
func TestPassesReordered(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlanted(150, 6, 0.4, 18)
	c := drawn(t, p, 1500, 120, 19)
	docs, back := each(t, c, func(*corpus.Document) {}), list{}
	for i := range docs.docs {
		back.docs = append(back.docs, docs.docs[len(docs.docs)-1-i])
	}
	s := refine.Passes{N: 12}
	a := fitTo(t, s, docs, refine.Start{B: p.B}, refine.Options{K: 5})
	b := fitTo(t, s, back, refine.Start{B: p.B}, refine.Options{K: 5})
	if a.HeldOut != b.HeldOut || a.HeldOut < 40 || a.HeldOut > 110 || fmt.Sprint(a.From) != fmt.Sprint(b.From) {
		t.Errorf("%d documents are held out, %d in the other order; topics %v and %v", a.HeldOut, b.HeldOut, a.From, b.From)
	}
	for i, h := range a.History {
		near(t, "log-likelihood", b.History[i].LogLik, h.LogLik, rounding)
		if i < s.N-2 {
			near(t, "held-out likelihood", b.History[i].HeldOut, h.HeldOut, 10*rounding) // of few tokens
		}
	}
	for w := range p.N {
		for k := range 5 {
			near(t, "B", b.B.At(w, k), a.B.At(w, k), rounding)
		}
	}
	for i := range docs.docs {
		docs.docs[i].ID, back.docs[i].ID = "", ""
	}
	a, b = fit(t, s, docs, refine.Start{B: p.B}, 0), fit(t, s, back, refine.Start{B: p.B}, 0)
	if math.Abs(a.History[0].HeldOut-b.History[0].HeldOut) < 1e-4 {
		t.Errorf("by number the same documents are held out in any order: held-out likelihood %v and %v", a.History[0].HeldOut, b.History[0].HeldOut)
	}
}

// The documents behind a matrix of encoded documents are those of the corpus that it uses.
func TestPassesOfMatrix(t *testing.T) {
	p := testutil.NewPlanted(80, 4, 0, 10)
	c := drawn(t, p, 200, 30, 11)
	e, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	op, err := cooc.FromEncoded(ctx, e, cooc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var long []int
	for m := range c.NumDocs() {
		if c.DocLen(m) >= 5 {
			long = append(long, m)
		}
	}
	used, err := c.Select(long, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := refine.Passes{N: 3}
	sameRefined(t, "matrix", fit(t, s, used.Source(), refine.Start{B: p.B}, 0), fit(t, s, op.Info().Source, refine.Start{B: p.B}, 0))
}

// Topics in another order come out in that order, to rounding, and words too. (Under a
// logistic-normal prior the noise goes by the number of a topic.)
func TestPassesPermuted(t *testing.T) {
	p := testutil.NewPlanted(70, 4, 0.3, 12)
	c := drawn(t, p, 150, 30, 13)
	topics, words := []int{2, 0, 3, 1}, make([]int, p.N)
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
			pb.Set(i, k, p.B.At(w, s))
		}
	}
	a := fit(t, refine.Passes{N: 5, Correlated: -1}, c.Source(), refine.Start{B: p.B}, 0)
	b := fit(t, refine.Passes{N: 5, Correlated: -1}, pc.Source(), refine.Start{B: pb}, 0)
	for i, w := range words {
		for k, s := range topics {
			near(t, "B", b.B.At(i, k), a.B.At(w, s), rounding)
			near(t, "Reading", b.Reading.At(i, k), a.Reading.At(w, s), rounding)
		}
	}
	for k, s := range topics {
		for l, r := range topics {
			near(t, "A", b.A.At(k, l), a.A.At(s, r), rounding)
		}
	}
}
