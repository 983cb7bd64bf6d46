package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stem"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

// answers are what the program finds, step by step. What is not known yet is nil.
type answers struct {
	table     table
	documents *documents
	inspected *corpus.Inspection
	curated   *corpus.CurationReport
	corpus    *corpus.Corpus

	previous    *jsmf.Model // nil: no refit
	pipeline    jsmf.Pipeline
	sweep       *jsmf.Sweep // nil: the number of topics was given
	model       *jsmf.Model
	sampled     string // says of which documents the model is, if not of all
	measured    *metrics.Report
	topics      *jsmf.Compositions
	uncertainty *jsmf.Uncertainty
	terms       []effects.Term   // on which topics may depend, those that the documents tell
	effects     *effects.Effects // nil: without terms
	wording     *effects.Wording // nil: without terms that make groups
	hierarchy   *jsmf.Hierarchy  // nil: the topics are in no groups
}

// topics is `spectral topics`. When it is interrupted, what is known by then is printed and written.
func topics(ctx context.Context, o *options, s streams) error {
	a, st := &answers{}, &steps{rec: progress(o.quiet, s.err), begun: time.Now()}
	done, err := a.find(ctx, o, st, s)
	defer done()
	if err != nil && (a.model == nil || !canceled(err)) {
		return err
	}
	stopped := err
	if stopped != nil {
		a.table.notes = append(a.table.notes, "this was interrupted: what would have come later is missing")
		if a.sampled != "" {
			a.table.notes = append(a.table.notes, "the topics are "+a.sampled)
		}
		a.topics = nil // to lay out documents would take longer than somebody waits
		a.print(s.out)
		if err := s.flush(); err != nil {
			return err
		}
	}
	where := ""
	failed := st.step("write", func() (_ string, err error) {
		where, err = a.write(o, st.times)
		return where, err
	})
	if stopped == nil {
		a.print(s.out) // even if a file cannot be written
	}
	if stopped == nil && a.model != nil {
		if err := printHash(s.out, a.model); err != nil {
			return err
		}
	}
	if where != "" {
		fmt.Fprintf(s.out, "\nThe report, to open in a browser: %s\n", where)
	}
	if o.save != "" && failed == nil {
		fmt.Fprintf(s.out, "The model: %s. Topics of further texts: spectral apply %[1]s SOURCE\n", o.save)
	}
	return errors.Join(stopped, failed)
}

// find takes all steps but the last.
func (a *answers) find(ctx context.Context, o *options, st *steps, s streams) (done func(), err error) {
	if done, err = a.read(ctx, o, st, s.in); err != nil {
		return done, err
	}
	if err := a.ask(ctx); err != nil {
		return done, err
	}
	if err := a.fit(ctx, o, st, s.err); err != nil {
		return done, err
	}
	if err := a.edit(ctx, o.edits); err != nil {
		return done, err
	}
	return done, a.measure(ctx, o, st)
}

// steps runs the steps and notes how long they took.
type steps struct {
	rec   func(jsmf.Event)
	begun time.Time
	times []report.Time
}

func (s *steps) step(name string, f func() (outcome string, err error)) error {
	d, err := stage(s.rec, name, f)
	s.times = append(s.times, report.Time{Stage: name, Duration: d})
	return err
}

