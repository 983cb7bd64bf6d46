package japanese_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/segment/internal/segtest"
	"github.com/jsmf-go/spectral/corpus/text/segment/japanese"
)

// segmenter is read once for all tests.
var segmenter = sync.OnceValues(japanese.New)

func suite() segtest.Suite {
	return segtest.Suite{
		Segmenter: segmenter,
		Name:      "kagome/ipadic",
		Scripts:   []string{"Han", "Hiragana", "Katakana"},
		Runs: []segtest.Words{
			{In: "私は昨日図書館で勉強した", Words: "私|は|昨日|図書館|で|勉強|し|た"},
			{In: "機械学習のモデルには大量のデータが必要です", Words: "機械|学習|の|モデル|に|は|大量|の|データ|が|必要|です"},
			{In: "猫が庭で静かに眠っている", Words: "猫|が|庭|で|静か|に|眠っ|て|いる"},
		},
		Appended: "図書館",
		Text:     segtest.Words{In: "私はGo言語で<b>データ</b>を読む。covid-19のモデル。", Words: "私|go|言語|データ|読む|covid-19|モデル"},
		Long:     strings.Repeat("アイ", 2000),
	}
}

func Test(t *testing.T) { suite().Test(t) }

func FuzzSegment(f *testing.F) { suite().Fuzz(f) }

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
