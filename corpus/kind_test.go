package corpus_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// otherKinds are files that are no text, and what errors call them.
func otherKinds(t *testing.T) map[string][]byte {
	var zipped, tarred bytes.Buffer
	z := zip.NewWriter(&zipped)
	if w, err := z.Create("a.txt"); err != nil {
		t.Fatal(err)
	} else if _, err := w.Write([]byte("words")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	x := tar.NewWriter(&tarred)
	if err := x.WriteHeader(&tar.Header{Name: "a.txt", Size: 5, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Write([]byte("words")); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.jenc")
	e, err := corpus.EncodeFile(context.Background(), withMetadata(t, upTo(3)).Source(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	jenc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(filepath.FromSlash("../jsmf/testdata/model_v3.jsmf"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"a ZIP archive":                  zipped.Bytes(),
		"a tar archive":                  gz(t, tarred.Bytes()),
		"documents that a service holds": append([]byte("\x89JACC\r\n\x1a\x03"), make([]byte, 100)...),
		"encoded documents":              jenc,
		"a model":                        model,
		"gzipped twice":                  gz(t, gz(t, []byte("words"))),
		"a PDF":                          []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
		"a picture":                      []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		"bzip2":                          []byte("BZh91AY&SY\x00"),
	}
}

// Every reader says what a file of another kind is, also if it may replace bytes that are
// not UTF-8.
func TestOtherKinds(t *testing.T) {
	for want, data := range otherKinds(t) {
		in := corpus.FileFromBytes("data", data)
		in.ReplaceInvalid = true
		for name, src := range map[string]corpus.Source{
			"UCI":       corpus.UCI{Docword: in},
			"UCI vocab": corpus.UCI{Docword: str("1\n1\n1\n1 1 1\n"), Vocab: in},
			"JSONL":     corpus.JSONL{In: in},
			"CSV":       corpus.CSV{In: in, Text: "text"},
			"Triples":   corpus.Triples{In: in},
			"Dir":       corpus.Dir{FS: fstest.MapFS{"data": {Data: data}}, ReplaceInvalid: true},
		} {
			_, err := corpus.Read(context.Background(), src)
			if !errors.Is(err, corpus.ErrKind) || !strings.HasPrefix(err.Error(), "corpus: ") || !strings.Contains(err.Error(), "data: the file is of another kind: it is ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if want != "a model" && want != "documents that a service holds" {
			continue
		}
		if _, err := corpus.EncodedFromBytes("data", data); !errors.Is(err, corpus.ErrKind) || !strings.Contains(err.Error(), "data: the file is of another kind: it is "+want) {
			t.Errorf("encoded: %v, want %q", err, want)
		}
	}
}

// Text in another form than the reader's gets an error that says so.
func TestOtherForms(t *testing.T) {
	docword, vocab := corpus.File{Name: testutil.Path("synth", "docword.synth.txt.gz")}, corpus.File{Name: testutil.Path("synth", "vocab.synth.txt")}
	for want, src := range map[string]corpus.Source{
		"swapped?":                         corpus.UCI{Docword: vocab, Vocab: docword},
		"one object a line":                corpus.JSONL{In: str("[\n{\"text\": \"x\"}\n]\n")},
		"has to be on one line":            corpus.JSONL{In: str("{\n\"text\": \"x\"\n}\n")},
		"looks like a table":               corpus.JSONL{In: str("id,text\n1,x\n")},
		"looks like JSON Lines":            corpus.CSV{In: str("{\"text\": \"x\"}\n"), Text: "text", LazyQuotes: true},
		"looks like HTML or XML":           corpus.CSV{In: str("<html>\n"), Text: "text"},
		"it looks like HTML or XML":        corpus.JSONL{In: str("<html>\n")},
		"not array; an array has to be":    corpus.JSONL{In: str("[{\"text\": \"x\"}]\n")},
		`no field "text"; there are ["a" `: corpus.JSONL{In: str("{\"b\": 1, \"a\": 2}\n")},
		`separated by ";": set CSV.Comma`:  corpus.CSV{In: str("id;text\n1;x\n"), Text: "text"},
		`separated by "\t": set CSV.Comma`: corpus.CSV{In: str("id\ttext\n1\tx\n"), Text: "text"},
		`separated by ",": set CSV.Comma`:  corpus.CSV{In: corpus.FileFromBytes("x.tsv", []byte("id,text\n1,x\n")), Text: "text"},
	} {
		_, err := corpus.Read(context.Background(), src)
		wantError(t, err, strings.TrimSpace(want))
	}
}
