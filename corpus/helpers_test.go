package corpus_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jsmf-go/spectral/corpus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func str(s string) corpus.File { return corpus.FileFromBytes("data", []byte(s)) }

func vocabOf(words ...string) corpus.File {
	return corpus.FileFromBytes("vocab", []byte(strings.Join(words, "\n")+"\n"))
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// size is a corpus as a curation report counts it.
func size(c *corpus.Corpus) corpus.CurationStep {
	return corpus.CurationStep{Docs: c.NumDocs(), Words: c.NumWords(), Tokens: c.Tokens()}
}

// dump writes a corpus in a form to compare.
func dump(c *corpus.Corpus) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q\n", c.Vocabulary())
	labels := hasLabels(c) // it looks at all documents
	for m := range c.NumDocs() {
		fmt.Fprintf(&b, "%s", c.ID(m))
		if labels {
			fmt.Fprintf(&b, " [%s]", c.Label(m))
		}
		words, counts := c.Doc(m)
		for i, w := range words {
			fmt.Fprintf(&b, " %s:%d", c.Word(int(w)), counts[i])
		}
		if t := c.Metadata(); t != nil {
			for i := range t.Columns() {
				v := t.Value(m, i)
				fmt.Fprintf(&b, " (%v %q)", v.Kind(), v)
			}
		}
		b.WriteByte('\n')
	}
	for _, x := range c.Metadata().Columns() {
		fmt.Fprintf(&b, "%+q\n", x)
	}
	return b.String()
}

// valid checks everything that a Corpus promises.
func valid(t testing.TB, c *corpus.Corpus) {
	t.Helper()
	var tokens int64
	nnz := 0
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		var n int64
		for i, w := range words {
			if w < 0 || int(w) >= c.NumWords() || i > 0 && w <= words[i-1] {
				t.Fatalf("document %s: words %v of %d are not ascending", c.ID(m), words, c.NumWords())
			}
			if counts[i] < 1 {
				t.Fatalf("document %s: counts %v", c.ID(m), counts)
			}
			n += int64(counts[i])
		}
		if n != c.DocLen(m) {
			t.Fatalf("document %s: length %d, its counts give %d", c.ID(m), c.DocLen(m), n)
		}
		tokens += n
		nnz += len(words)
	}
	if tokens != c.Tokens() || nnz != c.NNZ() {
		t.Fatalf("%d tokens and %d pairs, the documents have %d and %d", c.Tokens(), c.NNZ(), tokens, nnz)
	}
}

// wrapped is a source that wraps another and changes nothing.
type wrapped struct{ corpus.Source }

// same reads a source in every way and wants the same each time.
func same(t testing.TB, src corpus.Source) *corpus.Corpus {
	t.Helper()
	ctx := context.Background()
	a, err := corpus.Read(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	b, err := corpus.Read(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Read(ctx, wrapped{src}) // without the ways of its own that it may have into a Corpus
	if err != nil {
		t.Fatal(err)
	}
	valid(t, a)
	valid(t, c)
	if dump(a) != dump(b) {
		t.Fatalf("a second reading differs:\n%s\n%s", dump(a), dump(b))
	}
	if dump(a) != dump(c) {
		t.Fatalf("streaming differs:\n%s\n%s", dump(a), dump(c))
	}
	return a
}

// badCase is an input that must be refused.
type badCase struct {
	name string
	src  corpus.Source
	is   error  // for errors.Is
	line int    // of the *FileError; −1: none is wanted
	text string // part of the message
}

func refuse(t *testing.T, cases []badCase) {
	t.Helper()
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			for _, how := range []string{"read", "stream"} {
				read := corpus.Read
				if how == "stream" {
					read = func(ctx context.Context, src corpus.Source) (*corpus.Corpus, error) {
						return corpus.Read(ctx, wrapped{src})
					}
				}
				c, err := read(context.Background(), x.src)
				if err == nil {
					t.Fatalf("%s: no error, but\n%s", how, dump(c))
				}
				if c != nil {
					t.Errorf("%s: a corpus and an error", how)
				}
				if x.is != nil && !errors.Is(err, x.is) {
					t.Errorf("%s: %q does not wrap %q", how, err, x.is)
				}
				var fe *corpus.FileError
				switch {
				case x.line < 0:
				case !errors.As(err, &fe):
					if how == "read" || x.line > 0 {
						t.Errorf("%s: %q (%T) does not name the file", how, err, err)
					}
				case fe.Line != x.line:
					t.Errorf("%s: %q is about line %d, want %d", how, err, fe.Line, x.line)
				}
				if !strings.Contains(err.Error(), x.text) || strings.Count(err.Error(), "corpus: ") != 1 {
					t.Errorf("%s: the message is %q, want in it %q", how, err, x.text)
				}
			}
		})
	}
}

// counted is a File that counts how often it is opened and closed.
type counted struct{ opened, closed int }

func (c *counted) input(in corpus.File) corpus.File {
	open := in.Open
	in.Open = func() (io.ReadCloser, error) {
		r, err := open()
		if err == nil {
			c.opened++
		}
		return struct {
			io.Reader
			io.Closer
		}{r, closer(func() error { c.closed++; return r.Close() })}, err
	}
	return in
}

type closer func() error

func (f closer) Close() error { return f() }

func words(c *corpus.Corpus, m int) (out []string) {
	w, n := c.Doc(m)
	for i := range w {
		out = append(out, slices.Repeat([]string{c.Word(int(w[i]))}, int(n[i]))...)
	}
	return out
}

// hasLabels reports whether any document has a label.
func hasLabels(c *corpus.Corpus) bool {
	for m := range c.NumDocs() {
		if c.Label(m) != "" {
			return true
		}
	}
	return false
}
