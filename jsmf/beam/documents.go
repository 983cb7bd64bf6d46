package beam

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/jsmf"
)

// Options say how documents are read and where the work is done.
type Options struct {
	// Format says how the shards are read.
	Format Format

	// State is the folder where results are kept, local or on an object store. The launching
	// program and all workers must see it by this path. A run that failed is resumed by
	// another one with the same State, shards and settings: it finds the results of every job
	// that was done there. Only one program at a time may use a folder. It may be deleted when
	// the model is saved.
	State string

	// Runner says where the jobs run.
	Runner Runner

	// MinDocuments leaves out words that fewer documents hold. 0 and 1 keep all words. A model
	// takes some 24·N·K bytes for N words, and the launching program several times that, so
	// that very large collections need a number such as 100. Transform does not use it.
	MinDocuments int

	// Record receives the events of the jobs StageEncode, StageNumber and StageTransform, in
	// the form of those of a fit (jsmf.Pipeline.Record). It also receives a warning of each job,
	// those of a fit included, that has failed and is tried again. nil: not called.
	Record func(jsmf.Event)
}

// Stages of events that jobs send to Options.Record.
const (
	StageEncode    jsmf.Stage = "encode"    // documents are read and tokenised
	StageNumber    jsmf.Stage = "number"    // words get their numbers
	StageTransform jsmf.Stage = "transform" // topics of documents are found
)

func (o Options) validate() (Options, error) {
	f, err := o.Format.validate()
	if o.State == "" {
		err = errors.Join(err, errors.New("no State, the folder where results are kept"))
	}
	if o.MinDocuments < 0 {
		err = errors.Join(err, fmt.Errorf("MinDocuments is %d; want 0, or more", o.MinDocuments))
	}
	o.Format = f
	return o, err
}

// open opens the state folder.
func (o Options) open(ctx context.Context) (*state, error) {
	st, err := openState(ctx, o.State)
	if err != nil {
		return nil, err
	}
	st.watch = func(j jobReport) {
		if o.Record != nil && j.err != nil && j.try < o.Runner.tries() && ctx.Err() == nil {
			o.Record(jsmf.Event{Stage: jsmf.Stage(j.stage), Kind: jsmf.EventWarning, Message: fmt.Sprintf("tried again: %.500s", strings.ReplaceAll(j.err.Error(), "\n", " "))})
		}
	}
	return st, nil
}

// stage runs f between the events of a stage. f returns its outcome in words.
func (o Options) stage(name jsmf.Stage, f func() (string, error)) error {
	if o.Record == nil {
		_, err := f()
		return err
	}
	begun := time.Now()
	o.Record(jsmf.Event{Stage: name, Kind: jsmf.EventStart})
	outcome, err := f()
	o.Record(jsmf.Event{Stage: name, Kind: jsmf.EventEnd, Elapsed: time.Since(begun), Message: outcome, Err: err})
	return err
}

// Documents are documents that lie encoded in a state folder. They are a jsmf.Input: a
// Pipeline that refines by refine.Batch, or does not refine, fits a model to them, and its
// passes over documents are jobs. Info().Source yields the documents one after the other, on
// this machine, for all that takes a corpus.Source.
//
// Documents are safe for concurrent use.
type Documents struct {
	st     *state
	runner Runner
	key    string // of what they are
	pieces []file
	info   corpus.Info
}

var _ jsmf.Input = (*Documents)(nil)

// Encode reads shards of documents, by two jobs, and keeps them encoded in the state folder:
// some two to three bytes for each word of a document, and twice that for as long as it
// works. A path with *, ? or [ stands for all files that match it. The documents do not depend
// on the order of paths, nor on how they are divided among shards.
//
// Words are numbered as by corpus.Read: those of UCILines in the order of the vocabulary file,
// others sorted. Words in no document, and by MinDocuments, are left out, and so are documents
// without words; Info says how many.
//
// What was encoded before from files of these names and sizes, with this format, is taken from
// the state folder, where the shards are then not read again. Errors name the shard, and the
// line where there is one.
func Encode(ctx context.Context, shards []string, o Options) (*Documents, error) {
	d, err := encode(ctx, shards, o)
	if err != nil {
		return nil, wrap(err)
	}
	return d, nil
}

func encode(ctx context.Context, shards []string, o Options) (*Documents, error) {
	o, err := o.validate()
	if err != nil {
		return nil, err
	}
	all, err := list(ctx, shards)
	if err != nil {
		return nil, err
	}
	st, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	words := keyOf("encode", 1, o.Format, all)
	key := keyOf("number", words, max(1, o.MinDocuments))
	files, done, err := st.lookup(ctx, key)
	if err == nil && !done {
		files, err = encodeAnew(ctx, st, all, o, words, key)
	}
	if err != nil {
		return nil, err
	}
	d, err := openDocuments(ctx, st, o.Runner, key, files)
	if err == nil && o.Format.texts() {
		d.info.Text = &o.Format.Setting
	}
	return d, err
}

