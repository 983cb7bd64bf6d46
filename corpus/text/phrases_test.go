package text_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus/text"
)

// sequences returns documents of words divided by blanks; | is a Break.
func sequences(docs ...string) func() iter.Seq2[[]string, error] {
	return func() iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for _, d := range docs {
				if !yield(strings.Fields(strings.ReplaceAll(d, "|", " \x00 ")), nil) {
					return
				}
			}
		}
	}
}

// withBreaks replaces the marks of sequences, which Fields would take for blanks, by Breaks.
func withBreaks(docs func() iter.Seq2[[]string, error]) func() iter.Seq2[[]string, error] {
	return func() iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for d, err := range docs() {
				for i, w := range d {
					if w == "\x00" {
						d[i] = text.Break
					}
				}
				if !yield(d, err) {
					return
				}
			}
		}
	}
}

func find(t *testing.T, o text.Learning, docs ...string) *text.Phrases {
	t.Helper()
	p, err := text.FindPhrases(t.Context(), withBreaks(sequences(docs...)), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}

// texts reads texts through a tokenizer.
func texts(docs ...string) func(text.Tokenizer) iter.Seq2[[]string, error] {
	return func(t text.Tokenizer) iter.Seq2[[]string, error] {
		return func(yield func([]string, error) bool) {
			for _, d := range docs {
				if !yield(t.Tokenize(nil, d), nil) {
					return
				}
			}
		}
	}
}

func names(p *text.Phrases) string {
	var s []string
	for _, x := range p.List {
		s = append(s, x.String())
	}
	slices.Sort(s)
	return strings.Join(s, " ")
}

// low are limits that tiny documents reach.
var low = text.Learning{MinCount: 2, MinG2: 1e-9, MinNPMI: 0.5}

func TestPhraseCounts(t *testing.T) {
	// 20 words: new 5 times, york 4 times, together 4 times.
	p := find(t, low, "new york a b c new york d e f", "new york g h new york i j new k")
	if len(p.List) != 1 || p.Tokens != 20 || p.Documents != 2 || p.Missed != 0 || len(p.Function) != 0 {
		t.Fatalf("%+v", p)
	}
	x := p.List[0]
	if x.String() != "new_york" || x.Count != 4 || x.Left != 5 || x.Right != 4 {
		t.Errorf("%+v", x)
	}
	// The table is 4, 1, 0, 15, with sums 5 and 15, 4 and 16.
	g2 := 2 * (4*math.Log(4*20/(5.*4)) + 1*math.Log(1*20/(5.*16)) + 15*math.Log(15*20/(15.*16)))
	npmi := math.Log((4/20.)/(5/20.*4/20.)) / -math.Log(4/20.)
	if math.Abs(x.G2-g2) > 1e-12*g2 || math.Abs(x.NPMI-npmi) > 1e-12 { // sums of a few rounded terms
		t.Errorf("G² %v and NPMI %v, want %v and %v", x.G2, x.NPMI, g2, npmi)
	}
	// In the third round new_york is one word: it occurs 4 times among 16.
	p = find(t, low, "new york times a b c new york times d e f", "new york times g h new york i new j times k")
	i := slices.IndexFunc(p.List, func(x text.Phrase) bool { return x.String() == "new_york_times" })
	if i < 0 {
		t.Fatalf("found %s", names(p))
	}
	x = p.List[i]
	npmi = math.Log((3/20.)/(4/20.*4/20.)) / -math.Log(3/20.)
	if x.Count != 3 || x.Left != 4 || x.Right != 4 || math.Abs(x.NPMI-npmi) > 1e-12 {
		t.Errorf("%+v, want NPMI %v", x, npmi)
	}
}

func TestPhrasesEnd(t *testing.T) {
	for _, x := range []struct{ between, what string }{
		{" ", "joined"}, {"-", "joined"}, {"\n", "joined"}, {" \t ", "joined"}, {"\u2010", "joined"}, {"\r\n", "joined"},
		{", ", "apart"}, {". ", "apart"}, {"\n\n", "apart"}, {"\n \n", "apart"}, {" (", "apart"}, {"/", "apart"},
		{" 1984 ", "apart"}, {" a ", "apart"}, {": ", "apart"}, {" “", "apart"}, {" — ", "apart"},
	} {
		var docs []string
		for i := range 12 {
			docs = append(docs, fmt.Sprintf("aa%d bb%d machine%slearning cc%d dd%d", i, i, x.between, i, i))
		}
		tok, err := text.Learn(t.Context(), text.Default(), texts(docs...), text.Learning{KeepBoilerplate: true})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(tok.Tokenize(nil, docs[0]), " ")
		if want := map[string]string{"joined": "aa0 bb0 machine_learning cc0 dd0", "apart": "aa0 bb0 machine learning cc0 dd0"}[x.what]; got != want {
			t.Errorf("%q between: %s, want %s", x.between, got, want)
		}
	}
	if p := find(t, low, "ha ha ha ha a b c", "ha ha d e f g"); len(p.List) != 0 {
		t.Errorf("a word is a phrase with itself: %s", names(p))
	}
	if p := find(t, low, "x y | x | y a b c d", "x y e f | y g h x i j"); names(p) != "" && p.List[0].Count != 2 {
		t.Errorf("%+v: a Break does not divide", p.List)
	}
}

func TestNoPhrasesOfPairs(t *testing.T) {
	var docs []string
	for i := range 60 {
		docs = append(docs, strings.Repeat("机器学习 deep learning ", 12*(i%3/2))+strings.Repeat("天地玄黄 sea ", 20))
	}
	tok, err := text.Learn(t.Context(), text.Default(), texts(docs...), text.Learning{KeepBoilerplate: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(tok.Setting().Phrases); got != "deep_learning" {
		t.Errorf("found %s", got)
	}
}

// english makes documents in which content words come in clusters, two function words are
// spread evenly, and phrases of all kinds are planted.
func english(docs int) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	out := make([]string, docs)
	for d := range out {
		var s strings.Builder
		for range 40 {
			for range 3 {
				fmt.Fprintf(&s, "w%d%c ", d%10, 'a'+rng.IntN(26))
			}
			s.WriteString([]string{"of ", "the "}[rng.IntN(2)])
			if d%10 < 3 && rng.IntN(4) == 0 {
				s.WriteString([]string{"state of union ", "of the ", "new york times ", "support vector machine "}[rng.IntN(4)])
			}
		}
		out[d] = s.String()
	}
	return out
}

func TestFunctionWords(t *testing.T) {
	p := find(t, text.Learning{}, english(200)...)
	slices.Sort(p.Function)
	if got := strings.Join(p.Function, " "); got != "of the" {
		t.Errorf("function words: %s", got)
	}
	// In a language that is not known they are words that are spread evenly. In one that is, such words are none.
	unknown := strings.NewReplacer(" of ", " qo ", " the ", " qe ")
	even := strings.NewReplacer(" the ", " the use after free ")
	strange, used := english(200), english(200)
	for d := range strange {
		strange[d], used[d] = unknown.Replace(strange[d]), even.Replace(used[d])
	}
	strangers := find(t, text.Learning{}, strange...).Function
	if slices.Sort(strangers); strings.Join(strangers, " ") != "qe qo" {
		t.Errorf("function words of no known language: %s", strangers)
	}
	if got := names(find(t, text.Learning{}, used...)); !strings.Contains(got, "use_after_free") {
		t.Errorf("found %s", got)
	}
	const want = "new_york new_york_times state_of_union support_vector support_vector_machine vector_machine york_times"
	if got := names(p); got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	if got := strings.Join(p.Join(nil, strings.Fields("the new york times of state of union vector machine new york machine")), " "); got != "the new_york_times of state_of_union vector_machine new_york machine" {
		t.Error(got)
	}
	// Two words are enough, if asked for.
	if got := names(find(t, text.Learning{MaxWords: 2}, english(200)...)); got != "new_york support_vector vector_machine york_times" {
		t.Errorf("found %s", got)
	}
}

// TestPhrasesAgree compares joining with a slow obvious version, and the tokenizer of the
// fit with the one that is made again from the setting's JSON.
func TestPhrasesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	topics := []string{"ab cd ab cd ab", "ef gh ij ef gh", "kl kl mn op kl", "qr mn st mn qr", "uv wx yz gh uv"}
	marks := []string{" ", " ", " ", "-", "\n", ", ", ". ", "\n\n", " 7 "}
	random := func() string { // stretches of a topic, so that there are no function words
		var s strings.Builder
		parts := strings.Fields(topics[rng.IntN(len(topics))])
		for range 1 + rng.IntN(10) {
			lo := rng.IntN(len(parts))
			for _, w := range parts[lo:min(len(parts), lo+1+rng.IntN(4))] {
				s.WriteString(w + marks[rng.IntN(len(marks))])
			}
			fmt.Fprintf(&s, "x%c%c ", 'a'+rng.IntN(26), 'a'+rng.IntN(26))
		}
		return s.String()
	}
	frequent := text.Learning{KeepBoilerplate: true, MinCount: 3, MinG2: 0.01, MinNPMI: 0.02}
	joined := 0
	for range 30 {
		docs := make([]string, 40)
		for i := range docs {
			docs[i] = random()
		}
		tok, err := text.Learn(t.Context(), text.Default(), texts(docs...), frequent)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(tok.Setting())
		if err != nil {
			t.Fatal(err)
		}
		var s text.Setting
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		again, err := s.Tokenizer()
		if err != nil || !s.Equal(tok.Setting()) {
			t.Fatal(err, s)
		}
		phrases := map[string]bool{}
		for _, p := range s.Phrases.List {
			phrases[p.String()] = true
		}
		for _, d := range append(docs, random()) {
			want := slowJoin(d, phrases)
			got := tok.Tokenize([]string{"before"}, d)
			if !slices.Equal(got[1:], want) || !slices.Equal(again.Tokenize(nil, d), want) {
				t.Fatalf("%q becomes\n%q and\n%q, want\n%q", d, got[1:], again.Tokenize(nil, d), want)
			}
			joined += strings.Count(strings.Join(want, " "), "_")
		}
		// The order of the documents does not matter.
		slices.Reverse(docs)
		back, err := text.Learn(t.Context(), text.Default(), texts(docs...), frequent)
		if err != nil || !back.Setting().Equal(s) {
			t.Fatalf("%v: other phrases from the same documents in reverse", err)
		}
	}
	if joined < 1000 {
		t.Errorf("only %d words were joined", joined)
	}
}

// slowJoin tries, from left to right, three words and then two.
func slowJoin(s string, phrases map[string]bool) (out []string) {
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(s, "\n\n", "."), func(r rune) bool { return strings.ContainsRune(",.7", r) }) {
		words := strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" -\n", r) })
		for len(words) > 0 {
			n := min(3, len(words))
			for n > 1 && !phrases[strings.Join(words[:n], "_")] {
				n--
			}
			out = append(out, strings.Join(words[:n], "_"))
			words = words[n:]
		}
	}
	return out
}

