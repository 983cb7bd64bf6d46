package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/metrics"
)

// answers are what the program finds, step by step.
type answers struct {
	table     table
	documents *documents
	inspected *corpus.Inspection
	curated   *corpus.CurationReport
	corpus    *corpus.Corpus

	pipeline    jsmf.Pipeline
	sweep       *jsmf.Sweep // nil: the number of topics was given
	model       *jsmf.Model
	measured    *metrics.Report
	topics      *jsmf.Compositions
	uncertainty *jsmf.Uncertainty
	terms       []effects.Term   // on which topics may depend, those that the documents tell
	effects     *effects.Effects // nil: without terms
	hierarchy   *jsmf.Hierarchy  // nil: the topics are in no groups
}

func analyse(ctx context.Context, o options, w, stderr io.Writer) error {
	s := steps{rec: cli.Progress(o.quiet, stderr)}
	var a answers
	var done func()
	err := s.step("table", func() (_ string, err error) {
		a.table, done, err = open(ctx, o)
		return "", err
	})
	defer done()
	if err != nil {
		return err
	}
	if err := a.read(ctx, &s); err != nil {
		return err
	}
	if err := a.ask(ctx); err != nil {
		return err
	}
	if err := a.fit(ctx, o, &s); err != nil {
		return err
	}
	if err := a.edit(ctx, o.edits); err != nil {
		return err
	}
	if err := a.measure(ctx, o, &s); err != nil {
		return err
	}
	where := ""
	failed := s.step("write", func() (_ string, err error) {
		where, err = a.write(o, s.times)
		return where, err
	})
	a.print(w) // even if a file cannot be written
	if where != "" {
		fmt.Fprintf(w, "\nThe report, to open in a browser: %s\n", where)
	}
	return failed
}

// steps runs the steps and notes how long they took.
type steps struct {
	rec   func(jsmf.Event)
	times []report.Time
}

func (s *steps) step(name string, f func() (outcome string, err error)) error {
	d, err := cli.Stage(s.rec, name, f)
	s.times = append(s.times, report.Time{Stage: name, Duration: d})
	return err
}

