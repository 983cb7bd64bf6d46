package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
)

// fuzz reads a source in both ways. Either all goes well, the same way twice
// and with a valid corpus, or there is an error with the package's name in it.
func fuzz(t *testing.T, src corpus.Source) *corpus.Corpus {
	ctx := context.Background()
	a, errA := corpus.Read(ctx, src)
	b, errB := corpus.Read(ctx, wrapped{src})
	for _, err := range []error{errA, errB} {
		if err != nil && (!strings.HasPrefix(err.Error(), "corpus: ") || strings.Count(err.Error(), "corpus: ") > 1 && !strings.Contains(err.Error(), `"`)) {
			t.Fatalf("error %q", err)
		}
	}
	if errA != nil {
		if errB == nil {
			t.Fatalf("Read fails, streaming does not: %v", errA)
		}
		return nil
	}
	valid(t, a)
	if errB != nil {
		// A stream has to believe or not before it has seen the whole file.
		if !errors.Is(errB, corpus.ErrUngrouped) && !strings.Contains(errB.Error(), "promises far more") {
			t.Fatalf("streaming fails, Read does not: %v", errB)
		}
		return a
	}
	if dump(a) != dump(b) {
		t.Fatalf("streaming differs:\n%s\n%s", dump(a), dump(b))
	}
	return a
}

// limit keeps the text that fuzzing hands over short enough to be quick.
func limit(name string, data []byte) corpus.File {
	in := corpus.FileFromBytes(name, data)
	in.MaxLine = 1 << 12
	return in
}

func FuzzUCI(f *testing.F) {
	f.Add([]byte("4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4\n"), []byte("a\nb\nc\n"), true)
	f.Add([]byte("4\r\n3\r\n2\r\n3 3 2\r\n1 2 1\r\n\r\n"), []byte(""), false)
	f.Add([]byte("2000000000\n3\n1\n2000000000 1 1\n"), []byte(""), false)
	f.Add([]byte("1\n1\n2\n1 1 2147483647\n1 1 1\n"), []byte("a"), true)
	f.Add(gz(f, []byte("1\n1\n1\n1 1 1\n")), gz(f, []byte("a\n")), true)
	f.Fuzz(func(t *testing.T, docword, vocab []byte, withVocab bool) {
		src := corpus.UCI{Docword: limit("docword", docword)}
		if withVocab {
			src.Vocab = limit("vocab", vocab)
		}
		c := fuzz(t, src)
		src.Ungrouped = true
		if u := fuzz(t, src); (u == nil) != (c == nil) {
			t.Fatal("the order of the lines decides whether Read succeeds")
		}
		if c == nil {
			return
		}
		var dw, v bytes.Buffer
		if err := c.WriteUCI(context.Background(), &dw, &v); err != nil {
			if strings.Contains(err.Error(), "does not fit in a line") {
				return // a vocabulary may begin with a second byte order mark
			}
			t.Fatal(err)
		}
		again, err := corpus.Read(context.Background(), corpus.UCI{Docword: corpus.FileFromBytes("dw", dw.Bytes()), Vocab: corpus.FileFromBytes("v", v.Bytes())})
		if err != nil {
			t.Fatal(err)
		}
		if dump(again) != dump(c) {
			t.Fatalf("what was written differs from what is read:\n%s\n%s", dump(again), dump(c))
		}
	})
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte("{\"text\": \"The cat, the dog.\", \"id\": 5, \"label\": \"x\"}\n\n{\"text\": [\"a\", \"b c\"]}\n"), false)
	f.Add([]byte("{\"text\": \"\\ud800 caf\xe9\"}"), true)
	f.Add([]byte(`{"text": null}`), false)
	f.Add([]byte(`["text"]`), false)
	f.Add([]byte(`{"a": {"text": "x y", "0": {"b": "2024-01-02"}}, "n": -1.5, "label": true}`), false)
	f.Add([]byte(`{"a": [{"b": "2024-01-02T03:04:05Z"}], "a.text": "x y", "n": null, "label": ""}`), false)
	f.Fuzz(func(t *testing.T, data []byte, replace bool) {
		in := limit("data", data)
		in.ReplaceInvalid = replace
		src := corpus.JSONL{In: in}
		fuzz(t, src)
		src.Text, src.Fields = "a.text", anyFields("n", "a.0.b", "label")
		fuzz(t, src)
	})
}

