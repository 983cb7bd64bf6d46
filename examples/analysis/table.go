package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// table is a CSV file whose records are documents.
type table struct {
	name  string       // of all
	nouns report.Nouns // what they are called
	notes []string     // what was left out when it was made
	csv   corpus.CSV   // without fields and tokenizer
	title string       // the column with titles; "": none

	time             corpus.Field // no Name: none
	classes, numbers []corpus.Field
	cluster          corpus.Field // no Name: none
}

// open returns the table that the options name, which it makes if that is asked for. The
// caller calls done in the end.
func open(ctx context.Context, o options) (t table, done func(), err error) {
	done = func() {}
	path := cmp.Or(o.csv, o.table)
	if path == "" {
		dir, err := os.MkdirTemp("", "spectral-analysis-*")
		if err != nil {
			return t, done, err
		}
		done = func() { os.RemoveAll(dir) }
		path = filepath.Join(dir, "table.csv")
	}
	switch {
	case o.git != "":
		t.nouns.Document, t.nouns.Documents = "commit", "commits"
		t.name, err = "the log of "+base(o.git), t.make(path, o, func(w *maker) error { return writeGit(ctx, o.git, w) })
		o.id, o.title, o.time, o.class = cmp.Or(o.id, "id"), cmp.Or(o.title, "title"), cmp.Or(o.time, "date"), cmp.Or(o.class, "folder")
	case o.changelogs != "":
		t.nouns.Document, t.nouns.Documents = "entry", "entries"
		t.name, err = "Debian’s changelogs", t.make(path, o, func(w *maker) error { return writeChangelogs(ctx, o.changelogs, w) })
		o.id, o.time, o.class = cmp.Or(o.id, "id"), cmp.Or(o.time, "date"), cmp.Or(o.class, "urgency")
	default:
		t.nouns.Document, t.nouns.Documents = "text", "texts"
		t.name = base(path)
	}
	if err != nil {
		return t, done, err
	}
	comma, _ := utf8.DecodeRuneInString(o.comma)
	if o.comma == "" {
		comma = 0
	}
	t.csv = corpus.CSV{In: corpus.File{Name: path, Encoding: o.encoding}, Comma: comma, Text: cmp.Or(o.text, "text"), ID: o.id}
	if o.made() {
		t.csv.In.Encoding = nil // it is in UTF-8
	}
	t.title = o.title
	field := func(name string, kind corpus.Kind) corpus.Field {
		f := corpus.Field{Column: corpus.Column{Name: name, Kind: kind}, Missing: missing(o)}
		if kind == corpus.Time {
			f.Layout = o.layout
		}
		return f
	}
	if o.time != "" {
		t.time = field(o.time, corpus.Time)
	}
	for name := range list(o.class) {
		t.classes = append(t.classes, field(name, corpus.Category))
	}
	for name := range list(o.number) {
		t.numbers = append(t.numbers, field(name, corpus.Number))
	}
	if o.cluster != "" {
		// A column of its own, for it keeps all levels.
		t.cluster = field(o.cluster+" (each)", corpus.Category)
		t.cluster.From = o.cluster
	}
	return t, done, nil
}

func missing(o options) []string {
	if o.missing == "" {
		return nil
	}
	return strings.Split(o.missing, ",")
}

// list yields the names in a list with commas between.
func list(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(s, ",") {
			if name != "" && !yield(name) {
				return
			}
		}
	}
}

