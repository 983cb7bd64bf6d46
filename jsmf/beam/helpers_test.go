package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// drawn returns documents of six subjects, of words that begin with the subject's letter and
// common ones. Every seventh is longer, and some have no word.
func drawn(docs int) *corpus.Corpus {
	rng := rand.New(rand.NewPCG(7, 11))
	b := corpus.Builder{Vocabulary: []string{}}
	for w := range 400 {
		b.Vocabulary = append(b.Vocabulary, fmt.Sprintf("%c%d", 'a'+w%8, w))
	}
	b.Vocabulary = append(b.Vocabulary, "never", "nowhere")
	for m := range docs {
		one, two := rng.IntN(6), rng.IntN(6)
		length := 20 + rng.IntN(40)
		if m%7 == 0 {
			length *= 3
		}
		if m%50 == 17 {
			length = 0
		}
		counts := make(map[string]int)
		for range length {
			subject := one
			switch x := rng.Float64(); {
			case x < .3:
				subject = 6 + rng.IntN(2)
			case x < .45:
				subject = two
			}
			w := int(50 * rng.Float64() * rng.Float64()) // the first words of a subject are frequent
			counts[b.Vocabulary[8*w+subject]]++
		}
		if err := b.AddCounts("", "", counts); err != nil {
			panic(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		panic(err)
	}
	return c
}

// write writes a file of a folder, and returns its path.
func write(t testing.TB, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// uciShards writes a corpus as shards of lines, some documents after the other, and its
// vocabulary.
func uciShards(t testing.TB, c *corpus.Corpus, n int) (paths []string, f Format) {
	t.Helper()
	folder := t.TempDir()
	shards := make([]strings.Builder, n)
	for m := range c.NumDocs() {
		words, counts := c.Doc(m)
		for i, w := range words {
			fmt.Fprintf(&shards[(m*n/c.NumDocs()+m/10)%n], "%d %d %d\n", m+1, w+1, counts[i])
		}
	}
	for i := range shards {
		paths = append(paths, write(t, folder, fmt.Sprintf("part-%d", i), shards[i].String()))
	}
	return paths, Format{Lines: UCILines, Vocabulary: write(t, folder, "vocab", strings.Join(c.Vocabulary(), "\n"))}
}

// wholeUCI writes a corpus as one file with its header.
func wholeUCI(t testing.TB, c *corpus.Corpus) (paths []string, f Format) {
	t.Helper()
	folder := t.TempDir()
	docword, vocab := filepath.Join(folder, "docword.gz"), filepath.Join(folder, "vocab")
	if err := c.SaveUCI(context.Background(), docword, vocab); err != nil {
		t.Fatal(err)
	}
	return []string{docword}, Format{Lines: UCILines, Vocabulary: vocab}
}

// jsonShards writes a corpus as shards of JSON lines with ids and lists of tokens.
func jsonShards(t testing.TB, c *corpus.Corpus, n int) (paths []string, f Format) {
	t.Helper()
	folder := t.TempDir()
	shards := make([]strings.Builder, n)
	for m := range c.NumDocs() {
		tokens := []string{}
		words, counts := c.Doc(m)
		for i, w := range words {
			tokens = append(tokens, slices.Repeat([]string{c.Word(int(w))}, int(counts[i]))...)
		}
		b, err := json.Marshal(map[string]any{"id": c.ID(m), "text": tokens, "label": fmt.Sprint(m % 3)})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&shards[m%n], "%s\n", b)
	}
	for i := range shards {
		paths = append(paths, write(t, folder, fmt.Sprintf("part-%d.jsonl", i), shards[i].String()))
	}
	return paths, Format{}
}

// options have a new state folder.
func options(t testing.TB, f Format) Options { return Options{Format: f, State: t.TempDir()} }

func unmarshal(line string, to any) error { return json.Unmarshal([]byte(line), to) }

func readText(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// openedState opens the state of a folder.
func openedState(t testing.TB, folder string) *state {
	t.Helper()
	st, err := openState(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
