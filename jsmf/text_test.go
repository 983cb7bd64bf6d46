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

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// words are the themes of texts that try the rules of text.Setting.
var rawThemes = [][]string{
	{"Covid-19", "GPT-4’s", "C++", "C#", "H₂O", "R&D", "x-ray", "3.14", "1984", "don't", "Anna's", "&amp;", "<b>bold</b>", "<script>var x</script>", "AT&amp;T", "virus", "Virus"},
	{"Café", "cafe\u0301", "ΟΔΟΣ", "Привет", "हिन्दी", "العَرَبِيَّة", "שָׁלוֹם", "한국어", "Straße", "co\u00adop", "\u200fשלום\u200e", "İstanbul", "ﬁnal", "É", "naïve", "\xff", "Æon"},
	{"日本語のテキスト", "データベース", "中文分词", "ภาษาไทยน้ำ", "ລາວນ້ຳ", "ខ្មែរ", "မြန်မာ", "👩\u200d👧", "1️⃣", "http://a.b/c", "ann@example.org", "\n> quoted words\n", "__init__", "a_b", "x", "模型2024年", "々"},
}

// rawTexts returns texts of the themes.
func rawTexts(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 7))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		if rng.IntN(4) == 0 {
			b.WriteString("From: a@b.c\nSubject: covid cafe 日本\n\n")
		}
		first, second := rng.IntN(3), rng.IntN(3)
		for j := range 25 {
			theme := rawThemes[[2]int{first, second}[j%2]]
			b.WriteString(theme[rng.IntN(len(theme))])
			b.WriteString([]string{" ", ", ", "\n", " - ", ""}[rng.IntN(5)])
		}
		texts[i] = b.String()
	}
	return texts
}

// halves is a Segmenter that cuts a run into pieces of three characters.
type halves struct{}

func (halves) Name() string      { return "halves" }
func (halves) Scripts() []string { return []string{"Han", "Hiragana", "Katakana", "Thai"} }
func (halves) Segment(dst []string, run string) []string {
	rs := []rune(run)
	for len(rs) > 0 {
		n := min(3, len(rs))
		dst, rs = append(dst, string(rs[:n])), rs[n:]
	}
	return dst
}

// For every setting the words of a text at inference are those of the fit, and Transform of
// the texts gives what Transform of the counts gives, to the bit; also once the model was
// written and read.
func TestTrainAndServeAgree(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	texts := rawTexts(200, 1)
	learned := learnedTokenizer(t, texts)
	for i, x := range []struct {
		set   text.Setting
		tools []text.Tool
	}{
		{learned.Setting(), nil},
		{text.Setting{}, nil},
		{text.Setting{FoldAccents: true, KeepPossessive: true}, nil},
		{text.Setting{KeepCase: true, MinLength: 1, Numbers: text.KeepNumbers}, nil},
		{text.Setting{KeepMarkup: true, MaxLength: 6, Numbers: text.DropDigits}, nil},
		{text.Setting{DropHeaders: true, DropQuotes: true, DropURLs: true, MinLength: 3}, nil},
		{text.Setting{Segmenters: []string{"halves"}}, []text.Tool{halves{}}},
		{text.Setting{Stemmer: "plurals", FoldAccents: true}, []text.Tool{plurals{}}},
		{text.Setting{Own: "fields"}, nil},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			tok := text.Own("fields", func(dst []string, s string) []string {
				return append(dst, strings.Fields(strings.ToValidUTF8(s, ""))...)
			})
			if x.set.Own == "" {
				var err error
				if tok, err = x.set.Tokenizer(x.tools...); err != nil {
					t.Fatal(err)
				}
			}
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
			m, err := New(3).Fit(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			back, err := ReadModel(bytes.NewReader(encoded(t, m)))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []*Model{m, back} {
				if s := m.Provenance().Text; s == nil || !s.Equal(x.set) {
					t.Fatalf("the model says %v", s)
				}
				if len(x.tools) > 0 || x.set.Own != "" {
					refusesText(t, m)
					if m, err = m.With(Additions{Tokenizer: tok}); err != nil {
						t.Fatal(err)
					}
				}
				sameWords(t, m, c, texts)
			}
		})
	}
}

// learnedTokenizer returns a tokenizer with phrases and boilerplate.
func learnedTokenizer(t *testing.T, texts []string) text.Tokenizer {
	t.Helper()
	docs := func(k text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for _, s := range texts {
				if !yield(k.Tokenize(nil, s), nil) {
					return
				}
			}
		}
	}
	tok, err := text.Learn(context.Background(), text.Default(), docs, text.Learning{MinNPMI: 0.01, MinG2: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if s := tok.Setting(); s.Phrases == nil || s.Boilerplate == nil {
		t.Fatalf("nothing was learned: %v", s)
	}
	return tok
}

// sameWords compares the words and the topics of texts with those of the documents of c.
func sameWords(t *testing.T, m *Model, c *corpus.Corpus, texts []string) {
	t.Helper()
	ctx := context.Background()
	for d, s := range texts {
		ids, counts, unknown, err := m.CountWords(s)
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[string]int32{}, map[string]int32{}
		for i, w := range ids {
			got[m.Word(int(w))] = counts[i]
		}
		left := int64(0) // of words that the fit left out
		words, n := c.Doc(d)
		for i, w := range words {
			if _, ok := m.Index(c.Word(int(w))); ok {
				want[c.Word(int(w))] = n[i]
			} else {
				left += int64(n[i])
			}
		}
		if !reflect.DeepEqual(got, want) || unknown != left {
			t.Fatalf("%q: words %v and %d unknown, want %v and %d", s, got, unknown, want, left)
		}
	}
	a, err := m.Transform(ctx, m.Texts(texts...))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a.W, b.W) || !slices.Equal(a.Unknown, b.Unknown) || !reflect.DeepEqual(a.Docs, b.Docs) {
		t.Error("texts and counts have other compositions")
	}
}

// refusesText checks that a model without its tokenizer says how to give it.
func refusesText(t *testing.T, m *Model) {
	t.Helper()
	_, _, _, err := m.CountWords("a text")
	_, err2 := m.Tokenizer()
	_, err3 := m.Transform(context.Background(), m.Texts("a text"))
	for _, err := range []error{err, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "Model.With(jsmf.Additions{Tokenizer: ") {
			t.Errorf("without its tokenizer: %v", err)
		}
	}
	if _, err := m.With(Additions{Tokenizer: text.Default()}); err == nil {
		t.Error("another tokenizer is accepted")
	}
	if _, err := m.With(Additions{Tokenizer: text.Own("other", nil)}); err == nil {
		t.Error("an own tokenizer of another name is accepted")
	}
}

// Documents that were split otherwise are refused.
func TestTransformOtherSetting(t *testing.T) {
	m, _, _ := themed(t)
	tok, err := text.Setting{KeepCase: true}.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.JSONL{In: corpus.FileFromBytes("x.jsonl", []byte(`{"text": "Sail"}`)), Tokenizer: tok}
	if _, err := m.Transform(context.Background(), src); err == nil || !strings.Contains(err.Error(), "read them with the Tokenizer of the model") {
		t.Errorf("%v", err)
	}
	src.Tokenizer = nil
	if _, err := m.Transform(context.Background(), src); err != nil {
		t.Error(err)
	}
}
