package corpus_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// endings is a Stemmer that takes s, ed and ing off words of four letters or more.
type endings struct{ name string }

func (e endings) Name() string { return cmp.Or(e.name, "endings") }

func (endings) Stem(word string) string {
	for _, end := range []string{"ing", "ed", "s"} {
		if s, ok := strings.CutSuffix(word, end); ok && len(s) > 2 {
			return s
		}
	}
	return word
}

// tokens is a Source of tokens; it may have less of them the second time.
type tokens struct {
	docs    [][]string
	counts  [][]int32
	changes func()
}

func (tokens) Describe(context.Context) (corpus.Description, error) { return corpus.Description{}, nil }

func (s tokens) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for m, d := range s.docs {
			doc := corpus.Document{Tokens: d, Label: fmt.Sprint("label", m%3)}
			if s.counts != nil {
				doc.Counts = s.counts[m]
			}
			if !yield(doc, nil) {
				return
			}
		}
		if s.changes != nil {
			s.changes()
		}
	}
}

// drawForms draws documents with forms of a few words.
func drawForms(seed uint64) (docs [][]string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range 1 + r.IntN(20) {
		doc := []string{}
		for range r.IntN(30) {
			doc = append(doc, string(rune('a'+r.IntN(5)))+"net"+[]string{"", "s", "ed", "ing"}[r.IntN(4)])
		}
		docs = append(docs, doc)
	}
	docs[0] = append(docs[0], "tea")
	return docs
}

// mergedSlowly writes the form of each token that the documents as a whole have most often.
func mergedSlowly(docs [][]string) [][]string {
	count := make(map[string]int)
	for _, d := range docs {
		for _, w := range d {
			count[w]++
		}
	}
	out := make([][]string, len(docs))
	for m, d := range docs {
		for _, w := range d {
			best := w
			for v, n := range count {
				if (endings{}).Stem(v) == (endings{}).Stem(w) && (n > count[best] || n == count[best] && v < best) {
					best = v
				}
			}
			out[m] = append(out[m], best)
		}
	}
	return out
}

