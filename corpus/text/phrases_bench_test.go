package text_test

import (
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/cputime"
)

// BenchmarkFindPhrases finds phrases in words drawn by Zipf's law, as ns a token and round.
func BenchmarkFindPhrases(b *testing.B) {
	for _, x := range []struct {
		name          string
		vocab, tokens int
	}{
		{"tokens=1e6/vocab=5e4", 50_000, 1_000_000},
		{"tokens=1e7/vocab=5e5", 500_000, 10_000_000},
	} {
		b.Run(x.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			zipf := rand.NewZipf(rng, 1.1, 2.7, uint64(x.vocab-1))
			var docs [][]string
			for range x.tokens / 500 {
				var s strings.Builder
				for range 500 {
					s.WriteString("w" + strconv.FormatUint(zipf.Uint64(), 36) + " ")
				}
				docs = append(docs, strings.Fields(s.String()))
			}
			read := func() iter.Seq2[[]string, error] {
				return func(yield func([]string, error) bool) {
					for _, d := range docs {
						if !yield(d, nil) {
							return
						}
					}
				}
			}
			begun := cputime.Seconds()
			for b.Loop() {
				if _, err := text.FindPhrases(b.Context(), read, text.Learning{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1e9*(cputime.Seconds()-begun)/float64(b.N)/float64(x.tokens)/3, "cpu-ns/token/round")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(x.tokens)/3, "ns/token/round")
		})
	}
}
