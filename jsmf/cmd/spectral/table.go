package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// table is a source of documents and what is known of them: which columns there are.
type table struct {
	name  string       // of all
	nouns report.Nouns // what they are called
	notes []string     // what was left out when it was made, and what was found by looking
	read  func(text.Tokenizer, []corpus.Field) corpus.Source
	body  string                 // the column with the texts; "": none that could be shown
	show  func(id string) string // the text of a document that is in a file of its own; or nil
	title string                 // the column with titles; "": none
	words bool                   // documents are counts of words, not text

	time             corpus.Field // no Name: none
	classes, numbers []corpus.Field
	cluster          corpus.Field // no Name: none
}

// make writes the table that write makes, whole or not at all.
func (t *table) make(path string, e encoding.Encoding, write func(w *maker) error) (err error) {
	var m maker
	failed := writeFile(path, func(file io.Writer) error {
		m = maker{csv: csv.NewWriter(file), encoding: e}
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
	n            int            // how many there are
	titles       []string       // nil: none
	texts        []string       // their beginnings; nil: none
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
	if t.words { // nothing is known but the words
		return &documents{one: t.nouns.Document, called: t.nouns.Documents}, nil
	}
	all := t.fields()
	shown := func(name, column string) (at int) {
		if column == "" {
			return -1
		}
		all = append(all, corpus.Field{Column: corpus.Column{Name: "\x00" + name, Kind: corpus.Category}, From: column})
		return len(all) - 1
	}
	body, title := shown("text", t.body), shown("title", t.title)
	d := &documents{one: t.nouns.Document, called: t.nouns.Documents, row: map[string]int{}, levels: map[string]map[string]bool{}, withoutClass: make([]int, len(t.classes))}
	counts := make([]map[string]int, len(t.classes))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	for x, err := range (identified{t.read(nothing, all)}).Docs(ctx) {
		if err != nil {
			return nil, err
		}
		d.row[strings.Clone(x.ID)] = d.n
		d.n++
		if len(x.Values) < len(all) {
			x.Values = append(x.Values, make([]corpus.Value, len(all)-len(x.Values))...) // all are missing
		}
		if body >= 0 {
			s, _ := x.Values[body].Category()
			d.texts = append(d.texts, head(s, textBytes))
		}
		if title >= 0 {
			s, _ := x.Values[title].Category()
			d.titles = append(d.titles, s)
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
	return identified{lumped{t.read(tok, t.fields()), d.levels}}
}

// nothing is the tokenizer of a read for all but the words.
var nothing = text.Own("none", func(dst []string, _ string) []string { return dst })

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
	if d.n == 0 { // not read yet
		return ""
	}
	s := count(d.n, d.one, d.called)
	if len(d.times) > 0 {
		s += fmt.Sprintf(", %s to %s", d.first.Format(time.DateOnly), d.last.Format(time.DateOnly))
	}
	return s
}
