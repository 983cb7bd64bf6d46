package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
)

// page is what the template shows.
type page struct {
	Title, About string
	K, N         int
	Documents    int
	Tokens       int64
	Method       string
	Refined      bool
	Total        string
	Warnings     []string
	Corpus       []fact
	Curation     []cut
	Stages       []string
	Times        []timed
	Provenance   []fact
	Topics       []listed // by falling share
	HasAnchors   bool
	HasDocuments bool
	Measures     []measure
	Sweep        *sweepTable
	Levels       int
	Tree         []node
	Maps         []string
	Matrix       int // topics of the matrix
	Data         template.JS
}

type fact struct{ Name, Value string }

// cut is a step of the curation.
type cut struct {
	Name                string
	Docs, Words, Tokens string
	Total               bool // what there was, not what was removed
}

type timed struct {
	Name, Value string
	Percent     float64 // of the longest
}

// listed is a topic in the list for print and for browsers without scripts.
type listed struct {
	Number        int
	Share, Anchor string
	Words         string
}

// sweepTable is what is said of other numbers of topics.
type sweepTable struct {
	Suggestions []jsmf.Suggestion
	Names       []string
	Rows        []sweepRow
}

type sweepRow struct {
	K      int
	Here   bool // the number of topics of the model
	Values []string
	Err    string // why there is no model
}

type measure struct{ Name, Mean, Std, Better, What string }

// node is a topic in the tree.
type node struct {
	Topic              int // −1: of topics
	Open               bool
	Name, Words, Share string
	Percent            float64 // of its parent
	Also               string
	Children           []node
}

// data is what the script reads. Words are numbered by their place in Words.
type data struct {
	Steps   int         `json:"steps"` // of the slider
	Top     int         `json:"top"`
	Words   []string    `json:"words"`
	P       []number    `json:"p"`    // p(word)
	Home    [][]number  `json:"home"` // the topics where the word is: topic, p(topic | word), …
	Topics  []topicData `json:"topics"`
	Columns []column    `json:"columns"`
	Matrix  matrixData  `json:"matrix"`
	Maps    []mapData   `json:"maps"`
	Changes []number    `json:"changes"`
	Eigen   []number    `json:"eigen"`
	Norms   []number    `json:"norms"`
	LogLik  []number    `json:"loglik"`
	Sweep   *sweepData  `json:"sweep,omitempty"`
}

type sweepData struct {
	K      []int   `json:"k"`
	Curves []curve `json:"curves"`
}

// curve is a measure against K.
type curve struct {
	Name   string   `json:"name"`
	Better string   `json:"better"`
	What   string   `json:"what"`
	Draw   bool     `json:"draw"` // or in the table only
	Values []number `json:"values"`
}

// drawn are the measures whose curves help most to choose K.
var drawn = []string{"recovery", "approximation", "legality", "npmi", "coherence", "dissimilarity", "specificity", "sparsity"}

type topicData struct {
	Share  number    `json:"share"`
	Anchor int       `json:"anchor"` // −1: none
	Rank   int       `json:"rank,omitempty"`
	Facet  []int     `json:"facet,omitempty"`
	Words  []int     `json:"words"` // candidates, ascending
	P      []number  `json:"p"`
	Docs   []docData `json:"docs,omitempty"`
}

