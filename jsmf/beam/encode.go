package beam

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/jsmf-go/spectral/corpus"
)

// The encode job reads each shard once and writes its documents as pieces, encoded files
// whose words have numbers of the piece's own. In how many documents a word occurs is added
// up in buckets: a word belongs to the bucket of its hash, and a piece sends a bucket its
// words and their frequencies in one message.
//
//	shard ── encodeShard ──▶ pieces
//	              └─ bucket, frequencies ──▶ GroupByKey ──▶ addFrequencies ──▶ a file a bucket

func init() {
	register.DoFn4x1[context.Context, string, func(string), func(int, []byte), error](&encodeShard{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(string), error](&addFrequencies{})
	register.Emitter1[string]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
}

const (
	// maxPiece is how large a piece gets at most, in bytes by a rough count: two for each word
	// of a document, and its id and label. Pieces of small collections are smaller, so that
	// there are some for every core, but not below minPiece.
	maxPiece = 8 << 20
	minPiece = 128 << 10

	// buckets is in how many parts the words are counted.
	buckets = 64
)

// pieceNote says what is in a piece.
type pieceNote struct {
	Shard       string   `json:",omitempty"`
	Number      int      `json:",omitempty"` // of the piece in its shard
	First, Last string   `json:",omitempty"` // ids of the first and last document
	Documents   int      `json:",omitempty"` // with words, as those that follow
	Tokens      int64    `json:",omitempty"`
	Empty       int      `json:",omitempty"` // documents without words that are left out
	EmptyNames  []string `json:",omitempty"` // nil if there are too many
	Bucket      bool     `json:",omitempty"` // it is no piece but a file of frequencies
}

// encodeShard writes the pieces of a shard.
type encodeShard struct {
	Folder    string
	Format    Format
	PieceSize int
}

// ProcessElement emits the lines of the shard's pieces, and the frequencies of their words.
func (f *encodeShard) ProcessElement(ctx context.Context, path string, emit func(string), count func(int, []byte)) (err error) {
	defer panicked("shard", &path, &err)
	if _, err := cores.take(ctx, 1); err != nil {
		return err
	}
	defer cores.give(1)
	t, err := f.Format.Setting.Tokenizer()
	if err != nil {
		return err
	}
	src := f.Format.source(ctx, path, t)
	desc, err := src.Describe(ctx)
	if err != nil {
		return named(path, err)
	}
	next, stop := iter.Pull2(src.Docs(ctx))
	defer stop()
	for at := (&part{next: next, size: f.PieceSize, desc: desc}); !at.done; at.number++ {
		var info corpus.Info
		var piece file
		piece, err = writeFile(ctx, f.Folder, "words", func(w io.Writer) (err error) {
			info, err = corpus.EncodeTo(ctx, at, w)
			return err
		})
		if err == nil {
			piece, err = piece.with(pieceNote{Shard: path, Number: at.number, First: at.first, Last: at.last, Documents: info.Documents, Tokens: info.Tokens})
		}
		if err == nil {
			err = emitLine(piece, emit)
		}
		if err != nil {
			return named(path, err)
		}
		for b, x := range frequencies(info) {
			if len(x) > 0 {
				count(b, x)
			}
		}
	}
	return nil
}

func emitLine(f file, emit func(string)) error {
	line, err := f.line()
	if err == nil {
		emit(line)
	}
	return err
}

// part is a source of the next documents of a shard, as many as make a piece. It can be read
// once.
type part struct {
	next        func() (corpus.Document, error, bool)
	size        int
	desc        corpus.Description
	number      int    // of the piece in its shard
	read        int    // documents of the shard
	first, last string // ids of the piece's documents
	done        bool   // there are no more documents
}

func (p *part) Describe(context.Context) (corpus.Description, error) { return p.desc, nil }

func (p *part) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		p.first, p.last = "", ""
		for size := 0; size < p.size; {
			d, err, ok := p.next()
			if !ok {
				p.done = true
				return
			}
			if err != nil {
				p.done = true
				yield(d, err)
				return
			}
			p.read++
			d.ID = cmp.Or(d.ID, strconv.Itoa(p.read))
			p.first, p.last = cmp.Or(p.first, d.ID), d.ID
			size += 2*(len(d.Words)+len(d.Tokens)) + len(d.ID) + len(d.Label) + 4
			if !yield(d, nil) {
				return
			}
		}
	}
}

// frequencies returns for each bucket its words in the documents and in how many of them
// they occur, as frequency reads them.
func frequencies(info corpus.Info) [][]byte {
	out := make([][]byte, buckets)
	for i, word := range info.Vocabulary {
		if df := info.DocFrequencies[i]; df > 0 {
			b := crc32.Checksum([]byte(word), castagnoli) % buckets
			out[b] = appendFrequency(out[b], word, int64(df))
		}
	}
	return out
}

func appendFrequency(b []byte, word string, df int64) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(word))), word...)
	return binary.AppendUvarint(b, uint64(df))
}

var errFrequencies = errors.New("damaged frequencies of words")

// eachFrequency calls f for each word of a message.
func eachFrequency(b []byte, f func(word []byte, df int64)) error {
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return errFrequencies
		}
		word := b[k : k+int(n)]
		b = b[k+int(n):]
		df, k := binary.Uvarint(b)
		if k <= 0 || int64(df) <= 0 {
			return errFrequencies
		}
		f(word, int64(df))
		b = b[k:]
	}
	return nil
}

// addFrequencies adds up the frequencies of a bucket, and writes them.
type addFrequencies struct{ Folder string }

// ProcessElement emits the line of the bucket's file.
func (f *addFrequencies) ProcessElement(ctx context.Context, _ int, messages func(*[]byte) bool, emit func(string)) error {
	sum := map[string]int64{}
	var message []byte
	for messages(&message) {
		if err := eachFrequency(message, func(word []byte, df int64) { sum[string(word)] += df }); err != nil {
			return err
		}
	}
	out, err := writeFile(ctx, f.Folder, "bucket", func(w io.Writer) error {
		var b []byte
		for _, word := range slices.Sorted(maps.Keys(sum)) {
			b = appendFrequency(b, word, sum[word])
		}
		_, err := w.Write(b)
		return err
	})
	if err == nil {
		out, err = out.with(pieceNote{Bucket: true})
	}
	if err != nil {
		return err
	}
	return emitLine(out, emit)
}

// encodeJob is the job.
func (s *state) encodeJob(ctx context.Context, r Runner, key string, shards []shard, f Format) ([]file, error) {
	bytes := int64(0)
	for _, x := range shards {
		bytes += x.Size
	}
	size := int(min(maxPiece, max(minPiece, bytes/64)))
	return s.job(ctx, r, "encode", key, func(sc beam.Scope) beam.PCollection {
		paths := make([]string, len(shards))
		for i, x := range shards {
			paths[i] = x.Path
		}
		each := beam.Reshuffle(sc, beam.CreateList(sc, paths))
		pieces, counts := beam.ParDo2(sc, &encodeShard{s.folder, f, size}, each)
		return beam.Flatten(sc, pieces, beam.ParDo(sc, &addFrequencies{s.folder}, beam.GroupByKey(sc, counts)))
	})
}
