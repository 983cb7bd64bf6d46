package cooc

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/run"
)

// SketchOptions sets what a Sketch keeps. Sketches are merged only if all of
// these but Workers agree.
type SketchOptions struct {
	// Columns is the number p of random vectors that C is multiplied by. What
	// a single pass can tell of C grows with it: 4K to 10K for K topics. 0
	// keeps no sketch, only sums and counts by word.
	Columns int

	// Seed chooses the random vectors.
	Seed uint64

	// MinTokens leaves out documents with fewer tokens, as in Options.
	MinTokens int

	// Workers bounds the goroutines; 0 means GOMAXPROCS. It changes no bit.
	Workers int
}

// Sketch accumulates, from documents that are seen once and in any number of
// places, what is needed to approximate C: its product with random test vectors
// and its diagonals, row sums and document frequencies (single-view sketch:
// Halko, Martinsson and Tropp 2011, §5.5; for positive semidefinite matrices
// Tropp, Yurtsever, Udell and Cevher 2017).
//
// The test vectors have entries ±1, each word's drawn from a hash of the word
// and the seed, beside the vector of ones. So parts of a corpus can be
// accumulated apart, with vocabularies that are not known beforehand, sent as
// bytes (MarshalBinary), and merged, and give what one accumulator would have:
// the counts of documents, tokens and document frequencies exactly, as they are
// integers; the sums of floating-point numbers to rounding, about 1e-15 of the
// sum of their sizes, and to the bit for the same partition, order of documents
// in the parts and order of merges. Documents weigh 1/(n(n−1)) while they are
// added up; the division by their number comes last, in Matrix.
//
// Memory: 16·p bytes a word, and its string; twice that while the vocabulary
// grows. Time: 4·p operations for each distinct word of a document.
//
// C = A − D with a positive semidefinite A = ĤĤᵀ and the diagonal D, which is
// known exactly; it is A that is sketched. What is lost is a part of A beyond
// its p leading directions. Where documents can be read again, a few passes with
// few vectors (rectify.LR on Moments or Stream) are better by orders of
// magnitude, and leave nothing to the seed.
//
// The zero value is an accumulator without Columns, of the defaults. A Sketch is
// not safe for concurrent use.
type Sketch struct {
	o     SketchOptions
	index map[string]int32
	words []string
	omega []float64 // ±1, len(words)×Columns
	y     []float64 // M·A·Ω, likewise
	df    []int64   // documents with the word
	tf    []int64   // tokens
	c     []float64 // M·c
	diag  []float64 // M·D

	docs, skipped, tokens int64

	batch docChunk // documents whose part of y is still to come
	z     []float64
}

// sketchDocs and sketchNNZ bound a batch.
const (
	sketchDocs = 4096
	sketchNNZ  = 1 << 17
	maxColumns = 1 << 20
)

// NewSketch makes an empty accumulator.
func NewSketch(o SketchOptions) (*Sketch, error) {
	if o.Columns < 0 || o.Columns > maxColumns || o.MinTokens < 0 {
		return nil, fmt.Errorf("cooc: sketch: Columns is %d, want 0 to %d; MinTokens is %d, want 0 or more", o.Columns, maxColumns, o.MinTokens)
	}
	s := &Sketch{o: o}
	s.ready()
	return s, nil
}

// ready makes a zero Sketch usable: one without columns.
func (s *Sketch) ready() {
	if s.index == nil {
		s.o.MinTokens = int(Options{MinTokens: s.o.MinTokens}.minTokens())
		s.index = map[string]int32{}
		s.batch.reset()
	}
}

// Docs returns the number of documents that were added, without those too short.
func (s *Sketch) Docs() int64 { return s.docs }

// Skipped returns how many documents were left out as too short.
func (s *Sketch) Skipped() int64 { return s.skipped }

// Tokens returns the number of tokens of the documents that were added.
func (s *Sketch) Tokens() int64 { return s.tokens }