// read reads the documents, with the phrases that are in them and without boilerplate. The caller
// calls done in the end.
func (a *answers) read(ctx context.Context, o *options, s *steps, stdin io.Reader) (done func(), err error) {
	settings := *o // as given: looking at the source fills in the columns
	defer func() { o.settings = settings.settings }()
	if err := s.step("look", func() (_ string, err error) {
		a.table, done, err = open(ctx, o, stdin)
		return a.table.name, err
	}); err != nil {
		return done, err
	}
	t := a.table
	if err := s.step("survey", func() (_ string, err error) {
		if a.documents, err = t.survey(ctx); err != nil {
			return "", err
		}
		return a.documents.String(), nil
	}); err != nil {
		return done, err
	}
	tok, err := a.tokenizer(ctx, o, s)
	if err != nil {
		return done, err
	}
	var raw *corpus.Corpus
	if err := s.step("read", func() (_ string, err error) {
		if raw, err = corpus.Read(ctx, watched{t.source(a.documents, tok), s.rec}); err != nil {
			return "", err
		}
		if t.words {
			a.documents.n = raw.NumDocs()
		}
		return sizes(raw), nil
	}); err != nil {
		return done, err
	}
	if err := s.step("inspect", func() (_ string, err error) {
		a.inspected, err = corpus.Inspect(ctx, raw.Source())
		return "", err
	}); err != nil {
		return done, err
	}
	return done, s.step("curate", func() (_ string, err error) {
		// A word of fewer documents tells nothing about what goes together, and copies of a text
		// are no evidence of their own.
		keep := corpus.Curation{MinDocs: 3, DropDuplicates: true}
		if keep.StopWords, err = stopList(ctx, o); err != nil {
			return "", err
		}
		if a.corpus, a.curated, err = corpus.Curate(raw, keep); err != nil {
			return "", fmt.Errorf("no words in common in %s; topics need some hundred texts that share words (%w)", count(a.documents.n, t.nouns.Document, t.nouns.Documents), err)
		}
		if n := a.corpus.NumDocs(); n < fewestDocuments {
			return "", fmt.Errorf("only %s with words in common: topics need %d at least, and some hundred to be sure of anything", count(n, t.nouns.Document, t.nouns.Documents), fewestDocuments)
		}
		if o.topics > a.corpus.NumDocs()/2 {
			return "", fmt.Errorf("-k %d: that is too many topics for %s; give at most %d", o.topics, count(a.corpus.NumDocs(), t.nouns.Document, t.nouns.Documents), a.corpus.NumDocs()/2)
		}
		return sizes(a.corpus), nil
	})
}

const fewestDocuments = 10 // of which topics are looked for at all

// sizes returns the sizes of a corpus in words.
func sizes(c *corpus.Corpus) string {
	return fmt.Sprintf("%d documents, %d words, %d tokens", c.NumDocs(), c.NumWords(), c.Tokens())
}

// watched is a Source that says how many documents have been read.
type watched struct {
	corpus.Source
	rec func(jsmf.Event)
}

