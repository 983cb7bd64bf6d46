package corpus_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// conforming are the sources of documents: a new reader is tested by its line here. file wraps
// the files that they read.
func conforming(t *testing.T, file func(corpus.File) corpus.File) map[string]corpus.Source {
	t.Helper()
	ctx := context.Background()
	unmerged := known()
	unmerged.desc.Stemmer = nil
	own, err := corpus.Read(ctx, unmerged)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := corpus.Encode(ctx, unmerged)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := corpus.Stem(ctx, known(), endings{})
	if err != nil {
		t.Fatal(err)
	}
	stemming := text.OwnWithStemmer("mine", func(dst []string, s string) []string { return append(dst, strings.Fields(s)...) }, endings{})
	stars := []corpus.Field{{Column: corpus.Column{Name: "stars", Kind: corpus.Number}}}
	return map[string]corpus.Source{
		"Corpus":  own.Source(),
		"twice":   twice{own.Source()},
		"Encoded": encoded,
		"Dir":     corpus.Dir{FS: fstest.MapFS{"x/a.txt": {Data: []byte("nets and ants")}, "b.txt": {Data: []byte("net")}}, Folders: []string{"folder"}, Tokenizer: stemming},
		"CSV":     corpus.CSV{In: file(str("text,id,stars\nnets and ants,x,3\nnet,y,4\n")), Text: "text", ID: "id", Fields: stars, Tokenizer: stemming},
		"JSONL":   corpus.JSONL{In: file(str(`{"text":"nets net","stars":2}` + "\n" + `{"text":"ant"}`)), Fields: stars, Tokenizer: stemming},
		"Lines":   corpus.Lines{In: file(str("nets net\nant\n")), Tokenizer: stemming},
		"UCI":     corpus.UCI{Docword: file(str("3\n3\n3\n1 2 1\n1 3 7\n3 3 2\n")), Vocab: file(vocabOf("c", "b", "a")), IDs: file(str("x\ny\nz\n"))},
		"Triples": corpus.Triples{In: file(str("b,1,3\nb,20,1\na,x,2\nb,1,3\n")), NoHeader: true, Rating: "#3"},
		"FromSeq": corpus.FromSeq(known().Docs(ctx), known().desc),
		"Stem":    merged,
	}
}

// What every reader and every other source promises: it is read any number of times, also where
// another source wraps it and changes nothing, by Read and by Encode; ctx ends it; an error of
// its file is passed on; and it closes what it opens.
func TestConformance(t *testing.T) {
	ctx := context.Background()
	var files counted
	broken := conforming(t, func(f corpus.File) corpus.File { return files.input(breaking(f)) })
	filled := map[string]bool{}
	for name, src := range conforming(t, files.input) {
		t.Run(name, func(t *testing.T) {
			files = counted{}
			for f, v := range fieldsOf(describe(t, src)) {
				filled[f] = filled[f] || !v.IsZero()
			}
			sameDescription(t, describe(t, wrapped{src}), describe(t, src))
			want := same(t, src)
			got, err := corpus.Read(ctx, wrapped{src})
			if err != nil {
				t.Fatal(err)
			}
			sameDescription(t, describe(t, got.Source()), describe(t, want.Source()))
			e, err := corpus.Encode(ctx, src)
			if err != nil {
				t.Fatal(err)
			}
			f, err := corpus.Encode(ctx, wrapped{src})
			if err != nil {
				t.Fatal(err)
			}
			sameDescription(t, describe(t, f), describe(t, e))
			saved, err := corpus.EncodeFile(ctx, src, filepath.Join(t.TempDir(), "docs.jenc"))
			if err != nil {
				t.Fatal(err)
			}
			defer saved.Close()
			for how, f := range map[string]*corpus.Encoded{"wrapped": f, "in a file": saved} {
				if got, want := lines(t, f), lines(t, e); got != want {
					t.Errorf("encoded %s:\n%s\nwant\n%s", how, got, want)
				}
			}

			opened := files.opened > 0
			for range src.Docs(ctx) {
				break
			}
			for how, src := range map[string]corpus.Source{"as it is": src, "wrapped": wrapped{src}} {
				all := testutil.EndingAfter(math.MaxInt)
				if _, err := corpus.Read(all, src); err != nil {
					t.Fatal(err)
				}
				for looks := 1; looks <= all.Looks(); looks++ {
					c, err := corpus.Read(testutil.EndingAfter(looks), src)
					late := 2*looks > all.Looks() && err == nil && dump(c) == dump(want) // all had been read
					if !late && (c != nil || !errors.Is(err, context.Canceled)) {
						t.Errorf("%s, ctx ends after %d of %d looks: %v, want its error", how, looks, all.Looks(), err)
					}
				}
			}
			if _, err := corpus.Read(ctx, broken[name]); opened && !errors.Is(err, errBroken) {
				t.Errorf("a file that breaks off: %v, want the error of the file", err)
			}
			if files.opened != files.closed {
				t.Errorf("%d files opened, %d closed", files.opened, files.closed)
			}
		})
	}
	for f := range fieldsOf(corpus.Description{}) {
		if !filled[f] {
			t.Errorf("no source of the test has %s", f)
		}
	}
}

