package held

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/fields"
)

// Snapshot is what an Accumulator held at one moment. It is immutable and safe for concurrent
// use. Memory: 8 bytes for each document, which the accumulator shares, and 24 for each word.
type Snapshot struct {
	o                Options
	docs             []*heldDoc
	words            []string
	df               []int32
	unknown, evicted int64

	chosen func() *heldSource
}

// Snapshot returns what is held now. O(documents + different words) time.
func (a *Accumulator) Snapshot() *Snapshot {
	defer a.lock().Unlock()
	s := &Snapshot{
		o: a.o, docs: slices.Clone(a.docs), words: slices.Clone(a.words), df: slices.Clone(a.df),
		unknown: a.unknown, evicted: a.evicted,
	}
	s.chosen = sync.OnceValue(func() *heldSource { return s.source(s.o.minDocs(), s.o.MaxWords) })
	return s
}

// Docs returns the number of documents.
func (s *Snapshot) Docs() int { return len(s.docs) }

// Vocabulary returns the words of Options.Vocabulary, then those that have joined
// it, sorted by their bytes.
func (s *Snapshot) Vocabulary() []string { return slices.Clone(s.chosen().vocab) }

// Corpus returns the documents with the words of the vocabulary, by time, then id. Documents
// without such a word are empty. With Options.HalfLife they have weights, 1 for the
// newest. O(nnz) time.
func (s *Snapshot) Corpus() (*corpus.Corpus, error) {
	src := s.chosen()
	switch {
	case len(s.docs) == 0:
		return nil, fmt.Errorf("held: %w", corpus.ErrNoDocuments)
	case len(src.vocab) == 0:
		return nil, fmt.Errorf("held: %w: no word is in %d of the %d documents", corpus.ErrEmptyVocabulary, s.o.minDocs(), len(s.docs))
	}
	c, err := corpus.Read(context.Background(), src)
	if err == nil {
		c, err = c.WithWeights(s.weights())
	}
	if err != nil {
		return nil, fmt.Errorf("held: %w", err)
	}
	return c, nil
}

// Document returns document i of Corpus, from 0.
func (s *Snapshot) Document(i int) Document { return s.docs[i].Document }

// weights returns the weights under Options.HalfLife; nil: there is no decay.
func (s *Snapshot) weights() []float64 {
	if s.o.HalfLife == 0 {
		return nil
	}
	w := make([]float64, len(s.docs))
	for i, d := range s.docs {
		age := uint64(s.docs[len(s.docs)-1].At) - uint64(d.At)
		w[i] = math.Exp2(-float64(age) / s.o.HalfLife)
	}
	return w
}

// heldSource yields the documents of a snapshot with the words of vocab: those of
// Options.Vocabulary, and then the others, sorted by their bytes.
type heldSource struct {
	s      *Snapshot
	vocab  []string
	number []int32 // of each word held, in vocab; −1: it is not in
}

// source returns the documents with the words that are in at least minDocs of them, and with
// maxWords words at most, if it is not 0.
func (s *Snapshot) source(minDocs, maxWords int) *heldSource {
	fixed := len(s.o.Vocabulary)
	var others []int32
	for w := fixed; w < len(s.words); w++ {
		if df := int(s.df[w]); df > 0 && df >= minDocs {
			others = append(others, int32(w))
		}
	}
	byName := func(v, w int32) int { return cmp.Compare(s.words[v], s.words[w]) }
	if maxWords > 0 {
		slices.SortFunc(others, func(v, w int32) int { return cmp.Or(cmp.Compare(s.df[w], s.df[v]), byName(v, w)) })
		others = others[:min(len(others), maxWords-fixed)]
	}
	slices.SortFunc(others, byName)
	h := &heldSource{s, append([]string{}, s.words[:fixed]...), slices.Repeat([]int32{-1}, len(s.words))}
	for w := range fixed {
		h.number[w] = int32(w)
	}
	for _, w := range others {
		h.number[w] = int32(len(h.vocab))
		h.vocab = append(h.vocab, s.words[w])
	}
	return h
}

func (h *heldSource) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Documents: len(h.s.docs), Vocabulary: h.vocab, Columns: h.s.o.Columns, Text: h.s.o.Text}, nil
}

