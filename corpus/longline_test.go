package corpus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// All that is allocated for one long line, garbage included, is a small multiple of its length.
func TestLongLineMemory(t *testing.T) {
	testutil.NotWithRace(t)
	const size = 4 << 20
	var words strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); words.Len() < size; {
		fmt.Fprintf(&words, "word%c%c ", 'a'+r.IntN(26), 'a'+r.IntN(26))
	}
	line := words.String()
	quoted, err := json.Marshal(map[string]string{"text": line})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		content string
		src     func(corpus.File) corpus.Source
	}{
		"Lines":         {line, func(f corpus.File) corpus.Source { return corpus.Lines{In: f} }},
		"JSONL":         {string(quoted), func(f corpus.File) corpus.Source { return corpus.JSONL{In: f} }},
		"CSV":           {"text\n" + line, func(f corpus.File) corpus.Source { return corpus.CSV{In: f, Text: "text"} }},
		"CSV unquoted":  {"text\n" + line, func(f corpus.File) corpus.Source { return corpus.CSV{In: f, Text: "text", NoQuotes: true} }},
		"a single word": {strings.Repeat("a", size), func(f corpus.File) corpus.Source { return corpus.Lines{In: f} }},
	} {
		t.Run(name, func(t *testing.T) {
			src := x.src(corpus.File{Name: "data", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewBufferString(x.content)), nil }})
			took := testutil.Allocated(t, func() {
				if _, err := corpus.Encode(t.Context(), src); err != nil {
					t.Error(err)
				}
			})
			if most := int64(15 * size); took > most {
				t.Errorf("a line of %d bytes took %d, want at most %d", size, took, most)
			}
		})
	}
}
