package jsmf_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf"
)

// TestPhrasesServe fits texts with learned phrases and boilerplate: the model that is saved
// and loaded splits each of them as the corpus of the fit did.
func TestPhrasesServe(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	topics := []string{"new york times|reporter|newspaper|press", "support vector machine|kernel|margin|data", "table salt|soup|lemon|kitchen"}
	texts := make([]string, 150)
	var file strings.Builder
	for d := range texts {
		parts := strings.Split(topics[d%3], "|")
		for range 25 {
			texts[d] += parts[rng.IntN(4)] + []string{" ", ", ", "\n"}[rng.IntN(3)]
		}
		texts[d] = "All rights reserved 2024\n" + texts[d]
		fmt.Fprintf(&file, "{\"text\": %q}\n", texts[d])
	}
	read := func(tok text.Tokenizer) corpus.Source {
		return corpus.JSONL{In: corpus.FileFromBytes("texts", []byte(file.String())), Tokenizer: tok}
	}
	tok, err := corpus.LearnPhrases(t.Context(), nil, read, text.Learning{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Read(t.Context(), read(tok))
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"new_york_times": true, "support_vector_machine": true, "table_salt": true, "rights": false} {
		if _, ok := c.Index(word); ok != want {
			t.Errorf("%s is a word: %v", word, ok)
		}
	}
	m, err := jsmf.New(3).Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m, err = jsmf.ReadModel(bytes.NewReader(encoded(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	// Names hold the phrases as the texts do, and a table does not repeat them.
	names := strings.Join(m.Names(), " · ")
	for _, phrase := range []string{"new york times", "support vector machine", "table salt"} {
		if !strings.Contains(names, phrase) {
			t.Errorf("no name holds %q: %q", phrase, names)
		}
	}
	if strings.Contains(names, text.PhraseJoiner) {
		t.Errorf("names %q", names)
	}
	for line := range strings.Lines(m.String()) {
		if strings.Contains(line, "table salt") && strings.Contains(line, "table_salt") {
			t.Errorf("the phrase of the name is among the further words: %s", line)
		}
	}
	for d, s := range texts {
		words, counts, unknown, err := m.CountWords(s)
		if w, n := c.Doc(d); err != nil || unknown != 0 || !slices.Equal(words, w) || !slices.Equal(counts, n) {
			t.Fatalf("%q has other words than in the fit: %v %v, %d unknown, %v", s, words, counts, unknown, err)
		}
	}
}