// Vocabulary returns the words of the documents that were added, sorted by
// their bytes.
func (s *Sketch) Vocabulary() []string {
	v := slices.Clone(s.words)
	slices.Sort(v)
	return v
}

// WordStats are what is known of a word without any sketch.
type WordStats struct {
	Docs, Tokens int64   // documents that hold it, and its tokens in all
	Marginal     float64 // c_i = mean over documents of h_mi/n_m
	Diagonal     float64 // D_ii = mean over documents of h_mi/(n_m(n_m − 1))
}

// Word returns the statistics of a word, zeros for one that was not seen.
func (s *Sketch) Word(w string) WordStats {
	i, ok := s.index[w]
	if !ok {
		return WordStats{}
	}
	m := float64(s.docs)
	return WordStats{s.df[i], s.tf[i], s.c[i] / m, s.diag[i] / m}
}

// Add adds a document of tokens, with or without counts; all of its words
// count. Nothing is added where it returns an error: a count that is negative
// or too large, an empty token or one that is not UTF-8, words given by number
// (see AddSource).
func (s *Sketch) Add(doc corpus.Document) error { return s.addTokens(doc, int(s.docs+s.skipped)+1) }

func (s *Sketch) addTokens(doc corpus.Document, number int) error {
	s.ready()
	if len(doc.Words) > 0 {
		return fmt.Errorf("cooc: sketch: document %s: words are given by number, not as tokens", docName(doc, number))
	}
	if doc.Counts != nil && len(doc.Counts) != len(doc.Tokens) {
		return fmt.Errorf("cooc: sketch: document %s: %d counts for %d tokens", docName(doc, number), len(doc.Counts), len(doc.Tokens))
	}
	// Words are numbered within the document first.
	local := make(map[string]int32, len(doc.Tokens))
	var names []string
	var counts []int64
	for i, w := range doc.Tokens {
		x := int64(1)
		if doc.Counts != nil {
			x = int64(doc.Counts[i])
		}
		k, ok := local[w]
		if x > 0 && !ok {
			if w == "" || !utf8.ValidString(w) {
				return fmt.Errorf("cooc: sketch: document %s: token %q is empty or not UTF-8", docName(doc, number), w)
			}
			k = int32(len(names))
			local[w] = k
			names, counts = append(names, w), append(counts, 0)
		}
		if x > 0 {
			counts[k] += x
		}
		if x < 0 || x > 0 && counts[k] > corpus.MaxCount {
			if x > 0 {
				x = counts[k]
			}
			return fmt.Errorf("cooc: sketch: %w", &corpus.CountError{Doc: docName(doc, number), Word: w, Count: float64(x)})
		}
	}
	length := int64(0)
	for _, x := range counts {
		length += x
	}
	if length < int64(s.o.MinTokens) {
		s.skipped++
		return nil
	}
	ids := make([]int32, len(names))
	for k, w := range names {
		id, err := s.number(w)
		if err != nil {
			return err
		}
		ids[k] = id
	}
	return s.add(context.Background(), ids, counts, length)
}

