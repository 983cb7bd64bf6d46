package jsmf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// Documents arrive, and the model follows them.
func ExamplePipeline_From() {
	ctx := context.Background()
	all, err := corpus.ReadUCI(ctx, testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"))
	if err != nil {
		log.Fatal(err)
	}
	earlier, _, err := all.Split(0.03, 1)
	if err != nil {
		log.Fatal(err)
	}
	p := jsmf.Published(8)
	m, err := p.Fit(ctx, earlier)
	if err != nil {
		log.Fatal(err)
	}
	if m, err = p.From(m).Fit(ctx, all); err != nil {
		log.Fatal(err)
	}
	r := m.Stats().Refit
	most := 0.0
	for _, d := range r.Drift {
		most = max(most, d)
	}
	fmt.Printf("%d documents more: topics drifted by at most %.2f, %d new\n", all.NumDocs()-earlier.NumDocs(), most, len(r.New))
	// Output:
	// 90 documents more: topics drifted by at most 0.03, 0 new
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
