package corpus_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/jsmf-go/spectral/corpus"
)

// readers returns a source of each kind over a text of one document, "Größe naïve".
func readers(t *testing.T, encode func(string) []byte, set func(*corpus.File)) map[string]corpus.Source {
	t.Helper()
	in := func(name, text string) corpus.File {
		f := corpus.FileFromBytes(name, encode(text))
		set(&f)
		return f
	}
	dir := in("d.txt", "")
	return map[string]corpus.Source{
		"Lines":         corpus.Lines{In: in("t", "Größe naïve\n")},
		"JSONL":         corpus.JSONL{In: in("t", "{\"text\": \"Größe naïve\"}\n")},
		"CSV":           corpus.CSV{In: in("t", "größe,\"täxt\"\n1,\"Größe naïve\"\n"), Text: "täxt"},
		"CSV no quotes": corpus.CSV{In: in("t", "größe,täxt\n1,Größe naïve\n"), Text: "täxt", NoQuotes: true},
		"Triples":       corpus.Triples{In: in("t", "1,größe,1\n1,naïve,1\n"), NoHeader: true},
		"UCI":           corpus.UCI{Docword: str("1\n2\n2\n1 1 1\n1 2 1\n"), Vocab: in("v", "größe\nnaïve\n")},
		"Dir": corpus.Dir{
			FS: fstest.MapFS{"d.txt": {Data: encode("Größe naïve")}}, Encoding: dir.Encoding, ReplaceInvalid: dir.ReplaceInvalid,
		},
	}
}