func (h *heldSource) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		var words, counts []int32
		for _, d := range h.s.docs {
			all, n := d.pairs()
			words, counts = words[:0], counts[:0]
			for i, w := range all {
				if k := h.number[w]; k >= 0 {
					words, counts = append(words, k), append(counts, n[i])
				}
			}
			if !yield(corpus.Document{ID: d.ID, Values: d.Values, Words: words, Counts: counts}, nil) {
				return
			}
		}
	}
}

// The file of an accumulator is what an Encoded does not hold, then an Encoded: see FORMAT.md.
const (
	accMagic   = "\x89JACC\r\n\x1a"
	accVersion = 3
)

// accSetting is what the file holds besides the documents, as JSON. Text, Columns and
// Vocabulary are in the Encoded.
type accSetting struct {
	MinDocs, MaxWords, Window int
	MaxAge                    int64
	HalfLife                  float64
	MaxBytes                  int64
	Unknown, Evicted          int64
	Documents                 int
	StopWords                 []string
	Fixed                     int   // words of the Vocabulary, the first ones in the file
	Open                      []int // numbers of the columns without Levels of their own
}

// WriteTo writes the documents and the options in a versioned form with checksums, and
// returns the number of bytes. It writes a Snapshot. The bytes depend on the documents and
// options alone: two to three for each distinct word of a document, some three for each
// document, the metadata, and the strings.
func (a *Accumulator) WriteTo(w io.Writer) (int64, error) { return a.Snapshot().WriteTo(w) }

var (
	_ io.WriterTo   = (*Accumulator)(nil)
	_ io.WriterTo   = (*Snapshot)(nil)
	_ io.ReaderFrom = (*Accumulator)(nil)
)

// WriteTo writes the accumulator as it was at the time of the snapshot. See
// [Accumulator.WriteTo].
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	out := &countingWriter{w: w}
	if err := s.write(out); err != nil {
		return out.n, fmt.Errorf("held: write: %w", err)
	}
	return out.n, nil
}

func (s *Snapshot) write(w io.Writer) error {
	o := s.o
	set := accSetting{
		MinDocs: o.MinDocs, MaxWords: o.MaxWords, Window: o.Window, MaxAge: o.MaxAge, HalfLife: o.HalfLife, MaxBytes: o.MaxBytes,
		Unknown: s.unknown, Evicted: s.evicted, Documents: len(s.docs), StopWords: o.StopWords, Fixed: len(o.Vocabulary),
	}
	for i, c := range o.Columns {
		if c.Kind == corpus.Category && c.Levels == nil {
			set.Open = append(set.Open, i)
		}
	}
	js, err := json.Marshal(set)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(accMagic), accVersion)
	b = append(le.AppendUint64(b, uint64(len(js))), js...)
	for i, d := range s.docs {
		if i == 0 {
			b = le.AppendUint64(b, uint64(d.At))
		} else {
			b = binary.AppendUvarint(b, uint64(d.At)-uint64(s.docs[i-1].At))
		}
	}
	b = le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	buf := bufio.NewWriter(w)
	if _, err := buf.Write(b); err != nil {
		return err
	}
	if _, err := corpus.EncodeTo(context.Background(), s.source(1, 0), buf); err != nil {
		return err
	}
	return buf.Flush()
}

// ReadFrom replaces the documents and options of the accumulator, which may be a zero one, by
// those that WriteTo wrote. It reads r to its end and returns the number of bytes. Bytes that
// are damaged or of another version ([corpus.ErrDamaged]) or cut off ([corpus.ErrTruncated]) are an error,
// after which the accumulator is as it was. Memory is at most a small multiple of the bytes.
func (a *Accumulator) ReadFrom(r io.Reader) (int64, error) {
	data, err := io.ReadAll(r)
	var b *Accumulator
	if err == nil {
		b, err = readAccumulator(data)
	}
	if err != nil {
		return int64(len(data)), fmt.Errorf("held: read: %w", err)
	}
	defer a.lock().Unlock()
	a.accumulated = b.accumulated
	return int64(len(data)), nil
}

