package corpus_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

func TestReadStopWords(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got, err := corpus.ReadStopWords(ctx, corpus.File{Name: file("list", "# list\nthe\r\n\n of \n#x\nNew York")})
	if err != nil || !slices.Equal(got, []string{"the", "of", "New York"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := corpus.ReadStopWords(ctx, corpus.File{Name: file("x.gz", string(gz(t, []byte("a\n"))))}); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := corpus.ReadStopWords(ctx, corpus.File{Name: file("empty", "")}); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	bad := file("bad", "ok\n\xff\n")
	if _, err := corpus.ReadStopWords(ctx, corpus.File{Name: bad}); err == nil || !strings.Contains(err.Error(), "corpus: "+bad+":2: invalid UTF-8") {
		t.Error(err)
	}
	if _, err := corpus.ReadStopWords(ctx, corpus.File{Name: "testdata/none"}); err == nil {
		t.Error("no error for a file that is not there")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := corpus.ReadStopWords(gone, corpus.File{Name: file("one", "a\n")}); err == nil {
		t.Error("no error after cancellation")
	}
}
