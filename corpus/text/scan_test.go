package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// settings are those that the fuzz tests try, by number.
var settings = []Setting{
	{}, {MinLength: 1, Numbers: KeepNumbers}, {KeepCase: true, KeepPossessive: true, MinLength: 1}, {Numbers: DropDigits, MaxLength: 7},
	{FoldAccents: true}, {KeepMarkup: true, MinLength: 3}, {DropHeaders: true, DropQuotes: true, DropURLs: true},
}

var samples = []string{
	"Anna’s 2 well-known cafés can't close at 11.", "a-b-c 3-D GPT-4's C++ C# C+++ x+1 R&D I/O a&b/c-d", "foo:bar 3.14,5;6 a.b.c 1.a _x_ __ a__1",
	"İSTANBUL 我爱 \xff 'S’s", "日本語のデータ、テスト2024年らーめん", "ภาษาไทยน้ำ ລາວນຳ́", "ខ្មែរ မြန်မာ", "हिन्दी नमस्ते", "العَرَبِيَّة שָׁלוֹם", "한국어 띄어쓰기",
	"e\u0301 J\u030C ǰ ﬁ Ω ΑΘΗΝΑΣ", "<p>a&amp;b <b>c</b></p> <script>x<", "👩‍👩‍👧 1️⃣ ☃", "From: a@b.c\nSubject: x\n\n> q\nhttp://x.y/z w", "a \u0308b\u200dc", "x\u00a0y ½ x² ™",
	"C+\u0308 a-\u0301b 3-d\u0301", "\n\n> a:\n- b", "' 's '''s a's's", "ーー本ーカタカナ",
}

// fast and slow are the words by the two ways.
func fastWords(t *tokenizer, s string) []string {
	x := scan{t: t}
	x.text(s)
	return x.dst
}

func slowWords(t *tokenizer, s string) []string {
	x := scan{t: t}
	x.slow(s)
	return x.dst
}

// FuzzASCII compares the table of ASCII with the library of word boundaries.
func FuzzASCII(f *testing.F) {
	for i, s := range samples {
		f.Add(s, uint8(i), i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, s string, which uint8, breaks bool) {
		set := settings[int(which)%len(settings)]
		tok, err := set.Tokenizer()
		if err != nil {
			t.Fatal(err)
		}
		k := tok.(*tokenizer)
		k.breaks = breaks
		s = strings.ToValidUTF8(s, "\uFFFD")
		if got, want := fastWords(k, s), slowWords(k, s); !slices.Equal(got, want) {
			t.Fatalf("%v: %q gives %q, the slow way %q", set, s, got, want)
		}
	})
}

// pieces are what random texts are made of.
var pieces = []string{"a", "B", "ab", "c", "7", "19", "_", "-", "-", "&", "/", "+", "#", "'", ".", ":", ",", ";", "\"", " ", " ", "\n", "\t", "'s", "d'", "\x00", "@", "(", "\r", "\x7f"}

func TestASCIIRandom(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 60000 {
		set := settings[i%len(settings)]
		k := &tokenizer{setting: set, breaks: i%3 == 0}
		k.lo, k.hi = set.lengths()
		var b strings.Builder
		for range rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
			if i%4 == 0 && rng.IntN(5) == 0 {
				b.WriteString(samples[rng.IntN(len(samples))])
			}
		}
		s := strings.ToValidUTF8(b.String(), "\uFFFD")
		if got, want := fastWords(k, s), slowWords(k, s); !slices.Equal(got, want) {
			t.Fatalf("%v: %q gives %q, the slow way %q", set, s, got, want)
		}
	}
}

// FuzzNormalise: to normalise again changes nothing, and what comes out is valid.
func FuzzNormalise(f *testing.F) {
	for i, s := range samples {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, s string, which uint8) {
		k := &tokenizer{setting: settings[int(which)%len(settings)], lo: 2, hi: 40}
		s = strings.ToValidUTF8(s, "\uFFFD")
		once := k.normalise(s)
		if twice := k.normalise(once); twice != once || !utf8.ValidString(once) {
			t.Fatalf("%q gives %q, and that %q", s, once, twice)
		}
	})
}

func TestNormaliseEveryCharacter(t *testing.T) {
	step := rune(1)
	if testutil.Race {
		step = 17
	}
	for i, set := range []Setting{{}, {FoldAccents: true}, {KeepCase: true}} {
		k := &tokenizer{setting: set, lo: 2, hi: 40}
		for r := rune(0); r <= utf8.MaxRune; r += step {
			once := k.normalise("a" + string(r) + "b")
			if twice := k.normalise(once); twice != once {
				t.Errorf("setting %d: %U gives %q, and that %q", i, r, once, twice)
			}
		}
	}
}

func TestLowerASCII(t *testing.T) {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		b := make([]byte, rng.IntN(1200))
		for i := range b {
			b[i] = all[rng.IntN(1+rng.IntN(256))]
		}
		want := slices.Clone(b)
		for i, c := range want {
			if 'A' <= c && c <= 'Z' {
				want[i] = c + 'a' - 'A'
			}
		}
		if got := lowerASCII(string(b)); got != string(want) {
			t.Fatalf("%q gives %q", b, got)
		}
	}
}