// read reads the documents, with the phrases that are in them and without boilerplate.
func (a *answers) read(ctx context.Context, s *steps) error {
	t := a.table
	if err := s.step("survey", func() (_ string, err error) {
		if a.documents, err = t.survey(ctx); err != nil {
			return "", err
		}
		return a.documents.String(), nil
	}); err != nil {
		return err
	}
	var tok text.Tokenizer
	if err := s.step("learn", func() (_ string, err error) {
		tok, err = corpus.LearnPhrases(ctx, nil, func(tok text.Tokenizer) corpus.Source { return t.source(a.documents, tok) }, text.Learning{})
		if err != nil {
			return "", err
		}
		x := tok.Setting()
		return fmt.Sprintf("%d phrases, %d lines of boilerplate", len(x.Phrases.List), len(x.Boilerplate.Lines)), nil
	}); err != nil {
		return err
	}
	var raw *corpus.Corpus
	if err := s.step("read", func() (_ string, err error) {
		if raw, err = corpus.Read(ctx, cli.Watch(t.source(a.documents, tok), s.rec)); err != nil {
			return "", err
		}
		return cli.Sizes(raw), nil
	}); err != nil {
		return err
	}
	if err := s.step("inspect", func() (_ string, err error) {
		a.inspected, err = corpus.Inspect(ctx, raw.Source())
		return "", err
	}); err != nil {
		return err
	}
	return s.step("curate", func() (_ string, err error) {
		// A word of fewer documents tells nothing about what goes together, and copies of a text
		// are no evidence of their own.
		keep := corpus.Curation{MinDocs: 3, DropDuplicates: true}
		if a.corpus, a.curated, err = corpus.Curate(raw, keep); err != nil {
			if a.curated != nil {
				err = fmt.Errorf("%w\n%v", err, a.curated) // where they all went
			}
			return "", err
		}
		return cli.Sizes(a.corpus), nil
	})
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

// fit finds the topics. Their number is the one that jsmf.Grid recommends, unless it is given.
func (a *answers) fit(ctx context.Context, o options, s *steps) (err error) {
	seeds, err := cli.Seeds(o.seeds)
	if err != nil {
		return err
	}
	a.pipeline = jsmf.New(o.topics).Seeds(seeds...).Record(s.rec)
	begun := time.Now()
	if o.topics > 0 {
		if a.model, err = a.pipeline.Fit(ctx, a.corpus); err != nil {
			return err
		}
	} else {
		if a.sweep, err = (jsmf.Grid{}).Run(ctx, a.pipeline, a.corpus); err != nil {
			return err
		}
		if a.model = a.sweep.Model; a.model == nil {
			return fmt.Errorf("%s -k gives their number all the same", a.sweep.Why)
		}
	}
	s.times = append(s.times, report.Time{Stage: "fit", Duration: time.Since(begun)})
	a.pipeline = a.pipeline.K(a.model.K())
	return nil
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
func (a *answers) measure(ctx context.Context, o options, s *steps) (err error) {
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
	begun := time.Now()
	b := jsmf.Bootstrap{Warm: o.replicates, Cold: max(1, o.replicates/5), Cluster: a.table.cluster.Name}
	var readers []func(context.Context, *jsmf.Replicate) error
	var study *effects.Estimator
	if len(a.terms) > 0 {
		if study, err = (effects.Study{Terms: a.terms, Bootstrap: b}).Begin(ctx, a.model, a.corpus); err != nil {
			return err
		}
		readers = append(readers, study.Add)
	}
	if a.uncertainty, err = b.Run(ctx, a.pipeline, a.model, a.corpus, readers...); err != nil {
		return err
	}
	s.times = append(s.times, report.Time{Stage: "bootstrap", Duration: time.Since(begun)})
	if a.model, err = a.model.With(jsmf.Additions{Verdicts: a.measured.Verdicts}); err != nil {
		return err
	}
	if a.model, err = a.model.With(jsmf.Additions{Uncertainty: a.uncertainty}); err != nil {
		return err
	}
	if study != nil {
		a.effects = study.Effects()
	}
	return s.step("group", func() (outcome string, err error) {
		a.hierarchy, outcome, err = group(ctx, a.model)
		return outcome, err
	})
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
func (a *answers) write(o options, times []report.Time) (where string, err error) {
	var errs []error
	if o.save != "" {
		m, err := a.model.With(jsmf.Additions{Documents: a.topics})
		if err == nil {
			err = m.Save(o.save)
		}
		errs = append(errs, err)
	}
	if o.effects != "" && a.effects != nil {
		errs = append(errs, cli.WriteFile(o.effects, a.effects.WriteCSV))
	}
	where, err = cli.WriteReport(o.report, func(w io.Writer) error {
		return report.Write(w, a.model, report.Options{
			Title: "Topics of " + a.table.name, About: a.about(),
			Metrics: a.measured, Curation: a.curated, Sweep: a.sweep, Hierarchy: a.hierarchy,
			Nouns: a.table.nouns, Effects: a.effects, Documents: a.topics, Describe: a.describe, Times: times,
		})
	})
	return where, errors.Join(append(errs, err)...)
}

// describe returns what the report shows of a document. A title that begins the text is not
// repeated.
func (a *answers) describe(m int) report.Document {
	id := a.topics.IDs[m]
	row := a.documents.row[id]
	d := report.Document{Title: id, Text: a.documents.texts[row]}
	if a.documents.titles != nil && a.documents.titles[row] != "" {
		d.Title = a.documents.titles[row]
	}
	d.Snippet = strings.TrimSpace(strings.TrimPrefix(d.Text, d.Title))
	return d
}
