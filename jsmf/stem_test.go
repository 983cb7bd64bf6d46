package jsmf

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// plurals is a Stemmer that takes a last s off.
type plurals struct{}

func (plurals) Name() string            { return "plurals" }
func (plurals) Stem(word string) string { return strings.TrimSuffix(word, "s") }

// stemmedModel fits a model to texts of three themes with words in one and in many, merged
// by their stems.
func stemmedModel(t *testing.T, seed uint64) (*Model, *corpus.Corpus, text.Tokenizer, []string) {
	t.Helper()
	tok, err := text.Setting{Stemmer: "plurals"}.Tokenizer(plurals{})
	if err != nil {
		t.Fatal(err)
	}
	themes := [][]string{
		{"sail", "wind", "harbour", "anchor", "wave", "rope"},
		{"oven", "flour", "butter", "recipe", "onion", "soup"},
		{"seed", "soil", "rose", "spade", "hedge", "lawn"},
	}
	r := rand.New(rand.NewPCG(seed, 1))
	b := corpus.Builder{Tokenizer: tok}
	var texts []string
	for range 300 {
		var words []string
		pair := [2]int{r.IntN(3), r.IntN(3)}
		for i := range 20 {
			theme := themes[pair[i%2]]
			words = append(words, theme[r.IntN(len(theme))]+[]string{"", "s", "s"}[r.IntN(3)])
		}
		texts = append(texts, strings.Join(words, " "))
		if err := b.AddText("", "", texts[len(texts)-1]); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(3).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := m.CountWords("sail"); err == nil || !strings.Contains(err.Error(), "plurals") {
		t.Fatalf("a model without its Stemmer: %v", err)
	}
	if m, err = m.With(Additions{Tokenizer: tok}); err != nil {
		t.Fatal(err)
	}
	return m, c, tok, texts
}

// The words of a document at inference are those of the fit, and so are its topics to the
// bit, whether it comes as text, tokens, counts, words merged by themselves, or through a
// model that was saved and read.
func TestStemsServe(t *testing.T) {
	ctx := context.Background()
	m, c, tok, texts := stemmedModel(t, 1)
	if m.Provenance().Text.Stemmer != "plurals" {
		t.Fatalf("the setting of the model is %v", m.Provenance().Text)
	}
	if n := c.NumWords(); n != 18 {
		t.Fatalf("%d words, want the 18 stems: %q", n, c.Vocabulary())
	}
	want, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	for d, s := range texts {
		ids, counts, unknown, err := m.CountWords(s)
		if err != nil || unknown != 0 {
			t.Fatalf("document %d: %d unknown, %v", d, unknown, err)
		}
		words, n := c.Doc(d)
		if !slices.Equal(ids, words) || !slices.Equal(counts, n) {
			t.Fatalf("document %d: words %v counts %v, in the fit %v and %v", d, ids, counts, words, n)
		}
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadModel(&file)
	if err == nil {
		read, err = read.With(Additions{Tokenizer: tok})
	}
	if err != nil {
		t.Fatal(err)
	}
	var asTokens, apart corpus.Builder
	for _, s := range texts {
		if err := asTokens.AddText("", "", s); err != nil { // without a Stemmer
			t.Fatal(err)
		}
		for w := range strings.FieldsSeq(s) { // and so that other forms are the most frequent
			s += " " + strings.TrimSuffix(w, "s")
		}
		if err := apart.AddText("", "", s); err != nil {
			t.Fatal(err)
		}
	}
	tokens, err := asTokens.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for how, src := range map[string]corpus.Source{"texts": m.Texts(texts...), "forms": tokens.Source(), "read": read.Texts(texts...)} {
		by := m
		if how == "read" {
			by = read
		}
		got, err := by.Transform(ctx, src)
		if err != nil {
			t.Fatal(how, err)
		}
		if !reflect.DeepEqual(got.W, want.W) || slices.Max(got.Unknown) != 0 {
			t.Errorf("%s: other topics than in the fit, or unknown words", how)
		}
	}
	singular, err := apart.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	merged, err := corpus.Stem(ctx, singular.Source(), plurals{})
	if err != nil {
		t.Fatal(err)
	}
	if desc, err := merged.Describe(ctx); err != nil || slices.Equal(desc.Vocabulary, c.Vocabulary()) || len(desc.Vocabulary) != 18 {
		t.Fatalf("other documents show %q, %v", desc.Vocabulary, err)
	}
	got, err := m.Transform(ctx, merged)
	if err != nil || slices.Max(got.Unknown) != 0 {
		t.Errorf("documents merged by themselves: %v unknown, %v", got.Unknown, err)
	}
	c, err = corpus.Read(ctx, merged)
	if err != nil {
		t.Fatal(err)
	}
	if learned, _, err := m.LearnDual(ctx, c, infer.PADD{}, infer.Options{}); err != nil || learned.dual == nil {
		t.Errorf("learn dual: %v", err)
	}
}

// Phrases are joined before their words are stemmed, and those of one stem are one word, in
// the fit and in later texts, also where the tokenizer is the user's own.
func TestStemsServePhrases(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	tok, err := text.Setting{Stemmer: "plurals"}.Tokenizer(plurals{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 1))
	var texts []string
	for range 600 {
		theme := r.IntN(4)
		var b strings.Builder
		for range 12 {
			w := fmt.Sprintf("%c%c", 'p'+theme, 'a'+r.IntN(12))
			switch r.IntN(12) {
			case 0:
				w = "neural network" + []string{"", "s"}[r.IntN(2)]
				if theme > 0 {
					w = "sail"
				}
			case 1:
				w += "s"
			}
			b.WriteString(w + ". ")
		}
		texts = append(texts, b.String())
	}
	fit := func(tok text.Tokenizer) (*Model, *corpus.Corpus) {
		t.Helper()
		b := corpus.Builder{Tokenizer: tok}
		for _, s := range texts {
			if err := b.AddText("", "", s); err != nil {
				t.Fatal(err)
			}
		}
		c, err := b.Corpus()
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(4).Fit(ctx, c)
		if err == nil {
			m, err = m.With(Additions{Tokenizer: tok})
		}
		if err != nil {
			t.Fatal(err)
		}
		return m, c
	}
	with, err := text.Learn(ctx, tok, func(tok text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for _, s := range texts {
				if !yield(tok.Tokenize(nil, s), nil) {
					return
				}
			}
		}
	}, text.Learning{})
	if err != nil {
		t.Fatal(err)
	}
	for how, tok := range map[string]text.Tokenizer{
		"phrases": with,
		"own": text.OwnWithStemmer("mine", func(dst []string, s string) []string {
			return append(dst, strings.Fields(strings.NewReplacer("neural ", "neural_", ".", "").Replace(s))...)
		}, plurals{}),
	} {
		m, c := fit(tok)
		shown := c.Vocabulary()
		if !slices.ContainsFunc(shown, func(w string) bool { return strings.HasPrefix(w, "neural_network") }) || slices.Contains(shown, "neural_network") && slices.Contains(shown, "neural_networks") {
			t.Errorf("%s: words %q", how, shown)
		}
		for d, s := range texts {
			ids, counts, unknown, err := m.CountWords(s)
			words, n := c.Doc(d)
			if err != nil || unknown != 0 || !slices.Equal(ids, words) || !slices.Equal(counts, n) {
				t.Fatalf("%s, document %d: words %v counts %v (%d unknown, %v), in the fit %v and %v", how, d, ids, counts, unknown, err, words, n)
			}
		}
	}
}

// A form that no document of the fit has is found by its stem, and only words that are shown
// are in topics.
func TestStemsNewForm(t *testing.T) {
	m, c, _, _ := stemmedModel(t, 2)
	for i, w := range c.Vocabulary() {
		if !strings.HasSuffix(w, "s") { // two thirds of the forms do
			t.Errorf("%q is shown, which is not the most frequent form", w)
		}
		ids, _, unknown, err := m.CountWords(strings.TrimSuffix(w, "s") + " " + w + " milk")
		if err != nil || unknown != 1 || !slices.Equal(ids, []int32{int32(i)}) {
			t.Errorf("%q is found as %v, %d unknown, %v", w, ids, unknown, err)
		}
	}
	// A vocabulary that is not merged keeps its own words apart.
	two := *m
	two.vocab, two.stems = nil, nil
	if n, err := two.number("17"); n != 17 || err != nil {
		t.Errorf("word 17 of a model without names is %d, %v", n, err)
	}
}

// oneDocument is a source of one document of tokens.
type oneDocument []string

func (oneDocument) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{}, nil
}

