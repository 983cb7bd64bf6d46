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
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// page is what the template shows.
type page struct {
	names         []string            // of the topics
	verdicts      []*verdict          // of the topics, nil where there is none
	word          func(string) string // returns a word as it is shown
	say           *strings.Replacer   // puts the nouns into texts
	Title, About  string
	Findings      []Finding
	K, N          int
	Documents     int
	Tokens        int64
	Recovered     string // which part of the correlations is; "" if that is not known
	Total         string
	Warnings      []string
	Corpus        []fact
	Curation      []cut
	Stages        []string
	Times         []timed
	Provenance    []fact
	Topics        []listed // by decreasing share
	HasAnchors    bool
	HasReading    bool
	HasBackground bool // some topic is background
	HasDocuments  bool
	DocumentMap   *documentData // nil: none
	NoTopic       int           // documents that no topic explains, and the first of them
	NoTopicDocs   []unexplainedDoc
	Measures      []measure
	Sweep         *sweepTable
	Effects       *effectsPage
	Wording       *effects.Wording
	HasTimes      bool  // some effect is one of time
	affected      []int // the topics whose effects the page shows, ascending
	Levels        int
	Tree          []node
	Drawn         int      // topics, or groups of them, that are drawn
	Families      []listed // the coarsest groups of the tree of topics, by decreasing share
	Made          bool     // they are not those of the model
	Data          template.JS
}

// Say puts the nouns of the data into a text, as {words} or {Documents}.
func (p *page) Say(s string) string { return p.say.Replace(s) }

type fact struct{ Name, Value string }

// cut is a step of the curation.
type cut struct {
	Name                string
	Docs, Words, Tokens cell
	Total               bool // what there was, not what a step removed
}

type timed struct {
	Name    string
	Seconds cell
	Percent float64 // of the longest
}

