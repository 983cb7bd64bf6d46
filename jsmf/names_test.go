package jsmf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
)

// readParts is a model whose topics have the given words with falling reading weights,
// the first topic with the largest; the plain probabilities rank them the other way round.
func readParts(topics ...string) modelParts {
	var vocab []string
	lists := make([][]int, len(topics))
	for k, words := range topics {
		for _, w := range strings.Fields(words) {
			i := slices.Index(vocab, w)
			if i < 0 {
				i, vocab = len(vocab), append(vocab, w)
			}
			lists[k] = append(lists[k], i)
		}
	}
	n, k := len(vocab), len(topics)
	p, _ := randomParts(n, k, 1)
	p.Vocabulary, p.Anchors = vocab, nil
	p.Topics, p.Reading = mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	for t, l := range lists {
		sum := 0.0
		for r := range l {
			sum += weight(r, t)
		}
		for r, w := range l {
			p.Reading.Set(w, t, weight(r, t)/sum)
			p.Topics.Set(w, t, weight(len(l)-1-r, t)/sum)
		}
	}
	return p
}

// weight falls with the rank, less with the number of the topic.
func weight(rank, topic int) float64 { return math.Exp(-float64(rank) / float64(2+topic)) }

func TestNames(t *testing.T) {
	for _, c := range []struct {
		topics, want []string
	}{
		{[]string{"god jesus bible", "space nasa orbit"}, []string{"god · jesus · bible", "space · nasa · orbit"}},
		{[]string{"god gods jesus jesus' bible", "drive drives scsi disk", "child children kids school"}, []string{"god · jesus · bible", "drive · scsi · disk", "child · kids · school"}},
		{[]string{"s t d early late dvd", "x war y army"}, []string{"early · late · dvd", "war · army"}},
		{[]string{"s t u", "10 20 30"}, []string{"s · t · u", "10 · 20 · 30"}}, // nothing else
		// A word that two topics share names the one where it weighs more.
		{[]string{"game team player ball", "game chess board king"}, []string{"game · team · player", "chess · board · king"}},
		// Two topics of the same words share them where they must.
		{[]string{"one two", "one two", "three four"}, []string{"one · two", "one · two (2)", "three · four"}},
		{[]string{"Kind Kinder Haus Häuser Mann Männer Straße", "Buch Bücher Dateien Datei lesen"}, []string{"Kind · Haus · Mann", "Buch · Dateien · lesen"}},
		{[]string{"cheval chevaux journal journaux roi", "fichier fichiers écran"}, []string{"cheval · journal · roi", "fichier · écran"}},
		{[]string{"ciudad ciudades niño niños país países", "archivo archivos red"}, []string{"ciudad · niño · país", "archivo · red"}},
		{[]string{"файл файлы файлов файлами система системы год", "книга книги город города читать"}, []string{"файл · система · год", "книга · город · читать"}},
	} {
		p := readParts(c.topics...)
		m := mustModel(t, p)
		if got := m.Names(); !slices.Equal(got, c.want) {
			t.Errorf("%q: names %q, want %q", c.topics, got, c.want)
		}
	}
}