func (d oneDocument) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) { yield(corpus.Document{Tokens: d}, nil) }
}

// Without the Stemmer a model whose words were merged refuses texts and words that it does
// not show, and says what to do.
func TestStemsMissing(t *testing.T) {
	ctx := context.Background()
	m, c, tok, texts := stemmedModel(t, 3)
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	bare, err := ReadModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	var b corpus.Builder
	if err := b.AddText("", "", texts[0]); err != nil {
		t.Fatal(err)
	}
	forms, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Transform(ctx, c.Source()); err != nil {
		t.Errorf("the documents of the fit: %v", err)
	}
	for how, f := range map[string]func() error{
		"words":     func() error { _, _, _, err := bare.CountWords(texts[0]); return err },
		"texts":     func() error { _, err := bare.Transform(ctx, bare.Texts(texts[0])); return err },
		"forms":     func() error { _, err := bare.Transform(ctx, forms.Source()); return err },
		"tokens":    func() error { _, err := bare.Transform(ctx, oneDocument{"sail"}); return err },
		"tokenizer": func() error { _, err := bare.With(Additions{Tokenizer: text.Default()}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), `plurals`) {
			t.Errorf("%s: %v", how, err)
		}
	}
	if given, err := bare.With(Additions{Tokenizer: tok}); err != nil {
		t.Error(err)
	} else if n, err := given.number("sail"); n == bag.Unknown || err != nil {
		t.Errorf("once the Stemmer is given, %d, %v", n, err)
	}
}