func readAccumulator(data []byte) (*Accumulator, error) {
	r := fields.Reader{B: data}
	magic, version := r.Take(uint64(len(accMagic))), r.U32()
	switch {
	case r.Short:
		return nil, fmt.Errorf("header: %w", corpus.ErrTruncated)
	case string(magic) != accMagic:
		return nil, fmt.Errorf("header: %w: it begins with %q, not %q", corpus.ErrDamaged, magic, accMagic)
	case version != accVersion:
		return nil, fmt.Errorf("header: %w: version %d; this library reads version %d: add the documents to a new accumulator", corpus.ErrDamaged, version, accVersion)
	}
	var set accSetting
	if err := json.Unmarshal(r.Take(r.U64()), &set); r.Short {
		return nil, fmt.Errorf("options: %w", corpus.ErrTruncated)
	} else if err != nil {
		return nil, fmt.Errorf("options: %w: %w", corpus.ErrDamaged, err)
	}
	if set.Documents < 0 || set.Documents > len(r.B) {
		return nil, fmt.Errorf("options: %w: %d documents in %d bytes", corpus.ErrDamaged, set.Documents, len(r.B))
	}
	times := make([]int64, set.Documents)
	for i := range times {
		if i == 0 {
			times[i] = int64(r.U64())
		} else {
			times[i] = int64(uint64(times[i-1]) + r.Uvarint())
		}
	}
	head := data[:len(data)-len(r.B)]
	if crc := r.U32(); r.Short {
		return nil, fmt.Errorf("times: %w", corpus.ErrTruncated)
	} else if crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)) != crc {
		return nil, fmt.Errorf("options and times: %w: checksum", corpus.ErrDamaged)
	}
	docs, err := corpus.EncodedFromBytes("documents", r.B)
	if err != nil {
		return nil, err
	}
	a, err := accumulatorOf(set, docs)
	if err == nil {
		err = a.holdAll(docs, times)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", corpus.ErrDamaged, err)
	}
	return a, nil
}

// accumulatorOf returns the accumulator of a file, with its words and without documents.
func accumulatorOf(set accSetting, docs *corpus.Encoded) (*Accumulator, error) {
	info, columns := docs.Info(), docs.Metadata().Columns()
	words := info.Vocabulary
	switch {
	case set.Fixed < 0 || set.Fixed > len(words):
		return nil, fmt.Errorf("%d fixed words of %d", set.Fixed, len(words))
	case set.Unknown < 0 || set.Evicted < 0:
		return nil, fmt.Errorf("%d unknown tokens, %d documents evicted", set.Unknown, set.Evicted)
	}
	for _, i := range set.Open {
		if i < 0 || i >= len(columns) || columns[i].Kind != corpus.Category {
			return nil, fmt.Errorf("column %d of %d has no Levels", i, len(columns))
		}
		columns[i].Levels = nil
	}
	a := new(Accumulator)
	a.unknown, a.evicted = set.Unknown, set.Evicted
	a.o = Options{
		Vocabulary: words[:set.Fixed:set.Fixed], StopWords: set.StopWords, Text: info.Text, Columns: columns,
		MinDocs: set.MinDocs, MaxWords: set.MaxWords, Window: set.Window, MaxAge: set.MaxAge, HalfLife: set.HalfLife, MaxBytes: set.MaxBytes,
	}
	if err := a.o.validate(); err != nil {
		return nil, err
	}
	a.ready()
	for i, w := range words[set.Fixed:] {
		if _, known := a.index[w]; known || w == "" || a.stop[w] || a.o.MinDocs < 0 || !utf8.ValidString(w) || i > 0 && w <= a.words[len(a.words)-1] {
			return nil, fmt.Errorf("the word %q comes twice, is out of order, or is not allowed", w)
		}
		a.newWord(w)
	}
	return a, nil
}

// holdAll holds the documents of a file, which have these times.
func (a *Accumulator) holdAll(docs *corpus.Encoded, times []int64) error {
	if n := docs.Info().Documents; n != len(times) {
		return fmt.Errorf("%d documents with %d times", n, len(times))
	}
	for x, err := range docs.Docs(context.Background()) {
		if err != nil {
			return err
		}
		n := len(a.docs)
		d := &heldDoc{Document{x.ID, times[n], ownValues(x.Values)}, slices.Concat(x.Words, x.Counts)}
		if d.ID == "" || a.byID[d.ID] != nil || n > 0 && a.docs[n-1].compare(d.At, d.ID) >= 0 {
			return fmt.Errorf("document %q has no id, comes twice or is out of order", d.ID)
		}
		a.hold(d)
	}
	for i := len(a.o.Vocabulary); i < len(a.words); i++ {
		if a.df[i] == 0 {
			return fmt.Errorf("no document holds the word %q", a.words[i])
		}
	}
	return nil
}

// countingWriter counts the bytes that w has taken.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err // bufio reports short writes
}