// Every reader reads the encodings that File.Encoding or a byte order mark says.
func TestEncoding(t *testing.T) {
	by := func(e encoding.Encoding) func(string) []byte {
		return func(s string) []byte {
			b, err := e.NewEncoder().Bytes([]byte(s))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, c := range map[string]struct {
		encode   func(string) []byte
		encoding encoding.Encoding
	}{
		"UTF-8":                      {by(encoding.Nop), nil},
		"UTF-8 with a mark":          {by(unicode.UTF8BOM), nil},
		"UTF-8, not as said":         {by(unicode.UTF8BOM), charmap.ISO8859_1},
		"Latin-1":                    {by(charmap.ISO8859_1), charmap.ISO8859_1},
		"Windows":                    {by(charmap.Windows1252), charmap.Windows1252},
		"UTF-16LE, said":             {by(le), le},
		"UTF-16BE, said":             {by(be), be},
		"UTF-16LE, marked":           {by(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)), nil},
		"UTF-16BE, marked":           {by(unicode.UTF16(unicode.BigEndian, unicode.UseBOM)), nil},
		"UTF-16BE, marked, not said": {by(unicode.UTF16(unicode.BigEndian, unicode.UseBOM)), le},
		"Latin-1, gzipped":           {func(s string) []byte { return gz(t, by(charmap.ISO8859_1)(s)) }, charmap.ISO8859_1},
	} {
		for reader, src := range readers(t, c.encode, func(f *corpus.File) { f.Encoding = c.encoding }) {
			t.Run(name+"/"+reader, func(t *testing.T) {
				got, err := corpus.Read(t.Context(), src)
				if err != nil {
					t.Fatal(err)
				}
				if v := got.Vocabulary(); !slices.Equal(v, []string{"größe", "naïve"}) {
					t.Errorf("words %q", v)
				}
			})
		}
	}
}

// Text that is not in the encoding is an error that says where, and never words.
func TestWrongEncoding(t *testing.T) {
	latin := func(s string) []byte {
		b, err := charmap.ISO8859_1.NewEncoder().Bytes([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, c := range map[string]struct {
		encode   func(string) []byte
		encoding encoding.Encoding
		want     string
	}{
		"Latin-1 as UTF-8":      {latin, nil, "; set Encoding if it has another"},
		"no byte of the code":   {func(s string) []byte { return []byte(strings.ReplaceAll(s, "ö", "\x81")) }, charmap.Windows1252, ", once decoded: the encoding has no such bytes"},
		"half a pair of UTF-16": {func(s string) []byte { return append([]byte("\xff\xfe\x00\xdc"), []byte("a\x00")...) }, nil, ""},
	} {
		for reader, src := range readers(t, c.encode, func(f *corpus.File) { f.Encoding = c.encoding }) {
			if c.want == "" && reader != "Lines" && reader != "Dir" {
				continue
			}
			t.Run(name+"/"+reader, func(t *testing.T) {
				_, err := corpus.Read(t.Context(), src)
				var fe *corpus.FileError
				if !errors.Is(err, corpus.ErrInvalidUTF8) || !errors.As(err, &fe) || fe.Line == 0 || !strings.Contains(err.Error(), "invalid UTF-8 at byte ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want a line, a byte and %q", err, c.want)
				}
			})
		}
		for reader, src := range readers(t, c.encode, func(f *corpus.File) { f.Encoding, f.ReplaceInvalid = c.encoding, true }) {
			if reader != "CSV" && reader != "CSV no quotes" && reader != "JSONL" && reader != "Triples" && reader != "UCI" { // names of columns, words
				if _, err := corpus.Read(t.Context(), src); err != nil && !errors.Is(err, corpus.ErrEmptyVocabulary) {
					t.Errorf("%s, %s, replaced: %v", name, reader, err)
				}
			}
		}
	}
}

// unreadable is a folder of two texts and of much that is none.
func unreadable() fstest.MapFS {
	return fstest.MapFS{
		"a/one.txt":   {Data: []byte("one two")},
		"b.pdf":       {Data: []byte("%PDF-1.7\n")},
		"c.exe":       {Data: []byte("MZ\x90\x00\x03\x00")},
		"d.txt":       {Data: []byte(strings.Repeat("x ", 60))},
		"e.txt":       {Data: []byte("fine\ncaf\xe9")},
		"f\xe9.txt":   {Data: []byte("a name")},
		"g.gz":        {Data: []byte("not gzip")},
		"h\xe9/i.txt": {Data: []byte("a folder's name")},
		"z.txt":       {Data: []byte("two three")},
	}
}

// What a folder holds besides texts is left out, counted and named.
func TestDirUnreadable(t *testing.T) {
	src := corpus.Dir{FS: unreadable(), MaxBytes: 100}
	want := []corpus.Dropped{{
		Reason: "cannot be read: b.pdf (the file is of another kind: it is a PDF; take the text out of it first, as pdftotext does), " +
			"c.exe (the file is of another kind: it is no text, for it holds zero bytes; for text in UTF-16 without a byte order mark, set Encoding), " +
			"d.txt (file exceeds the size limit of 100 bytes) and 4 more",
		Count: 7, Names: []string{"b.pdf", "c.exe", "d.txt", "e.txt", "f\uFFFD.txt", "g.gz", "h\uFFFD"},
	}}
	check := func(t *testing.T, info corpus.Info) {
		t.Helper()
		if got := info.DroppedDocuments; !reflect.DeepEqual(got, want) {
			t.Errorf("left out:\n%+v, want\n%+v", got, want)
		}
	}
	c, err := corpus.Read(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	wantDump(t, c, "[\"one\" \"three\" \"two\"]\na/one.txt one:1 two:1\nz.txt three:1 two:1\n")
	t.Run("Read", func(t *testing.T) { check(t, c.Info()) })
	t.Run("Curate", func(t *testing.T) {
		kept, _, err := corpus.Curate(c, corpus.Curation{MinDistinct: -1})
		if err != nil {
			t.Fatal(err)
		}
		check(t, kept.Info())
	})
	t.Run("Encode", func(t *testing.T) {
		e, err := corpus.Encode(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		check(t, e.Info())
		again, err := corpus.Read(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		check(t, again.Info())
	})
	t.Run("nothing is left", func(t *testing.T) {
		fsys := unreadable()
		delete(fsys, "a/one.txt")
		delete(fsys, "z.txt")
		_, err := corpus.Read(t.Context(), corpus.Dir{FS: fsys, Path: ".", MaxBytes: 100})
		if !errors.Is(err, corpus.ErrNoDocuments) || !errors.Is(err, corpus.ErrKind) || !strings.Contains(err.Error(), "none of 7 files can be read; the first, b.pdf: ") {
			t.Errorf("%v", err)
		}
	})
	for name, is := range map[string]error{"b.pdf": corpus.ErrKind, "c.exe": corpus.ErrKind, "d.txt": corpus.ErrTooLong, "e.txt": corpus.ErrInvalidUTF8, "f\xe9.txt": nil, "g.gz": nil, "h\xe9/i.txt": nil} {
		fsys := fstest.MapFS{"a.txt": {Data: []byte("text")}, name: unreadable()[name]}
		_, err := corpus.Read(t.Context(), corpus.Dir{FS: fsys, MaxBytes: 100, Strict: true})
		if err == nil || is != nil && !errors.Is(err, is) {
			t.Errorf("strict, %q: %v, want %v", name, err, is)
		}
	}
}

// A folder of the operating system may hold names that are not UTF-8, and what may not be
// opened.
func TestDirOnDisk(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) error { return os.WriteFile(filepath.Join(dir, name), []byte("some text"), 0o666) }
	if err := write("a.txt"); err != nil {
		t.Fatal(err)
	}
	if err := write("b\xe9.txt"); err != nil {
		t.Skipf("names are UTF-8 on %s: %v", runtime.GOOS, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "c\xe9"), 0o777); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Read(t.Context(), corpus.Dir{Path: dir})
	if err != nil || c.NumDocs() != 1 {
		t.Fatalf("%v, %v", c, err)
	}
	got := c.Info().DroppedDocuments
	if len(got) != 1 || got[0].Count != 2 || got[0].Reason != `cannot be read: "b\xe9.txt" (its name is not UTF-8; rename it), "c\xe9" (its name is not UTF-8; rename it)` {
		t.Errorf("left out: %+v", got)
	}
}

// The end of ctx is no file that cannot be read.
func TestDirCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys := cancelling{unreadable(), cancel}
	if _, err := corpus.Read(ctx, corpus.Dir{FS: fsys}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// cancelling cancels when a file is opened.
type cancelling struct {
	fs.FS
	cancel func()
}

func (c cancelling) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".pdf") {
		c.cancel()
	}
	return c.FS.Open(name)
}
