package jsmf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// Documents arrive, and the model follows them. In a service the refit runs in the
// background, on a snapshot.
func ExamplePipeline_From() {
	ctx := context.Background()
	raw, err := corpus.ReadUCI(ctx, testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"))
	if err != nil {
		log.Fatal(err)
	}
	held, err := corpus.NewAccumulator(corpus.AccumulatorOptions{Vocabulary: raw.Vocabulary(), MinDocs: -1})
	if err != nil {
		log.Fatal(err)
	}
	p := jsmf.Published(8)
	var m *jsmf.Model
	docs := 0
	for doc, err := range raw.Source().Docs(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		doc.ID = fmt.Sprint(docs)
		if err := held.Add(doc); err != nil {
			log.Fatal(err)
		}
		if docs++; docs == 2900 || docs == raw.NumDocs() {
			d, err := held.Snapshot().Corpus()
			if err != nil {
				log.Fatal(err)
			}
			if m, err = p.From(m).Fit(ctx, d); err != nil {
				log.Fatal(err)
			}
		}
	}
	r := m.Stats().Refit
	most := 0.0
	for _, d := range r.Drift {
		most = max(most, d)
	}
	fmt.Printf("%d documents more: topics drifted by at most %.2f, %d new\n", docs-2900, most, len(r.New))
	// Output:
	// 100 documents more: topics drifted by at most 0.04, 0 new
}

// What memory a fit takes at most.
func ExamplePipeline_Estimate() {
	s := jsmf.CorpusStats{Documents: 300_000, Words: 20_000, NNZ: 30_000_000}
	for _, k := range []int{50, 200} {
		e, err := jsmf.Published(k).Estimate(s)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d topics: %.1f GB\n", k, float64(e.Bytes)/1e9)
	}
	// Output:
	// 50 topics: 2.9 GB
	// 200 topics: 5.7 GB
}