// atMost returns s cut to n characters.
func atMost(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wordLength and nameLength are how many characters of a word, and of a name of a topic,
// are shown at most.
const (
	wordLength = 60
	nameLength = 120
)

func newPage(m *jsmf.Model, o *Options) (*page, error) {
	st := m.Stats()
	phrases := o.Nouns.phrases()
	p := &page{
		say:   speech(phrases),
		Title: o.Title, About: o.About, K: m.K(), N: m.N(), Wording: o.Wording,
		Documents: st.Corpus.Documents, Tokens: st.Corpus.Tokens,
		Warnings: sentences(st.Warnings), HasAnchors: m.Anchors() != nil, HasDocuments: o.Documents != nil,
	}
	p.name(m)
	p.verdicts = verdicts(m, o)
	if u := m.Additions().Uncertainty; u != nil {
		p.Recovered = p.say.Replace(u.Recovery("{documents}"))
	}
	p.corpus(st)
	p.curation(o.Curation)
	p.provenance(m, st)
	p.times(st, o)
	d := &data{Nouns: phrases, Model: m.Fingerprint(), Steps: lambdaSteps, Top: o.TopWords, Alpha: as[rough](m.Alpha())}
	used := newWordList(m, unigram(m), p.word)
	if o.Documents != nil { // texts are found by their words
		for _, w := range vec.Top(m.N(), foundWords, func(i int) float64 { return used.p[i] }) {
			used.used[w] = true
		}
		if l := m.Logits(); l != nil && l.Families == nil {
			d.Mean, d.Covariance = as[rough](l.Mean), as[rough](mat.DenseCopyOf(l.Covariance).RawMatrix().Data)
		}
	}
	shares := m.TopicShares()
	p.list(m)
	d.Topics = p.topics(m, shares, used, o)
	u, err := newDrawing(m)
	if err != nil {
		return nil, err
	}
	d.Tree = p.families(m, u, used, o)
	if u.m != m {
		for k, near := range allPartners(m, 0) {
			d.Topics[k].partners = near
		}
	}
	used.finish(d)
	d.Columns = p.columns(m, o)
	d.Matrix = u.matrix()
	p.Drawn = u.m.K()
	d.Uncertainty = uncertainty(m)
	var at [][2]float64
	if d.TopicMap, at, err = topicMap(m, u, o); err != nil {
		return nil, err
	}
	d.Changes, d.Eigen, d.Norms = numbers(st.Rectify.Changes), numbers(st.Rectify.Eigenvalues), numbers(st.Anchors.Norms)
	if len(d.Eigen) == 0 {
		d.Eigen = numbers(st.AnchorFree.Eigenvalues)
	}
	d.LogLik = numbers(st.Refine.LogLik())
	noTopic := unexplained(o.Documents)
	p.Findings = findings(m, o, noTopic)
	if d.Findings, err = nanjson.Marshal(p.Findings); err != nil {
		return nil, err
	}
	p.measures(o)
	p.addSweep(d, o.Sweep)
	p.effects(d, o.Effects, shares)
	if o.Hierarchy != nil {
		p.tree(o.Hierarchy)
	}
	if o.Documents != nil {
		if d.Documents, err = documentMap(m, o, d.Topics, at); err != nil {
			return nil, err
		}
		p.DocumentMap = d.Documents
		p.unexplained(o, noTopic)
	}
	p.Data, err = embedded(d)
	return p, err
}

// corpus fills in facts about the documents and C.
func (p *page) corpus(st jsmf.Stats) {
	if st.Corpus.Documents > 0 {
		p.Corpus = append(p.Corpus,
			fact{p.Say("{Words} per {document}"), fmt.Sprintf("%.1f", float64(st.Corpus.Tokens)/float64(st.Corpus.Documents))},
			fact{p.Say("Pairs of {a document} and {a word}"), count(int64(st.Corpus.NNZ))})
	}
	p.Corpus = append(p.Corpus, fact{"Co-occurrence matrix", fmt.Sprintf("%s × %s, %s", count(int64(st.Cooc.N)), count(int64(st.Cooc.N)), cmp.Or(st.Cooc.Form, "of an unknown form"))})
	for _, d := range st.Corpus.DroppedDocuments {
		p.Corpus = append(p.Corpus, fact{p.Say("{Documents} left out: ") + d.Reason, count(int64(d.Count))})
	}
	for _, d := range st.Corpus.DroppedWords {
		names := ""
		if len(d.Names) > 0 {
			names = ": " + atMost(strings.Join(d.Names[:min(10, len(d.Names))], ", "), 200)
		}
		p.Corpus = append(p.Corpus, fact{p.Say("{Words} left out: ") + d.Reason, count(int64(d.Count)) + names})
	}
}

// curation fills in what corpus.Curate did, if that is known.
func (p *page) curation(c *corpus.CurationReport) {
	if c == nil {
		return
	}
	row := func(name string, z corpus.CurationStep, total bool) {
		show := func(n int64) cell {
			switch {
			case total:
				return newCell(count(n), float64(n))
			case n == 0:
				return newCell("·", 0)
			}
			return newCell("−\u202f"+count(n), -float64(n))
		}
		p.Curation = append(p.Curation, cut{name, show(int64(z.Docs)), show(int64(z.Words)), show(z.Tokens), total})
	}
	row("Read", c.Before, true)
	for _, step := range c.Steps {
		row(step.Name, step, false)
	}
	row("Kept", c.After, true)
}

// provenance fills in how the model was made.
func (p *page) provenance(m *jsmf.Model, st jsmf.Stats) {
	prov := m.Provenance()
	p.Stages = prov.Stages
	method := cmp.Or(st.AnchorFree.Method, st.Rectify.Method, "matrix as given")
	method, _, _ = strings.Cut(method, "(")
	if st.Refine.Method != "" {
		method += ", refined"
	}
	p.Provenance = []fact{
		{"Method", method},
		{"Program", "github.com/jsmf-go/spectral " + prov.Version}, {"Go", prov.Go + " on " + prov.OS + "/" + prov.Arch},
		{"Arithmetic", prov.Arithmetic}, {"Seed", strconv.FormatUint(prov.Seed, 10)},
	}
	if s := m.Provenance().Text; s != nil {
		p.Provenance = append(p.Provenance, fact{"Text", s.String()})
	}
	add := func(have bool, name, format string, args ...any) {
		if have {
			p.Provenance = append(p.Provenance, fact{name, fmt.Sprintf(format, args...)})
		}
	}
	add(st.Rectify.Reason != "", "Why this rectification", "%s", st.Rectify.Reason)
	add(st.Rectify.Status != "", "Rectification", "%d iterations: %s", st.Rectify.Iterations, st.Rectify.Status)
	add(st.Anchors.Method != "", "Anchors", "%s, of %s candidates", st.Anchors.Method, count(int64(st.Anchors.Candidates)))
	add(st.Recover.Method != "", "Recovery", "%s, mean residual %.3g, largest %.3g", st.Recover.Method, st.Recover.MeanResidual, st.Recover.MaxResidual)
	if prior := m.Logits(); prior != nil {
		of, named := "topics", m
		if prior.Families != nil {
			of, named = "families of topics", m.Cut(0)
		}
		add(true, "Prior of a document's topics", "logistic-normal, learned in the last %d passes: it knows which %s go together", st.Refine.Correlated, of)
		if c := prior.Correlations(); named.K() == len(prior.Mean) { // always, unless the user merged families
			i, j := 0, 1
			for a := range prior.Mean {
				for b := range a {
					if c.At(a, b) > c.At(i, j) {
						i, j = b, a
					}
				}
			}
			add(true, "Most correlated under that prior", "%s and %s, %+.2f (logits)", named.Name(i), named.Name(j), c.At(i, j))
		}
	} else {
		add(st.Refine.Method != "", "Prior of a document's topics", "Dirichlet: it takes topics for unrelated, so that correlations come out too small")
	}
	for _, s := range st.Edited.Splits {
		add(true, "Split", "%v", s)
	}
	add(st.Refine.Method != "", "Refinement", "%s, %d passes: %s", st.Refine.Method, st.Refine.Passes, st.Refine.Status())
}

// times fills in the times of the stages.
func (p *page) times(st jsmf.Stats, o *Options) {
	times := slices.Clone(o.Times)
	for _, t := range []Time{
		{"co-occurrence", st.Durations[jsmf.StageCooc]}, {"rectify", st.Durations[jsmf.StageRectify]}, {"anchors", st.Durations[jsmf.StageAnchors]},
		{"recover", st.Durations[jsmf.StageRecover]}, {"topics without anchors", st.Durations[jsmf.StageTopics]}, {"refine", st.Durations[jsmf.StageRefine]},
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
		p.Times = append(p.Times, timed{t.Stage, newCell(seconds(t.Duration), t.Duration.Seconds()), 100 * float64(t.Duration) / float64(longest)})
	}
}

// sentences ends texts with a full stop.
func sentences(texts []string) []string {
	var out []string
	for _, s := range texts {
		if !strings.HasSuffix(s, ".") {
			s += "."
		}
		out = append(out, s)
	}
	return out
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
