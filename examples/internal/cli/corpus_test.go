package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

// A vocabulary of films, of which two have the same title, and one that of a second.
func TestRepeatedWords(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	u := cli.UCI{
		Docword: write("docword.txt", "2\n5\n4\n2 1 2\n1 2 3\n1 4 4\n2 5 5\n"), // not in the order of the documents
		Vocab:   write("vocab.txt", "Hamlet\nHamlet (2)\nKes\nHamlet\nHamlet\n"),
	}
	_, err := u.Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), `word "Hamlet" occurs twice in the vocabulary, first on line 1; -repeated-words makes each a word of its own`) {
		t.Errorf("without -repeated-words: %v", err)
	}
	u.Repeated = true
	c, err := u.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v := c.Vocabulary(); !slices.Equal(v, []string{"Hamlet", "Hamlet (2)", "Kes", "Hamlet (3)", "Hamlet (4)"}) {
		t.Errorf("the words are %q", v)
	}
	if words, counts := c.Doc(0); !slices.Equal(words, []int32{1, 3}) || !slices.Equal(counts, []int32{3, 4}) {
		t.Errorf("the first document has %v of the words %v", counts, words)
	}
}