// AddSource adds all documents of a Source in one pass. With a vocabulary only
// its words count, as if the documents had no others; nil takes them all. The
// documents before an error have been added.
func (s *Sketch) AddSource(ctx context.Context, src corpus.Source, vocab []string) error {
	s.ready()
	_, numbered := src.(corpus.Numbered)
	if !numbered && vocab == nil {
		number := 0
		for doc, err := range src.Docs(ctx) {
			number++
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = s.addTokens(doc, number)
			}
			if err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	m, names, err := newWordMap(ctx, src, vocab)
	if err != nil {
		return err
	}
	ids := make([]int32, len(names)) // 1 + the number here; 0: not yet known
	d := newDistinct(len(names))
	var own []int32
	number := 0
	for doc, err := range src.Docs(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		number++
		words, counts, length, err := d.count(m, doc, number)
		if err != nil {
			return err
		}
		if length < int64(s.o.MinTokens) {
			s.skipped++
			continue
		}
		own = own[:0]
		for _, w := range words {
			if ids[w] == 0 {
				id, err := s.number(names[w])
				if err != nil {
					return err
				}
				ids[w] = id + 1
			}
			own = append(own, ids[w]-1)
		}
		if err := s.add(ctx, own, counts, length); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// number returns the number of a word, a new one where it has none.
func (s *Sketch) number(w string) (int32, error) {
	if i, ok := s.index[w]; ok {
		return i, nil
	}
	if len(s.words) == math.MaxInt32 {
		return 0, fmt.Errorf("cooc: sketch: more than %d different words", math.MaxInt32)
	}
	w = strings.Clone(w) // it may be a piece of a whole document
	i := int32(len(s.words))
	s.index[w], s.words = i, append(s.words, w)
	s.df, s.tf = append(s.df, 0), append(s.tf, 0)
	s.c, s.diag = append(s.c, 0), append(s.diag, 0)
	s.omega = appendSigns(s.omega, w, s.o.Seed, s.o.Columns)
	for range s.o.Columns {
		s.y = append(s.y, 0)
	}
	return i, nil
}

// appendSigns appends the p test entries of a word.
func appendSigns(to []float64, w string, seed uint64, p int) []float64 {
	if p == 0 {
		return to
	}
	key := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(w)), seed)
	sum := sha256.Sum256(append(key, w...))
	rng := rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
	bits := uint64(0)
	for j := range p {
		if j%64 == 0 {
			bits = rng.Uint64()
		}
		to = append(to, float64(2*int(bits&1)-1))
		bits >>= 1
	}
	return to
}

func (s *Sketch) add(ctx context.Context, ids []int32, counts []int64, length int64) error {
	if s.o.Columns > 0 && s.batch.docs() > 0 && (s.batch.docs() == sketchDocs || len(s.batch.byDoc.Cols)+len(ids) > sketchNNZ) {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	l := float64(length)
	for k, i := range ids {
		x := float64(counts[k])
		s.df[i]++
		s.tf[i] += counts[k]
		s.c[i] += x / l
		s.diag[i] += x / (l * (l - 1))
	}
	s.docs++
	s.tokens += length
	if s.o.Columns > 0 {
		s.batch.add(ids, counts, 1/math.Sqrt(l*(l-1)))
	}
	return nil
}

// flush adds the part of the waiting documents to y.
func (s *Sketch) flush(ctx context.Context) error {
	n, p, docs := len(s.words), s.o.Columns, s.batch.docs()
	if docs == 0 {
		return nil
	}
	s.z = resized(s.z, docs*p)
	z := blas64.General{Rows: docs, Cols: p, Stride: p, Data: s.z}
	omega, y := s.block(s.omega), s.block(s.y)
	if err := s.batch.byDoc.Mul(ctx, omega, z, false, s.o.Workers); err != nil {
		return err
	}
	s.batch.transpose(n)
	// Not to be left half done.
	if err := s.batch.byWord.Mul(context.WithoutCancel(ctx), z, y, true, s.o.Workers); err != nil {
		return err
	}
	s.batch.reset()
	return nil
}

func (s *Sketch) block(data []float64) blas64.General {
	return blas64.General{Rows: len(s.words), Cols: s.o.Columns, Stride: max(s.o.Columns, 1), Data: data}
}

// MismatchError says that two sketches were made with different options.
type MismatchError struct {
	Option    string
	Own, That uint64
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("cooc: sketch: %s is %d here and %d there: sketches with different options cannot be merged", e.Option, e.Own, e.That)
}

// Merge adds what another accumulator holds, which stays as it is. Options
// that differ are a *MismatchError.
func (s *Sketch) Merge(other *Sketch) error {
	s.ready()
	other.ready()
	for _, x := range []struct {
		name      string
		own, that uint64
	}{
		{"Columns", uint64(s.o.Columns), uint64(other.o.Columns)},
		{"Seed", s.o.Seed, other.o.Seed},
		{"MinTokens", uint64(s.o.MinTokens), uint64(other.o.MinTokens)},
	} {
		if x.own != x.that {
			return &MismatchError{x.name, x.own, x.that}
		}
	}
	if s == other {
		return errors.New("cooc: sketch: merged with itself")
	}
	ctx := context.Background()
	if err := errors.Join(s.flush(ctx), other.flush(ctx)); err != nil {
		return err
	}
	p := s.o.Columns
	for j, w := range other.words {
		i, err := s.number(w)
		if err != nil {
			return err
		}
		s.df[i] += other.df[j]
		s.tf[i] += other.tf[j]
		s.c[i] += other.c[j]
		s.diag[i] += other.diag[j]
		to := s.y[int(i)*p : (int(i)+1)*p]
		for t, v := range other.y[j*p : (j+1)*p] {
			to[t] += v
		}
	}
	s.docs += other.docs
	s.skipped += other.skipped
	s.tokens += other.tokens
	return nil
}

// Matrix returns the approximation of C over the given words in their order,
// nil for all of them sorted: FFᵀ − D with FFᵀ the Nyström approximation of A
// from its products with the test vectors, of rank at most Columns + 1. Its row
// sums are those of C to rounding, as ones are among the test vectors (over a
// selection of words they are those of the rows selected, which are taken from
// the approximation over all words); its eigenvalues lie below those of C.
//
// It is an operator like any other: a rectifier such as rectify.LR, whose passes
// are then over F in memory, or ENN makes YYᵀ of rank K of it. The Sketch can go
// on being added to. O(N·p²) time, 8·N·p bytes besides the result's. Errors: no
// documents, no columns, a word that was not seen or stands twice, ctx's.
func (s *Sketch) Matrix(ctx context.Context, vocab []string) (*SketchMatrix, error) {
	switch {
	case s.docs == 0:
		return nil, fmt.Errorf("%w (%d documents, at least %d tokens asked for)", ErrNoDocuments, s.skipped, s.o.MinTokens)
	case s.o.Columns == 0:
		return nil, errors.New("cooc: sketch: made without Columns: there are only sums")
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	if vocab == nil {
		vocab = s.Vocabulary()
	}
	rows := make([]int32, len(vocab))
	taken := make([]bool, len(s.words))
	for k, w := range vocab {
		i, ok := s.index[w]
		if !ok {
			return nil, fmt.Errorf("cooc: sketch: no document holds the word %q", w)
		}
		if taken[i] {
			return nil, fmt.Errorf("cooc: sketch: the word %q stands twice in the vocabulary", w)
		}
		rows[k], taken[i] = i, true
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("cooc: sketch: %w", corpus.ErrEmptyVocabulary)
	}
	// Ω with ones first, Y = AΩ. All sums run over the words in sorted order,
	// so that neither the order of arrival nor that of vocab changes a bit.
	order := s.sorted()
	n, p := len(order), s.o.Columns+1
	docs := float64(s.docs)
	omega, y := linalg.NewGeneral(n, p), linalg.NewGeneral(n, p)
	place := make([]int32, n)
	for k, i := range order {
		place[i] = int32(k)
		o, v := linalg.Row(omega, k), linalg.Row(y, k)
		o[0], v[0] = 1, (s.c[i]+s.diag[i])/docs
		copy(o[1:], s.omega[int(i)*(p-1):])
		for t, x := range s.y[int(i)*(p-1) : (int(i)+1)*(p-1)] {
			v[1+t] = x / docs
		}
	}
	b := linalg.NewGeneral(p, p)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, omega, y, 0, b, s.o.Workers); err != nil {
		return nil, err
	}
	sym := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			sym.SetSym(i, j, 0.5*(b.Data[i*p+j]+b.Data[j*p+i]))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(sym, true) {
		return nil, fmt.Errorf("cooc: sketch: the eigenvalues of a %d×%d matrix were not found", p, p)
	}
	values := eig.Values(nil) // ascending
	var v mat.Dense
	eig.VectorsTo(&v)
	first := 0 // what is below is rounding
	for first < p && !(values[first] > sketchCut*values[p-1]) {
		first++
	}
	if first == p {
		return nil, fmt.Errorf("cooc: sketch: the largest eigenvalue is %g", values[p-1])
	}
	r := p - first
	root := linalg.NewGeneral(p, r)
	for i := range p {
		for j := range r {
			root.Data[i*r+j] = v.At(i, p-1-j) / math.Sqrt(values[p-1-j])
		}
	}
	all := linalg.NewGeneral(n, r)
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, y, root, 0, all, s.o.Workers); err != nil {
		return nil, err
	}
	m := &SketchMatrix{vocab: slices.Clone(vocab), f: linalg.NewGeneral(len(rows), r), d: make([]float64, len(rows)), df: make([]int, len(rows)), docs: s.docs, norms2: newLazy()}
	sum := make([]float64, r)
	for k, i := range rows {
		f := linalg.Row(all, int(place[i]))
		copy(linalg.Row(m.f, k), f)
		m.d[k], m.df[k] = s.diag[i]/docs, int(s.df[i])
		for j, x := range f {
			sum[j] += x
		}
	}
	m.c = make([]float64, len(rows))
	for k := range rows {
		x := -m.d[k]
		for j, f := range linalg.Row(m.f, k) {
			x += f * sum[j]
		}
		m.c[k] = x
	}
	return m, nil
}

// sketchCut is the fraction of the largest eigenvalue of ΩᵀAΩ below which one
// counts as rounding.
const sketchCut = 1e-12

// sorted returns the numbers of the words in the order of their bytes.
func (s *Sketch) sorted() []int32 {
	order := make([]int32, len(s.words))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(s.words[a], s.words[b]) })
	return order
}

