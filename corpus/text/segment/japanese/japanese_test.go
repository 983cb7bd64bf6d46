package japanese_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/segment/japanese"
)

// segmenter is made once for all tests.
var segmenter = sync.OnceValues(japanese.New)

func get(t testing.TB) text.Segmenter {
	t.Helper()
	s, err := segmenter()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Some short sentences.
var sentences = []struct{ run, words string }{
	{"私は昨日図書館で勉強した", "私|は|昨日|図書館|で|勉強|し|た"},
	{"機械学習のモデルには大量のデータが必要です", "機械|学習|の|モデル|に|は|大量|の|データ|が|必要|です"},
	{"猫が庭で静かに眠っている", "猫|が|庭|で|静か|に|眠っ|て|いる"},
}

func TestSegment(t *testing.T) {
	s := get(t)
	if s.Name() != "kagome/ipadic" || !slices.Equal(s.Scripts(), []string{"Han", "Hiragana", "Katakana"}) {
		t.Errorf("%q for %q", s.Name(), s.Scripts())
	}
	for _, x := range sentences {
		if got := strings.Join(s.Segment(nil, x.run), "|"); got != x.words {
			t.Errorf("%s: %s, want %s", x.run, got, x.words)
		}
	}
	if got := s.Segment([]string{"before"}, "図書館"); !slices.Equal(got, []string{"before", "図書館"}) {
		t.Errorf("appended: %q", got)
	}
}

// In a text the rest is split as ever.
func TestTokenizer(t *testing.T) {
	s := get(t)
	tok, err := text.Setting{Segmenters: []string{s.Name()}}.Tokenizer(s)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(tok.Tokenize(nil, "私はGo言語で<b>データ</b>を読む。covid-19のモデル。"), "|")
	if want := "私|go|言語|データ|読む|covid-19|モデル"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A run without words or end takes a time that grows with its length, not with the square.
func TestLongRun(t *testing.T) {
	run := strings.Repeat("アイ", 2000)
	if got := get(t).Segment(nil, run); strings.Join(got, "") != run {
		t.Error("not the run, but other text")
	}
}

func TestConcurrent(t *testing.T) {
	s := get(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				for _, x := range sentences {
					if got := strings.Join(s.Segment(nil, x.run), "|"); got != x.words {
						t.Errorf("%s: %s", x.run, got)
					}
				}
			}
		})
	}
	wg.Wait()
}

// The words are those of the run, none is empty, and they are the same each time.
func FuzzSegment(f *testing.F) {
	for _, x := range sentences {
		f.Add(x.run)
	}
	f.Add("𠮷野家々龘\u0301 a")
	s := get(f)
	f.Fuzz(func(t *testing.T, in string) {
		run := strings.Map(func(r rune) rune { // as the Tokenizer finds it
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || unicode.IsMark(r) {
				return r
			}
			return -1
		}, strings.ToValidUTF8(in, ""))
		got := s.Segment(nil, run)
		if strings.Join(got, "") != run || slices.Contains(got, "") && run != "" || !slices.Equal(got, s.Segment(nil, run)) {
			t.Fatalf("%q gives %q", run, got)
		}
	})
}

func Example() {
	ja, err := japanese.New()
	if err != nil {
		panic(err)
	}
	tok, err := text.Setting{Segmenters: []string{ja.Name()}}.Tokenizer(ja)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(tok.Tokenize(nil, "図書館は今日開館します。"), " "))
	// Output: 図書館 今日 開館 ます
}
