package jsmf_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// What a fit takes can be measured against, wherever the documents are: the measures are
// those of the corpus, to the bit.
func TestNewMeasures(t *testing.T) {
	testutil.NotWithRace(t)
	c := textLike(t, 250, 300, 60)
	weights := make([]float64, c.NumDocs())
	for i := range weights {
		weights[i] = float64(1 + i%3)
	}
	weighted, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(c *corpus.Corpus) *corpus.Encoded {
		e, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	file, err := corpus.EncodeFile(ctx, c.Source(), filepath.Join(t.TempDir(), "docs.jenc"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	operator, err := cooc.FromEncoded(ctx, file, cooc.Options{MinTokens: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(4).Refine(refine.Passes{N: 2})
	for name, x := range map[string]struct {
		in   jsmf.Input
		docs *corpus.Corpus
	}{
		"encoded": {encode(c), c}, "encoded with weights": {encode(weighted), weighted}, "encoded in a file": {file, c},
		"matrix without rows": {operator, c}, "source without names": {unnamed{c.Source(), c.Vocabulary()}, c},
	} {
		m := fit(t, p, x.in)
		got, err := p.Evaluate(ctx, m, x.in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := p.Evaluate(ctx, m, x.docs)
		if err != nil || want.NPMI.Values == nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !sameReports(got, want) {
			t.Errorf("%s: other measures than against the corpus", name)
		}
	}

	// A limit that the documents are beyond: fitted, and not measured.
	m := fit(t, p, file)
	e, err := p.Estimate(sizes(c))
	if err != nil {
		t.Fatal(err)
	}
	var le *jsmf.MemoryLimitError
	if _, err := p.MemoryLimit(1000).Evaluate(ctx, m, file); !errors.As(err, &le) || le.Limit != 1000 || le.Estimate.Bytes < 64*file.Info().Nonzeros {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := p.MemoryLimit(e.Bytes).Evaluate(ctx, m, file); err != nil {
		t.Errorf("within the limit: %v", err)
	}
	if _, err := p.MemoryLimit(1000).Evaluate(ctx, m, c); err != nil {
		t.Errorf("documents that are in memory: %v", err)
	}
}
