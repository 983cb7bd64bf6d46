package jsmf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	recovery "github.com/jsmf-go/spectral/recover"
)

// themed makes a corpus of texts of one or two of three themes, and a model of it.
func themed(t testing.TB) (*Model, *corpus.Corpus, []string) {
	t.Helper()
	themes := [][]string{
		{"sail", "wind", "harbour", "anchor", "wave", "rope", "water", "morning"},
		{"oven", "flour", "butter", "recipe", "onion", "soup", "water", "evening"},
		{"seed", "soil", "rose", "spade", "hedge", "onion", "water", "morning"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	var b corpus.Builder
	for range 400 {
		first, second := rng.IntN(3), rng.IntN(3)
		text := ""
		for i := range 20 {
			theme := themes[[2]int{first, second}[i%2]]
			text += theme[rng.IntN(len(theme))] + " "
		}
		texts = append(texts, text)
		if err := b.AddText("", "", text); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Published(3).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return m, c, texts
}

// The same documents as a corpus, as numbers of another vocabulary, as tokens
// and as raw text have the same compositions, to the bit, and those of InferTo.
func TestTransform(t *testing.T) {
	ctx := context.Background()
	m, c, texts := themed(t)
	want, err := m.Transform(ctx, c.Source())
	if err != nil {
		t.Fatal(err)
	}
	if r, k := want.W.Dims(); r != 400 || k != 3 || want.Method != (infer.MAP{}).String() || want.Labels != nil {
		t.Fatalf("W is %d×%d, %+v", r, k, want.Method)
	}
	words := c.Vocabulary()
	slices.Reverse(words)
	other, _, err := c.Reindex(append(words, "aardvark"))
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]corpus.Source{"reversed": other.Source(), "texts": m.Texts(texts...)} {
		got, err := m.Transform(ctx, src)
		if err != nil {
			t.Fatal(name, err)
		}
		if !mat.Equal(got.W, want.W) || !reflect.DeepEqual(got.Docs, want.Docs) || !slices.Equal(got.IDs, want.IDs) || slices.Max(got.Unknown) != 0 {
			t.Errorf("%s: other compositions", name)
		}
	}
	inf, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 3)
	for d, text := range texts {
		ids, counts, unknown, _ := m.CountWords(text)
		if doc, err := inf.InferTo(w, ids, counts); err != nil || unknown != 0 || doc != want.Docs[d] || !slices.Equal(w, want.W.RawRowView(d)) {
			t.Fatalf("document %d alone: %v %v %v, want %v", d, w, doc, err, want.W.RawRowView(d))
		}
	}
	// A text of one theme is of one topic.
	one, err := m.Transform(ctx, m.Texts("The wind, the waves and a ROPE: sail to the harbour! Anchor, wave.", "", "nothing known 42"))
	if err != nil {
		t.Fatal(err)
	}
	if top := slices.Max(one.W.RawRowView(0)); top < 0.8 {
		t.Errorf("a text of one theme: %v", one.W.RawRowView(0))
	}
	if !slices.Equal(one.Unknown, []int64{6, 0, 2}) {
		t.Errorf("unknown words: %v", one.Unknown)
	}
	for d := 1; d < 3; d++ {
		if one.Docs[d].Status != infer.NoTokens || math.Abs(floatsSum(one.W.RawRowView(d))-1) > 1e-12 {
			t.Errorf("document %d: %+v, %v", d, one.Docs[d], one.W.RawRowView(d))
		}
	}
	empty, err := m.Transform(ctx, m.Texts())
	if err != nil || len(empty.Docs) != 0 || !empty.W.IsEmpty() {
		t.Errorf("no documents: %+v, %v", empty, err)
	}
}

func floatsSum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// More documents than are held at a time, with ids, labels and progress.
func TestTransformChunks(t *testing.T) {
	ctx := context.Background()
	m, _, texts := themed(t)
	b := corpus.Builder{Vocabulary: m.Vocabulary()}
	for i := range 2*transformChunk + 7 {
		if err := b.AddText(fmt.Sprint("d", i), "label", texts[i%400]); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	var calls []int
	got, err := m.TransformBy(ctx, c.Source(), infer.SPI{}, infer.Options{Workers: 2, Progress: func(done, total int) { calls = append(calls, done) }})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(calls, []int{transformChunk, 2 * transformChunk, 2*transformChunk + 7}) || got.IDs[2] != "d2" || got.Labels[5] != "label" || got.Method != "SPI" {
		t.Errorf("progress %v, %v %v %v", calls, got.IDs[2], got.Labels[5], got.Method)
	}
	for i := range 2*transformChunk + 7 {
		if !slices.Equal(got.W.RawRowView(i), got.W.RawRowView(i%400)) {
			t.Fatalf("document %d differs from its double", i)
		}
	}
}

func TestTransformErrors(t *testing.T) {
	ctx := context.Background()
	m, c, texts := themed(t)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Transform(done, c.Source()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	if _, err := m.Transform(done, m.Texts(texts...)); !errors.Is(err, context.Canceled) {
		t.Errorf("texts after the end of ctx: %v", err)
	}
	if _, err := m.Transform(ctx, nil); err == nil {
		t.Error("no source is accepted")
	}
	var te *infer.TopicsError
	if _, err := m.TransformBy(ctx, c.Source(), infer.PADD{}, infer.Options{}); !errors.As(err, &te) || te.Field != "Dual" || strings.Count(err.Error(), "infer:") != 1 {
		t.Errorf("PADD without Λ: %v", err)
	}
	if _, _, err := m.LearnDual(ctx, nil, infer.PADD{}, infer.Options{}); err == nil {
		t.Error("no corpus is accepted")
	}
	var se *infer.SettingError
	if _, err := m.Inferer(ctx, infer.MAP{Steps: -1}, infer.Options{}); !errors.As(err, &se) {
		t.Errorf("a bad setting: %v", err)
	}
	p := tinyParts()
	p.Vocabulary = nil
	bare := mustModel(t, p)
	if _, err := bare.Transform(ctx, c.Source()); err == nil || !strings.Contains(err.Error(), "a model of 5 words without names") {
		t.Errorf("another vocabulary: %v", err)
	}
	if _, _, err := bare.LearnDual(ctx, c, infer.PADD{}, infer.Options{}); err == nil || !strings.Contains(err.Error(), "a model of 5 words without names") {
		t.Errorf("another vocabulary: %v", err)
	}
	for name, d := range map[string]corpus.Document{
		"both Tokens and Words": {Tokens: []string{"a"}, Words: []int32{1}},
		"by number, but":        {Words: []int32{1}},
		"2 counts for 1 words":  {Tokens: []string{"a"}, Counts: []int32{1, 2}},
		"count -1 of word":      {Tokens: []string{"a"}, Counts: []int32{-1}},
	} {
		h := &heldDocs{n: 5}
		if _, err := h.add(&bag.Words{Token: m.number}, d, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	h := &heldDocs{n: 5}
	if _, err := h.add(&bag.Words{Size: 1}, corpus.Document{Words: []int32{5}}, 1); err == nil {
		t.Error("a word out of range is accepted")
	}
	if _, err := h.add(&bag.Words{Size: 1}, corpus.Document{Words: []int32{0, 0}, Counts: []int32{math.MaxInt32, 1}}, 1); err == nil {
		t.Error("counts that overflow are accepted")
	}
}

// Λ and the tokenizer are kept by the model's file, and the model they were added
// to is what it was.
func TestModelKeepsInference(t *testing.T) {
	ctx := context.Background()
	m, c, texts := themed(t)
	words := c.Vocabulary()
	slices.Reverse(words)
	other, _, err := c.Reindex(words)
	if err != nil {
		t.Fatal(err)
	}
	m.prov.Text = nil // as if the documents had not been text
	before := encoded(t, m)
	d, learned, err := m.LearnDual(ctx, other, infer.PADD{}, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.dual != nil || d.dual == nil || learned.Documents != 400 || len(learned.Residuals) == 0 {
		t.Errorf("has Λ: %v, %v; %+v", m.dual, d.dual, learned)
	}
	set := text.Setting{KeepCase: true, MinLength: 3, Numbers: text.KeepNumbers}
	tok, err := set.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	d, err = d.With(Additions{Tokenizer: tok})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.With(Additions{Tokenizer: text.Default()}); err == nil {
		t.Error("a tokenizer of another setting is accepted")
	}
	if m.Provenance().Text != nil || !bytes.Equal(before, encoded(t, m)) {
		t.Error("the model has changed")
	}
	file := encoded(t, d)
	back, err := ReadModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, back), file) {
		t.Error("written again, the file differs")
	}
	if got := back.Provenance().Text; got == nil || !got.Equal(set) {
		t.Errorf("text setting %+v", got)
	}
	if _, _, unknown, _ := back.CountWords("SAIL to the harbour, it is 4242"); unknown != 3 { // SAIL, the, 4242
		t.Errorf("%d unknown words", unknown)
	}
	a, err := d.TransformBy(ctx, corpus.FromSeq(c.Source().Docs(ctx), corpus.Description{Vocabulary: c.Vocabulary()}), infer.PADD{}, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := back.TransformBy(ctx, back.Texts(texts...), infer.PADD{}, infer.Options{})
	if err != nil || !mat.Equal(a.W, b.W) {
		t.Errorf("the model that was read gives other compositions (%v)", err)
	}
}

// Files with a broken section of either kind are refused, and one without both
// is the golden file.
func TestInferenceSections(t *testing.T) {
	f := tinyFile()
	dual := floatBytes(0.5, -0.25, -0.25, 1)
	before := slices.IndexFunc(f.sections, func(s testSection) bool { return s.tag == "PROV" })
	f.sections = slices.Insert(f.sections, before, testSection{tag: "ALPH", payload: floatBytes(0.5, 2)})
	f.sections = append(f.sections,
		testSection{tag: "DUAL", payload: dual},
		testSection{tag: "TEXT", flags: 1, payload: []byte(`{"version":1,"max_length":12,"numbers":"drop digits","keep_possessive":true}`)})
	m, err := ReadModel(bytes.NewReader(f.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded(t, m), f.bytes()) {
		t.Error("WriteTo does not write the file by the description")
	}
	if got := m.Provenance().Text; !got.Equal(text.Setting{MaxLength: 12, Numbers: text.DropDigits, KeepPossessive: true}) {
		t.Errorf("text setting %+v", got)
	}
	if d := m.inferTopics().Dual; d.At(0, 1) != -0.25 || d.At(1, 1) != 1 {
		t.Errorf("Λ/M is %v", mat.Formatted(d))
	}
	for _, c := range []struct {
		tag, want string
		payload   []byte
	}{
		{"DUAL", "want 32", dual[:24]},
		{"DUAL", "dual: Λ/M[0,1] = NaN", floatBytes(0.5, math.NaN(), math.NaN(), 1)},
		{"DUAL", "dual: Λ/M[1,0]", floatBytes(0.5, 1, 2, 1)},
		{"ALPH", "alpha: that of topic 1 is 0", floatBytes(1, 0)},
		{"ALPH", "want 16", floatBytes(1, 2, 3)},
		{"TEXT", "TEXT", []byte(`{`)},
		{"TEXT", "-1 to 40", []byte(`{"min_length":-1}`)},
		{"TEXT", "numbers", []byte(`{"numbers":7}`)},
		{"TEXT", "version 2", []byte(`{"version":2}`)},
		{"TEXT", "unknown field", []byte(`{"something_new":true}`)},
	} {
		g := tinyFile()
		g.sections = append(g.sections, testSection{tag: c.tag, payload: c.payload})
		if _, err := ReadModel(bytes.NewReader(g.bytes())); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// scaledA recovers topics whose correlations are multiplied by a number.
type scaledA struct{ by float64 }

func (r scaledA) Recover(ctx context.Context, rows cooc.Rows, anchors []int, opt recovery.Options) (*recovery.Result, error) {
	res, err := recovery.SCLS{}.Recover(ctx, rows, anchors, opt)
	if err == nil {
		res.A.Scale(r.by, res.A)
	}
	return res, err
}

func (scaledA) String() string { return "scaledA" }

// A fit says so where inference will refuse its model.
func TestFitWarnsOfUselessInference(t *testing.T) {
	ctx := context.Background()
	_, c, texts := themed(t)
	for _, x := range []struct {
		by      float64
		refused bool
	}{{1, false}, {-1, true}, {0, true}} {
		m, err := Published(4).Recover(scaledA{x.by}).Fit(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Transform(ctx, m.Texts(texts...))
		warned := slices.ContainsFunc(m.Stats().Warnings, func(w string) bool {
			return strings.Contains(w, "cannot infer the topics of documents") && strings.Contains(w, "Topics.A sums to")
		})
		if (err != nil) != x.refused || warned != x.refused {
			t.Errorf("A times %g: inference says %v, the fit warned of %q", x.by, err, m.Stats().Warnings)
		}
	}
}
