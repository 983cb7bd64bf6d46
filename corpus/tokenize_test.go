package corpus_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

func TestWordTokenizer(t *testing.T) {
	type W = corpus.WordTokenizer
	for _, x := range []struct {
		tok  W
		text string
		want string // separated by |
	}{
		{W{}, "", ""},
		{W{}, "The quick, brown fox. A fox!", "the|quick|brown|fox|fox"},
		{W{}, "well-known snake_case e-mail x", "well|known|snake_case|mail"},
		{W{}, "can't CAN’T Anna's boss’s dogs' it's 's", "can't|can't|anna|boss|dogs|it"},
		{W{KeepPossessive: true}, "Anna's boss’s", "anna's|boss's"},
		{W{KeepCase: true}, "The NASA'S Fox", "The|NASA|Fox"},
		{W{}, "in 1984, 3.14 or 1,000 b2b x2 ½ Ⅷ", "in|or|b2b|x2"},
		{W{Numbers: corpus.KeepNumbers}, "in 1984, 3.14 or 1,000 b2b 7", "in|1984|3.14|or|1,000|b2b"},
		{W{Numbers: corpus.DropDigits}, "in 1984 b2b x² or", "in|or"},
		{W{MinLength: 1}, "a b c", "a|b|c"},
		{W{MinLength: 4, MaxLength: 5}, "abc abcd abcde abcdef", "abcd|abcde"},
		{W{}, strings.Repeat("a", 40) + " " + strings.Repeat("b", 41), strings.Repeat("a", 40)},
		{W{MinLength: 4}, "čtyř tři", "čtyř"}, // runes, not bytes
		{W{}, "Ünïcödé ΑΘΗΝΑ Москва", "ünïcödé|αθηνα|москва"},
		{W{}, "我爱 Go 語", "我|爱|go|語"},
		{W{}, "🙂 --- *** ©", ""},
		{W{}, "bad \xff bytes\xfe", "bad|bytes"},
		{W{}, "line\none\ttab\u00a0nbsp", "line|one|tab|nbsp"},
	} {
		got := x.tok.Tokenize([]string{"before"}, x.text)
		if got[0] != "before" || strings.Join(got[1:], "|") != x.want {
			t.Errorf("%+v: %q gives %q, want %q", x.tok, x.text, got[1:], x.want)
		}
	}
}

func TestEnglishStopWords(t *testing.T) {
	list := corpus.EnglishStopWords()
	if n := len(list); n < 180 || n > 350 {
		t.Errorf("%d words", n)
	}
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("the list is not sorted, or has duplicates")
	}
	// Each must be a word that the tokenizer can yield, or it would never match.
	keep := corpus.WordTokenizer{MinLength: 1, KeepPossessive: true}
	for _, w := range list {
		if got := keep.Tokenize(nil, w); len(got) != 1 || got[0] != w {
			t.Errorf("%q is tokenised as %q", w, got)
		}
	}
	// A text of function words only leaves nothing.
	for _, w := range (corpus.WordTokenizer{}).Tokenize(nil, "It's what they'd have done if you weren't there, isn't it? Let's not; we've got Anna's.") {
		if w != "anna" && !slices.Contains(list, w) {
			t.Errorf("%q is not in the list", w)
		}
	}
	list[0] = "changed"
	if corpus.EnglishStopWords()[0] == "changed" {
		t.Error("the list is shared")
	}
}

func TestReadStopWords(t *testing.T) {
	ctx := context.Background()
	got, err := corpus.StopWordsFrom(ctx, str("# list\nthe\r\n\n of \n#x\nNew York"))
	if err != nil || !slices.Equal(got, []string{"the", "of", "New York"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := corpus.StopWordsFrom(ctx, corpus.Bytes("x.gz", gz(t, []byte("a\n")))); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := corpus.StopWordsFrom(ctx, str("")); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := corpus.StopWordsFrom(ctx, str("ok\n\xff\n")); err == nil || !strings.Contains(err.Error(), "corpus: data:2: invalid UTF-8") {
		t.Error(err)
	}
	if _, err := corpus.ReadStopWords(ctx, "testdata/none"); err == nil {
		t.Error("no error for a file that is not there")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := corpus.StopWordsFrom(gone, str("a\n")); err == nil {
		t.Error("no error after cancellation")
	}
}
