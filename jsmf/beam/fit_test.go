package beam

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
)

// bytesOf returns the file of a model.
func bytesOf(t testing.TB, m *jsmf.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sameModel fits to shards and wants the file of a model that one machine has fitted.
func sameModel(t *testing.T, p jsmf.Pipeline, paths []string, f Format, want []byte) {
	t.Helper()
	m, err := Fit(context.Background(), p, paths, options(t, f))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, m), want) {
		t.Error("another model than that of one machine")
	}
}

// Models are the same to the byte, whatever the shards, and as on one machine.
func TestFit(t *testing.T) {
	c := drawn(1500)
	ctx := context.Background()
	for name, p := range map[string]jsmf.Pipeline{
		"spectral":   jsmf.New(6).Words(150).Refine(nil),
		"refined":    jsmf.New(6).Words(150).Refine(refine.Batch{N: 6}),
		"merged":     jsmf.New(6).Words(150).Refine(refine.Batch{N: 9}), // topics, before the end
		"correlated": jsmf.New(6).Words(150).Refine(refine.Batch{N: 4, Correlated: 2}),
	} {
		t.Run(name, func(t *testing.T) {
			one, err := p.Fit(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			paths, f := wholeUCI(t, c)
			sameModel(t, p, paths, f, bytesOf(t, one))

			// Lines do not tell of documents that have none.
			full := corpus.Builder{Vocabulary: c.Vocabulary()}
			for m := range c.NumDocs() {
				if words, counts := c.Doc(m); len(words) > 0 {
					if err := full.Add(corpus.Document{ID: c.ID(m), Words: words, Counts: counts}); err != nil {
						t.Fatal(err)
					}
				}
			}
			some, err := full.Corpus()
			if err != nil {
				t.Fatal(err)
			}
			if one, err = p.Fit(ctx, some); err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 4, 16} {
				paths, f := uciShards(t, c, n)
				sameModel(t, p, paths, f, bytesOf(t, one))
			}
		})
	}
}

// So are models whose topics are split, of which documents keep some, and a fit that is made again finds
// all that it needs.
func TestFitSplits(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a fit of 301 topics takes seconds")
	}
	const k = 301 // from which on topics are split whatever the documents
	ctx, planted := context.Background(), testutil.NewPlantedTree(40, 8, 3)
	b := corpus.Builder{}
	for _, counts := range planted.Documents(slices.Repeat([]int{80}, 1500), 4) {
		words := map[string]int{}
		for w, n := range counts {
			words[fmt.Sprintf("w%04d", w)] = n
		}
		if err := b.AddCounts("", "", words); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	paths, f := uciShards(t, c, 5)
	p := jsmf.New(k).Refine(refine.Batch{N: 3, Correlated: 2})
	one, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if prior := one.Logits(); one.K() != k || one.Tree() == nil || prior == nil || prior.Families == nil {
		t.Fatalf("%d topics, tree %v, prior %v", one.K(), one.Tree(), prior)
	}
	o := options(t, f)
	m, err := Fit(ctx, p, paths, o)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, m), bytesOf(t, one)) {
		t.Error("another model than that of one machine")
	}
	fitsAgain(t, p, paths, o, m)
}

// fitsAgain fits once more where m was fitted: the same model, and no other files.
func fitsAgain(t *testing.T, p jsmf.Pipeline, paths []string, o Options, m *jsmf.Model) {
	t.Helper()
	before, err := filepath.Glob(filepath.Join(o.State, filePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Fit(t.Context(), p, paths, o)
	if err != nil || !bytes.Equal(bytesOf(t, m), bytesOf(t, again)) {
		t.Errorf("another model: %v", err)
	}
	if after, err := filepath.Glob(filepath.Join(o.State, filePrefix+"*")); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("files %q, then %q: %v", before, after, err)
	}
}

// With ids, so are those of JSON lines.
func TestFitJSON(t *testing.T) {
	paths, f := jsonShards(t, drawn(1500), 5)
	var all []string
	for _, p := range paths {
		all = append(all, readText(t, p))
	}
	c, err := corpus.Read(context.Background(), corpus.JSONL{In: corpus.FileFromBytes("all", []byte(strings.Join(all, "")))})
	if err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(6).Words(150).Refine(refine.Batch{N: 4})
	m, err := Fit(context.Background(), p, paths, options(t, f))
	if err != nil {
		t.Fatal(err)
	}
	one, err := p.Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(m.Topics(), one.Topics()) || !mat.Equal(m.Correlations(), one.Correlations()) {
		t.Error("other topics than those of one machine")
	}
	if fmt.Sprint(m.Vocabulary()) != fmt.Sprint(one.Vocabulary()) {
		t.Error("other words")
	}
}

// A real corpus.
func TestFitKos(t *testing.T) {
	docword, vocab := testutil.Data(t, "kos", "docword.kos.txt.gz"), testutil.Data(t, "kos", "vocab.kos.txt")
	ctx, p := context.Background(), jsmf.New(10).Refine(refine.Batch{N: 3})
	c, err := corpus.ReadUCI(ctx, docword, vocab)
	if err != nil {
		t.Fatal(err)
	}
	one, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	want := bytesOf(t, one)
	sameModel(t, p, []string{docword}, Format{Lines: UCILines, Vocabulary: vocab}, want)
	for _, n := range []int{4, 16} {
		paths, f := uciShards(t, c, n)
		sameModel(t, p, paths, f, want)
	}
}

// Documents of a state folder are a source like any other, and their sums are kept.
func TestDocuments(t *testing.T) {
	ctx, p := context.Background(), jsmf.New(6).Words(150).Refine(refine.Batch{N: 3})
	paths, f := uciShards(t, drawn(1500), 3)
	o := options(t, f)
	m, err := Fit(ctx, p, paths, o)
	if err != nil {
		t.Fatal(err)
	}
	d := mustEncode(t, paths, o)
	c, err := corpus.Read(ctx, d.Info().Source)
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Transform(ctx, d.Info().Source)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.TransformBy(ctx, c.Source(), infer.MAP{}, infer.Options{})
	if err != nil || !mat.Equal(x.W, y.W) {
		t.Errorf("other topics of the documents: %v", err)
	}
	fitsAgain(t, p, paths, o, m)
}

// Settings that are no sums over documents are refused before anything is read.
func TestFitRefuses(t *testing.T) {
	nothing := []string{filepath.Join(t.TempDir(), "none")}
	for name, x := range map[string]struct {
		p    jsmf.Pipeline
		want string
	}{
		"passes":    {jsmf.New(5), "Batch"},
		"published": {jsmf.Published(5), "Published"},
		"topics":    {jsmf.New(1).Refine(refine.Batch{}), "K = 1"},
		"learner":   {jsmf.Published(5).AnchorFree(anchorfree.LP{}), "Published"},
	} {
		if _, err := Fit(context.Background(), x.p, nothing, options(t, Format{})); err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "none") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