// Every way to merge words gives the corpus that the obvious slow way gives.
func TestStem(t *testing.T) {
	ctx := context.Background()
	tok, err := text.Setting{Stemmer: "endings"}.Tokenizer(endings{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(30) {
		docs := drawForms(seed)
		var jsonl strings.Builder
		build, plain, slow := corpus.Builder{Tokenizer: tok}, corpus.Builder{}, corpus.Builder{}
		for m, d := range mergedSlowly(docs) {
			label := fmt.Sprint("label", m%3)
			line, err := json.Marshal(map[string]string{"text": strings.Join(docs[m], ", "), "label": label})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&jsonl, "%s\n", line)
			if err := errors.Join(slow.AddTokens("", label, d), plain.AddTokens("", label, docs[m]),
				build.AddText("", label, strings.Join(docs[m], ", "))); err != nil {
				t.Fatal(err)
			}
		}
		want, err := slow.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		equal := func(how string, got *corpus.Corpus, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", how, err)
			}
			valid(t, got)
			if dump(got) != dump(want) {
				t.Fatalf("seed %d, %s: got\n%swant\n%s", seed, how, dump(got), dump(want))
			}
		}
		stemmed := func(src corpus.Source) corpus.Source {
			t.Helper()
			s, err := corpus.Stem(ctx, src, endings{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		equal("tokens", same(t, stemmed(tokens{docs: docs})), nil)
		unmerged, err := plain.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		equal("a corpus", same(t, stemmed(unmerged.Source())), nil)
		equal("twice", same(t, stemmed(stemmed(unmerged.Source()))), nil)
		c, err := build.Corpus()
		equal("a Builder", c, err)
		reader := corpus.JSONL{In: str(jsonl.String()), Tokenizer: tok}
		c, err = corpus.Read(ctx, reader)
		equal("text", c, err)
		for how, encode := range map[string]func(context.Context, corpus.Source) (*corpus.Encoded, error){
			"encoded": corpus.Encode,
			"a file": func(ctx context.Context, src corpus.Source) (*corpus.Encoded, error) {
				return corpus.EncodeFile(ctx, src, filepath.Join(t.TempDir(), "x"))
			},
		} {
			e, err := encode(ctx, reader)
			if err != nil {
				t.Fatal(err)
			}
			c, err = corpus.Read(ctx, e)
			equal(how, c, err)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Of forms that are as frequent the first by bytes is shown, phrases are merged by their
// words, and words of later documents are found by their stems.
func TestStemShown(t *testing.T) {
	src := tokens{
		docs:   [][]string{{"nets", "netted", "net", "deep_nets"}, {"netting", "deeps_net", "tea"}, {"deep_net"}},
		counts: [][]int32{{2, 1, 1, 1}, {0, 2, 1}, {1}},
	}
	s, err := corpus.Stem(context.Background(), src, endings{})
	if err != nil {
		t.Fatal(err)
	}
	c := same(t, s)
	if got, want := c.Vocabulary(), []string{"deeps_net", "nets", "netted", "tea"}; !slices.Equal(got, want) {
		t.Fatalf("words %q, want %q", got, want) // "netted" has the stem "nett"
	}
	if got := words(c, 0); !slices.Equal(got, []string{"deeps_net", "nets", "nets", "nets", "netted"}) {
		t.Errorf("document 0 has %q", got)
	}

	tok, err := text.Setting{Stemmer: "endings"}.Tokenizer(endings{})
	if err != nil {
		t.Fatal(err)
	}
	b := corpus.Builder{Vocabulary: c.Vocabulary(), Tokenizer: tok}
	if err := b.AddText("", "", "net netting nets deeps_nets milk"); err != nil {
		t.Fatal(err)
	}
	later, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if n := later.Tokens(); n != 4 {
		t.Errorf("%d tokens, want 4: all but milk", n)
	}
	if got := words(later, 0); !slices.Equal(got, []string{"deeps_net", "nets", "nets", "netted"}) {
		t.Errorf("a later document has %q", got)
	}
}

// What is known of documents stays, and the setting names the Stemmer.
func TestStemKeeps(t *testing.T) {
	ctx := context.Background()
	b := corpus.Builder{Columns: []corpus.Column{{Name: "stars", Kind: corpus.Number}}}
	for i, w := range []string{"nets", "net", "nets"} {
		if err := b.AddTokens(fmt.Sprint("id", i), "x", []string{w}, corpus.NumberOf(float64(i))); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err == nil {
		c, err = c.WithWeights([]float64{1, 2, 3})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := corpus.Stem(ctx, c.Source(), endings{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := corpus.Encode(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.Weights(), []float64{1, 2, 3}) {
		t.Errorf("weights %v", e.Weights())
	}
	got := same(t, s)
	if x, _, err := got.Metadata().Numbers("stars"); err != nil || !slices.Equal(x, []float64{0, 1, 2}) {
		t.Errorf("metadata %v, %v", x, err)
	}
	if got.ID(1) != "id1" || got.Label(2) != "x" {
		t.Errorf("id %q, label %q", got.ID(1), got.Label(2))
	}
	desc, err := s.Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if desc.Text == nil || desc.Text.Stemmer != "endings" {
		t.Errorf("the setting is %v", desc.Text)
	}
	if desc.Stemmer != nil {
		t.Errorf("merged words are to be merged again, by %v", desc.Stemmer)
	}
	if set := got.Info().Text; set == nil || set.Stemmer != "endings" {
		t.Errorf("the setting of the corpus is %v", set)
	}
	own := text.OwnWithStemmer("mine", func(dst []string, s string) []string { return append(dst, strings.Fields(s)...) }, endings{})
	mine, err := corpus.Read(ctx, corpus.JSONL{In: str(`{"text":"nets net nets"}`), Tokenizer: own})
	if err != nil {
		t.Fatal(err)
	}
	if set := mine.Info().Text; mine.NumWords() != 1 || set == nil || set.Own != "mine" || set.Stemmer != "endings" || set.Validate() != nil {
		t.Errorf("%q with the setting %v", mine.Vocabulary(), set)
	}
}

func TestStemErrors(t *testing.T) {
	ctx := context.Background()
	src := tokens{docs: [][]string{{"net", "nets"}}}
	once, err := corpus.Stem(ctx, src, endings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Stem(ctx, once, endings{"other"}); err == nil || !strings.Contains(err.Error(), `"endings"`) {
		t.Errorf("a second Stemmer: %v", err)
	}
	unnamed, err := corpus.Encode(ctx, nameless{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Stem(ctx, unnamed, endings{}); err == nil || !strings.Contains(err.Error(), "word 0 has no name") {
		t.Errorf("words without names: %v", err)
	}
	if _, err := corpus.Stem(ctx, tokens{docs: [][]string{{"a", ""}}}, endings{}); err == nil || !strings.Contains(err.Error(), "document 1: a token is the empty string") {
		t.Errorf("an empty token: %v", err)
	}
	src.changes = func() { src.docs[0][0] = "tea" }
	changed, err := corpus.Stem(ctx, src, endings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Read(ctx, changed); !errors.Is(err, corpus.ErrSourceChanged) || !strings.Contains(err.Error(), `"tea"`) {
		t.Errorf("documents that change: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := corpus.Stem(ended, src, endings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// nameless is a source of words without names.
type nameless struct{}

func (nameless) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Vocabulary: make([]string, 2)}, nil
}

func (nameless) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) { yield(corpus.Document{Words: []int32{0, 1}}, nil) }
}
