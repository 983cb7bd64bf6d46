package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// inspect reads texts by a setting, nil for the default, and inspects them.
func inspect(t *testing.T, tok text.Tokenizer, texts ...string) (*corpus.Inspection, *corpus.Corpus) {
	t.Helper()
	b := corpus.Builder{Tokenizer: tok}
	for _, s := range texts {
		if err := b.AddText("", "", s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	r, err := corpus.Inspect(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// randomTexts returns documents of n words each of a vocabulary of 2000.
func randomTexts(rng *rand.Rand, docs, n int) [][]string {
	out := make([][]string, docs)
	for d := range out {
		for range n {
			out[d] = append(out[d], fmt.Sprintf("word%d", int(2000*rng.Float64()*rng.Float64())))
		}
	}
	return out
}

func join(docs [][]string) []string {
	out := make([]string, len(docs))
	for i, d := range docs {
		out[i] = strings.Join(d, " ")
	}
	return out
}

// TestDuplicates plants copies of documents of 100 words.
func TestDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	docs := randomTexts(rng, 300, 100)
	same := slices.Clone(docs[7])
	rng.Shuffle(len(same), func(i, j int) { same[i], same[j] = same[j], same[i] })
	changed := slices.Clone(docs[8])
	changed[50] = "other"
	half := append(slices.Clone(docs[9][:50]), randomTexts(rng, 1, 50)[0]...)
	short := strings.Fields("four words of text")
	tiny := strings.Fields("these are six words of text")
	docs = append(docs, same, changed, half, short, short, tiny, tiny, changed)
	r, c := inspect(t, nil, join(docs)...)
	want := []corpus.Duplicate{{Doc: 300, Of: 7, Similarity: 1}, {Doc: 301, Of: 8, Similarity: 99 / 101.}, {Doc: 306, Of: 305, Similarity: 1}, {Doc: 307, Of: 8, Similarity: 99 / 101.}}
	if !slices.Equal(r.Duplicates, want) {
		t.Errorf("found %+v\nwant  %+v", r.Duplicates, want)
	}
	out, rep, err := corpus.Curate(c, corpus.Curation{DropDuplicates: true, KeepVocabulary: true, MinDistinct: -1})
	if err != nil || out.NumDocs() != len(docs)-4 || out.ID(300) != "303" || rep.Steps[0].Docs != 4 || rep.Steps[0].Tokens != 306 || rep.After.Docs != out.NumDocs() || rep.After.Tokens != out.Tokens() {
		t.Errorf("%v\n%v", err, rep)
	}
	if again, err := corpus.Inspect(t.Context(), out.Source()); err != nil || len(again.Duplicates) != 0 {
		t.Errorf("%v: %v are left", err, again.Duplicates)
	}
	if r, err := corpus.Inspect(t.Context(), twice{c.Source()}); err != nil || r.Duplicates != nil {
		t.Errorf("%v: documents that may be copies are duplicates", err)
	}
}

// TestDuplicatesAgree compares the search with one that compares all documents. Sketches may
// miss a pair right at the limit; none of these is.
func TestDuplicatesAgree(t *testing.T) {
	testutil.NotWithRace(t)
	rng := rand.New(rand.NewPCG(6, 6))
	docs := randomTexts(rng, 100, 60)
	for len(docs) < 400 {
		d := slices.Clone(docs[rng.IntN(100)])
		for range rng.IntN(20) {
			d[rng.IntN(len(d))] = fmt.Sprintf("word%d", rng.IntN(2000))
		}
		docs = append(docs, d)
	}
	r, c := inspect(t, nil, join(docs)...)
	first := map[int]bool{}
	of := map[int]float64{}
	for m := range docs {
		best := 0.0
		for f := range first {
			best = max(best, overlap(c, f, m))
		}
		if of[m] = best; best < 0.8 {
			first[m] = true
		}
	}
	found := 0
	for m := range docs {
		i := slices.IndexFunc(r.Duplicates, func(d corpus.Duplicate) bool { return d.Doc == m })
		if (i >= 0) != (of[m] >= 0.8) {
			t.Errorf("document %d, of similarity %.3f, is found: %v", m, of[m], i >= 0)
		}
		if i >= 0 {
			found++
			if d := r.Duplicates[i]; d.Similarity != overlap(c, d.Of, d.Doc) || !first[d.Of] {
				t.Errorf("%+v: the similarity is %v", d, overlap(c, d.Of, d.Doc))
			}
		}
	}
	if found < 100 || len(first) < 125 {
		t.Errorf("%d duplicates and %d other documents", found, len(first))
	}
}

// overlap is Duplicate.Similarity by its definition.
func overlap(c *corpus.Corpus, a, b int) float64 {
	count := map[int32][2]int32{}
	for i, m := range []int{a, b} {
		words, counts := c.Doc(m)
		for j, w := range words {
			x := count[w]
			x[i] = counts[j]
			count[w] = x
		}
	}
	common, all := 0., 0.
	for _, x := range count {
		common += float64(min(x[0], x[1]))
		all += float64(max(x[0], x[1]))
	}
	return common / all
}

// warned checks that the only warnings are those with the given words.
func warned(t *testing.T, what string, r *corpus.Inspection, want ...string) {
	t.Helper()
	ok := len(r.Warnings) == len(want)
	for i, w := range want {
		ok = ok && strings.Contains(r.Warnings[i], w)
	}
	if !ok {
		t.Errorf("%s: warnings %q, want %q", what, r.Warnings, want)
	}
}

var sentences = map[string]string{
	"English": "The river is high in spring and the boats stay on the land. It was told that a fox had been seen with three cubs. In the old town there is a clock that has not gone for years. This is the garden of the miller, who was fond of pears.",
	"German":  "Der Fluss ist im Frühling hoch und die Boote bleiben auf dem Land. Es wurde erzählt, dass ein Fuchs mit drei Jungen gesehen wurde. In der alten Stadt ist eine Uhr, die nicht mehr geht. Das ist der Garten des Müllers, der die Birnen liebte.",
	"Thai":    "แม่น้ำสูงขึ้นในฤดูใบไม้ผลิและเรือจอดอยู่บนบก มีคนเล่าว่าเห็นสุนัขจิ้งจอกกับลูกสามตัว ในเมืองเก่ามีนาฬิกาที่ไม่เดินมาหลายปีแล้ว นี่คือสวนของคนโม่แป้งผู้รักลูกแพร์",
}

// speech returns documents of shuffled sentences, each with some words of its own.
func speech(rng *rand.Rand, language string, docs int) []string {
	out := make([]string, docs)
	for d := range out {
		parts := strings.FieldsFunc(sentences[language], func(r rune) bool { return r == '.' || language == "Thai" && r == ' ' })
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		out[d] = strings.Join(parts[:3], ". ") + ". "
		for range 30 {
			out[d] += fmt.Sprintf("name%d ", rng.IntN(5000))
		}
	}
	return out
}

type perLetter struct{}

func (perLetter) Name() string      { return "per letter" }
func (perLetter) Scripts() []string { return []string{"Thai"} }
func (perLetter) Segment(dst []string, run string) []string {
	return append(dst, run)
}

func TestInspectLanguages(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	english, german := speech(rng, "English", 100), speech(rng, "German", 30)
	r, _ := inspect(t, nil, english...)
	warned(t, "English", r)
	if !slices.Equal(r.Languages, []corpus.Count{{Name: "en", N: 100}}) {
		t.Errorf("%v", r.Languages)
	}
	r, _ = inspect(t, nil, append(english, german...)...)
	warned(t, "mixed", r, `100 documents are in the language "en" and 30 in "de"`)
	r, _ = inspect(t, nil, append(slices.Clone(english), german[:5]...)...)
	warned(t, "a few others", r)

	thai := speech(rng, "Thai", 50)
	for i := range thai {
		thai[i], _, _ = strings.Cut(thai[i], "name")
		thai[i] += strings.Repeat(" "+thai[(i*7+1)%50][:60], 1)
	}
	tools := func(s text.Setting, tools ...text.Tool) text.Tokenizer {
		tok, err := s.Tokenizer(tools...)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	has := func(r *corpus.Inspection, s string) bool {
		return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, s) })
	}
	if r, _ = inspect(t, nil, thai...); !has(r, "Thai script, which is written without blanks") {
		t.Errorf("Thai: %q", r.Warnings)
	}
	if r, _ = inspect(t, tools(text.Setting{Segmenters: []string{"per letter"}}, perLetter{}), thai...); has(r, "without blanks") {
		t.Errorf("Thai with a segmenter: %q", r.Warnings)
	}
	if r, _ = inspect(t, nil, append(thai[:20], english...)...); has(r, "without blanks") {
		t.Errorf("a little Thai: %q", r.Warnings)
	}
}

func TestInspectWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var words, stems []string
	for range 1500 {
		s := ""
		for range 3 {
			s += string("bdfgklmnprst"[rng.IntN(12)]) + string("aeiou"[rng.IntN(5)])
		}
		s += string("lmnrst"[rng.IntN(6)])
		stems = append(stems, s)
		words = append(words, s+[]string{"", "s", "e", "a", "ing"}[rng.IntN(5)])
	}
	texts := func(list []string, n int) (out []string) {
		for range 200 {
			var d []string
			for range n {
				d = append(d, list[rng.IntN(len(list))])
			}
			out = append(out, strings.Join(d, " "))
		}
		return out
	}
	r, _ := inspect(t, nil, texts(words, 40)...)
	warned(t, "words", r)
	r, _ = inspect(t, nil, texts(stems, 40)...)
	warned(t, "stems", r, "already stemmed")
	r, _ = inspect(t, nil, texts(words, 15)...)
	warned(t, "short", r, "200 of 200 documents have fewer than 20 words")

	tok, err := text.Setting{Numbers: text.KeepNumbers}.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	r, _ = inspect(t, tok, "red red fish 12 3.5", "red bird 12", "red", "")
	if r.Words != 5 || r.Tokens != 9 || r.Empty != 1 || r.Short != 3 || r.Documents != 4 {
		t.Errorf("%+v, want 5 words, 9 tokens, and 3 short documents and an empty one of 4", r)
	}
	warned(t, "short documents", r, "3 of 3 documents")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := corpus.Inspect(ctx, corpus.Triples{In: str("a,b,1\n")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInspectReal inspects the shared corpora. The articles of bbc are said to be all
// different, and 160 of 2225 are not.
func TestInspectReal(t *testing.T) {
	testutil.NotWithRace(t)
	dir := os.Getenv("JSMF_DATA")
	if dir == "" {
		t.Skip("JSMF_DATA names no folder with corpora")
	}
	for name, x := range map[string]struct {
		duplicates int
		warnings   []string
	}{
		"kos": {23, nil}, "nips17": {1, nil}, "bbc": {160, []string{"160 of 2225 documents repeat"}},
		"reuters21578-split": {661, nil}, "dblp-split": {144, []string{"fewer than 20 words"}},
	} {
		base, split := strings.CutSuffix(name, "-split")
		docword, vocab := "docword."+base+".txt.gz", "vocab."+base+".txt"
		if split {
			docword, vocab = "docword.train.txt.gz", "vocab.txt"
		}
		src := corpus.UCI{Docword: corpus.File{Name: filepath.Join(dir, name, docword)}, Vocab: corpus.File{Name: filepath.Join(dir, name, vocab)}}
		r, err := corpus.Inspect(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		warned(t, name, r, x.warnings...)
		if len(r.Duplicates) != x.duplicates {
			t.Errorf("%s: %d duplicates, want %d", name, len(r.Duplicates), x.duplicates)
		}
	}
}
