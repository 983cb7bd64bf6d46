package cli_test

import (
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
)

// Watch changes no document, neither its words' numbers nor its weight.
func TestWatch(t *testing.T) {
	src := corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
		_ = yield(corpus.Document{Words: []int32{1}}, nil) && yield(corpus.Document{Words: []int32{0, 1}}, nil)
	}, corpus.Description{Vocabulary: []string{"ant", "net"}, Weights: []float64{1, 3}})
	var done []int
	c, err := corpus.Read(t.Context(), cli.Watch(src, func(e jsmf.Event) { done = append(done, e.Done) }))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(done, []int{1, 2}) || !slices.Equal(c.Vocabulary(), []string{"ant", "net"}) || !slices.Equal(c.Weights(), []float64{1, 3}) {
		t.Errorf("told of %v, words %q, weights %v; want 1 and 2, ant and net, 1 and 3", done, c.Vocabulary(), c.Weights())
	}
}