// encodeAnew runs the two jobs.
func encodeAnew(ctx context.Context, st *state, all []shard, o Options, words, key string) (files []file, err error) {
	if err := st.clean(ctx, slices.Collect(maps.Keys(st.done))...); err != nil { // of what a killed run has left
		return nil, err
	}
	var local []file
	err = o.stage(StageEncode, func() (string, error) {
		local, err = st.encodeJob(ctx, o.Runner, words, all, o.Format)
		return fmt.Sprintf("%d shards", len(all)), err
	})
	if err != nil {
		return nil, err
	}
	err = o.stage(StageNumber, func() (string, error) {
		pieces, notes, v, err := readWords(ctx, st, local, o)
		if err != nil {
			return "", err
		}
		if o.Format.Lines == UCILines {
			if err := checkWhole(notes); err != nil {
				return "", err
			}
		}
		files, err = st.numberJob(ctx, o.Runner, key, pieces, v)
		return fmt.Sprintf("%d words", len(v.Words)), err
	})
	if err != nil {
		return nil, err
	}
	return files, st.drop(ctx, words)
}

// readWords returns the pieces among the files of the encode job, with their notes, in order,
// and makes the vocabulary of the others.
func readWords(ctx context.Context, st *state, files []file, o Options) (pieces []file, notes []pieceNote, v *vocabulary, err error) {
	frequencies := map[string]int64{}
	pieces, notes, others, err := sorted(files)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, f := range others {
		data, err := f.read(ctx, st.folder)
		if err == nil {
			err = eachFrequency(data, func(word []byte, df int64) { frequencies[string(word)] += df })
		}
		if err != nil {
			return nil, nil, nil, named(f.Name, err)
		}
	}
	var order []string
	if o.Format.Lines == UCILines {
		desc, err := (corpus.UCI{Vocab: shardFile(ctx, o.Format.Vocabulary)}).Describe(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		order = desc.Vocabulary
	}
	v, err = newVocabulary(frequencies, order, max(1, o.MinDocuments))
	return pieces, notes, v, err
}

// sorted returns the pieces among the files of a job with their notes, by shard and number,
// and the other files.
func sorted(files []file) (pieces []file, notes []pieceNote, others []file, err error) {
	type noted struct {
		file
		note pieceNote
	}
	var all []noted
	for _, f := range files {
		x := noted{file: f}
		if len(f.Note) > 0 {
			if err := json.Unmarshal(f.Note, &x.note); err != nil {
				return nil, nil, nil, named(f.Name, err)
			}
		}
		if x.note.Shard == "" {
			others = append(others, f)
		} else {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b noted) int {
		return cmp.Or(cmp.Compare(a.note.Shard, b.note.Shard), cmp.Compare(a.note.Number, b.note.Number))
	})
	for _, x := range all {
		pieces, notes = append(pieces, x.file), append(notes, x.note)
	}
	return pieces, notes, others, nil
}

// openDocuments returns the documents that the files of a number job hold.
func openDocuments(ctx context.Context, st *state, r Runner, key string, files []file) (*Documents, error) {
	pieces, notes, others, err := sorted(files)
	if err != nil {
		return nil, err
	}
	if len(others) != 1 {
		return nil, fmt.Errorf("%w: the documents have %d vocabularies", errDamaged, len(others))
	}
	v, err := readVocabulary(ctx, st.folder, others[0])
	if err != nil {
		return nil, err
	}
	d := &Documents{st: st, runner: r, key: key}
	d.info = corpus.Info{Form: "encoded", Vocabulary: v.Words, DocFrequencies: v.Frequencies, DroppedWords: v.Dropped, Source: (*source)(d)}
	for _, df := range v.Frequencies {
		d.info.Nonzeros += int64(df)
	}
	empty := corpus.Dropped{Reason: "without words"}
	left := 0
	for i, n := range notes {
		d.info.Documents += n.Documents
		d.info.Tokens += n.Tokens
		left += n.Empty
		for _, name := range n.EmptyNames {
			bag.Leave(&empty.Count, &empty.Names, name)
		}
		if n.Documents > 0 {
			d.pieces = append(d.pieces, pieces[i])
		}
	}
	if empty.Count != left { // a piece has too many to name
		empty.Count, empty.Names = left, nil
	}
	if left > 0 {
		d.info.DroppedDocuments = []corpus.Dropped{empty}
	}
	return d, nil
}

// Info describes the documents. Its slices must not be written to.
func (d *Documents) Info() corpus.Info { return d.info }

// source are Documents as what package jsmf adds up over.
type source Documents

var _ sums.Documents = (*source)(nil)

func (s *source) Info() corpus.Info { return s.info }

// Describe implements corpus.Source. Documents without an id of their own have a hash of
// their tokens for one.
func (s *source) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Documents: s.info.Documents, Vocabulary: s.info.Vocabulary, Text: s.info.Text, Copies: true, Remote: true}, nil
}

// Sum adds up by a job, unless the state folder has the sum.
func (s *source) Sum(ctx context.Context, p sums.Plan) ([]int64, error) {
	return s.st.sum(ctx, s.runner, s.key, s.pieces, p)
}

// Docs yields the documents by shard, on this machine. A piece is held at a time.
func (s *source) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, f := range s.pieces {
			piece, err := readPiece(ctx, s.st.folder, f)
			if err != nil {
				yield(corpus.Document{}, err)
				return
			}
			for d, err := range piece.Docs(ctx) {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}

// wrap puts the name of the package before an error that does not begin with it.
func wrap(err error) error {
	if strings.HasPrefix(err.Error(), "beam: ") {
		return err
	}
	return fmt.Errorf("beam: %w", err)
}

// keyOf names what depends on the given values alone.
func keyOf(kind string, parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic(err) // parts are values of this package
	}
	h := sha256.Sum256(b)
	return kind + "-" + hex.EncodeToString(h[:])
}
