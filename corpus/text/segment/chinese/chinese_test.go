package chinese_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/segment/chinese"
)

// segmenter is read once for all tests.
var segmenter = sync.OnceValues(chinese.New)

func get(t testing.TB) text.Segmenter {
	t.Helper()
	s, err := segmenter()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Some short sentences, simplified and traditional.
var sentences = []struct{ run, words string }{
	{"我们昨天在图书馆学习", "我们|昨天|在|图书馆|学习"},
	{"机器学习模型需要大量的训练数据", "机器|学习|模型|需要|大量|的|训练|数据"},
	{"機器學習模型需要大量的訓練資料", "機器|學習|模型|需要|大量|的|訓練|資料"},
	{"小明去了上海火车站", "小明|去|了|上海|火车站"},
	{"图书馆今天开门", "图书馆|今天|开门"}, // as in the example
}

func TestSegment(t *testing.T) {
	s := get(t)
	if s.Name() != "gse/zh" || !slices.Equal(s.Scripts(), []string{"Han"}) {
		t.Errorf("%q for %q", s.Name(), s.Scripts())
	}
	for _, x := range sentences {
		if got := strings.Join(s.Segment(nil, x.run), "|"); got != x.words {
			t.Errorf("%s: %s, want %s", x.run, got, x.words)
		}
	}
	if got := s.Segment([]string{"before"}, "图书馆"); !slices.Equal(got, []string{"before", "图书馆"}) {
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
	got := strings.Join(tok.Tokenize(nil, "我们用Go语言，<b>机器学习</b>的covid-19模型。The End."), "|")
	if want := "我们|用|go|语言|机器|学习|的|covid-19|模型|the|end"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A run without words or end takes a time that grows with its length, not with the square.
func TestLongRun(t *testing.T) {
	run := strings.Repeat("龘靐", 5000)
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
			if unicode.Is(unicode.Han, r) || unicode.IsMark(r) {
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

// The example is not run, since it would read the dictionary once more.
func Example() {
	zh, err := chinese.New()
	if err != nil {
		panic(err)
	}
	tok, err := text.Setting{Segmenters: []string{zh.Name()}}.Tokenizer(zh)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(tok.Tokenize(nil, "图书馆今天开门。"), " "))
	// 图书馆 今天 开门
}
