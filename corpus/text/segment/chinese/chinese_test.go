package chinese_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/segment/chinese"
	"github.com/jsmf-go/spectral/corpus/text/segment/internal/segtest"
	"github.com/jsmf-go/spectral/examples/readme/snippets"
)

// segmenter is read once for all tests.
var segmenter = sync.OnceValues(chinese.New)

func suite() segtest.Suite {
	return segtest.Suite{
		Segmenter: segmenter,
		Name:      "gse/zh",
		Scripts:   []string{"Han"},
		Runs: []segtest.Words{
			{In: "我们昨天在图书馆学习", Words: "我们|昨天|在|图书馆|学习"},
			{In: "机器学习模型需要大量的训练数据", Words: "机器|学习|模型|需要|大量|的|训练|数据"},
			{In: "機器學習模型需要大量的訓練資料", Words: "機器|學習|模型|需要|大量|的|訓練|資料"},
			{In: "小明去了上海火车站", Words: "小明|去|了|上海|火车站"},
			{In: "图书馆今天开门", Words: "图书馆|今天|开门"}, // as in the example
		},
		Appended: "图书馆",
		Text:     segtest.Words{In: "我们用Go语言，<b>机器学习</b>的covid-19模型。The End.", Words: "我们|用|go|语言|机器|学习|的|covid-19|模型|the|end"},
		Long:     strings.Repeat("龘靐", 5000),
	}
}

func Test(t *testing.T) { suite().Test(t) }

func FuzzSegment(f *testing.F) { suite().Fuzz(f) }

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

// The snippets of the guides that name packages of this module pass go vet.
func TestSnippets(t *testing.T) { snippets.Vet(t, 1) }