type docData struct {
	Title   string `json:"title"`
	Note    string `json:"note,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	Share   number `json:"share"`
}

// column is a column of the table of topics.
type column struct {
	Key    string   `json:"key"`
	Name   string   `json:"name"`
	What   string   `json:"what"`
	Values []number `json:"values"`
}

// matrixData holds the upper triangles, by rows, of the correlations (without the
// diagonal) and of A (with it).
type matrixData struct {
	Topics      []int   `json:"topics"` // ascending
	Correlation []rough `json:"corr"`
	Joint       []rough `json:"joint"`
	Similar     []int   `json:"similar"` // an order of places in Topics
	X           []rough `json:"x"`
	Y           []rough `json:"y"`
	Radius      []rough `json:"r"`
	Links       [][]int `json:"links"` // pairs of places
	Named       bool    `json:"named"` // there is room for all names
	Width       int     `json:"width"`
	Height      int     `json:"height"`
}

type mapData struct {
	Name  string   `json:"name"`
	PCA   bool     `json:"pca"`
	Words []int    `json:"words"`
	X     []number `json:"x"`
	Y     []number `json:"y"`
	Hull  []int    `json:"hull"` // places in Words
}

func digits(x float64, n int) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null")
	}
	return strconv.AppendFloat(nil, x, 'g', n, 64)
}

// atMost shortens s to n characters.
func atMost(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wordLength is the most characters that are shown of a word.
const wordLength = 60

func newPage(m *jsmf.Model, s *settings) (*page, error) {
	st := m.Stats()
	p := &page{
		Title: s.title, About: s.about, K: m.K(), N: m.N(),
		Documents: st.Corpus.Documents, Tokens: st.Corpus.Tokens,
		Refined: m.Spectral() != m, Warnings: st.Warnings, HasAnchors: m.Anchors() != nil, HasDocuments: s.docs != nil,
	}
	p.facts(m, st, s)
	d := &data{Steps: lambdaSteps, Top: s.topWords}
	used := newWordList(m, unigram(m))
	shares := m.TopicShares()
	p.list(m, shares)
	d.Topics = topics(m, shares, used, s)
	pca, err := PCA(m)
	if err != nil {
		return nil, err
	}
	for _, q := range append(slices.Clone(s.pictures), pca) {
		d.Maps = append(d.Maps, drawMap(m, used, q, s.mapWords))
		p.Maps = append(p.Maps, q.Method)
	}
	d.Maps[len(d.Maps)-1].PCA = true
	used.finish(d)
	d.Columns = columns(m, shares, s)
	d.Matrix = matrix(m, shares)
	p.Matrix = len(d.Matrix.Topics)
	d.Changes, d.Eigen, d.Norms = numbers(st.Rectify.Changes), numbers(st.Rectify.Eigenvalues), numbers(st.Anchors.Norms)
	if len(d.Eigen) == 0 {
		d.Eigen = numbers(st.AnchorFree.Eigenvalues)
	}
	d.LogLik = numbers(st.Refine.LogLik)
	p.measures(s)
	p.addSweep(d, s.sweep)
	if s.hierarchy != nil {
		p.tree(s.hierarchy)
	}
	p.Data, err = embedded(d)
	return p, err
}

func numbers(v []float64) []number {
	out := make([]number, len(v))
	for i, x := range v {
		out[i] = number(x)
	}
	return out
}

// facts fills in the overview.
func (p *page) facts(m *jsmf.Model, st jsmf.Stats, s *settings) {
	if st.Corpus.Documents > 0 {
		p.Corpus = append(p.Corpus,
			fact{"Words a document", fmt.Sprintf("%.1f", float64(st.Corpus.Tokens)/float64(st.Corpus.Documents))},
			fact{"Pairs of a document and a word", count(int64(st.Corpus.NNZ))})
	}
	p.Corpus = append(p.Corpus, fact{"Co-occurrence matrix", fmt.Sprintf("%s × %s, %s", count(int64(st.Cooc.N)), count(int64(st.Cooc.N)), orNone(st.Cooc.Form))})
	for _, d := range st.Corpus.DroppedDocuments {
		p.Corpus = append(p.Corpus, fact{"Documents left out: " + d.Reason, count(int64(d.Count))})
	}
	for _, d := range st.Corpus.DroppedWords {
		names := ""
		if len(d.Names) > 0 {
			names = ": " + atMost(strings.Join(d.Names[:min(10, len(d.Names))], ", "), 200)
		}
		p.Corpus = append(p.Corpus, fact{"Words left out: " + d.Reason, count(int64(d.Count)) + names})
	}
	if c := s.curation; c != nil {
		row := func(name string, z corpus.CurationStep, total bool) {
			sign := "−\u202f"
			if total {
				sign = ""
			}
			show := func(n int64) string {
				if n == 0 && !total {
					return "·"
				}
				return sign + count(n)
			}
			p.Curation = append(p.Curation, cut{name, show(int64(z.Docs)), show(int64(z.Words)), show(z.Tokens), total})
		}
		row("Read", c.Before, true)
		for _, step := range c.Steps {
			row(step.Name, step, false)
		}
		row("Kept", c.After, true)
	}

	prov := m.Provenance()
	p.Stages = prov.Stages
	switch {
	case st.AnchorFree.Method != "":
		p.Method = st.AnchorFree.Method
	case st.Rectify.Method != "":
		p.Method = st.Rectify.Method
	default:
		p.Method = "matrix as given"
	}
	p.Method, _, _ = strings.Cut(p.Method, "(")
	p.Provenance = []fact{
		{"Program", "github.com/jsmf-go/spectral " + prov.Version}, {"Go", prov.Go + " on " + prov.OS + "/" + prov.Arch},
		{"Kernel", prov.Kernel}, {"Seed", strconv.FormatUint(prov.Seed, 10)},
	}
	if st.Rectify.Reason != "" {
		p.Provenance = append(p.Provenance, fact{"Why this rectification", st.Rectify.Reason})
	}
	if st.Rectify.Status != "" {
		p.Provenance = append(p.Provenance, fact{"Rectification", fmt.Sprintf("%d iterations: %s", st.Rectify.Iterations, st.Rectify.Status)})
	}
	if st.Anchors.Method != "" {
		p.Provenance = append(p.Provenance, fact{"Anchors", fmt.Sprintf("%s, of %s candidates", st.Anchors.Method, count(int64(st.Anchors.Candidates)))})
	}
	if st.Recover.Method != "" {
		p.Provenance = append(p.Provenance, fact{"Recovery", fmt.Sprintf("%s, mean residual %.3g, largest %.3g", st.Recover.Method, st.Recover.MeanResidual, st.Recover.MaxResidual)})
	}
	if st.Refine.Method != "" {
		p.Provenance = append(p.Provenance, fact{"Refinement", fmt.Sprintf("%s, %d passes: %s", st.Refine.Method, st.Refine.Passes, st.Refine.Status)})
	}

	times := slices.Clone(s.times)
	for _, t := range []timing{
		{"corpus", st.Corpus.Duration}, {"co-occurrence", st.Cooc.Duration}, {"rectify", st.Rectify.Duration}, {"anchors", st.Anchors.Duration},
		{"recover", st.Recover.Duration}, {"topics without anchors", st.AnchorFree.Duration}, {"refine", st.Refine.Duration},
	} {
		if t.Duration > 0 {
			times = append(times, t)
		}
	}
	if st.Total > 0 {
		p.Total = seconds(st.Total)
	}
	longest := time.Duration(1)
	for _, t := range times {
		longest = max(longest, t.Duration)
	}
	for _, t := range times {
		p.Times = append(p.Times, timed{t.Name, seconds(t.Duration), 100 * float64(t.Duration) / float64(longest)})
	}
}

func orNone(s string) string {
	if s == "" {
		return "of an unknown form"
	}
	return s
}

// seconds writes a duration with two or three digits.
func seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 1:
		return fmt.Sprintf("%.3g ms", 1000*s)
	case s < 100:
		return fmt.Sprintf("%.3g s", s)
	default:
		return d.Round(time.Second).String()
	}
}

// count writes an integer with thin spaces between thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// words lists the n top words of a topic in one line.
func words(top []jsmf.WordProb) string {
	var out []string
	for _, w := range top {
		out = append(out, atMost(w.Word, wordLength))
	}
	return strings.Join(out, " ")
}

// list fills in the topics by share.
func (p *page) list(m *jsmf.Model, shares []float64) {
	anchors := m.AnchorWords()
	for _, k := range order(m.K(), func(k int) float64 { return shares[k] }) {
		l := listed{Number: k + 1, Share: percent(shares[k]), Words: words(m.TopWords(k, 12))}
		if anchors != nil {
			l.Anchor = atMost(anchors[k], wordLength)
		}
		p.Topics = append(p.Topics, l)
	}
}

// wordList numbers the words that the page needs, which are found one after the
// other: finish gives the numbers, ascending with the model's.
type wordList struct {
	m    *jsmf.Model
	p    []float64 // p(word)
	used []bool
	fix  []*int // numbers of the model's that finish replaces
}

func newWordList(m *jsmf.Model, p []float64) *wordList {
	return &wordList{m: m, p: p, used: make([]bool, m.N())}
}

// add enters words, whose numbers finish will change in place.
func (l *wordList) add(words []int) []int {
	for i, w := range words {
		l.used[w] = true
		l.fix = append(l.fix, &words[i])
	}
	return words
}

func (l *wordList) finish(d *data) {
	at := make([]int, len(l.used))
	breve := l.m.WordTopics()
	for w, ok := range l.used {
		if !ok {
			continue
		}
		at[w] = len(d.Words)
		d.Words = append(d.Words, atMost(l.m.Word(w), wordLength))
		d.P = append(d.P, number(l.p[w]))
		home := []number{}
		for _, k := range order(l.m.K(), func(k int) float64 { return breve.At(w, k) })[:min(3, l.m.K())] {
			if b := breve.At(w, k); b >= 0.02 {
				home = append(home, number(k), number(math.Round(1000*b)/1000))
			}
		}
		d.Home = append(d.Home, home)
	}
	for _, w := range l.fix {
		*w = at[*w]
	}
	for k := range d.Topics {
		if t := &d.Topics[k]; t.Anchor >= 0 {
			t.Anchor = at[t.Anchor]
		}
	}
}

func topics(m *jsmf.Model, shares []float64, used *wordList, s *settings) []topicData {
	b := mat.DenseCopyOf(m.Topics())
	lp := logs(used.p)
	anchors, facets := m.Anchors(), m.AnchorGroups()
	out := make([]topicData, m.K())
	for k := range out {
		t := &out[k]
		t.Share, t.Anchor, t.P = number(shares[k]), -1, []number{}
		if anchors != nil {
			t.Anchor = anchors[k]
			used.used[t.Anchor] = true
			t.Rank = 1
			for i := range m.N() {
				if p, q := b.At(i, k), b.At(t.Anchor, k); p > q || p == q && i < t.Anchor {
					t.Rank++
				}
			}
		}
		if facets != nil {
			t.Facet = used.add(facets[k])
		}
		words := append([]int{}, candidates(newLines(b, k, lp), s.topWords)...) // never null
		for _, w := range words {
			t.P = append(t.P, number(b.At(w, k)))
		}
		t.Words = used.add(words)
		if s.docs != nil {
			t.Docs = documents(s.docs, s.describe, k, s.perTopic)
		}
	}
	return out
}

// documents returns the n documents with the largest shares of topic k.
func documents(c *jsmf.Compositions, describe func(m int) Document, k, n int) []docData {
	var out []docData
	for _, d := range order(len(c.Docs), func(d int) float64 {
		if c.Docs[d].Status == infer.NoTokens {
			return math.NaN() // last
		}
		return c.W.At(d, k)
	}) {
		if len(out) == n || c.Docs[d].Status == infer.NoTokens {
			break
		}
		var shown Document
		if describe != nil {
			shown = describe(d)
		}
		if shown.Title == "" {
			shown.Title = c.IDs[d]
		}
		note := count(int64(c.Docs[d].Tokens)) + " known words"
		if c.Labels != nil && c.Labels[d] != "" {
			note = atMost(c.Labels[d], 80) + " · " + note
		}
		snippet := strings.Join(strings.Fields(shown.Snippet), " ")
		out = append(out, docData{atMost(shown.Title, 160), note, atMost(snippet, 320), number(c.W.At(d, k))})
	}
	return out
}

func drawMap(m *jsmf.Model, used *wordList, p *Picture, n int) mapData {
	row := p.Words // the words to show, and with them their rows
	at := make(map[int]int, len(p.Words))
	for i, w := range p.Words {
		at[w] = i
	}
	if row == nil {
		row = mapWords(m, used.p, n)
	} else {
		row = slices.Clone(row)
		slices.Sort(row)
	}
	x, y := make([]float64, len(row)), make([]float64, len(row))
	for i, w := range row {
		r := w
		if p.Words != nil {
			r = at[w]
		}
		x[i], y[i] = p.Points.At(r, 0), p.Points.At(r, 1)
	}
	// Into the unit square around 0, the same scale for both.
	size := 0.0
	for _, v := range [][]float64{x, y} {
		size = max(size, slices.Max(v)-slices.Min(v))
	}
	if size == 0 {
		size = 1
	}
	for _, v := range [][]float64{x, y} {
		mid := (slices.Max(v) + slices.Min(v)) / 2
		for i := range v {
			v[i] = math.Round(1e5*(v[i]-mid)/size) / 1e5
		}
	}
	return mapData{Name: p.Method, Words: used.add(row), X: numbers(x), Y: numbers(y), Hull: hull(x, y)}
}

// topicMetrics are the measures that have a value for each topic.
func topicMetrics(r *metrics.Report) []byTopic {
	return []byTopic{
		{"dominancy", "Dominancy", "How much of the topic's company is itself: p(next word from it too)", r.Dominancy.Values},
		{"specificity", "Specificity", "Bits by which the topic differs from the corpus as a whole", r.Specificity.Values},
		{"sparsity", "Sparsity", "1: a few words are the topic; 0: all words alike", r.Sparsity.Values},
		{"dissimilarity", "Own words", "How many of the 20 top words are in no other topic’s top 20", r.Dissimilarity.Values},
		{"npmi", "NPMI", "Do the top words meet more often than by chance? −1 to 1", r.NPMI.Values},
		{"coherence", "Coherence", "Do the top words meet in documents? (u_mass, at most 0)", r.Coherence.Values},
		{"basis_rank", "Anchor’s rank", "The anchor’s place among the topic’s words", r.BasisRank.Values},
	}
}

type byTopic struct {
	Key, Name, What string
	Values          []float64
}

// columns are those of the table of topics.
func columns(m *jsmf.Model, shares []float64, s *settings) []column {
	cols := []byTopic{{"share", "Share, %", "The part of all text", nil}}
	for _, x := range shares {
		cols[0].Values = append(cols[0].Values, 100*x)
	}
	if n := m.Stats().Anchors.Norms; n != nil {
		cols = append(cols, byTopic{"norm", "Distance", "Of the anchor from the span of those found before it", n})
	}
	r := s.measured
	if r == nil { // what needs no documents
		r = ofModel(m)
	}
	cols = append(cols, topicMetrics(r)...)
	var out []column
	for _, c := range cols {
		if c.Values != nil {
			out = append(out, column{c.Key, c.Name, c.What, numbers(c.Values)})
		}
	}
	return out
}

// ofModel returns the measures by topic that the model alone allows. A measure that
// its topics do not is left out.
func ofModel(m *jsmf.Model) *metrics.Report {
	b, r := mat.DenseCopyOf(m.Topics()), new(metrics.Report)
	keep := func(to *metrics.Stat) func(metrics.Stat, error) {
		return func(s metrics.Stat, err error) {
			if err == nil {
				*to = s
			}
		}
	}
	keep(&r.Dominancy)(metrics.Dominancy(m.Correlations()))
	keep(&r.Sparsity)(metrics.Sparsity(b))
	keep(&r.Dissimilarity)(metrics.Dissimilarity(b, 0))
	if m.Anchors() != nil {
		keep(&r.BasisRank)(metrics.BasisRank(b, m.Anchors()))
	}
	return r
}

// explained says what the measures of a whole model are, by their keys, and which
// way is better.
var explained = map[string][3]string{
	"recovery":        {"Recovery", "lower", "Do mixtures of the anchors explain the words?"},
	"approximation":   {"Approximation", "lower", "Does the product BABᵀ give the co-occurrences back?"},
	"legality":        {"Legality", "near 1", "Is A a joint distribution of topics?"},
	"validity":        {"Validity", "near 0", "Do A and the words agree on how large topics are?"},
	"dominancy":       {"Dominancy", "neither", "How much are topics by themselves in a document?"},
	"entropy":         {"Entropy", "lower", "Is a word at home in one topic?"},
	"sparsity":        {"Sparsity", "higher", "Are topics made of few words?"},
	"specificity":     {"Specificity", "higher", "Do topics differ from the corpus as a whole?"},
	"dissimilarity":   {"Dissimilarity", "higher", "How many of 20 top words are in no other topic’s?"},
	"coherence":       {"Coherence", "higher", "Do top words meet in documents? Favours frequent words"},
	"npmi":            {"NPMI", "higher", "Do top words meet more often than by chance?"},
	"basis_rank":      {"Basis rank", "lower", "Would a reader see the anchor among the top words?"},
	"soft_basis_rank": {"Soft basis rank", "lower", "How improbable is the anchor beside the first word?"},
	"basis_quality":   {"Basis quality", "higher", "Is the anchor foreign to the other topics?"},
}

// short writes a number with four digits.
func short(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strings.Replace(fmt.Sprintf("%.4g", x), "-", "−", 1)
}

// addSweep adds the measures of other numbers of topics, by rising K.
func (p *page) addSweep(d *data, s *jsmf.Sweep) {
	if s == nil {
		return
	}
	t := &sweepTable{Suggestions: s.Suggestions}
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b jsmf.SweepPoint) int { return cmp.Compare(a.K, b.K) })
	d.Sweep = &sweepData{K: []int{}, Curves: []curve{}}
	at := make(map[string]int) // of a measure among the curves
	for _, q := range points {
		if q.Report == nil {
			continue
		}
		for _, x := range q.Report.Keyed() {
			if _, ok := at[x.Key]; !ok && explained[x.Key][0] != "" {
				e := explained[x.Key]
				at[x.Key] = len(d.Sweep.Curves)
				d.Sweep.Curves = append(d.Sweep.Curves, curve{Name: e[0], Better: e[1], What: e[2], Draw: slices.Contains(drawn, x.Key)})
				t.Names = append(t.Names, e[0])
			}
		}
	}
	for _, q := range points {
		row := sweepRow{K: q.K, Here: q.K == p.K}
		if q.Report == nil {
			row.Err = "no model"
			if q.Err != nil {
				row.Err = q.Err.Error()
			}
			t.Rows = append(t.Rows, row)
			continue
		}
		values := make([]float64, len(d.Sweep.Curves))
		for i := range values {
			values[i] = math.NaN()
		}
		for _, x := range q.Report.Keyed() {
			if i, ok := at[x.Key]; ok {
				values[i] = x.Mean
			}
		}
		d.Sweep.K = append(d.Sweep.K, q.K)
		for i, v := range values {
			c := &d.Sweep.Curves[i]
			c.Values = append(c.Values, number(v))
			row.Values = append(row.Values, short(v))
		}
		t.Rows = append(t.Rows, row)
	}
	p.Sweep = t
}

func (p *page) measures(s *settings) {
	if s.measured == nil {
		return
	}
	for _, x := range s.measured.Keyed() {
		e, ok := explained[x.Key]
		if !ok {
			continue
		}
		std := ""
		if !x.Single {
			std = "± " + fmt.Sprintf("%.3g", x.Std)
		}
		p.Measures = append(p.Measures, measure{e[0], short(x.Mean), std, e[1], e[2]})
	}
}

// networkName is the most characters of a name in the network.
const networkName = 16

// name returns what a topic is called by a single word: its anchor, or else its
// most probable word.
func name(m *jsmf.Model, k int) string {
	if a := m.AnchorWords(); a != nil {
		return a[k]
	}
	return m.TopWords(k, 1)[0].Word
}

// matrix prepares the correlations: of maxMatrix topics at most.
func matrix(m *jsmf.Model, shares []float64) matrixData {
	d := matrixData{Width: networkWidth, Height: networkHeight, Links: [][]int{}}
	d.Topics = order(m.K(), func(k int) float64 { return shares[k] })
	d.Topics = slices.Clone(d.Topics[:min(len(d.Topics), maxMatrix)])
	slices.Sort(d.Topics)
	n := len(d.Topics)
	place := make([]int, m.K())
	for i := range place {
		place[i] = -1
	}
	for i, k := range d.Topics {
		place[k] = i
	}
	corr := mat.NewDense(n, n, nil)
	joint := mat.NewDense(n, n, nil)
	a := mat.DenseCopyOf(m.Correlations())
	sum := mat.Sum(a)
	for i, k := range d.Topics {
		joint.Set(i, i, a.At(k, k)/sum)
	}
	for _, p := range m.CorrelatedPairs(-1) {
		if i, j := place[p.K], place[p.L]; i >= 0 && j >= 0 {
			corr.Set(i, j, p.Correlation)
			joint.Set(i, j, p.Joint)
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			d.Joint = append(d.Joint, rough(joint.At(i, j)))
			if j > i {
				d.Correlation = append(d.Correlation, rough(math.Round(1e3*corr.At(i, j))/1e3))
			}
		}
	}
	d.Similar = similarOrder(n, corr.At)
	// Discs that together cover a twelfth of the picture, and can hold a number.
	least := min(11, 0.2*math.Sqrt(networkWidth*networkHeight/float64(n)))
	boxes, room := make([]box, n), 0.0
	for i, k := range d.Topics {
		r := math.Sqrt(max(0, shares[k]) * networkWidth * networkHeight / (12 * math.Pi))
		if !(r > least) {
			r = least
		}
		boxes[i] = box{r, max(r, 4.3*float64(min(utf8.RuneCountInString(name(m, k)), networkName))), r + 20}
		room += 2 * boxes[i].halfWidth * (r + boxes[i].below)
	}
	d.Named = room < 0.5*networkWidth*networkHeight
	if !d.Named { // names stand where there is room
		for i, b := range boxes {
			boxes[i] = box{b.radius, b.radius, b.radius}
		}
	}
	links := strongLinks(n, corr.At, 0.03)
	x, y := spread(n, links, d.Similar, boxes)
	for i, b := range boxes {
		d.X, d.Y, d.Radius = append(d.X, rough(math.Round(x[i]))), append(d.Y, rough(math.Round(y[i]))), append(d.Radius, rough(b.radius))
	}
	for _, e := range links {
		d.Links = append(d.Links, []int{e.k, e.l})
	}
	return d
}

// tree fills in the hierarchy: each topic below the one above that has most of it.
// A topic that others have a quarter of or more names them.
func (p *page) tree(h *jsmf.Hierarchy) {
	p.Levels = h.Levels()
	top := p.Levels - 1
	shares := make([][]float64, p.Levels)
	for t := range shares {
		shares[t] = h.Model(t).TopicShares()
	}
	called := func(level, k int) string {
		switch {
		case level == 0:
			return fmt.Sprintf("Topic %d", k+1)
		case p.Levels == 2:
			return fmt.Sprintf("Group %d", k+1)
		}
		return fmt.Sprintf("Group %c%d", 'A'+level-1, k+1)
	}
	var build func(level, k int, weight float64, also string) node
	build = func(level, k int, weight float64, also string) node {
		n := node{Name: called(level, k), Topic: -1, Open: level == top || h.K(0) <= 40, Words: words(h.TopWords(level, k, 8)), Share: percent(shares[level][k]), Percent: 100 * weight, Also: also}
		if level == 0 {
			n.Topic = k
			return n
		}
		m := h.Model(level)
		up, down := m.WordTopics(), m.Topics()
		var mine []int
		for c := range m.N() {
			if order(m.K(), func(l int) float64 { return up.At(c, l) })[0] == k {
				mine = append(mine, c)
			}
		}
		slices.SortStableFunc(mine, func(a, b int) int { return cmp.Compare(down.At(b, k), down.At(a, k)) })
		for _, c := range mine {
			var others []string
			for _, l := range order(m.K(), func(l int) float64 { return up.At(c, l) }) {
				if l != k && up.At(c, l) >= 0.25 {
					others = append(others, fmt.Sprintf("%s (%s)", called(level, l), percent(up.At(c, l))))
				}
			}
			n.Children = append(n.Children, build(level-1, c, down.At(c, k), strings.Join(others, ", ")))
		}
		return n
	}
	for _, k := range order(h.K(top), func(k int) float64 { return shares[top][k] }) {
		p.Tree = append(p.Tree, build(top, k, shares[top][k], ""))
	}
}