func TestBoilerplate(t *testing.T) {
	var docs []string
	for i := range 200 {
		hill := strings.Repeat(string(rune('a'+i%26)), 2+i/26)
		d := fmt.Sprintf("Copyright 20%02d  The Ant Society.\r\nThe ants of %s march.\n", i%20, hill)
		if i < 9 {
			d += "Seen nine times only.\n"
		}
		if i%10 == 0 {
			d += "\tPage 12 of 345\n  \n"
		}
		docs = append(docs, d+"Sent from my hill")
	}
	tok, err := text.Learn(t.Context(), text.Default(), texts(docs...), text.Learning{KeepWords: true})
	if err != nil {
		t.Fatal(err)
	}
	b := tok.Setting().Boilerplate
	want := []text.Line{{Text: "Copyright 0 The Ant Society.", Documents: 200}, {Text: "Sent from my hill", Documents: 200}, {Text: "Page 0 of 0", Documents: 20}}
	if !slices.Equal(b.Lines, want) || b.Documents != 200 || b.Missed != 0 || tok.Setting().Phrases != nil {
		t.Errorf("%+v", b.Lines)
	}
	for in, want := range map[string]string{
		docs[0]:                                "the ants of aa march seen nine times only",
		"Copyright 3 The Ant Society.":         "",
		"copyright 3 The Ant Society.\nx ants": "copyright the ant society ants",
		"ants\n\n Sent from my  hill \n\nbees": "ants bees",
		"":                                     "",
	} {
		if got := strings.Join(tok.Tokenize(nil, in), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	// In a larger collection a line must be in one document of a hundred.
	for len(docs) < 2001 {
		docs = append(docs, "A document of one line is no boilerplate.")
	}
	if tok, err = text.Learn(t.Context(), text.Default(), texts(docs...), text.Learning{KeepWords: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(tok.Setting().Boilerplate.Lines); n != 2 {
		t.Errorf("%d lines", n)
	}
}

// Lines at the end that differ, of words that are hardly anywhere else, are signatures. What only ends documents by
// chance, or in documents of two lines, is none.
func TestSignatures(t *testing.T) {
	people := []string{"Ada Byron <ada@hill.net>", "Kurt Gödel <kurt@hill.net>", "Emmy Noether <emmy@hill.net>", "Grace Hopper <grace@hill.net>", "Alan Turing <alan@hill.net>"}
	draw := func(signed bool) (docs []string) {
		rng := rand.New(rand.NewPCG(5, 7))
		sentence := func() string {
			var w []string
			for range 8 {
				x := int(30 * math.Exp(0.8*rng.NormFloat64()))
				w = append(w, string([]rune{rune('a' + x%26), rune('a' + x/26%26), 'o'}))
			}
			return strings.Join(w, " ")
		}
		for i := range 300 {
			d := ""
			for range 2 + rng.IntN(4) {
				d += sentence() + ".\n"
			}
			if signed {
				d += fmt.Sprintf("\n -- %s, day %d\n", people[i%len(people)], i)
			}
			docs = append(docs, d)
		}
		return docs
	}
	learn := func(docs []string) (text.Tokenizer, *text.Boilerplate) {
		tok, err := text.Learn(t.Context(), text.Default(), texts(docs...), text.Learning{KeepWords: true})
		if err != nil {
			t.Fatal(err)
		}
		return tok, tok.Setting().Boilerplate
	}
	plain, docs := draw(false), draw(true)
	tok, b := learn(docs)
	if got := strings.Join(b.Signatures, " "); got != "ada alan byron day emmy grace gödel hill hopper kurt net noether turing" {
		t.Errorf("words of signatures: %s", got)
	}
	if err := tok.Setting().Validate(); err != nil {
		t.Error(err)
	}
	for d := range docs {
		if got, want := tok.Tokenize(nil, docs[d]), text.Default().Tokenize(nil, plain[d]); !slices.Equal(got, want) {
			t.Fatalf("%q becomes %q", docs[d], got)
		}
	}
	for in, want := range map[string]string{
		"Kurt Gödel <kurt@hill.net>, day 7":                "kurt gödel kurt hill.net day",
		"one ant\ntwo ants\nKurt and two ants and more":    "one ant two ants kurt and two ants and more",
		"one ant\ntwo ants\n\nAda\n -- Kurt Gödel, day 9 ": "one ant two ants",
	} {
		if got := strings.Join(tok.Tokenize(nil, in), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if _, b = learn(plain); len(b.Signatures) > 0 {
		t.Errorf("without signatures: %q", b.Signatures)
	}
	for d := range docs {
		docs[d] = strings.ReplaceAll(strings.TrimSpace(plain[d]), "\n", " ") + docs[d][len(plain[d]):] // a paragraph and a signature
	}
	if _, b = learn(docs); len(b.Signatures) > 0 {
		t.Errorf("documents of two lines: %q", b.Signatures)
	}
}

func TestLearnErrors(t *testing.T) {
	own := text.Own("mine", func(dst []string, s string) []string { return append(dst, s) })
	broken := errors.New("broken")
	for name, x := range map[string]struct {
		tok  text.Tokenizer
		docs func(text.Tokenizer) iter.Seq2[[]string, error]
		o    text.Learning
		want string
	}{
		"own":    {own, texts("a"), text.Learning{}, `"mine"`},
		"words":  {text.Default(), texts("a"), text.Learning{MaxWords: 4}, "up to 4 words"},
		"npmi":   {text.Default(), texts("a"), text.Learning{MinNPMI: 1.5}, "NPMI 1.5"},
		"nan":    {text.Default(), texts("a"), text.Learning{MinG2: math.NaN()}, "G² NaN"},
		"reader": {text.Default(), func(text.Tokenizer) iter.Seq2[[]string, error] { return sequences("a b")() }, text.Learning{}, "not split by the tokenizer"},
		"failing": {text.Default(), func(text.Tokenizer) iter.Seq2[[]string, error] {
			return func(y func([]string, error) bool) { y(nil, broken) }
		}, text.Learning{}, "broken"},
	} {
		if tok, err := text.Learn(t.Context(), x.tok, x.docs, x.o); err == nil || tok != nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := text.FindPhrases(t.Context(), func() iter.Seq2[[]string, error] {
		return func(y func([]string, error) bool) { y([]string{"a", ""}, nil) }
	}, text.Learning{}); err == nil || !strings.Contains(err.Error(), "document 1") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := text.Learn(ctx, text.Default(), texts("a", "b"), text.Learning{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, s := range []string{
		`{"phrases":{"list":[{"words":["a"]}]}}`, `{"phrases":{"list":[{"words":["a","b","c","d"]}]}}`, `{"phrases":{"list":[{"words":["a",""]}]}}`,
		`{"phrases":{"list":[{"words":["a","b"]},{"words":["a","b"]}]}}`, `{"boilerplate":{"lines":[{"text":"a  b"}]}}`, `{"boilerplate":{"lines":[{"text":"Page 12"}]}}`,
	} {
		if err := json.Unmarshal([]byte(s), new(text.Setting)); err == nil {
			t.Errorf("%s is read", s)
		}
	}
}
