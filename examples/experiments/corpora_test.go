package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// A changed input is not taken for the one that was there.
func TestInputDigest(t *testing.T) {
	a, err := findSource(testutil.Path(), "synth", "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := findSource(testutil.Path(), "synth", testutil.Path("synth", "synth.stops"))
	if err != nil {
		t.Fatal(err)
	}
	if a.digest == b.digest {
		t.Error("another stop list has the same digest")
	}
	x, y := settings("corpus", "a", "k", 5), settings("corpus", "a", "k", 50)
	if cellKey("curves", 1, x) == cellKey("curves", 1, y) || cellKey("curves", 1, x) == cellKey("curves", 2, x) || cellKey("curves", 1, x) == cellKey("semi", 1, x) {
		t.Error("different cells have the same key")
	}
}

// Of a corpus with documents held out the others are read.
func TestSplitSource(t *testing.T) {
	folder := t.TempDir()
	dir := filepath.Join(folder, "some-split")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"docword.train.txt": "2\n3\n3\n1 1 2\n1 3 1\n2 2 4\n", "docword.held.txt": "1\n3\n1\n1 1 9\n", "vocab.txt": "one\ntwo\nthree\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := findSource(folder, "some-split", "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.NumDocs() != 2 || c.NumWords() != 3 || c.Tokens() != 7 {
		t.Errorf("%d documents, %d words, %d tokens; want 2, 3 and 7", c.NumDocs(), c.NumWords(), c.Tokens())
	}
}
