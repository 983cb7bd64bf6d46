package corpus_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// MB/s are of the file as it lies on disk.
func BenchmarkReadUCI(b *testing.B) {
	for _, name := range []string{"kos", "nips17", "imdb-large"} {
		b.Run("corpus="+name, func(b *testing.B) {
			dw, v := testutil.Data(b, name, "docword."+name+".txt.gz"), testutil.Data(b, name, "vocab."+name+".txt")
			fi, err := os.Stat(dw)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(fi.Size())
			nnz := 0
			for b.Loop() {
				c, err := corpus.ReadUCI(context.Background(), dw, v)
				if err != nil {
					b.Fatal(err)
				}
				nnz = c.NNZ()
			}
			b.ReportMetric(float64(nnz)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// The text is made of the words of a fixed list, 200 a document.
func BenchmarkTokenize(b *testing.B) {
	list := append(stopwords.English(), "Factorization", "co-occurrence", "3.14", "Müller’s", "(sparse)", "matrix,")
	var sb strings.Builder
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		sb.WriteString(list[rng.IntN(len(list))])
		sb.WriteByte(' ')
	}
	s := sb.String()
	var tokens []string
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		tokens = text.Default().Tokenize(tokens[:0], s)
	}
	b.ReportMetric(float64(len(tokens))*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkCurate(b *testing.B) {
	for _, name := range []string{"nips17", "imdb-large"} {
		c, err := corpus.ReadUCI(context.Background(), testutil.Data(b, name, "docword."+name+".txt.gz"), testutil.Data(b, name, "vocab."+name+".txt"))
		if err != nil {
			b.Fatal(err)
		}
		b.Run("corpus="+name+"/N=5000", func(b *testing.B) {
			o := corpus.Curation{StopWords: stopwords.English(), Words: 5000}
			b.ReportAllocs()
			share := 0.0
			for b.Loop() {
				got, _, err := corpus.Curate(c, o)
				if err != nil {
					b.Fatal(err)
				}
				share = float64(got.Tokens()) / float64(c.Tokens())
			}
			b.ReportMetric(100*share, "%tokens-kept")
		})
	}
}
