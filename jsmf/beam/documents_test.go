package beam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
)

// listed returns a line for each document that has words, with its id and label, sorted.
func listed(t testing.TB, src corpus.Source, vocabulary []string) []string {
	t.Helper()
	var out []string
	number := 0
	for d, err := range src.Docs(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		number++
		if d.ID == "" {
			d.ID = fmt.Sprint(number)
		}
		if len(d.Words) > 0 {
			var words []string
			for i, w := range d.Words {
				if i > 0 && w <= d.Words[i-1] {
					t.Fatalf("document %s: words %v are not ascending", d.ID, d.Words)
				}
				words = append(words, fmt.Sprintf("%s:%d", vocabulary[w], d.Counts[i]))
			}
			slices.Sort(words)
			out = append(out, fmt.Sprintf("%s %q %v", d.ID, d.Label, words))
		}
	}
	slices.Sort(out)
	return out
}

func mustEncode(t testing.TB, paths []string, o Options) *Documents {
	t.Helper()
	d, err := Encode(context.Background(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever the shards are, the documents are those of one machine.
func TestEncode(t *testing.T) {
	c := drawn(500)
	one, err := corpus.Encode(context.Background(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	all, one := one.Info(), one.DropUnused()
	want := listed(t, one, one.Info().Vocabulary)
	for name, shards := range map[string]func() ([]string, Format){
		"whole file":   func() ([]string, Format) { return wholeUCI(t, c) },
		"one of lines": func() ([]string, Format) { return uciShards(t, c, 1) },
		"9 of lines":   func() ([]string, Format) { return uciShards(t, c, 9) },
	} {
		t.Run(name, func(t *testing.T) {
			paths, f := shards()
			got, want := mustEncode(t, paths, options(t, f)).Info(), append([]string{}, want...)
			if name == "whole file" { // its header counts documents that have no lines
				if x := got.DroppedDocuments; len(x) != 1 || x[0].Count != 10 || x[0].Reason != "without words" || x[0].Names[1] != "68" {
					t.Errorf("documents left out: %v", x)
				}
			}
			if x := got.DroppedWords; len(x) != 1 || x[0].Reason != "in no document" || x[0].Count != len(all.Vocabulary)-len(got.Vocabulary) || !slices.Contains(x[0].Names, "nowhere") {
				t.Errorf("words left out: %v", x)
			}
			info := one.Info()
			if !slices.Equal(got.Vocabulary, info.Vocabulary) || !slices.Equal(got.DocFrequencies, info.DocFrequencies) {
				t.Error("other words or frequencies")
			}
			if got.Documents != len(want) || got.Tokens != info.Tokens || got.Nonzeros != info.Nonzeros {
				t.Errorf("%d documents, %d tokens, %d nonzeros; want %d, %d, %d", got.Documents, got.Tokens, got.Nonzeros, len(want), info.Tokens, info.Nonzeros)
			}
			if x := listed(t, got.Source, got.Vocabulary); !slices.Equal(x, want) {
				t.Errorf("%d other documents", len(x))
			}
		})
	}
}

// JSON lines become what corpus.Read makes of them.
func TestEncodeJSON(t *testing.T) {
	paths, f := jsonShards(t, drawn(300), 4)
	var all []string
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	c, err := corpus.Read(context.Background(), corpus.JSONL{In: corpus.FileFromBytes("all", []byte(strings.Join(all, "")))})
	if err != nil {
		t.Fatal(err)
	}
	want := listed(t, c.Source(), c.Vocabulary())
	got := mustEncode(t, []string{filepath.Join(filepath.Dir(paths[0]), "part-*.jsonl")}, options(t, f)).Info()
	if !slices.Equal(got.Vocabulary, c.Vocabulary()) || !slices.Equal(got.DocFrequencies, c.DocFrequencies()) {
		t.Error("other words or frequencies")
	}
	if x := listed(t, got.Source, got.Vocabulary); !slices.Equal(x, want) {
		t.Errorf("documents\n%s\nwant\n%s", x[0], want[0])
	}
	if x := got.DroppedDocuments; len(x) != 1 || x[0].Count != 6 || !slices.Contains(x[0].Names, "168") {
		t.Errorf("documents left out: %v", x)
	}
}

// Texts are called by what they hold, wherever they stand.
func TestEncodeText(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	a := []string{
		write(t, one, "a", "A cat, a dog in 1999.\nThe dog\n\n"),
		write(t, one, "b", "cat cat\n"),
	}
	b := []string{write(t, two, "c", "cat CAT\nthe dog\nA cat, a dog in 1999.")}
	f := Format{Lines: TextLines, Setting: text.Setting{Numbers: text.KeepNumbers}}
	x, y := mustEncode(t, a, options(t, f)).Info(), mustEncode(t, b, options(t, f)).Info()
	if want := []string{"1999", "cat", "dog", "in", "the"}; !slices.Equal(x.Vocabulary, want) {
		t.Errorf("words %q, want %q", x.Vocabulary, want)
	}
	if p, q := listed(t, x.Source, x.Vocabulary), listed(t, y.Source, y.Vocabulary); !slices.Equal(p, q) || len(p) != 3 {
		t.Errorf("%q and %q", p, q)
	}
	if d := x.DroppedDocuments; len(d) != 1 || !slices.Equal(d[0].Names, []string{a[0] + "#3"}) {
		t.Errorf("documents left out: %v", d)
	}
	if x.Text == nil || !x.Text.Equal(f.Setting) {
		t.Errorf("the documents say that %v made their words", x.Text)
	}
	twice := mustEncode(t, []string{write(t, t.TempDir(), "d", "cat dog\ncat dog\ncat dog")}, options(t, f)).Info()
	if twice.Documents != 3 {
		t.Errorf("%d documents of 3 with the same words", twice.Documents)
	}
	f.Setting.KeepCase = true
	if z := mustEncode(t, b, options(t, f)).Info(); !slices.Contains(z.Vocabulary, "CAT") {
		t.Errorf("words %q without their case", z.Vocabulary)
	}
}

// A shard becomes any number of pieces.
func TestPieces(t *testing.T) {
	c := drawn(300)
	paths, f := wholeUCI(t, c)
	folder := t.TempDir()
	var pieces []file
	emit := func(line string) {
		var x file
		if err := unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, x)
	}
	got := map[string]int64{}
	count := func(_ int, b []byte) {
		if err := eachFrequency(b, func(word []byte, df int64) { got[string(word)] += df }); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	if err := (&encodeShard{folder, f, 1000}).ProcessElement(ctx, paths[0], emit, count); err != nil {
		t.Fatal(err)
	}
	if len(pieces) < 10 {
		t.Errorf("%d pieces", len(pieces))
	}
	for i, df := range c.DocFrequencies() {
		if got[c.Word(i)] != int64(df) {
			t.Errorf("word %s is in %d documents, want %d", c.Word(i), got[c.Word(i)], df)
		}
	}
	m := 0
	for _, p := range pieces {
		e, err := readPiece(ctx, folder, p)
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range e.Docs(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if w, n := c.Doc(m); d.ID != c.ID(m) || !slices.Equal(d.Words, w) || !slices.Equal(d.Counts, n) {
				t.Fatalf("document %s, want %s", d.ID, c.ID(m))
			}
			m++
		}
	}
	if m != c.NumDocs() {
		t.Errorf("%d documents, want %d", m, c.NumDocs())
	}
}

// Rare words are left out, and the documents that have no others.
func TestMinDocuments(t *testing.T) {
	folder := t.TempDir()
	paths := []string{write(t, folder, "a", "ant bee\nant bee cow\neel\n"), write(t, folder, "b", "bee cow\nemu\nant eel\n\n")}
	o := options(t, Format{Lines: TextLines})
	o.MinDocuments = 3
	info := mustEncode(t, paths, o).Info()
	if !slices.Equal(info.Vocabulary, []string{"ant", "bee"}) || !slices.Equal(info.DocFrequencies, []int{3, 3}) {
		t.Errorf("words %q, %d", info.Vocabulary, info.DocFrequencies)
	}
	if x := info.DroppedWords; len(x) != 1 || x[0].Reason != "in fewer than 3 documents" || !slices.Equal(x[0].Names, []string{"cow", "eel", "emu"}) {
		t.Errorf("words left out: %v", x)
	}
	if info.Documents != 4 || info.DroppedDocuments[0].Count != 3 || info.Tokens != 6 {
		t.Errorf("%+v", info)
	}
}

// What is done is not done again, and nothing but that is left.
func TestEncodeAgain(t *testing.T) {
	paths, f := uciShards(t, drawn(100), 3)
	o := options(t, f)
	var stages []string
	o.Record = func(e jsmf.Event) { stages = append(stages, fmt.Sprintf("%s %v", e.Stage, e.Kind)) }
	first := mustEncode(t, paths, o).Info()
	if want := []string{"encode start", "encode end", "number start", "number end"}; !slices.Equal(stages, want) {
		t.Errorf("stages %q", stages)
	}
	for _, p := range paths { // shards are told by names and sizes
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Dir(p), filepath.Base(p), strings.Repeat("x", len(b)))
	}
	slices.Reverse(paths)
	again := mustEncode(t, paths, o).Info()
	if len(stages) != 4 {
		t.Errorf("stages %q", stages)
	}
	if x, y := listed(t, first.Source, first.Vocabulary), listed(t, again.Source, again.Vocabulary); !slices.Equal(x, y) {
		t.Error("other documents")
	}
	files, err := filepath.Glob(filepath.Join(o.State, filePrefix+"*"))
	if err != nil || len(files) != 4 {
		t.Errorf("files %q: %v", files, err)
	}
	o.MinDocuments = 2 // another result, for which the shards are read
	if _, err := Encode(context.Background(), paths, o); err == nil || !strings.Contains(err.Error(), filepath.Dir(paths[0])+"/part-") {
		t.Errorf("%v", err)
	}
}

func TestEncodeErrors(t *testing.T) {
	folder := t.TempDir()
	good := write(t, folder, "good.jsonl", `{"text": "ant bee"}`+"\n")
	bad := write(t, folder, "bad.jsonl", `{"text": "ant"}`+"\n"+`{"txt": "ant"}`+"\n")
	vocab := write(t, folder, "vocab", "ant\nbee\n")
	lines := func(name, s string) string { return write(t, folder, name, s) }
	part, next := lines("part.1", "1 1 1\n2 1 1\n"), lines("part.2", "2 2 1\n3 1 1\n")
	header := lines("header", "3\n2\n1\n1 1 1\n")
	uci, missing := Format{Lines: UCILines, Vocabulary: vocab}, filepath.Join(folder, "none")
	for name, x := range map[string]struct {
		paths []string
		o     Options
		is    error
		want  []string
	}{
		"no shards":         {nil, Options{}, nil, []string{"no shards"}},
		"missing":           {[]string{good, missing}, Options{}, fs.ErrNotExist, []string{missing}},
		"no match":          {[]string{filepath.Join(folder, "*.txt")}, Options{}, fs.ErrNotExist, []string{"*.txt"}},
		"twice":             {[]string{good, filepath.Join(folder, "g*l")}, Options{}, nil, []string{good, "twice"}},
		"no file system":    {[]string{"ftp://a/b"}, Options{}, nil, []string{"ftp://a/b"}},
		"line":              {[]string{good, bad}, Options{}, nil, []string{bad + ":2", `no field "text"`}},
		"empty":             {[]string{lines("empty", "")}, Options{}, corpus.ErrEmptyVocabulary, nil},
		"no words":          {[]string{lines("numbers", "1\n2\n")}, Options{Format: Format{Lines: TextLines}}, corpus.ErrEmptyVocabulary, nil},
		"rare words":        {[]string{good}, Options{MinDocuments: 2}, corpus.ErrEmptyVocabulary, []string{"2 documents"}},
		"unknown word":      {[]string{lines("word", "1 1 1\n1 3 1\n")}, Options{Format: uci}, nil, []string{"word:2", "word 3 is not in [1, 2]"}},
		"no counts":         {[]string{lines("counts", "1 x 1\n")}, Options{Format: uci}, nil, []string{"counts:1", "1 x 1"}},
		"not grouped":       {[]string{lines("order", "2 1 1\n1 1 1\n")}, Options{Format: uci}, nil, []string{"order:2", "document 1 after document 2"}},
		"split document":    {[]string{part, next}, Options{Format: uci}, nil, []string{"document 2", part, next}},
		"two with header":   {[]string{header, part}, Options{Format: uci}, nil, []string{"document 1", "header"}},
		"no vocabulary":     {[]string{part}, Options{Format: Format{Lines: UCILines, Vocabulary: missing}}, nil, []string{missing}},
		"vocabulary unset":  {[]string{part}, Options{Format: Format{Lines: UCILines}}, nil, []string{"vocabulary file"}},
		"vocabulary":        {[]string{good}, Options{Format: Format{Vocabulary: vocab}}, nil, []string{"vocabulary file"}},
		"fields":            {[]string{good}, Options{Format: Format{Lines: TextLines, ID: "id"}}, nil, []string{"fields"}},
		"setting":           {[]string{part}, Options{Format: Format{Lines: UCILines, Vocabulary: vocab, Setting: text.Setting{MinLength: 1}}}, nil, []string{"text setting"}},
		"stemmer":           {[]string{part}, Options{Format: Format{Setting: text.Setting{Stemmer: "snowball/en"}}}, nil, []string{"snowball/en"}},
		"kind":              {[]string{good}, Options{Format: Format{Lines: "csv"}}, nil, []string{`"csv"`, `"jsonl"`}},
		"negative":          {[]string{good}, Options{MinDocuments: -1}, nil, []string{"MinDocuments"}},
		"state with a star": {[]string{good}, Options{State: "a*"}, nil, []string{"a*"}},
	} {
		t.Run(name, func(t *testing.T) {
			if x.o.State == "" {
				x.o.State = t.TempDir()
			}
			x.o.Runner.Tries = 1
			_, err := Encode(context.Background(), x.paths, x.o)
			if err == nil {
				t.Fatal("no error")
			}
			if x.is != nil && !errors.Is(err, x.is) {
				t.Errorf("%v does not wrap %v", err, x.is)
			}
			for _, s := range x.want {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v does not say %q", err, s)
				}
			}
			t.Log(err)
		})
	}
	if _, err := Encode(context.Background(), []string{good}, Options{}); err == nil || !strings.Contains(err.Error(), "State") {
		t.Errorf("no state folder: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Encode(ctx, []string{good}, options(t, Format{})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
