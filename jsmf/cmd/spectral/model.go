package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text/stem"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/find"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// load reads a model, and gives it the stemmer of its texts.
func load(path string) (*jsmf.Model, error) {
	m, err := jsmf.LoadModel(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such model; spectral topics SOURCE -save %[1]s makes one", path)
	case errors.Is(err, jsmf.ErrNotModel):
		return nil, fmt.Errorf("%s: it is no model; spectral topics SOURCE -save FILE makes one", path)
	case err != nil:
		return nil, err
	}
	set := m.Provenance().Text
	if set == nil || set.Stemmer == "" {
		return m, nil
	}
	for _, lang := range stem.Languages() {
		s, err := stem.Snowball(lang)
		if err != nil {
			return nil, err
		}
		if s.Name() != set.Stemmer {
			continue
		}
		tok, err := set.Tokenizer(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return m.With(jsmf.Additions{Tokenizer: tok})
	}
	return nil, fmt.Errorf("%s: its texts were split with %s, which this program does not have", path, set.Stemmer)
}

// show is `spectral show`.
func show(_ context.Context, o *options, s streams) error {
	m, err := load(o.model)
	if err != nil {
		return err
	}
	st, docs := m.Stats().Corpus, m.Additions().Documents
	fmt.Fprintf(s.out, "%s: a model of %d topics over %d words", base(o.model), m.K(), m.N())
	if st.Documents > 0 {
		fmt.Fprintf(s.out, " from %d documents", st.Documents)
	}
	fmt.Fprintln(s.out, ".")
	if err := printHash(s.out, m); err != nil {
		return err
	}
	shown := report.Options{Title: "Topics of " + base(o.model), Documents: docs}
	printFindings(s.out, m, shown)
	printTopics(s.out, m, "documents", o.words)
	where, err := writeReport(o.report, func(w io.Writer) error { return report.Write(w, m, shown) })
	if where != "" {
		fmt.Fprintf(s.out, "\nThe report, to open in a browser: %s\n", where)
	}
	return err
}

// printHash prints by what two people see that they have the same model.
func printHash(w io.Writer, m *jsmf.Model) error {
	hash, err := m.Hash()
	if err == nil {
		fmt.Fprintf(w, "Hash %.12s: the same documents and settings give the same one on every machine.\n", hash)
	}
	return err
}

// sweep is `spectral sweep`.
func sweep(ctx context.Context, o *options, s streams) error {
	a, st := &answers{}, &steps{rec: progress(o.quiet, s.err), begun: time.Now()}
	done, err := a.read(ctx, o, st, s.in)
	defer done()
	if err != nil {
		return err
	}
	seeds, err := readSeeds(o.seeds)
	if err != nil {
		return err
	}
	found, err := (jsmf.Grid{}).Run(ctx, jsmf.New(0).Seeds(seeds...).Record(st.rec), a.corpus)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: %s\n%s\n", a.table.name, a.about(), strings.TrimSpace(found.String()))
	if o.save == "" {
		return nil
	}
	if found.Model == nil {
		return fmt.Errorf("-save %s: no number of topics is recommended, so there is no model", o.save)
	}
	return found.Model.Save(o.save)
}

// refit is `spectral refit`.
func refit(ctx context.Context, o *options, s streams) error {
	prev, err := load(o.model)
	if err != nil {
		return err
	}
	a, st := &answers{previous: prev}, &steps{rec: progress(o.quiet, s.err), begun: time.Now()}
	done, err := a.read(ctx, o, st, s.in)
	defer done()
	if err != nil {
		return err
	}
	k := o.topics
	if k == 0 {
		k = prev.K()
	}
	a.pipeline = jsmf.New(k).From(prev).Record(st.rec)
	begun := time.Now()
	if a.model, err = a.pipeline.Fit(ctx, a.corpus); err != nil {
		return a.explain(err, o)
	}
	st.times = append(st.times, report.Time{Stage: "fit", Duration: time.Since(begun)})
	if err := a.measure(ctx, &options{fast: true}, st); err != nil {
		return err
	}
	where, failed := a.write(o, st.times)
	fmt.Fprintf(s.out, "%s: %s\n", a.table.name, a.about())
	a.printFindings(s.out)
	printDrift(s.out, prev, a.model)
	printTopics(s.out, a.model, a.documents.called, 8)
	if where != "" {
		fmt.Fprintf(s.out, "\nThe report, to open in a browser: %s\n", where)
	}
	return failed
}

// printDrift says what became of the topics of a model.
func printDrift(w io.Writer, prev, m *jsmf.Model) {
	r := m.Stats().Refit
	fmt.Fprintf(w, "\nAGAINST THE MODEL BEFORE, of %d topics: %d are new, %d have vanished; %d words came, %d went.\n", prev.K(), len(r.New), len(r.Vanished), len(r.Joined), len(r.Left))
	fmt.Fprintln(w, r.Movement())
	for _, k := range r.Vanished {
		fmt.Fprintf(w, "  vanished: %d %s\n", k, prev.Name(k))
	}
	for _, k := range r.New {
		fmt.Fprintf(w, "  new: %d %s\n", k, m.Name(k))
	}
	var moved []int
	for k, d := range r.Drift {
		if !math.IsNaN(d) && !slices.Contains(r.New, k) {
			moved = append(moved, k)
		}
	}
	slices.SortStableFunc(moved, func(i, j int) int { return cmp.Compare(r.Drift[j], r.Drift[i]) })
	if len(moved) > 0 {
		fmt.Fprintln(w, "Those that moved most, and which part of their words is another:")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range moved[:min(len(moved), maxLines)] {
		fmt.Fprintf(t, "  %d %s\t%.0f %%\n", k, m.Name(k), 100*r.Drift[k])
	}
	t.Flush()
}

// applied is a line that `spectral apply` writes.
type applied struct {
	ID      string         `json:"id"`
	Words   float64        `json:"words"`              // known ones, with repeats
	Unknown float64        `json:"unknown"`            // others
	NoTopic bool           `json:"no_topic,omitempty"` // no topic explains it
	Topics  []appliedTopic `json:"topics"`             // by decreasing share; none if no topic explains it
}

type appliedTopic struct {
	Topic int     `json:"topic"`
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// apply is `spectral apply`. JSON Lines of the standard input are answered one by one.
func apply(ctx context.Context, o *options, s streams) error {
	m, err := load(o.model)
	if err != nil {
		return err
	}
	return writeOut(o.out, s.out, func(w io.Writer) error {
		out := &applier{m: m, names: m.Names(), top: o.top, out: json.NewEncoder(w)}
		if o.source == "-" && (o.as == "" || o.as == "jsonl") {
			in := bufio.NewReaderSize(s.in, 1<<16)
			if first, _ := in.Peek(1); o.as == "jsonl" || len(first) > 0 && first[0] == '{' {
				if o.out == "-" {
					out.flush = s.flush
				}
				return out.stream(ctx, o, in)
			}
			s.in = in
		}
		return out.all(ctx, o, s)
	})
}

type applier struct {
	m     *jsmf.Model
	names []string
	top   int
	out   *json.Encoder
	flush func() error
}

// write writes the topics of a document.
func (a *applier) write(id string, shares []float64, d infer.Doc, unknown float64) error {
	x := applied{ID: id, Words: d.Tokens, Unknown: d.Unknown + unknown, Topics: []appliedTopic{}}
	if x.NoTopic = !d.Explained(unknown); !x.NoTopic {
		for k, share := range shares {
			x.Topics = append(x.Topics, appliedTopic{k, a.names[k], math.Round(share*1e6) / 1e6})
		}
		slices.SortStableFunc(x.Topics, func(x, y appliedTopic) int { return cmp.Compare(y.Share, x.Share) })
		if a.top > 0 {
			x.Topics = x.Topics[:min(a.top, len(x.Topics))]
		}
	}
	return a.out.Encode(x)
}

// all writes the topics of the documents of a source.
func (a *applier) all(ctx context.Context, o *options, s streams) error {
	t, done, err := open(ctx, o, s.in)
	defer done()
	if err != nil {
		return err
	}
	var src corpus.Source
	if t.words {
		src = t.read(nil, nil)
	} else {
		tok, err := a.m.Tokenizer()
		if err != nil {
			return err
		}
		src = t.read(tok, nil)
	}
	c, err := a.m.Transform(ctx, identified{watched{src, progress(o.quiet, s.err)}})
	if err != nil {
		return err
	}
	for i, id := range c.IDs {
		if err := a.write(id, c.W.RawRowView(i), c.Docs[i], float64(c.Unknown[i])); err != nil {
			return err
		}
	}
	return nil
}

// stream reads JSON Lines and answers each before it reads the next.
func (a *applier) stream(ctx context.Context, o *options, r *bufio.Reader) error {
	inf, err := a.m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		return err
	}
	field := o.text
	shares := make([]float64, a.m.K())
	for n := 1; ; n++ {
		line, end := r.ReadBytes('\n')
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(strings.TrimSpace(string(line))) > 0 {
			var x map[string]any
			if err := json.Unmarshal(line, &x); err != nil {
				return fmt.Errorf("the standard input:%d: it is no JSON object: %w", n, err)
			}
			if field == "" {
				c, _ := guess(sortedKeys(x), nil)
				if field = c.text; field == "" {
					return fmt.Errorf("the standard input:%d: no field is called text; give -text with one of %s", n, strings.Join(sortedKeys(x), ", "))
				}
			}
			s, ok := at(x, field).(string)
			if !ok {
				return fmt.Errorf("the standard input:%d: the field %q is missing or no text", n, field)
			}
			id := strconv.Itoa(n)
			key := o.id
			if key == "" {
				key = "id"
			}
			if v := at(x, key); v != nil && key != none {
				id = fmt.Sprint(v)
			}
			words, counts, unknown, err := a.m.CountWords(s)
			if err != nil {
				return err
			}
			d, err := inf.InferTo(shares, words, counts)
			if err != nil {
				return err
			}
			err = a.write(id, shares, d, float64(unknown))
			if a.flush != nil && r.Buffered() == 0 {
				err = errors.Join(err, a.flush())
			}
			if err != nil {
				return err
			}
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return end
		}
	}
}

// findLike is `spectral find`: documents are compared with a text by their topics.
func findLike(ctx context.Context, o *options, s streams) error {
	m, err := load(o.model)
	if err != nil {
		return err
	}
	docs := m.Additions().Documents
	if docs == nil {
		return fmt.Errorf("%s: it holds no documents; spectral topics SOURCE -save FILE makes a model that does", o.model)
	}
	if o.source == "-" {
		b, err := io.ReadAll(s.in)
		if err != nil {
			return err
		}
		o.source = string(b)
	}
	words, counts, unknown, err := m.CountWords(o.source)
	if err != nil {
		return err
	}
	inf, err := m.Inferer(ctx, nil, infer.Options{})
	if err != nil {
		return err
	}
	shares := make([]float64, m.K())
	d, err := inf.InferTo(shares, words, counts)
	if err != nil {
		return err
	}
	if d.Status == infer.NoTokens {
		return fmt.Errorf("%s: the model knows no word of the text", o.model)
	}
	if !d.Explained(float64(unknown)) {
		return fmt.Errorf("%s: no topic of the model explains the text", o.model)
	}
	f, err := find.NewDocuments(m, docs)
	if err != nil {
		return err
	}
	like, err := f.SimilarTo(shares, o.top, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "The model knows %.0f words of the text, and not %d. Its topics:\n", d.Tokens, unknown)
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	order := vec.Order(m.K(), func(k int) float64 { return shares[k] })
	for _, k := range order[:min(3, m.K())] {
		fmt.Fprintf(t, "  %d %s\t%.0f %%\n", k, m.Name(k), 100*shares[k])
	}
	t.Flush()
	fmt.Fprintln(s.out, "\nThe documents most like it, by their topics (1: the same):")
	for _, x := range like {
		fmt.Fprintf(t, "  %s\t%.3f\t%s\n", x.Name, x.Score, m.Name(vec.Top(m.K(), 1, func(k int) float64 { return docs.W.At(x.Index, k) })[0]))
	}
	return t.Flush()
}

// at returns the value of a field, or of one within others (body.text); nil for none.
func at(x map[string]any, path string) any {
	if v, ok := x[path]; ok {
		return v
	}
	head, rest, found := strings.Cut(path, ".")
	if inner, ok := x[head].(map[string]any); ok && found {
		return at(inner, rest)
	}
	return nil
}
