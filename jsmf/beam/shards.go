package beam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// Lines says what a line of a shard is.
type Lines string

// The kinds of lines. Shards may be gzipped.
const (
	// JSONLines are JSON objects with a text, one a document (corpus.JSONL).
	JSONLines Lines = "jsonl"

	// TextLines are texts, one a document (corpus.Lines).
	TextLines Lines = "text"

	// UCILines are "document word count" (corpus.UCI), with documents in ascending order.
	// All lines of a document are in one shard. Shards have no header; but a whole file with
	// its header may be the only shard.
	UCILines Lines = "uci"
)

// Format says how shards are read. It travels to the workers, so that it holds no code.
type Format struct {
	// Lines says what a line is; "" means JSONLines.
	Lines Lines

	// Text, ID and Label are the fields of JSONLines, as those of corpus.JSONL. A document
	// without an id gets a hash of its words for one, so that nothing depends on where it
	// is. So does every document of TextLines. Those of UCILines have their numbers.
	Text, ID, Label string `json:",omitempty"`

	// Setting says how the texts of JSONLines and TextLines become words, and the model keeps
	// it. It may name no tokenizer of one's own, segmenter or stemmer, which are code.
	// Transform does not use it: it splits texts as those of the model's fit.
	Setting text.Setting

	// Vocabulary is the path of the vocabulary file of UCILines, for all shards.
	Vocabulary string `json:",omitempty"`
}

// validate returns the format without defaults, or what is wrong with it.
func (f Format) validate() (Format, error) {
	f.Lines = cmp.Or(f.Lines, JSONLines)
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	fields := f.Text != "" || f.ID != "" || f.Label != ""
	switch f.Lines {
	case JSONLines:
		bad(f.Vocabulary != "", "a vocabulary file goes with lines of the kind %q only", UCILines)
	case TextLines:
		bad(f.Vocabulary != "", "a vocabulary file goes with lines of the kind %q only", UCILines)
		bad(fields, "fields go with lines of the kind %q only", JSONLines)
	case UCILines:
		bad(f.Vocabulary == "", "lines of the kind %q need a vocabulary file", UCILines)
		bad(fields, "fields go with lines of the kind %q only", JSONLines)
		bad(!f.Setting.Equal(text.Setting{}), "a text setting goes with texts only")
	default:
		bad(true, "there are no lines of the kind %q; want %q, %q or %q", f.Lines, JSONLines, TextLines, UCILines)
	}
	if _, err := f.Setting.Tokenizer(); err != nil {
		errs = append(errs, err)
	}
	return f, errors.Join(errs...)
}

// texts reports whether lines hold texts.
func (f Format) texts() bool { return f.Lines != UCILines }

// shard is a file of documents, and what reports whether it is still the same one.
type shard struct {
	Path string
	Size int64
}

// list expands patterns, and returns the shards by path. Errors name the path.
func list(ctx context.Context, paths []string) ([]shard, error) {
	var out []shard
	for _, path := range paths {
		files, err := expand(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("shard %s: %w", path, err)
		}
		out = append(out, files...)
	}
	if len(out) == 0 {
		return nil, errors.New("no shards are given")
	}
	slices.SortFunc(out, func(a, b shard) int { return strings.Compare(a.Path, b.Path) })
	for i := range out[1:] {
		if out[i].Path == out[i+1].Path {
			return nil, fmt.Errorf("shard %s is given twice", out[i].Path)
		}
	}
	return out, nil
}

// expand returns the files that a path or pattern stands for.
func expand(ctx context.Context, path string) ([]shard, error) {
	fsys, err := openFS(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	names := []string{path}
	if strings.ContainsAny(path, "*?[") {
		if names, err = fsys.List(ctx, path); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no file has such a name: %w", fs.ErrNotExist)
		}
	}
	out := make([]shard, len(names))
	for i, name := range names {
		size, err := fsys.Size(ctx, name)
		if err != nil {
			return nil, err
		}
		out[i] = shard{Path: name, Size: size}
	}
	return out, nil
}

// shardFile returns a file on any file system as package corpus reads it.
func shardFile(ctx context.Context, path string) corpus.File {
	return corpus.File{Name: path, Open: func() (io.ReadCloser, error) {
		fsys, err := openFS(ctx, path)
		if err != nil {
			return nil, err
		}
		r, err := fsys.OpenRead(ctx, path)
		if err != nil {
			return nil, errors.Join(err, fsys.Close())
		}
		return shardReader{r, fsys}, nil
	}}
}

type shardReader struct {
	io.ReadCloser
	fsys filesystem.Interface
}

func (r shardReader) Close() error { return errors.Join(r.ReadCloser.Close(), r.fsys.Close()) }

// source returns the documents of a shard, whose texts t splits. Each has an id, except those
// of a whole UCI file, which have their numbers.
func (f Format) source(ctx context.Context, path string, t text.Tokenizer) corpus.Source {
	in := shardFile(ctx, path)
	switch f.Lines {
	case TextLines:
		return hashed{corpus.Lines{In: in, Tokenizer: t}, path}
	case UCILines:
		part := corpus.UCI{Docword: in, Vocab: shardFile(ctx, f.Vocabulary), NoHeader: true}
		for _, err := range part.Docs(ctx) {
			var at *corpus.FileError
			if errors.As(err, &at) && at.File == path && at.Line == 1 { // no line of counts: a header
				part.NoHeader = false
			}
			break
		}
		return part
	}
	return hashed{corpus.JSONL{In: in, Text: f.Text, ID: f.ID, Label: f.Label, Tokenizer: t}, path}
}

// hashed gives documents without an id a hash of their tokens for one. Documents without a
// token, which no result has, are called by their place.
type hashed struct {
	corpus.Source
	path string
}

// Describe says that ids may come twice: documents with the same tokens have the same hash.
func (s hashed) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := s.Source.Describe(ctx)
	desc.Copies = true
	return desc, err
}

func (s hashed) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		read := 0
		for d, err := range s.Source.Docs(ctx) {
			if read++; err == nil && d.ID == "" {
				if d.ID = contentID(d.Tokens); len(d.Tokens) == 0 {
					d.ID = fmt.Sprintf("%s#%d", s.path, read)
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// contentID returns the hash of a document's tokens, in hexadecimal digits: 64-bit FNV-1a of
// the tokens, each with a zero byte behind it.
func contentID(tokens []string) string {
	h := fnv.New64a()
	for _, t := range tokens {
		io.WriteString(h, t)
		h.Write([]byte{0})
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
