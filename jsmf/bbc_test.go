package jsmf_test

import (
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// labelledBBC is the bbc corpus with the classes of its articles.
func labelledBBC(t testing.TB) *corpus.Corpus {
	t.Helper()
	raw, err := corpus.ReadUCI(ctx, testutil.Data(t, "bbc", "docword.bbc.txt.gz"), testutil.Data(t, "bbc", "vocab.bbc.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(testutil.Data(t, "bbc", "labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for line := range strings.Lines(string(text)) {
		_, class, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Fatalf("labels.txt, line %d: %q", len(labels)+1, line)
		}
		labels = append(labels, class)
	}
	c, err := corpus.FromCSR(raw.Counts(), raw.Vocabulary(), nil, labels)
	if err != nil {
		t.Fatal(err)
	}
	stop, err := corpus.ReadStopWords(ctx, corpus.File{Name: testutil.Data(t, "stopwords.en.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{StopWords: stop, Words: 2500}); err != nil {
		t.Fatal(err)
	}
	return c
}

// Five topics of the bbc articles against their five classes: nine documents of
// ten are clustered right by every method, and each class has a topic of its own
// that holds most of its documents' weight. The bounds are some points below what was
// measured: accuracies of 0.905 (AP, ENN), 0.929 (refined), 0.910 (anchor-free) and
// 0.934 (anchor-free on tf-idf, as in fu-2018).
func TestClassesOfBBC(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: some seconds of fits")
	}
	c := labelledBBC(t)
	count := map[string]int{}
	for m := range c.NumDocs() {
		count[c.Label(m)]++
	}
	base := jsmf.Published(5)
	accuracy := map[string]float64{}
	for _, x := range []struct {
		name  string
		p     jsmf.Pipeline
		in    jsmf.Input
		least float64
	}{
		{"AP", base.Rectify(rectify.AP{}), c, 0.88},
		{"ENN", base.Rectify(rectify.ENN{}), c, 0.88},
		{"refined", base.Rectify(rectify.AP{}).Refine(refine.Passes{N: 10}), c, 0.91},
		{"anchor-free", base.Rectify(rectify.None{}).AnchorFree(anchorfree.LP{}), c, 0.88},
		{"anchor-free, tf-idf", base.Rectify(rectify.None{}).AnchorFree(anchorfree.LP{}), counted(t, c, cooc.Options{Weighting: cooc.TFIDF}), 0.91},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := fit(t, x.p, x.in)
			docs, err := m.Transform(ctx, c.Source())
			if err != nil {
				t.Fatal(err)
			}
			largest := make([]int, len(docs.Labels))
			of := map[string][]float64{} // the mean shares of the topics by class
			for d, class := range docs.Labels {
				w := docs.W.RawRowView(d)
				largest[d] = floats.MaxIdx(w)
				if of[class] == nil {
					of[class] = make([]float64, len(w))
				}
				floats.AddScaled(of[class], 1/float64(count[class]), w)
			}
			a, err := metrics.Agree(largest, docs.Labels)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("accuracy %.3f, purity %.3f, NMI %.3f; p(topic | class): %.2v", a.Accuracy, a.Purity, a.NMI, of)
			if !(a.Accuracy >= x.least) || !(a.NMI >= 0.7) || a.Purity < a.Accuracy {
				t.Errorf("accuracy %g, want at least %g; purity %g, NMI %g", a.Accuracy, x.least, a.Purity, a.NMI)
			}
			accuracy[x.name] = a.Accuracy
			if len(of) != 5 {
				t.Fatalf("%d classes", len(of))
			}
			owner := map[int]string{}
			for class, shares := range of {
				k := floats.MaxIdx(shares)
				if w := shares[k]; !(w >= 0.6) || owner[k] != "" {
					t.Errorf("topic %d has %.2f of class %s, and is that of %q", k, w, class, owner[k])
				}
				owner[k] = class
			}
		})
	}
	if !(accuracy["refined"] > accuracy["AP"]) {
		t.Errorf("refinement made the accuracy %g of %g", accuracy["refined"], accuracy["AP"])
	}
}