// anyFields takes a number, a time and a category from these columns.
func anyFields(number, time, category string) []corpus.Field {
	return []corpus.Field{
		{Column: corpus.Column{Name: "n", Kind: corpus.Number}, From: number},
		{Column: corpus.Column{Name: "t", Kind: corpus.Time}, From: time},
		{Column: corpus.Column{Name: "c", Kind: corpus.Category}, From: category},
	}
}

func FuzzDir(f *testing.F) {
	f.Add([]byte("The cat."), []byte("more words"), false)
	f.Add([]byte("caf\xe9"), gz(f, []byte("packed")), true)
	f.Fuzz(func(t *testing.T, one, two []byte, replace bool) {
		fuzz(t, corpus.Dir{FS: fstest.MapFS{"a/one.txt": {Data: one}, "two.gz": {Data: two}}, ModTime: "time", Folders: []string{"folder"}, ReplaceInvalid: replace, MaxBytes: 1 << 12, FolderLabels: true})
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,text,label\n1,\"a, \"\"b\"\"\nc\",x\n2,dd,y\n"), "text", ",", false, false, false)
	f.Add([]byte("1\ttwo words\n2\t\"open\n"), "#2", "\t", true, false, true)
	f.Add([]byte("text\n\"open"), "text", ",", false, true, false)
	f.Add([]byte("n,text,date\n1,a b,2024-01-02\n,c,\n"), "text", ",", false, false, false)
	f.Fuzz(func(t *testing.T, data []byte, column, comma string, noHeader, lazy, noQuotes bool) {
		r, _ := utf8.DecodeRuneInString(comma)
		src := corpus.CSV{In: limit("data", data), Text: column, ID: "#1", Comma: r, NoHeader: noHeader, LazyQuotes: lazy, NoQuotes: noQuotes}
		fuzz(t, src)
		src.Fields = anyFields("#1", "date", column)
		fuzz(t, src)
	})
}

func FuzzTriples(f *testing.F) {
	f.Add([]byte("u i 1\nv i 2\nu j 0\n"), " ", false, true)
	f.Add([]byte("u,\"i, \"\"j\"\"\",1.5\n"), ",", true, true)
	f.Add([]byte("u::i\nv::j\nu::i\n"), ":", false, false)
	f.Add([]byte("10\t9\n9\t10\n"), "\t", false, false)
	f.Fuzz(func(t *testing.T, data []byte, comma string, quoted, stars bool) {
		r, _ := utf8.DecodeRuneInString(comma)
		src := corpus.Triples{In: limit("data", data), Comma: r, NoHeader: true, NoQuotes: !quoted}
		if stars {
			src.Rating, src.Count = "#3", corpus.Stars
		}
		a := fuzz(t, src)
		if a == nil || quoted || bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte("\ufeff")) {
			return
		}
		// The lines backwards give the same corpus. (But a byte order mark may
		// not come to stand first.)
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
			lines[i], lines[j] = lines[j], lines[i]
		}
		if strings.HasPrefix(lines[0], "\ufeff") || strings.HasPrefix(lines[0], "\x1f\x8b") {
			return
		}
		for i := range lines { // the last line may end in CR only if it ends in CR LF
			lines[i] = strings.TrimRight(lines[i], "\r")
		}
		src.In = limit("backwards", []byte(strings.Join(lines, "\n")))
		b, err := corpus.Read(context.Background(), src)
		if err != nil {
			t.Fatalf("backwards: %v", err)
		}
		if dump(a) != dump(b) {
			t.Fatalf("the order of the lines shows:\n%s\n%s", dump(a), dump(b))
		}
	})
}

func FuzzStopWords(f *testing.F) {
	f.Add([]byte("# list\nthe\n\n of \r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "stops")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := corpus.ReadStopWords(context.Background(), corpus.File{Name: path})
		if err != nil && !strings.HasPrefix(err.Error(), "corpus: "+path) {
			t.Fatal(err)
		}
		for _, w := range list {
			if w == "" || strings.TrimSpace(w) != w || !utf8.ValidString(w) {
				t.Fatalf("%q", w)
			}
		}
	})
}