var errBroken = errors.New("a broken disk")

// breaking is a file that ends with an error.
func breaking(in corpus.File) corpus.File {
	open := in.Open
	in.Open = func() (io.ReadCloser, error) {
		r, err := open()
		fails := readerFunc(func([]byte) (int, error) { return 0, errBroken })
		return io.NopCloser(io.MultiReader(r, fails)), err
	}
	return in
}

// Nothing that could have a line is without one.
func TestConformanceComplete(t *testing.T) {
	var has []string
	for _, src := range conforming(t, func(f corpus.File) corpus.File { return f }) {
		x := reflect.TypeOf(src)
		if x.Kind() == reflect.Pointer {
			x = x.Elem()
		}
		has = append(has, x.Name())
	}
	for _, name := range testutil.TypesWith(t, ".", "Describe") {
		if !slices.Contains(has, name) {
			t.Errorf("%s has no line in the suite, want one", name)
		}
	}
}

// What is known of documents is known of what is made of them, except what has been done.
func TestDescriptionComesThrough(t *testing.T) {
	ctx := context.Background()
	src := known()
	for f, v := range fieldsOf(src.desc) {
		if v.IsZero() {
			t.Errorf("the description of the test lacks %s", f)
		}
	}
	here := src // not on other machines
	here.desc.Remote = false
	unmerged := here
	unmerged.desc.Stemmer = nil
	sorted := unmerged.desc // by Read
	sorted.Vocabulary, sorted.Unsorted = []string{"ant", "net", "nets"}, false
	merged := sorted
	merged.Vocabulary, merged.Text = []string{"ant", "net"}, &text.Setting{Version: 1, MinLength: 2, MaxLength: 12, Stemmer: "endings"}
	mergedThere := merged
	mergedThere.Remote = true
	read := func(src corpus.Source) (corpus.Source, error) {
		c, err := corpus.Read(ctx, src)
		if err != nil {
			return nil, err
		}
		return c.Source(), nil
	}
	encode := func(src corpus.Source) (corpus.Source, error) { return corpus.Encode(ctx, src) }
	file := func(src corpus.Source) (corpus.Source, error) {
		e, err := corpus.EncodeFile(ctx, src, filepath.Join(t.TempDir(), "docs.jenc"))
		if err == nil {
			t.Cleanup(func() { e.Close() })
		}
		return e, err
	}
	seq := func(src corpus.Source) (corpus.Source, error) {
		return corpus.FromSeq(src.Docs(ctx), describe(t, src)), nil
	}
	stem := func(src corpus.Source) (corpus.Source, error) { return corpus.Stem(ctx, src, endings{}) }
	for name, x := range map[string]struct {
		src  corpus.Source
		make func(corpus.Source) (corpus.Source, error)
		want corpus.Description
	}{
		"FromSeq":              {src, seq, src.desc},
		"Stem":                 {src, stem, mergedThere},
		"Read":                 {unmerged, read, sorted},
		"Read and merge":       {src, read, merged},
		"Encode":               {unmerged, encode, unmerged.desc},
		"Encode and merge":     {src, encode, merged},
		"EncodeFile":           {unmerged, file, unmerged.desc},
		"EncodeFile and merge": {src, file, merged},
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]corpus.Source{"as it is": x.src, "wrapped": wrapped{x.src}} {
				made, err := x.make(src)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				sameDescription(t, describe(t, made), x.want)
				sameDescription(t, describe(t, wrapped{made}), x.want)
			}
		})
	}
}

// fieldsOf returns the fields of a description by name.
func fieldsOf(desc corpus.Description) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	v := reflect.ValueOf(desc)
	for i := range v.NumField() {
		out[v.Type().Field(i).Name] = v.Field(i)
	}
	return out
}

// twice has every document of a source two times, and says so.
type twice struct{ corpus.Source }

func (s twice) Describe(ctx context.Context) (corpus.Description, error) {
	d, err := s.Source.Describe(ctx)
	d.Documents, d.Copies, d.Weights = 2*d.Documents, true, slices.Concat(d.Weights, d.Weights)
	return d, err
}

func (s twice) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for range 2 {
			for d, err := range s.Source.Docs(ctx) {
				if !yield(d, err) {
					return
				}
			}
		}
	}
}