// base returns the last part of a path.
func base(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// make writes the table that write makes, whole or not at all.
func (t *table) make(path string, o options, write func(w *maker) error) (err error) {
	var m maker
	failed := cli.WriteFile(path, func(file io.Writer) error {
		m = maker{csv: csv.NewWriter(file), encoding: o.encoding}
		if err = write(&m); err != nil {
			return err
		}
		m.csv.Flush()
		return m.csv.Error()
	})
	t.notes = append(m.files.note("files cannot be read"), m.records.note("records are not UTF-8; give -encoding if they have another")...)
	return cmp.Or(err, failed) // what write says needs no name of the file
}

// maker writes the records of a table, in UTF-8.
type maker struct {
	csv            *csv.Writer
	encoding       encoding.Encoding // of text that is not UTF-8; nil: not known
	files, records left
}

// write writes a record, or notes its id if it is in no encoding that is known.
func (m *maker) write(record ...string) error {
	for i, s := range record {
		if utf8.ValidString(s) {
			continue
		}
		ok := m.encoding != nil
		if ok {
			decoded, err := m.encoding.NewDecoder().String(s)
			record[i], ok = decoded, err == nil && !strings.ContainsRune(decoded, utf8.RuneError)
		}
		if !ok {
			m.records.add(fmt.Sprintf("%+q", record[0]))
			return nil
		}
	}
	return m.csv.Write(record)
}

// left counts what is left out and names the first three.
type left struct {
	n     int
	first []string
}

func (l *left) add(name string) {
	if l.n++; l.n <= 3 {
		l.first = append(l.first, name)
	}
}

// note says what is left out, in a list of one, or of none.
func (l *left) note(why string) []string {
	if l.n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d left out: %s: %s", l.n, why, strings.Join(l.first, ", "))}
}

// fields are the columns of metadata: the time, the classes and the numbers.
func (t table) fields() []corpus.Field {
	var out []corpus.Field
	if t.time.Name != "" {
		out = append(out, t.time)
	}
	out = append(append(out, t.classes...), t.numbers...)
	if t.cluster.Name != "" {
		out = append(out, t.cluster)
	}
	return out
}

// documents holds what is known of the documents besides their topics.
type documents struct {
	one, called  string         // Nouns.Document and Documents
	row          map[string]int // of the id of each
	titles       []string       // nil: none
	texts        []string       // their beginnings
	times        []time.Time    // those known
	first, last  time.Time
	levels       map[string]map[string]bool // of each class, those that stay levels
	withoutTime  int
	withoutClass []int
}

const (
	textBytes = 1500 // of a text that is kept, to be shown
	maxLevels = 12   // of a class; the others become one
	other     = "(other)"
)

// survey reads the table once, for all but the words.
func (t table) survey(ctx context.Context) (*documents, error) {
	src := t.csv
	src.Tokenizer = text.Own("none", func(dst []string, _ string) []string { return dst })
	src.Fields = t.fields()
	values := len(src.Fields)
	shown := func(name, column string) {
		src.Fields = append(src.Fields, corpus.Field{Column: corpus.Column{Name: "\x00" + name, Kind: corpus.Category}, From: column})
	}
	if shown("text", src.Text); t.title != "" {
		shown("title", t.title)
	}
	d := &documents{one: t.nouns.Document, called: t.nouns.Documents, row: map[string]int{}, levels: map[string]map[string]bool{}, withoutClass: make([]int, len(t.classes))}
	counts := make([]map[string]int, len(t.classes))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	for x, err := range (identified{src}).Docs(ctx) {
		if err != nil {
			return nil, err
		}
		d.row[strings.Clone(x.ID)] = len(d.texts)
		all, _ := x.Values[values].Category()
		d.texts = append(d.texts, head(all, textBytes))
		if t.title != "" {
			title, _ := x.Values[values+1].Category()
			d.titles = append(d.titles, title)
		}
		at := 0
		if t.time.Name != "" {
			if when, ok := x.Values[0].Time(); ok {
				d.times = append(d.times, when)
			} else {
				d.withoutTime++
			}
			at = 1
		}
		for i := range t.classes {
			if level, ok := x.Values[at+i].Category(); ok {
				counts[i][level]++
			} else {
				d.withoutClass[i]++
			}
		}
	}
	if len(d.times) > 0 {
		d.first, d.last = slices.MinFunc(d.times, time.Time.Compare), slices.MaxFunc(d.times, time.Time.Compare)
	}
	for i, f := range t.classes {
		d.levels[f.Name] = largest(counts[i])
	}
	return d, nil
}

// largest returns the levels that stay: those of enough documents to say something about, if
// there are others, and one less than maxLevels at most, if there are more.
func largest(counts map[string]int) map[string]bool {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	large := len(names)
	for large > 0 && counts[names[large-1]] < documentsIn {
		large--
	}
	if large < len(names)-1 || large > maxLevels { // one level alone keeps its name
		names = names[:min(large, maxLevels-1)]
	}
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// head returns the first bytes of a text, whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}

// source returns the documents for a fit: the rarer levels of a class are one.
func (t table) source(d *documents, tok text.Tokenizer) corpus.Source {
	src := t.csv
	src.Tokenizer, src.Fields = tok, t.fields()
	return identified{lumped{src, d.levels}}
}

// identified gives documents without an id their number, from 1: a number by place would
// be another one where documents are left out.
type identified struct{ corpus.Source }

func (s identified) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		n := 0
		for d, err := range s.Source.Docs(ctx) {
			if n++; d.ID == "" && err == nil {
				d.ID = strconv.Itoa(n)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// lumped makes one level of those that are not among the given ones of their column.
type lumped struct {
	corpus.Source
	levels map[string]map[string]bool
}

func (s lumped) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		desc, err := s.Describe(ctx)
		if err != nil {
			yield(corpus.Document{}, err)
			return
		}
		for d, err := range s.Source.Docs(ctx) {
			for i, v := range d.Values {
				if keep := s.levels[desc.Columns[i].Name]; keep != nil {
					if level, ok := v.Category(); ok && !keep[level] {
						d.Values[i] = corpus.CategoryOf(other)
					}
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// String says how many documents there are, and of which time.
func (d *documents) String() string {
	s := cli.Count(len(d.texts), d.one, d.called)
	if len(d.times) > 0 {
		s += fmt.Sprintf(", %s to %s", d.first.Format(time.DateOnly), d.last.Format(time.DateOnly))
	}
	return s
}
