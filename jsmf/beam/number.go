package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
)

// The number job gives words the numbers that they have in all documents. The vocabulary is
// made on the launching machine, of the files of the buckets, and written to a file that
// workers load once. Documents without words are left out.

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&numberPiece{})
	register.Emitter1[string]()
}

// vocabulary are the words of all documents, by number.
type vocabulary struct {
	Words       []string
	Frequencies []int // in how many documents each occurs, at least one
	Dropped     []corpus.Dropped
}

// newVocabulary makes a vocabulary of the words that occur in least documents or more. order
// are all words in their order; nil: they are sorted as corpus.Read sorts them.
func newVocabulary(frequencies map[string]int64, order []string, least int) (*vocabulary, error) {
	if order == nil {
		order = make([]string, 0, len(frequencies))
		for w := range frequencies {
			order = append(order, w)
		}
		slices.SortFunc(order, bag.CompareWords)
	}
	v := &vocabulary{Words: []string{}}
	unused, rare := corpus.Dropped{Reason: "in no document"}, corpus.Dropped{Reason: fmt.Sprintf("in fewer than %d documents", least)}
	for _, w := range order {
		switch df := frequencies[w]; {
		case df == 0:
			unused.Names = append(unused.Names, w)
			unused.Count++
		case df < int64(least):
			bag.Leave(&rare.Count, &rare.Names, w)
		default:
			v.Words, v.Frequencies = append(v.Words, w), append(v.Frequencies, int(df))
		}
	}
	for _, x := range []corpus.Dropped{unused, rare} {
		if x.Count > 0 {
			v.Dropped = append(v.Dropped, x)
		}
	}
	switch {
	case len(v.Words) == 0 && rare.Count > 0:
		return nil, fmt.Errorf("%w: no word is in %d documents or more", corpus.ErrEmptyVocabulary, least)
	case len(v.Words) == 0:
		return nil, fmt.Errorf("%w: no document has a word", corpus.ErrEmptyVocabulary)
	case len(v.Words) > math.MaxInt32:
		return nil, fmt.Errorf("%d words are more than %d", len(v.Words), math.MaxInt32)
	}
	return v, nil
}

// readVocabulary reads the file of a vocabulary.
func readVocabulary(ctx context.Context, folder string, f file) (*vocabulary, error) {
	data, err := f.read(ctx, folder)
	if err != nil {
		return nil, err
	}
	v := new(vocabulary)
	if err = json.Unmarshal(data, v); err == nil && len(v.Words) != len(v.Frequencies) {
		err = errDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", joinPath(folder, f.Name), err)
	}
	return v, nil
}

// numbering is what workers need of a vocabulary.
type numbering struct {
	number map[string]int32
	blank  []string // as many empty strings as there are words
}

var numberings once[numbering]

func loadNumbering(ctx context.Context, folder string, f file) (numbering, error) {
	v, err := readVocabulary(ctx, folder, f)
	if err != nil {
		return numbering{}, err
	}
	number, err := bag.Index(v.Words)
	return numbering{number, make([]string, len(v.Words))}, err
}

// numberPiece writes a piece anew with the numbers that words have in all documents.
type numberPiece struct {
	Folder     string
	Vocabulary file
}

// ProcessElement takes the line of a piece and emits that of the new one.
func (f *numberPiece) ProcessElement(ctx context.Context, line string, emit func(string)) (err error) {
	defer panicked("piece", &line, &err)
	if _, err := cores.take(ctx, 1); err != nil {
		return err
	}
	defer cores.give(1)
	var in file
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		return err
	}
	all, err := numberings.get(joinPath(f.Folder, f.Vocabulary.Name), func() (numbering, error) {
		return loadNumbering(ctx, f.Folder, f.Vocabulary)
	})
	if err != nil {
		return err
	}
	src, err := readPiece(ctx, f.Folder, in)
	if err != nil {
		return err
	}
	var note pieceNote
	if err := json.Unmarshal(in.Note, &note); err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	docs := &renumbered{Encoded: src, all: all, to: make([]int32, len(src.Info().Vocabulary))}
	for i, w := range src.Info().Vocabulary {
		docs.to[i] = bag.Unknown
		if n, ok := all.number[w]; ok {
			docs.to[i] = n
		}
	}
	var info corpus.Info
	out, err := writeFile(ctx, f.Folder, "piece", func(w io.Writer) (err error) {
		info, err = corpus.EncodeTo(ctx, docs, w)
		return err
	})
	if err != nil {
		return err
	}
	note.Documents, note.Tokens = info.Documents, info.Tokens
	note.Empty, note.EmptyNames = docs.empty, docs.names
	if out, err = out.with(note); err != nil {
		return err
	}
	return emitLine(out, emit)
}

// renumbered are the documents of a piece that have words, with the numbers that words have
// in all documents. It can be read once.
type renumbered struct {
	*corpus.Encoded
	all   numbering
	to    []int32
	empty int      // documents left out
	names []string // of them
}

// Describe names no words.
func (s *renumbered) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Encoded.Describe(ctx)
	desc.Vocabulary, desc.Unsorted = s.all.blank, false
	return desc, err
}

func (s *renumbered) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for d, err := range s.Encoded.Docs(ctx) {
			if err != nil {
				yield(d, err)
				return
			}
			n := 0
			for i, w := range d.Words {
				if k := s.to[w]; k >= 0 {
					d.Words[n], d.Counts[n] = k, d.Counts[i]
					n++
				}
			}
			if n == 0 {
				bag.Leave(&s.empty, &s.names, d.ID)
				continue
			}
			d.Words, d.Counts = d.Words[:n], d.Counts[:n]
			if !yield(d, nil) {
				return
			}
		}
	}
}

// numberJob is the job. Its files are the pieces, and one of the vocabulary, without a note.
func (s *state) numberJob(ctx context.Context, r Runner, key string, pieces []file, v *vocabulary) ([]file, error) {
	out, err := writeFile(ctx, s.folder, "vocabulary", func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
	if err != nil {
		return nil, err
	}
	words, err := out.line()
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(pieces))
	for i, p := range pieces {
		if lines[i], err = p.line(); err != nil {
			return nil, err
		}
	}
	return s.job(ctx, r, "number", key, func(sc beam.Scope) beam.PCollection {
		each := beam.Reshuffle(sc, beam.CreateList(sc, lines))
		return beam.Flatten(sc, beam.Create(sc, words), beam.ParDo(sc, &numberPiece{s.folder, out}, each))
	})
}

// checkWhole looks whether the pieces of UCI lines have each document whole.
func checkWhole(pieces []pieceNote) error {
	type end struct{ first, last string }
	ends := map[string]end{}
	for _, p := range pieces { // in the order of their numbers
		if p.First == "" {
			continue
		}
		e, ok := ends[p.Shard]
		if !ok {
			e.first = p.First
		}
		e.last = p.Last
		ends[p.Shard] = e
	}
	of := map[string]string{} // the shard of a document
	for _, p := range pieces {
		e := ends[p.Shard]
		for _, id := range []string{e.first, e.last} {
			if other, ok := of[id]; ok && other != p.Shard && id != "" {
				return fmt.Errorf("document %s is in shard %s and in shard %s: all lines of a document must be in one shard, and a file with a header must be the only one", id, other, p.Shard)
			}
			of[id] = p.Shard
		}
	}
	return nil
}
