package cooc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

func newSketch(t testing.TB, o cooc.SketchOptions, parts ...corpus.Source) *cooc.Sketch {
	t.Helper()
	s, err := cooc.NewSketch(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := s.AddSource(ctx, p, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func marshal(t testing.TB, s *cooc.Sketch) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unmarshal(t testing.TB, b []byte) *cooc.Sketch {
	t.Helper()
	s := new(cooc.Sketch)
	if err := s.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return s
}

func sketchMatrix(t testing.TB, s *cooc.Sketch, vocab []string) *cooc.SketchMatrix {
	t.Helper()
	m, err := s.Matrix(ctx, vocab)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asTokens is a corpus whose words come as strings.
type asTokens struct{ c *corpus.Corpus }

func (a asTokens) add(t testing.TB, s *cooc.Sketch, lo, hi int) {
	t.Helper()
	for m := lo; m < hi; m++ {
		words, counts := a.c.Doc(m)
		d := corpus.Document{ID: a.c.ID(m), Counts: counts}
		for _, w := range words {
			d.Tokens = append(d.Tokens, a.c.Word(int(w)))
		}
		if err := s.Add(d); err != nil {
			t.Fatal(err)
		}
	}
}

// With as many columns as words the sketch tells everything. The condition of
// ΩᵀAΩ costs a few digits: 1e-9 of the largest number.
func TestSketchExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	c := countsCorpus(t, 40, randomDocs(rng, 5000, 41, 0))
	m := newMoments(t, c, cooc.Options{})
	s := newSketch(t, cooc.SketchOptions{Columns: 64, Seed: 2}, c.Source())
	sm := sketchMatrix(t, s, c.Vocabulary())
	sameMatrix(t, sm, m, 1e-9)
	if int(s.Docs()) != m.Docs() || s.Docs()+s.Skipped() != int64(c.NumDocs()) || !slices.Equal(sm.DocFrequencies(), m.DocFrequencies()) {
		t.Errorf("%d documents, %d skipped; want %d", s.Docs(), s.Skipped(), m.Docs())
	}
	// A selection is the same rows and columns.
	idx := []int{3, 5, 17, 20}
	part, err := cooc.Submatrix(m, idx)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(idx))
	for k, i := range idx {
		names[k] = c.Word(i)
	}
	sameMatrix(t, sketchMatrix(t, s, names), part, 1e-9)
}

// Few columns: the row sums are exact all the same, as ones are among the test
// vectors; the approximation of A lies below it, and so do the eigenvalues.
func TestSketchMarginals(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	c := countsCorpus(t, 120, randomDocs(rng, 3000, 120, 3))
	m := newMoments(t, c, cooc.Options{})
	s := newSketch(t, cooc.SketchOptions{Columns: 20}, c.Source())
	vocab := s.Vocabulary()
	sm := sketchMatrix(t, s, nil)
	if !slices.Equal(sm.Vocabulary(), vocab) {
		t.Error("the vocabulary is not sorted")
	}
	used := make([]int, len(vocab))
	d, err := cooc.Densify(ctx, sm, 0)
	if err != nil {
		t.Fatal(err)
	}
	c2 := mat.NewSymDense(len(vocab), nil) // C less the approximation
	row := make([]float64, 120)
	for k, w := range vocab {
		used[k], _ = c.Index(w)
	}
	tokens := int64(0)
	for k, i := range used {
		near(t, "row sum", sm.Marginals()[k], m.Marginals()[i], 1e-12)
		st := s.Word(vocab[k])
		near(t, "marginal", st.Marginal, m.Marginals()[i], 1e-13)
		if int(st.Docs) != m.DocFrequencies()[i] {
			t.Errorf("word %q is in %d documents, want %d", vocab[k], st.Docs, m.DocFrequencies()[i])
		}
		tokens += st.Tokens
		m.RowTo(row, i)
		for l, j := range used {
			c2.SetSym(k, l, row[j]-d.At(k, l))
		}
	}
	if tokens != s.Tokens() {
		t.Errorf("%d tokens by word, %d in all", tokens, s.Tokens())
	}
	if s.Word("never") != (cooc.WordStats{}) {
		t.Error("a word that was not seen has statistics")
	}
	var e mat.EigenSym
	if !e.Factorize(c2, false) {
		t.Fatal("no eigenvalues")
	}
	if v := e.Values(nil)[0]; v < -1e-12 {
		t.Errorf("C less its approximation has the eigenvalue %g", v)
	}
	// The norms of rows, against the rows.
	norms, err := sm.RowNorms2(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := make([]float64, sm.Dim())
	for i := range r {
		sm.RowTo(r, i)
		q := 0.0
		for _, v := range r {
			q += v * v
		}
		near(t, "norm", norms[i], q, 1e-13*slices.Max(norms))
	}
}

// Parts with vocabularies of their own give what all give together: integers
// exactly, sums to rounding, and the same partition to the bit, whatever order
// words came in, whether parts were sent as bytes or not, and for any number
// of workers.
func TestSketchMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	c := countsCorpus(t, 80, randomDocs(rng, 12_000, 81, 0))
	o := cooc.SketchOptions{Columns: 70, Seed: 9, Workers: 1}
	cuts := []int{0, 37, 6000, 12_000}
	part := func(k, workers int) *cooc.Sketch {
		o := o
		o.Workers = workers
		s := newSketch(t, o)
		asTokens{c}.add(t, s, cuts[k], cuts[k+1])
		return s
	}
	merged := func(order []int, workers int, send bool) *cooc.Sketch {
		s := newSketch(t, o)
		for _, k := range order {
			p := part(k, workers)
			if send {
				p = unmarshal(t, marshal(t, p))
			}
			before := marshal(t, p)
			if err := s.Merge(p); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, marshal(t, p)) {
				t.Error("merging changed the other")
			}
		}
		return s
	}
	want := marshal(t, merged([]int{0, 1, 2}, 1, false))
	for _, workers := range []int{1, 2, 5} {
		if !bytes.Equal(marshal(t, merged([]int{0, 1, 2}, workers, true)), want) {
			t.Errorf("%d workers: the same partition, other bytes", workers)
		}
	}
	// ((0 1) 2) and (0 (1 2)), and all at once.
	right := part(1, 1)
	if err := right.Merge(part(2, 1)); err != nil {
		t.Fatal(err)
	}
	left := part(0, 1)
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	whole := newSketch(t, o, c.Source())
	numbers := sketchMatrix(t, unmarshal(t, want), c.Vocabulary())
	for name, s := range map[string]*cooc.Sketch{"right": left, "reverse": merged([]int{2, 1, 0}, 1, false), "whole": whole} {
		if s.Docs() != whole.Docs() || s.Tokens() != whole.Tokens() || s.Skipped() != whole.Skipped() {
			t.Errorf("%s: %d documents, %d tokens", name, s.Docs(), s.Tokens())
		}
		for _, w := range whole.Vocabulary() {
			a, b := s.Word(w), whole.Word(w)
			if a.Docs != b.Docs || a.Tokens != b.Tokens {
				t.Errorf("%s: word %q: %v, want %v", name, w, a, b)
			}
			near(t, "marginal", a.Marginal, b.Marginal, 1e-14)
			near(t, "diagonal", a.Diagonal, b.Diagonal, 1e-14)
		}
		// Rounding of 1e-15 times the condition of ΩᵀAΩ.
		sameMatrix(t, sketchMatrix(t, s, c.Vocabulary()), numbers, 1e-10)
	}
	// What comes after does not depend on the trip either.
	a, b := part(0, 1), part(0, 1)
	marshal(t, a) // ends the batch, as sending does
	b = unmarshal(t, marshal(t, b))
	asTokens{c}.add(t, a, 37, 400)
	asTokens{c}.add(t, b, 37, 400)
	if !bytes.Equal(marshal(t, a), marshal(t, b)) {
		t.Error("a sketch read from bytes goes on differently")
	}
}

// Numbers of words and the words themselves are the same documents.
func TestSketchAddSource(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	c := countsCorpus(t, 30, randomDocs(rng, 500, 30, 2))
	o := cooc.SketchOptions{Columns: 10, MinTokens: 8}
	a, b := newSketch(t, o, c.Source()), newSketch(t, o)
	asTokens{c}.add(t, b, 0, c.NumDocs())
	if !bytes.Equal(marshal(t, a), marshal(t, b)) {
		t.Error("by number and by token differ")
	}
	sel, err := c.Select(nil, []int{4, 2, 9, 11, 12, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	x, y := newSketch(t, o), newSketch(t, o, sel.Source())
	if err := x.AddSource(ctx, c.Source(), sel.Vocabulary()); err != nil {
		t.Fatal(err)
	}
	if x.Docs() != y.Docs() || x.Tokens() != y.Tokens() || x.Skipped() != y.Skipped() || !slices.Equal(x.Vocabulary(), y.Vocabulary()) {
		t.Error("words chosen while reading are not those chosen before")
	}
	text := corpus.JSONL{In: corpus.Bytes("d", []byte(`{"text": ["a","b","a","c","a"]}`+"\n"+`{"text": ["b"]}`+"\n"))}
	s := newSketch(t, cooc.SketchOptions{}, text)
	if s.Docs() != 1 || s.Skipped() != 1 || s.Word("a") != (cooc.WordStats{Docs: 1, Tokens: 3, Marginal: 3. / 5, Diagonal: 3. / 20}) {
		t.Errorf("%d documents, %d skipped, a: %v", s.Docs(), s.Skipped(), s.Word("a"))
	}
	if _, err := s.Matrix(ctx, nil); err == nil {
		t.Error("a matrix without columns")
	}
	var zero cooc.Sketch
	if err := zero.AddSource(ctx, text, nil); err != nil || !bytes.Equal(marshal(t, &zero), marshal(t, s)) {
		t.Errorf("a zero Sketch: %v", err)
	}
	if got := unmarshal(t, marshal(t, s)); got.Word("a") != s.Word("a") {
		t.Error("sums alone do not survive the trip")
	}
}

func TestSketchErrors(t *testing.T) {
	for _, o := range []cooc.SketchOptions{{Columns: -1}, {Columns: 1 << 30}, {MinTokens: -1}} {
		if _, err := cooc.NewSketch(o); err == nil {
			t.Errorf("no error for %v", o)
		}
	}
	s := newSketch(t, cooc.SketchOptions{Columns: 3})
	before := marshal(t, s)
	var count *corpus.CountError
	for name, d := range map[string]corpus.Document{
		"numbers":  {Words: []int32{1, 2}},
		"counts":   {Tokens: []string{"a", "b"}, Counts: []int32{1}},
		"negative": {Tokens: []string{"a", "b"}, Counts: []int32{9, -1}},
		"sum":      {Tokens: []string{"a", "a"}, Counts: []int32{math.MaxInt32, 1}},
		"empty":    {Tokens: []string{"a", "", "a", "a", "a"}},
		"utf8":     {Tokens: []string{"a", "\xff", "a", "a", "a"}},
	} {
		err := s.Add(d)
		if err == nil || (name == "negative" || name == "sum") && !errors.As(err, &count) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !bytes.Equal(before, marshal(t, s)) {
		t.Error("a document that is an error was added in part")
	}
	if _, err := s.Matrix(ctx, nil); !errors.Is(err, cooc.ErrNoDocuments) {
		t.Errorf("empty: %v", err)
	}
	var mismatch *cooc.MismatchError
	for _, o := range []cooc.SketchOptions{{Columns: 4}, {Columns: 3, Seed: 1}, {Columns: 3, MinTokens: 9}} {
		if err := s.Merge(newSketch(t, o)); !errors.As(err, &mismatch) {
			t.Errorf("%v: %v", o, err)
		}
	}
	if err := s.Merge(s); err == nil {
		t.Error("merged with itself")
	}
	if err := s.Add(corpus.Document{Tokens: []string{"a", "b", "c", "a", "b"}}); err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]string{{"a", "x"}, {"a", "a"}, {}} {
		if _, err := s.Matrix(ctx, v); err == nil {
			t.Errorf("no error for %q", v)
		}
	}
}

// Whatever is wrong with the bytes is a *FormatError and changes nothing.
func TestSketchDamagedBytes(t *testing.T) {
	s := newSketch(t, cooc.SketchOptions{Columns: 3})
	for _, d := range [][]string{{"a", "b", "c", "a", "b"}, {"b", "d", "d", "b", "c", "e"}} {
		if err := s.Add(corpus.Document{Tokens: d}); err != nil {
			t.Fatal(err)
		}
	}
	good := marshal(t, s)
	into := unmarshal(t, good)
	reject := func(name string, b []byte) {
		t.Helper()
		var f *cooc.FormatError
		if err := into.UnmarshalBinary(b); !errors.As(err, &f) || f.Offset > len(b) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range good {
		b := slices.Clone(good)
		b[i] ^= 0x10
		reject(fmt.Sprint("byte ", i), b)
		reject(fmt.Sprint("cut at ", i), good[:i])
	}
	sealed := func(change func(b []byte) []byte) []byte {
		b := change(slices.Clone(good[:len(good)-4]))
		return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	set := func(at int, v uint64) []byte {
		return sealed(func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b })
	}
	for _, at := range []int{8, 24, 32, 40, 48, 56} {
		for _, v := range []uint64{1 << 20, 1 << 40, 1<<63 - 1, math.MaxUint64} {
			if at == 40 && v < 1<<63 || at == 24 && v == 1<<20 || at == 32 && v < 1<<63 {
				continue // a number of documents that may be
			}
			reject(fmt.Sprint("header ", at, " = ", v), set(at, v))
		}
	}
	const word = 64 + 4 + 1
	for _, c := range []struct{ at, v uint64 }{
		{word, 0}, {word, 3}, {word + 8, 0}, {word + 8, 1 << 40},
		{word + 16, math.Float64bits(math.NaN())}, {word + 16, math.Float64bits(-1)}, {word + 24, math.Float64bits(3)},
		{word + 32, math.Float64bits(math.Inf(1))},
	} {
		reject(fmt.Sprint("word, byte ", c.at-word), set(int(c.at), c.v))
	}
	reject("bytes too many", sealed(func(b []byte) []byte { return append(b, 0) }))
	reject("a word longer than all", sealed(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[64:], math.MaxUint32); return b }))
	reject("words out of order", sealed(func(b []byte) []byte { b[68] = 'z'; return b }))
	reject("not UTF-8", sealed(func(b []byte) []byte { b[68] = 0xff; return b }))
	if !bytes.Equal(marshal(t, into), good) {
		t.Error("bytes that were refused changed the sketch")
	}
}

// FuzzSketch reads any bytes, sealed with a right checksum: an error or a sketch
// that is written as the same bytes.
func FuzzSketch(f *testing.F) {
	s, err := cooc.NewSketch(cooc.SketchOptions{Columns: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(marshal(f, s))
	if err := s.Add(corpus.Document{Tokens: []string{"a", "b", "c", "a", "b"}}); err != nil {
		f.Fatal(err)
	}
	f.Add(marshal(f, s))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4 {
			b = binary.LittleEndian.AppendUint32(slices.Clone(b[:len(b)-4]), crc32.Checksum(b[:len(b)-4], crc32.MakeTable(crc32.Castagnoli)))
		}
		var s cooc.Sketch
		if err := s.UnmarshalBinary(b); err != nil {
			return
		}
		if !bytes.Equal(marshal(t, &s), b) {
			t.Error("other bytes come out")
		}
		_, _ = s.Matrix(ctx, nil)
	})
}