// A phrase stands for its words where it is typical, and shares no word with the rest of a name.
func TestNamesOfPhrases(t *testing.T) {
	p := readParts("rates interest_rates bank rate_cut inflation", "bug use memory crash use_after_free", "bump standards_version bump_standards_version policy")
	p.Provenance.Text = &text.Setting{Phrases: &text.Phrases{}}
	want := []string{"interest rates · bank · inflation", "bug · use · memory", "standards version · policy"}
	if got := mustModel(t, p).Names(); !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

// Names do not depend on the order of topics, no two are alike, and those of words are
// distinct forms of TopWords.
func TestNamesOfManyTopics(t *testing.T) {
	p, _ := randomParts(400, 60, 3)
	m := mustModel(t, p)
	order := rand.New(rand.NewPCG(1, 2)).Perm(60)
	r, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for k, name := range m.Names() {
		if seen[name] || name == "" || m.Name(k) != name {
			t.Errorf("topic %d: name %q is empty, there twice or not Name's %q", k, name, m.Name(k))
		}
		seen[name] = true
		if at := slices.Index(order, k); r.Name(at) != name {
			t.Errorf("topic %d is called %q, in another order %q", k, name, r.Name(at))
		}
	}
	mustPanic(t, "Name(60)", func() { m.Name(60) })
	m.Names()[0] = "changed"
	if m.Name(0) == "changed" {
		t.Error("Names gives the model's own slice away")
	}
}

func TestSameWord(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"child", "children", true}, {"god", "gods", true}, {"drive", "drives", true}, {"Drive", "drive", true},
		{"study", "studies", true}, {"city", "cities", true}, {"swim", "swimming", true}, {"market", "marketing", true}, {"use", "used", true}, {"aux", "auxint", true},
		{"Haus", "Häuser", true}, {"Datei", "Dateien", true}, {"enfant", "enfants", true}, {"général", "généraux", true},
		{"canción", "canciones", true}, {"человек", "человека", true}, {"бог", "боги", true}, {"ещё", "еще", true},
		{"cafe\u0301", "café", true}, // the same letter, composed and not
		{"god", "good", false}, {"space", "spirit", false}, {"iraq", "iran", false}, {"computer", "company", false},
		{"station", "stone", false}, {"war", "water", false}, {"black", "white", false}, {"Hund", "Hand", false}, {"дом", "город", false},
	} {
		if got := sameWord(fold(c.a), fold(c.b)); got != c.want || sameWord(fold(c.b), fold(c.a)) != got {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestWithNames(t *testing.T) {
	m := mustModel(t, readParts("god jesus bible", "space nasa orbit", "war army tank"))
	named, err := m.With(Additions{Names: []string{"", "Heaven", "god · jesus · bible"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := named.Names(), []string{"god · jesus · bible (2)", "Heaven", "god · jesus · bible"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if m.Name(1) != "space · nasa · orbit" {
		t.Errorf("the model itself calls topic 1 %q", m.Name(1))
	}
	if back, err := named.With(Additions{Names: make([]string, 3)}); err != nil || !slices.Equal(back.Names(), m.Names()) {
		t.Errorf("names %q after they were taken back (%v)", back.Names(), err)
	}
	for _, bad := range [][]string{{}, {"a", "b"}, {"a", "a", ""}, {"a\n", "", ""}, {"\xff", "", ""}, {" a", "", ""}} {
		if _, err := m.With(Additions{Names: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}

	// A refit keeps them by number, but not for a topic that is a new one.
	next := mustModel(t, readParts("war army tank", "space nasa orbit", "cake bread flour"))
	got, err := next.follow(context.Background(), named, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if names := got.Names(); names[1] != "Heaven" || names[2] != "god · jesus · bible" || names[0] != "cake · bread · flour" {
		t.Errorf("after a refit, with %v new: names %q", got.Stats().Refit.New, names)
	}
}

// A namer is asked for topics without a name, with their documents and the names that are taken.
func TestNameBy(t *testing.T) {
	m, err := mustModel(t, readParts("god jesus bible", "space nasa orbit", "war army tank")).With(Additions{
		Names:     []string{"", "Heaven", ""},
		Documents: &Compositions{W: mat.NewDense(2, 3, []float64{.2, .1, .7, .6, .1, .3}), IDs: []string{"a", "b"}, Docs: []infer.Doc{{Tokens: 9}, {Tokens: 9}}, Unknown: make([]int64, 2)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	named, err := m.NameBy(t.Context(), func(_ context.Context, x Topic, documents, taken []string) (string, error) {
		asked = append(asked, fmt.Sprint(x.Number, x.Words[0].Word, documents, taken))
		return []string{"Faith", "", ""}[x.Number], nil
	})
	if want := []string{"0god[b a] [Heaven]", "2war[a b] [Faith Heaven]"}; err != nil || !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q (%v)", asked, want, err)
	}
	if got, want := named.Names(), []string{"Faith", "Heaven", "war · army · tank"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if _, err := m.NameBy(t.Context(), func(context.Context, Topic, []string, []string) (string, error) { return "Heaven", nil }); err == nil || !strings.Contains(err.Error(), `topic 0: "Heaven" is the name of another topic`) {
		t.Errorf("a name that is taken: %v", err)
	}
}

// TopWords ranks by the reading weights, and by probability where there are none.
func TestReading(t *testing.T) {
	p := readParts("a b c d", "e f g h")
	p.Reading.SetCol(1, make([]float64, 8)) // a topic that no document has
	m := mustModel(t, p)
	words := func(l []WordProb) string {
		var out []string
		for _, w := range l {
			out = append(out, w.Word)
		}
		return strings.Join(out, " ")
	}
	if got := words(m.TopWords(0, 4)) + " " + words(m.TopWords(1, 4)); got != "a b c d h g f e" {
		t.Errorf("top words %s", got)
	}
	for i, w := range m.TopWords(0, 4) {
		if w.Weight != p.Reading.At(w.Index, 0) || w.Prob != p.Topics.At(w.Index, 0) || w.Prob != p.Reading.At(3-i, 0) {
			t.Errorf("word %d: %+v", i, w)
		}
	}
	none := readParts("a b c d", "e f g h") // and a topic with two words by which to know it
	none.Reading.SetCol(0, []float64{0, 0.75, 0, 0.25, 0, 0, 0, 0})
	short := mustModel(t, none)
	if got := words(short.TopWords(0, 4)); got != "b d" || words(short.Summary(3)[0].Words) != got {
		t.Errorf("top words %q, in the summary %q; want b and d alone", got, words(short.Summary(3)[0].Words))
	}
	if r := m.Reading(); !mat.Equal(r, p.Reading) {
		t.Error("Reading is not what was given")
	} else if r.Set(0, 0, 7); m.Reading().At(0, 0) == 7 {
		t.Error("Reading gives the model's own matrix away")
	}
	if plain := mustModel(t, tinyParts()); plain.Reading() != nil {
		t.Error("a model without reading weights has some")
	}
}

func TestSummary(t *testing.T) {
	p := tinyParts()
	refinedParts(&p)
	m := mustModel(t, p)
	for k, x := range m.Summary(3) {
		if x.Number != k || x.Name != m.Name(k) || x.Share != m.TopicShares()[k] || x.Background != (k == 1) || x.Anchor != AnchorWords(m)[k] || !slices.Equal(x.Words, m.TopWords(k, 3)) {
			t.Errorf("topic %d: %+v", k, x)
		}
	}
	got, err := m.Summary(1)[1].MarshalJSON()
	want := `{"topic":1,"name":"apple · cider","share":0.375,"background":true,"anchor":"dividend","words":[{"index":0,"word":"apple","prob":0.1,"weight":0.5}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s, want %s (%v)", got, want, err)
	}
	if got, err := (Topic{Share: math.NaN()}).MarshalJSON(); err != nil || !strings.Contains(string(got), `"share":"NaN"`) || strings.Contains(string(got), "anchor") {
		t.Errorf("%s (%v)", got, err)
	}
}

func ExampleModel_With() {
	m := mustExample()
	named, err := m.With(Additions{Names: []string{"fruit", ""}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(m.Names(), " | "))
	fmt.Println(strings.Join(named.Names(), " | "))
	// Output:
	// apple · cider | börse · dividend
	// fruit | börse · dividend
}

func mustExample() *Model {
	m, err := tinyParts().model()
	if err != nil {
		panic(err)
	}
	return m
}