// SketchMatrix is the approximation FFᵀ − D of C, F N×p, that a Sketch makes. A
// product with q vectors costs 4·N·p·q operations, a row 2·N·p. Immutable and
// safe for concurrent use.
type SketchMatrix struct {
	vocab  []string
	f      blas64.General
	d, c   []float64
	df     []int
	docs   int64
	norms2 lazy
}

var _ Matrix = (*SketchMatrix)(nil)

// Dim returns N.
func (m *SketchMatrix) Dim() int { return m.f.Rows }

// Rank returns the number of columns of F.
func (m *SketchMatrix) Rank() int { return m.f.Cols }

// Docs returns the number of documents that entered the estimate.
func (m *SketchMatrix) Docs() int64 { return m.docs }

// Vocabulary returns a copy of the words, in the order of the rows.
func (m *SketchMatrix) Vocabulary() []string { return slices.Clone(m.vocab) }

// DocFrequencies returns, for each word, in how many documents it occurs.
func (m *SketchMatrix) DocFrequencies() []int { return slices.Clone(m.df) }

// Marginals returns the row sums.
func (m *SketchMatrix) Marginals() []float64 { return m.c }

// MulTo computes dst = F(FᵀX) − DX.
func (m *SketchMatrix) MulTo(ctx context.Context, dst, x *mat.Dense, workers int) error {
	if err := checkMul("sketch", m.Dim(), m.Dim(), dst, x); err != nil {
		return err
	}
	X, Y := x.RawMatrix(), dst.RawMatrix()
	t := linalg.NewGeneral(m.f.Cols, X.Cols)
	if err := linalg.Gemm(ctx, blas.Trans, blas.NoTrans, 1, m.f, X, 0, t, workers); err != nil {
		return err
	}
	if err := linalg.Gemm(ctx, blas.NoTrans, blas.NoTrans, 1, m.f, t, 0, Y, workers); err != nil {
		return err
	}
	return run.Chunks(ctx, m.Dim(), 1024, workers, func(_, _, lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := linalg.Row(Y, i)
			for j, v := range linalg.Row(X, i) {
				row[j] -= m.d[i] * v
			}
		}
		return nil
	})
}

