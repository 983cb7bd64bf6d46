package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/rectify"
)

// TestRelevance: at every place of the slider the words that the script finds among
// those in the page are the most relevant of all words.
func TestRelevance(t *testing.T) {
	testutil.NotWithRace(t)
	m := model(t, 900, 8)
	const top = 15
	s := read(t, write(t, m, Options{TopWords: top}))
	if s.Top != top || s.Steps != lambdaSteps {
		t.Fatalf("top %d, steps %d", s.Top, s.Steps)
	}
	b, c := mat.DenseCopyOf(m.Topics()), m.Marginals()
	all := floats.Sum(c)
	for step := range lambdaSteps + 1 {
		lambda := float64(step) / lambdaSteps
		relevance := func(i, k int) float64 { // Sievert and Shirley 2014
			return lambda*math.Log(b.At(i, k)) + (1-lambda)*math.Log(b.At(i, k)/(c[i]/all))
		}
		for k, topic := range s.Topics {
			want := vec.Order(m.N(), func(i int) float64 { return relevance(i, k) })[:top]
			got := vec.Order(len(topic.Words), func(i int) float64 {
				return math.Log(topic.P[i]) - (1-lambda)*math.Log(s.P[topic.Words[i]])
			})[:top]
			for rank, i := range got {
				word := s.Words[topic.Words[i]]
				w, _ := m.Index(word)
				// Six digits a number: words nearer than 1e-5 may change places.
				if a, b := relevance(w, k), relevance(want[rank], k); w != want[rank] && !near(a, b, 1e-5) {
					t.Fatalf("λ = %g, topic %d, place %d: %q of relevance %v, want %q of %v", lambda, k, rank, word, a, m.Word(want[rank]), b)
				}
			}
		}
	}
}

// TestCandidates compares with all words, sorted, where ties are many.
func TestCandidates(t *testing.T) {
	b := mat.NewDense(40, 2, nil)
	for i := range 40 {
		b.Set(i, 0, float64(i%4)/60)
		b.Set(i, 1, 1.0/40)
	}
	c := make([]float64, 40)
	for i := range c {
		c[i] = float64(i/8%3+1) / 100
	}
	c[7] = 0 // never occurs: no relevance
	l := newLines(b, 0, c)
	const n = 5
	all := make(map[int]bool)
	for step := range lambdaSteps + 1 {
		lambda := float64(step) / lambdaSteps
		want := vec.Order(40, func(i int) float64 {
			if p := b.At(i, 0); p > 0 && c[i] > 0 {
				return math.Log(p) - math.Log(c[i]) + lambda*math.Log(c[i])
			}
			return math.Inf(-1)
		})[:n]
		var got []int
		for _, at := range relevant(l, lambda, n) {
			got = append(got, l.words[at])
		}
		if !slices.Equal(got, want) {
			t.Errorf("λ = %g: %v, want %v", lambda, got, want)
		}
		for _, w := range want {
			all[w] = true
		}
	}
	got := candidates(l, n)
	if len(got) != len(all) || !slices.IsSorted(got) {
		t.Errorf("candidates %v, want those of %v", got, all)
	}
}

