package jsmf_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// treeDocuments draws documents of 40 to 79 tokens of a planted tree.
func treeDocuments(t *testing.T, p *testutil.Planted, docs int, seed uint64) *corpus.Corpus {
	t.Helper()
	lengths := make([]int, docs)
	for m := range lengths {
		lengths[m] = 40 + m%40
	}
	b := corpus.Builder{}
	for i := range p.N {
		b.Vocabulary = append(b.Vocabulary, fmt.Sprintf("w%04d", i))
	}
	for m, counts := range p.Documents(lengths, seed) {
		d := corpus.Document{ID: fmt.Sprint(m)}
		for w := range p.N {
			if x := counts[w]; x > 0 {
				d.Words, d.Counts = append(d.Words, int32(w)), append(d.Counts, int32(x))
			}
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hasTree checks a model with 80 topics of a tree.
func hasTree(t *testing.T, name string, m *jsmf.Model) {
	t.Helper()
	tree := m.Tree()
	if tree == nil || tree.Validate(80) != nil || m.K() != 80 {
		t.Fatalf("%s: %d topics, tree %v", name, m.K(), tree)
	}
	// The topics of the start are no topics of the model, and nor are their anchors.
	if m.Anchors() != nil || m.AnchorGroups() != nil || m.Stats().Anchors.Norms != nil {
		t.Errorf("%s: anchors %v and %v, norms %v", name, m.Anchors(), m.AnchorGroups(), m.Stats().Anchors.Norms)
	}
	for _, w := range m.Stats().Warnings {
		if strings.Contains(w, "asked for") || strings.Contains(w, "eigenpairs") {
			t.Errorf("%s: warning %q", name, w)
		}
	}
}

// A fit that splits topics finds those of a planted tree, and its model is one as others are: in
// files, refits and replicates. It allocates no more than its estimate.
func TestNewSplits(t *testing.T) {
	testutil.NotWithRace(t)
	const k, families = 80, 16
	planted := testutil.NewPlantedTree(families, k/families, 7)
	c := treeDocuments(t, planted, 5200, 8)
	if c.NNZ() < 1800*k {
		t.Fatalf("%d nonzeros", c.NNZ())
	}
	p := jsmf.New(k).Words(600).Refine(refine.Passes{N: 6, Correlated: -1})
	e, err := p.Estimate(sizes(c))
	if err != nil {
		t.Fatal(err)
	}
	var m *jsmf.Model
	if took := testutil.Allocated(t, func() { m = fit(t, p, c) }); took > e.Bytes {
		t.Errorf("%d bytes were allocated, more than\n%v", took, e)
	}
	hasTree(t, "fit", m)

	// Nine in ten planted topics have one at a distance below 0.25; two of a family are 0.4 apart.
	found := 0
	for j := range k {
		least := 1.0
		for i := range k {
			sum := 0.0
			for w := range planted.N {
				n, _ := m.Index(fmt.Sprintf("w%04d", w))
				sum += math.Abs(planted.B.At(w, j) - m.Topics().At(n, i))
			}
			least = min(least, sum/2)
		}
		if least < 0.25 {
			found++
		}
	}
	if found < k*9/10 {
		t.Errorf("%d of %d topics were found", found, k)
	}

	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := jsmf.ReadModel(&file)
	if err != nil || read.Fingerprint() != m.Fingerprint() || !reflect.DeepEqual(read.Tree(), m.Tree()) {
		t.Fatalf("the file: %v", err)
	}

	again := fit(t, p.From(read), c)
	hasTree(t, "refit", again)
	if st := again.Stats().Refit; len(st.New) > k/10 {
		t.Errorf("refit: new topics %v", st.New)
	}
	for _, r := range replicates(t, jsmf.Bootstrap{Warm: 1, Cold: 1, Drawn: -1}, p, m, c) {
		hasTree(t, fmt.Sprintf("replicate, cold is %v", r.Cold), r.Model)
		matched := 0
		for _, ok := range r.Matched {
			if ok {
				matched++
			}
		}
		if matched < k*9/10 {
			t.Errorf("replicate, cold is %v: %d topics are matched", r.Cold, matched)
		}
	}
}