func (s watched) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		begun, n := time.Now(), 0
		for d, err := range s.Source.Docs(ctx) {
			if n++; err == nil {
				s.rec(jsmf.Event{Stage: "read", Kind: jsmf.EventProgress, Done: n, Elapsed: time.Since(begun)})
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// tokenizer returns what splits the texts: with the stemmer that is asked for, and with the phrases
// and lines of boilerplate that are found in them.
func (a *answers) tokenizer(ctx context.Context, o *options, s *steps) (text.Tokenizer, error) {
	t := a.table
	if t.words {
		if o.stem || o.lang != "" {
			return nil, errors.New("-stem and -lang are for texts, and the source holds counts of words")
		}
		return nil, nil
	}
	if a.previous != nil {
		return a.previous.Tokenizer()
	}
	tok := text.Default()
	if o.lang != "" && !slices.Contains(stopwords.Languages(), o.lang) {
		return nil, fmt.Errorf("-lang %s: want one of %s", o.lang, strings.Join(stopwords.Languages(), ", "))
	}
	if o.stem {
		lang, err := a.language(ctx, o)
		if err != nil {
			return nil, err
		}
		stemmer, err := stem.Snowball(lang)
		if err != nil {
			return nil, fmt.Errorf("-stem: there is no stemmer for %s; give -lang with one of %s", lang, strings.Join(stem.Languages(), ", "))
		}
		if tok, err = (text.Setting{Stemmer: stemmer.Name()}).Tokenizer(stemmer); err != nil {
			return nil, err
		}
	}
	if !o.phrases {
		return tok, nil
	}
	err := s.step("learn", func() (_ string, err error) {
		tok, err = corpus.LearnPhrases(ctx, tok, func(tok text.Tokenizer) corpus.Source { return t.source(a.documents, tok) }, text.Learning{})
		if err != nil {
			return "", err
		}
		x := tok.Setting()
		return fmt.Sprintf("%d phrases, %d lines of boilerplate, signatures of %d words", len(x.Phrases.List), len(x.Boilerplate.Lines), len(x.Boilerplate.Signatures)), nil
	})
	return tok, err
}

// language returns that of most texts, or that of -lang.
func (a *answers) language(ctx context.Context, o *options) (string, error) {
	if o.lang != "" {
		return o.lang, nil
	}
	c, err := corpus.Read(ctx, a.table.source(a.documents, text.Default()))
	if err != nil {
		return "", err
	}
	x, err := corpus.Inspect(ctx, c.Source())
	if err != nil {
		return "", err
	}
	if len(x.Languages) == 0 {
		return "", errors.New("-stem: the language of the texts is not clear; say it by -lang")
	}
	return x.Languages[0].Name, nil
}

// stopList returns the words of -stop, a file or languages.
func stopList(ctx context.Context, o *options) (words []string, err error) {
	if o.stop == "" {
		return nil, nil
	}
	if _, err := os.Stat(o.stop); err == nil {
		return corpus.ReadStopWords(ctx, corpus.File{Name: o.stop, Encoding: o.encoding})
	}
	for lang := range list(o.stop) {
		some, err := stopwords.For(lang)
		if err != nil {
			return nil, fmt.Errorf("-stop %s: there is no such file, and %s is none of the languages %s", o.stop, lang, strings.Join(stopwords.Languages(), ", "))
		}
		words = append(words, some...)
	}
	return words, nil
}

// ask finds the terms that the documents tell, before anything is fitted, and notes the others.
func (a *answers) ask(ctx context.Context) error {
	terms := a.columns()
	if len(terms) == 0 {
		return nil
	}
	study, notes, err := effects.Study{Terms: terms}.Prune(ctx, a.corpus.Metadata())
	a.terms, a.table.notes = study.Terms, append(a.table.notes, notes...)
	return err
}

// fit finds the topics. The first fit is a first answer, of a number of topics by the number of
// documents. The number of the next is the one that jsmf.Grid recommends, unless it is given.
func (a *answers) fit(ctx context.Context, o *options, s *steps, stderr io.Writer) (err error) {
	seeds, err := readSeeds(o.seeds)
	if err != nil {
		return err
	}
	k := o.topics
	if k == 0 {
		k = max(3, len(seeds), min(firstTopics, int(math.Sqrt(float64(a.corpus.NumDocs())/10))))
	}
	first := jsmf.New(k).Seeds(seeds...).Record(s.rec)
	a.pipeline = first
	begun := time.Now()
	defer func() { s.times = append(s.times, report.Time{Stage: "fit", Duration: time.Since(begun)}) }()
	said := "of one fit"
	all, last := a.corpus, o.topics > 0 || o.fast // no number of topics to look for
	sampled := all.NumDocs() > 4*firstDocuments && len(seeds) == 0
	if sampled {
		if all, err = a.corpus.Select(spread(a.corpus.NumDocs(), firstDocuments), nil); err != nil {
			return err
		}
		first = first.K(min(k, firstTopics))
		said = fmt.Sprintf("of a sample of %d %s", firstDocuments, a.documents.called)
		a.sampled = said
	}
	if a.model, err = first.Fit(ctx, all); err != nil {
		return a.explain(err, o)
	}
	if !o.quiet && (sampled || !last) {
		fmt.Fprintf(stderr, "\nA first answer, after %.1f s, %s:\n", time.Since(s.begun).Seconds(), said)
		firstAnswer(stderr, a.model)
	}
	if !last {
		if a.sweep, err = (jsmf.Grid{}).Run(ctx, a.pipeline.K(0), a.corpus); err != nil {
			return err
		}
		if m := a.sweep.Model; m != nil {
			a.model, a.pipeline, a.sampled = m, a.pipeline.K(m.K()), ""
			return nil
		}
		a.table.notes = append(a.table.notes, strings.TrimSuffix(a.sweep.Why, ".")+"; these topics are those of one fit, and may be chance")
		a.sweep = nil
	}
	if sampled {
		m, err := a.pipeline.Fit(ctx, a.corpus)
		if err != nil {
			return a.explain(err, o)
		}
		a.model, a.sampled = m, ""
	}
	return nil
}

// spread returns m of n numbers, at equal distances.
func spread(n, m int) []int {
	out := make([]int, m)
	for i := range out {
		out[i] = i * n / m
	}
	return out
}

const firstDocuments = 5000 // of a first answer where there are many times more

const firstTopics = 30 // of a first answer, at most

// explain says what to do about an error of a fit.
func (a *answers) explain(err error, o *options) error {
	var rank *anchor.RankError
	if errors.As(err, &rank) && o.topics > 0 {
		return fmt.Errorf("-k %d: the texts do not carry so many topics; give fewer, or none to have their number found (%w)", o.topics, err)
	}
	return err
}

// firstAnswer prints a line a topic, largest first.
func firstAnswer(w io.Writer, m *jsmf.Model) {
	topics := m.Summary(6)
	slices.SortStableFunc(topics, func(x, y jsmf.Topic) int { return cmp.Compare(y.Share, x.Share) })
	for _, x := range topics[:min(len(topics), 12)] {
		fmt.Fprintf(w, "  %5.1f %%  %s\n", 100*x.Share, x.Name)
	}
	if more := len(topics) - 12; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	fmt.Fprintln(w)
}

// edit edits topics by a file that the report has exported.
func (a *answers) edit(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var e jsmf.Edits
	if err = json.Unmarshal(b, &e); err == nil {
		a.model, err = a.pipeline.Edit(ctx, a.model, a.corpus, e)
	}
	if err != nil {
		return fmt.Errorf("-edits %s: %w", path, err)
	}
	a.pipeline = a.pipeline.K(a.model.K())
	return nil
}

// measure finds how good and how certain the topics are, and how they are related.
func (a *answers) measure(ctx context.Context, o *options, s *steps) (err error) {
	if err := s.step("evaluate", func() (_ string, err error) {
		a.measured, err = a.pipeline.Evaluate(ctx, a.model, a.corpus)
		return "", err
	}); err != nil {
		return err
	}
	if err := s.step("documents", func() (_ string, err error) {
		a.topics, err = a.model.Transform(ctx, a.corpus.Source())
		return "", err
	}); err != nil {
		return err
	}
	if a.model, err = a.model.With(jsmf.Additions{Verdicts: a.measured.Verdicts}); err != nil {
		return err
	}
	if err := a.name(ctx, o); err != nil {
		return err
	}
	if o.sure > 0 && !o.fast {
		if err := a.repeat(ctx, o, s); err != nil {
			return err
		}
	}
	return s.step("group", func() (outcome string, err error) {
		a.hierarchy, outcome, err = group(ctx, a.model)
		return outcome, err
	})
}

// repeat fits the topics again and again, to reweighted documents, and studies on what they depend.
func (a *answers) repeat(ctx context.Context, o *options, s *steps) (err error) {
	begun := time.Now()
	defer func() { s.times = append(s.times, report.Time{Stage: "bootstrap", Duration: time.Since(begun)}) }()
	b := jsmf.Bootstrap{Warm: o.sure, Cold: max(1, o.sure/5), Cluster: a.table.cluster.Name}
	var readers []func(context.Context, *jsmf.Replicate) error
	var study *effects.Estimator
	var worded *effects.WordingEstimator
	if len(a.terms) > 0 {
		if study, err = (effects.Study{Terms: a.terms, Bootstrap: b}).Begin(ctx, a.model, a.corpus); err != nil {
			return err
		}
		readers = append(readers, study.Add)
	}
	if groups := a.groups(); len(groups) > 0 {
		if worded, err = (effects.Study{Terms: groups, Bootstrap: b}).BeginWording(ctx, a.model, a.corpus); err != nil {
			return err
		}
		readers = append(readers, worded.Add)
	}
	u, err := b.Run(ctx, a.pipeline, a.model, a.corpus, readers...)
	if err != nil {
		return err
	}
	if a.model, err = a.model.With(jsmf.Additions{Uncertainty: u}); err != nil {
		return err
	}
	a.uncertainty = u
	if study != nil {
		a.effects = study.Effects()
	}
	if worded != nil {
		a.wording = worded.Wording()
	}
	return nil
}

// group returns groups of topics that occur together in documents, or nil and the reason. In
// short documents hardly any do: then nearly all topics are in one group.
func group(ctx context.Context, m *jsmf.Model) (h *jsmf.Hierarchy, outcome string, err error) {
	if m.Tree() != nil {
		return nil, fmt.Sprintf("%d groups, by which the topics were split", m.Cut(0).K()), nil
	}
	groups := int(math.Round(math.Sqrt(float64(m.K()))))
	if groups < 2 || groups >= m.K() {
		return nil, "too few topics for groups", nil
	}
	h, err = jsmf.Levels{K: []int{groups}}.Run(ctx, jsmf.New(0), m)
	var rank *anchor.RankError
	switch {
	case errors.As(err, &rank):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	}
	in, share := make([]int, m.K()), make([]float64, m.K()) // the group with most of each topic
	for _, e := range h.Edges(1, 0) {
		if e.Share > share[e.Child] {
			in[e.Child], share[e.Child] = e.Parent, e.Share
		}
	}
	size := make([]int, groups)
	for _, g := range in {
		if size[g]++; 2*size[g] > m.K() {
			return nil, "no groups: most topics go with none in particular", nil
		}
	}
	return h, fmt.Sprintf("%d groups", groups), nil
}

// write writes the files that are asked for, also after one has failed, and returns where the report is.
func (a *answers) write(o *options, times []report.Time) (where string, err error) {
	var errs []error
	keep := func(path string, write func(io.Writer) error) {
		if path != "" {
			errs = append(errs, writeFile(path, write))
		}
	}
	if o.save != "" {
		m := a.model
		if a.topics != nil {
			m, err = m.With(jsmf.Additions{Documents: a.topics})
		}
		if err == nil {
			err = m.Save(o.save)
		}
		errs = append(errs, err)
	}
	if a.effects != nil {
		keep(o.effects, a.effects.WriteCSV)
	} else if o.effects != "" {
		errs = append(errs, fmt.Errorf("-effects %s: nothing is known on times, classes or numbers; give -time, -class or -number, and not -fast", o.effects))
	}
	if a.wording != nil {
		keep(o.wording, a.wording.WriteCSV)
	} else if o.wording != "" {
		errs = append(errs, fmt.Errorf("-wording %s: nothing is known on times or classes; give -time or -class, and not -fast", o.wording))
	}
	if a.topics != nil {
		keep(o.documents, func(w io.Writer) error { return report.WriteDocumentsCSV(w, a.topics) })
	}
	keep(o.keepSettings, func(w io.Writer) error { return a.writeSettings(w, o) })
	where, err = writeReport(o.report, func(w io.Writer) error { return report.Write(w, a.model, a.shown(times)) })
	return where, errors.Join(append(errs, err)...)
}

// shown is what the report and the findings are made of.
func (a *answers) shown(times []report.Time) report.Options {
	o := report.Options{
		Title: "Topics of " + a.table.name, About: a.about(),
		Metrics: a.measured, Curation: a.curated, Sweep: a.sweep, Hierarchy: a.hierarchy,
		Nouns: a.table.nouns, Effects: a.effects, Wording: a.wording, Documents: a.topics, Times: times,
	}
	if a.topics != nil {
		o.Describe = a.describe
	}
	return o
}

// writeSettings writes the flags of the run, by which -settings repeats it, and what came of it.
func (a *answers) writeSettings(w io.Writer, o *options) error {
	p := a.model.Provenance()
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings of spectral topics, %s, %s/%s, arithmetic %s. To repeat the run: spectral topics -settings FILE\n", version(), p.OS, p.Arch, p.Arithmetic)
	fmt.Fprintf(&b, "# It gave the %d topics of model %s.\n", a.model.K(), a.model.Fingerprint())
	fmt.Fprintf(&b, "source = %s\n", o.source)
	for _, x := range o.settings {
		if !slices.Contains([]string{"settings", "keep-settings", "force", "quiet"}, x.name) {
			fmt.Fprintf(&b, "%s = %s\n", x.name, x.value)
		}
	}
	if o.kept.Names != nil {
		names, err := json.Marshal(o.kept)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s = %s\n", keptNames, names)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe returns what the report shows of a document. A title that begins the text is not
// repeated.
func (a *answers) describe(m int) report.Document {
	id := a.topics.IDs[m]
	row := a.documents.row[id]
	d := report.Document{Title: id}
	switch {
	case a.documents.texts != nil:
		d.Text = a.documents.texts[row]
	case a.table.show != nil:
		d.Text = a.table.show(id)
	}
	if a.documents.titles != nil && a.documents.titles[row] != "" {
		d.Title = a.documents.titles[row]
	}
	d.Snippet = strings.TrimSpace(strings.TrimPrefix(d.Text, d.Title))
	return d
}