// RowTo writes row i into dst.
func (m *SketchMatrix) RowTo(dst []float64, i int) {
	fi := linalg.Row(m.f, i)
	for j := range m.Dim() {
		s := 0.0
		for k, v := range linalg.Row(m.f, j) {
			s += v * fi[k]
		}
		dst[j] = s
	}
	dst[i] -= m.d[i]
}

// RowNorms2 returns ‖C_i‖² for every row. The first call takes O(N·p²) time;
// the result is kept.
func (m *SketchMatrix) RowNorms2(ctx context.Context, workers int) ([]float64, error) {
	return m.norms2.get(ctx, func() ([]float64, error) {
		gram := linalg.NewGeneral(m.f.Cols, m.f.Cols)
		if err := linalg.Gram(ctx, m.f, gram, workers); err != nil {
			return nil, err
		}
		out := make([]float64, m.Dim())
		err := run.Chunks(ctx, m.Dim(), 64, workers, func(_, _, lo, hi int) error {
			for i := lo; i < hi; i++ {
				fi := linalg.Row(m.f, i)
				q, own := 0.0, 0.0
				for k, v := range fi {
					t := 0.0
					for l, w := range linalg.Row(gram, k) {
						t += w * fi[l]
					}
					q += v * t
					own += v * v
				}
				out[i] = max(q-2*m.d[i]*own+m.d[i]*m.d[i], 0)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return out, nil
	})
}

// The binary form of a Sketch, numbers little-endian:
//
//	 8 bytes  "JSMFSKT1"
//	 8        Columns p
//	 8        Seed
//	 8        MinTokens
//	24        documents, skipped documents, tokens
//	 8        words N
//	then for each word, sorted by its bytes
//	 4        its length in bytes, and the bytes
//	32        documents, tokens (integers), M·c, M·D (float64)
//	 8·p      its row of M·AΩ (float64)
//	and last
//	 4        CRC-32C of all before
const (
	sketchMagic  = "JSMFSKT1"
	sketchHeader = 64
	sketchWord   = 36 // without the word and its row
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FormatError says where the bytes given to Sketch.UnmarshalBinary or
// Accumulator.ReadFrom are not what they should be.
type FormatError struct {
	Form   string // "sketch" or "accumulator"
	Offset int
	What   string

	err error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("cooc: not the bytes of a %s, or damaged: at byte %d: %s", e.Form, e.Offset, e.What)
}

// Unwrap returns io.ErrUnexpectedEOF where the bytes of an accumulator end too
// early.
func (e *FormatError) Unwrap() error { return e.err }

// MarshalBinary implements encoding.BinaryMarshaler. The bytes depend on what
// was accumulated only, not on the order in which words first came.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	s.ready()
	if err := s.flush(context.Background()); err != nil {
		return nil, err
	}
	p, size := s.o.Columns, sketchHeader+4
	for _, w := range s.words {
		size += sketchWord + len(w) + 8*p
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, size), sketchMagic...)
	for _, v := range []uint64{uint64(p), s.o.Seed, uint64(s.o.MinTokens), uint64(s.docs), uint64(s.skipped), uint64(s.tokens), uint64(len(s.words))} {
		b = le.AppendUint64(b, v)
	}
	for _, i := range s.sorted() {
		w := s.words[i]
		b = le.AppendUint32(b, uint32(len(w)))
		b = append(b, w...)
		b = le.AppendUint64(b, uint64(s.df[i]))
		b = le.AppendUint64(b, uint64(s.tf[i]))
		b = le.AppendUint64(b, math.Float64bits(s.c[i]))
		b = le.AppendUint64(b, math.Float64bits(s.diag[i]))
		for _, v := range s.y[int(i)*p : (int(i)+1)*p] {
			b = le.AppendUint64(b, math.Float64bits(v))
		}
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It replaces what the
// Sketch holds; a zero Sketch will do. Workers stays. Damaged bytes are a
// *FormatError and leave the Sketch as it was. No more memory is taken than a
// small multiple of len(data): the random vectors are made again.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	bad := func(at int, format string, args ...any) error {
		return &FormatError{Form: "sketch", Offset: at, What: fmt.Sprintf(format, args...)}
	}
	if len(data) < sketchHeader+4 {
		return bad(len(data), "the bytes end within the header")
	}
	if string(data[:8]) != sketchMagic {
		return bad(0, "it begins with %q, not %q", data[:8], sketchMagic)
	}
	le := binary.LittleEndian
	end := len(data) - 4
	if got, want := crc32.Checksum(data[:end], castagnoli), le.Uint32(data[end:]); got != want {
		return bad(end, "the checksum is %08x, want %08x", got, want)
	}
	var h [7]uint64
	for i := range h {
		h[i] = le.Uint64(data[8+8*i:])
	}
	columns, least, words := h[0], h[2], h[6]
	switch {
	case columns > maxColumns:
		return bad(8, "%d columns", columns)
	case least < 2 || least > math.MaxInt32:
		return bad(24, "MinTokens is %d", least)
	case h[3] > math.MaxInt64 || h[4] > math.MaxInt64 || h[5] > math.MaxInt64:
		return bad(32, "%d documents, %d skipped, %d tokens", h[3], h[4], h[5])
	case words > math.MaxInt32 || words > uint64(end-sketchHeader)/(sketchWord+8*columns):
		return bad(56, "%d words do not fit in %d bytes", words, len(data))
	case (h[3] == 0) != (words == 0):
		return bad(32, "%d documents with %d different words", h[3], words)
	}
	p, n := int(columns), int(words)
	t := &Sketch{
		o:     SketchOptions{Columns: p, Seed: h[1], MinTokens: int(least), Workers: s.o.Workers},
		index: make(map[string]int32, n),
		docs:  int64(h[3]), skipped: int64(h[4]), tokens: int64(h[5]),
		words: make([]string, 0, n), df: make([]int64, 0, n), tf: make([]int64, 0, n), c: make([]float64, 0, n), diag: make([]float64, 0, n),
		omega: make([]float64, 0, n*p), y: make([]float64, 0, n*p),
	}
	t.batch.reset()
	at := sketchHeader
	tokens := int64(0)
	for range n {
		if end-at < sketchWord+8*p {
			return bad(at, "the bytes end within a word")
		}
		length := int(le.Uint32(data[at:]))
		if length == 0 || length > end-at-sketchWord-8*p {
			return bad(at, "a word of %d bytes", length)
		}
		w := string(data[at+4 : at+4+length])
		if !utf8.ValidString(w) {
			return bad(at+4, "the word %q is not UTF-8", w)
		}
		if k := len(t.words); k > 0 && w <= t.words[k-1] {
			return bad(at+4, "the word %q comes after %q", w, t.words[k-1])
		}
		at += 4 + length
		df, tf := le.Uint64(data[at:]), le.Uint64(data[at+8:])
		c, d := math.Float64frombits(le.Uint64(data[at+16:])), math.Float64frombits(le.Uint64(data[at+24:]))
		if df < 1 || df > h[3] || tf < df || tf > h[5]-uint64(tokens) {
			return bad(at, "word %q: %d tokens in %d documents", w, tf, df)
		}
		if !(c > 0 && c <= float64(h[3])*(1+1e-9)) || !(d > 0 && d <= c*(1+1e-9)) {
			return bad(at+16, "word %q: sums %g and %g", w, c, d)
		}
		at += 32
		tokens += int64(tf)
		t.index[w], t.words = int32(len(t.words)), append(t.words, w)
		t.df, t.tf, t.c, t.diag = append(t.df, int64(df)), append(t.tf, int64(tf)), append(t.c, c), append(t.diag, d)
		t.omega = appendSigns(t.omega, w, t.o.Seed, p)
		for range p {
			v := math.Float64frombits(le.Uint64(data[at:]))
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return bad(at, "word %q: the sketch holds %g", w, v)
			}
			t.y = append(t.y, v)
			at += 8
		}
	}
	if at != end {
		return bad(at, "%d bytes too many", end-at)
	}
	if tokens != t.tokens {
		return bad(48, "%d tokens, but %d by word", t.tokens, tokens)
	}
	*s = *t
	return nil
}