func TestPage(t *testing.T) {
	m := model(t, 1200, 12)
	opts := Options{
		Title: "A title", About: "What it is about.", Hierarchy: hierarchy(t, m, 4, 2), Times: []Time{{"read", 2 * time.Second}},
		Documents: compositions(12, 60), Describe: func(d int) Document {
			return Document{Title: fmt.Sprintf("Title %d", d), Snippet: "A  snippet\n of it."}
		},
	}
	page := write(t, m, opts)
	if again := write(t, m, opts); again != page {
		t.Error("the same report has other bytes")
	}

	// The policy names the style and the script that are there.
	policy := html.UnescapeString(between(t, page, `http-equiv="Content-Security-Policy" content="`, `"`))
	style, script := between(t, page, "<style>", "</style>"), between(t, page, "</script>\n<script>", "</script>")
	for _, want := range []string{"default-src 'none'", "style-src '" + digest(style) + "'", "script-src '" + digest(script) + "'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if got := regexp.MustCompile(`(?i)(src|href)="?[^#d"]|url\(|@import|<link[^>]+stylesheet| style="| on[a-z]+="`).FindAllString(strings.Replace(page, script, "", 1), -1); got != nil {
		t.Errorf("the page refers to the outside, or holds what its policy forbids: %q", got)
	}

	s := read(t, page)
	if len(s.Topics) != 12 || len(s.Words) != len(s.P) || len(s.Home) != len(s.P) {
		t.Fatalf("%d topics, %d words", len(s.Topics), len(s.Words))
	}
	shares, b, c := m.TopicShares(), m.Topics(), unigram(m)
	for i, w := range s.Words {
		at, ok := m.Index(w)
		if !ok || !near(s.P[i]*1e3, c[at]*1e3, 1e-5) {
			t.Errorf("p(%q) = %v, want %v", w, s.P[i], c[at])
		}
	}
	for k, topic := range s.Topics {
		if !near(*topic.Share, shares[k], 1e-5) || s.Words[topic.Anchor] != m.Word(m.Anchors()[k]) {
			t.Errorf("topic %d: share %v, anchor %q", k, *topic.Share, s.Words[topic.Anchor])
		}
		if top := m.TopWords(k, topic.Rank); top[topic.Rank-1].Index != m.Anchors()[k] {
			t.Errorf("topic %d: the anchor is not number %d", k, topic.Rank)
		}
		for i, w := range topic.Words {
			at, _ := m.Index(s.Words[w])
			if !near(topic.P[i]*1e3, b.At(at, k)*1e3, 1e-5) {
				t.Errorf("p(%q | %d) = %v, want %v", s.Words[w], k, topic.P[i], b.At(at, k))
			}
		}
		// Document d is of topic d mod 12; later ones more. The last is empty.
		want := []int{48 + k, 36 + k, 24 + k, 12 + k, k}
		if k == 11 {
			want = want[1:]
		}
		for i, d := range topic.Docs[:len(want)] {
			if d.Title != fmt.Sprintf("Title %d", want[i]) || d.Snippet != "A snippet of it." || !strings.HasSuffix(d.Note, " known words") {
				t.Errorf("topic %d, document %d is %+v", k, i, d)
			}
		}
	}
	// Correlations and A, by pairs.
	at := 0
	a := mat.DenseCopyOf(m.Correlations())
	a.Scale(1/mat.Sum(a), a)
	pairs := m.CorrelatedPairs(-1)
	for i := range 12 {
		for j := i + 1; j < 12; j++ {
			p := pairs[slices.IndexFunc(pairs, func(p jsmf.TopicPair) bool { return p.K == i && p.L == j })]
			if got := *s.Matrix.Corr[at]; math.Abs(got-p.Correlation) > 1e-3 {
				t.Errorf("correlation of %d and %d is %v, want %v", i, j, got, p.Correlation)
			}
			if got := *s.Matrix.Joint[i*12-i*(i-1)/2+j-i]; math.Abs(got-a.At(i, j)) > 1e-2*a.At(i, j) {
				t.Errorf("A of %d and %d is %v, want %v", i, j, got, a.At(i, j))
			}
			at++
		}
	}
	if at != len(s.Matrix.Corr) || len(s.Matrix.Joint) != 78 {
		t.Errorf("%d correlations, %d of A", len(s.Matrix.Corr), len(s.Matrix.Joint))
	}

	// The list without scripts, and the tree: each topic once.
	static := between(t, page, `<div class="static">`, `</div>`)
	tree := between(t, page, `<ul class="tree">`, "</section>")
	for k := range 12 {
		if n := strings.Count(static, fmt.Sprintf(`<th scope="row">%d</th>`, k)); n != 1 {
			t.Errorf("topic %d is listed %d times", k, n)
		}
		if n := strings.Count(tree, fmt.Sprintf(`data-topic="%d"`, k)); n != 1 {
			t.Errorf("topic %d is in the tree %d times, want once", k, n)
		}
	}
	// A group is called by its largest topics.
	first, _, _ := strings.Cut(m.Name(vec.Order(12, func(k int) float64 { return shares[k] })[0]), " · ")
	if n := len(regexp.MustCompile(`<span class="tree-name" dir="auto" data-largest="[0-9 ]+">`+first+` · [a-z]+</span>`).FindAllString(tree, -1)); n != 2 {
		t.Errorf("%d groups are called by the largest topic, want one on each level", n)
	}
	for _, want := range []string{"<title>A title</title>", "What it is about.", "2 s"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestLarge: a hundred topics over twenty thousand words stay below 5 MB.
func TestLarge(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("skipped: a large model")
	}
	m := model(t, 20000, 100)
	page := write(t, m, Options{TopWords: 30, Documents: compositions(100, 1000), Describe: func(int) Document {
		return Document{Title: strings.Repeat("title ", 30), Snippet: strings.Repeat("snippet ", 60)}
	}})
	if len(page) > 5<<20 {
		t.Errorf("%d bytes", len(page))
	}
	t.Logf("%d bytes", len(page))
}

func TestEscapes(t *testing.T) {
	attacks := []string{"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", `"'><b>`, "\u2028", "\xff\xfe", strings.Repeat("long", 100)}
	m, err := sample.Model(200, 5, func(i int) string { return fmt.Sprint(attacks[i%len(attacks)], i) })
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(attacks, " ")
	c := compositions(5, 10)
	c.IDs[9], c.Labels = all, slices.Repeat([]string{all}, 10)
	page := write(t, m, Options{Title: all, About: all, Times: []Time{{all, 1}}, Hierarchy: hierarchy(t, m, 2), Documents: c, Describe: func(int) Document { return Document{Snippet: all} },
		Curation: &corpus.CurationReport{Steps: []corpus.CurationStep{{Name: all}}}})
	clean := write(t, model(t, 200, 5), Options{Title: "x", About: "x", Times: []Time{{"x", 1}}, Hierarchy: hierarchy(t, model(t, 200, 5), 2), Documents: compositions(5, 10),
		Curation: &corpus.CurationReport{Steps: []corpus.CurationStep{{Name: "x"}}}})
	// The same elements, whatever the texts: rows of the tree may be in another order.
	tags := func(s string) map[string]int {
		n := make(map[string]int)
		for _, tag := range regexp.MustCompile(`<[a-zA-Z!/][a-z0-9-]*`).FindAllString(s, -1) {
			n[tag]++
		}
		return n
	}
	got, want := tags(page), tags(clean)
	for tag, n := range got {
		if n != want[tag] {
			t.Errorf("%d times %s, want %d", n, tag, want[tag])
		}
	}
	s := read(t, page)
	if !slices.ContainsFunc(s.Words, func(w string) bool { return strings.HasPrefix(w, attacks[0]) }) {
		t.Errorf("the words do not come back: %q", s.Words[:5])
	}
	for _, w := range s.Words {
		if len([]rune(w)) > wordLength {
			t.Errorf("a word of %d characters", len(w))
		}
	}
}

func TestMeasured(t *testing.T) {
	ctx := context.Background()
	p := testutil.NewPlanted(60, 4, .5, 7)
	c, err := cooc.NewDense(p.C)
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(4).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	// Words have no names: they are called by their number.
	s := read(t, write(t, m))
	var keys []string
	for _, c := range s.Columns {
		keys = append(keys, c.Key)
	}
	if want := []string{"share", "norm", "dominancy", "sparsity", "dissimilarity", "basis_rank"}; !slices.Equal(keys, want) {
		t.Errorf("columns %v of a model alone, want %v", keys, want)
	}
	if s.Words[s.Topics[0].Anchor] != m.Word(m.Anchors()[0]) {
		t.Errorf("anchor %q", s.Words[s.Topics[0].Anchor])
	}
	r, err := metrics.Evaluate(ctx, metrics.Factors{C: c, B: mat.DenseCopyOf(m.Topics()), WordTopics: mat.DenseCopyOf(m.WordTopics()), A: m.Correlations(), Anchors: m.Anchors()})
	if err != nil {
		t.Fatal(err)
	}
	page := write(t, m, Options{Metrics: r, Curation: &corpus.CurationReport{Before: corpus.CurationStep{Docs: 1234567}, Steps: []corpus.CurationStep{{Name: "the step"}}}})
	s = read(t, page)
	for _, c := range s.Columns {
		if c.Key == "specificity" && !near(*c.Values[2], r.Specificity.Values[2], 1e-5) {
			t.Errorf("specificity %v, want %v", *c.Values[2], r.Specificity.Values[2])
		}
	}
	for _, want := range []string{"<th scope=\"row\">Recovery</th>", "the step", "1\u202f234\u202f567"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if s.Changes == nil || s.Eigen == nil || s.Norms == nil {
		t.Errorf("changes %v, eigenvalues %v, norms %v", s.Changes, s.Eigen, s.Norms)
	}

	// Without anchors, and with an A that is no distribution.
	m, err = jsmf.Published(4).Rectify(rectify.None{}).AnchorFree(anchorfree.LP{}).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	page = write(t, m)
	if s = read(t, page); s.Topics[0].Anchor != -1 || s.Norms == nil == false && len(s.Norms) > 0 {
		t.Errorf("anchor %d, norms %v", s.Topics[0].Anchor, s.Norms)
	}
	if strings.Contains(page, "◆</span> anchor") {
		t.Error("anchors are explained where there are none")
	}
}

func TestSweep(t *testing.T) {
	testutil.NotWithRace(t)
	ctx := context.Background()
	p := testutil.NewPlanted(400, 6, .1, 7)
	var b corpus.Builder
	for i, doc := range p.Documents(slices.Repeat([]int{60}, 400), 1) {
		counts := make(map[string]int)
		for w, n := range doc {
			counts[fmt.Sprintf("w%03d", w)] = n
		}
		if err := b.AddCounts(fmt.Sprint(i), "", counts); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := jsmf.Grid{K: []int{6, 2, 4}}.Run(ctx, jsmf.New(0), c)
	if err != nil {
		t.Fatal(err)
	}
	sweep.Points = append(sweep.Points, jsmf.SweepPoint{K: 30, Err: errors.New("there is <none>")})
	page := write(t, sweep.Model, Options{Sweep: sweep})
	s := read(t, page).Sweep
	if s.Recommended != sweep.K || s.Low != sweep.Low || s.High != sweep.High || len(s.Points) != 3 {
		t.Fatalf("%+v", s)
	}
	for i, x := range s.Points {
		if w := sweep.Points[i]; x.K != w.K || !near(x.Score, w.PerWord, 1e-5) || !near(x.Behind, w.Behind, 1e-5) || !near(x.Error, w.Error, 1e-5) || !math.IsNaN(w.Back) && !near(x.Back*float64(x.K), w.Back, 1e-3) || !near(x.NPMI, w.NPMI, 1e-5) || x.Why != w.Why {
			t.Errorf("point %d is %+v, want %+v", i, x, w)
		}
	}
	for _, x := range []string{sweep.Why, fmt.Sprintf("%d ★", sweep.K)} {
		if !strings.Contains(html.UnescapeString(page), x) {
			t.Errorf("the page lacks %q", x)
		}
	}
	if page := write(t, sweep.Model, Options{Sweep: &jsmf.Sweep{Why: "No <topics>."}}); !strings.Contains(page, "No &lt;topics&gt;.") {
		t.Error("the page does not say that there are no topics")
	}
	if !strings.Contains(page, "there is &lt;none&gt;") {
		t.Error("the error of K = 30 is not there")
	}
}

func TestErrors(t *testing.T) {
	m := model(t, 100, 4)
	short := compositions(4, 10)
	short.IDs = short.IDs[:3]
	odd := compositions(4, 10)
	odd.W.Set(2, 1, math.Inf(1))
	described := compositions(4, 10)
	described.Metadata, _ = corpus.NewMetadata([]corpus.Column{{Name: "x", Kind: corpus.Number}}, make([][]corpus.Value, 9))
	for want, o := range map[string]Options{
		"top words: -1":                                   {TopWords: -1},
		"top words: 101":                                  {TopWords: 101},
		"documents of a topic: 200":                       {TopDocuments: 200},
		"dominancy of 3 topics":                           {Metrics: &metrics.Report{Dominancy: metrics.NewStat(make([]float64, 3))}},
		"the proportions are 10×5, want 10×4":             {Documents: compositions(5, 10)},
		"documents: 3 ids, ":                              {Documents: short},
		"the proportion of topic 1 in document doc2 is +": {Documents: odd},
		"metadata of 9, ":                                 {Documents: described},
		"hierarchy: of 6 topics":                          {Hierarchy: hierarchy(t, model(t, 100, 6), 2)},
		"time of read: -1ns":                              {Times: []Time{{"read", -1}}},
	} {
		var b bytes.Buffer
		err := Write(&b, m, o)
		if err == nil || !strings.HasPrefix(err.Error(), "report: ") || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("want %q, got %v", want, err)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", want, b.Len())
		}
	}
	if err := Write(&bytes.Buffer{}, nil, Options{}); err == nil {
		t.Error("a report on no model")
	}
	broken := errors.New("broken")
	for name, f := range map[string]func() error{
		"Write": func() error { return Write(failing{broken}, m, Options{}) },
		"CSV":   func() error { return WriteTopicsCSV(failing{broken}, m, 3) },
		"NPY":   func() error { return WriteNPY(failing{broken}, m.Topics()) },
	} {
		if err := f(); !errors.Is(err, broken) {
			t.Errorf("%s to a writer that fails: %v", name, err)
		}
	}
	// All that is wrong at once.
	if err := Write(&bytes.Buffer{}, m, Options{TopWords: -1, TopDocuments: -1}); err == nil || strings.Count(err.Error(), "is not in") != 2 {
		t.Errorf("two mistakes: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestEmptyDocuments(t *testing.T) {
	m := model(t, 100, 4)
	page := write(t, m, Options{Documents: &jsmf.Compositions{W: new(mat.Dense)}})
	if s := read(t, page); len(s.Topics[0].Docs) != 0 {
		t.Errorf("documents %v of none", s.Topics[0].Docs)
	}
}
