package corpus_test

import (
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// Info counts document frequencies once, and DocFrequencies gives a copy.
func TestInfoOnce(t *testing.T) {
	b := corpus.Builder{Vocabulary: []string{"a", "b", "c"}}
	for _, words := range [][]int32{{0, 1}, {1}, {1, 1}} {
		if err := b.Add(corpus.Document{Words: words}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	df := c.Info().DocFrequencies
	c.DocFrequencies()[1] = 7
	again := c.Info()
	if &df[0] != &again.DocFrequencies[0] {
		t.Error("the second Info counted again")
	}
	if df[0] != 1 || df[1] != 3 || df[2] != 0 || again.Documents != 3 || again.Tokens != 5 || again.Nonzeros != 4 || again.Corpus != c {
		t.Errorf("%+v", again)
	}
	if n := testing.AllocsPerRun(100, func() { c.Info() }); n > 1 {
		t.Errorf("Info allocates %g times", n)
	}
	if info := (*corpus.Corpus)(nil).Info(); info.Form != "" {
		t.Errorf("of nil: %+v", info)
	}
}
