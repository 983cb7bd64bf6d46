package jsmf_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
)

// A fit to very many words says so, with what it may take, before it rectifies.
func TestManyWords(t *testing.T) {
	const words = 31_000
	docs := make([]map[int]int, 20)
	for d := range docs {
		docs[d] = map[int]int{}
		for i := d; i < words; i += 19 {
			docs[d][i] = 1
		}
	}
	c := countsCorpus(t, words, docs)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var said string
	_, err := jsmf.Published(2).Record(func(e jsmf.Event) {
		if e.Kind == jsmf.EventWarning && strings.HasPrefix(e.Message, "all 31000 words take part") {
			said = e.Message
		}
		if e.Kind == jsmf.EventStart && e.Stage == jsmf.StageRectify {
			cancel()
		}
	}).Fit(ctx, c)
	if err == nil || !strings.Contains(said, "GiB") {
		t.Errorf("%q and %v, want a warning with the memory before rectification", said, err)
	}
}
