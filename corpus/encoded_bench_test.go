package corpus_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// BenchmarkEncoded writes the training documents of nips17-split and decodes them, in
// memory and from a file, and reports the time and the bytes for each pair of a document
// and a word.
func BenchmarkEncoded(b *testing.B) {
	ctx := context.Background()
	c, err := corpus.ReadUCI(ctx, testutil.Data(b, "nips17-split", "docword.train.txt.gz"), testutil.Data(b, "nips17-split", "vocab.txt"))
	if err != nil {
		b.Fatal(err)
	}
	pairs := float64(c.NNZ())
	perPair := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/pair")
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := corpus.Encode(ctx, c.Source()); err != nil {
				b.Fatal(err)
			}
		}
		perPair(b)
	})
	memory, err := corpus.Encode(ctx, c.Source())
	if err != nil {
		b.Fatal(err)
	}
	file, err := corpus.EncodeFile(ctx, memory, filepath.Join(b.TempDir(), "docs"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for name, e := range map[string]*corpus.Encoded{"memory": memory, "file": file} {
		b.Run("decode/"+name, func(b *testing.B) {
			var block corpus.Block
			b.ReportAllocs()
			for b.Loop() {
				for i := range e.Blocks() {
					if err := e.Block(i, &block); err != nil {
						b.Fatal(err)
					}
				}
			}
			perPair(b)
			b.ReportMetric(float64(e.Bytes())/pairs, "bytes/pair")
		})
	}
}
