package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	unicodebom "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
)

// kinds are the kinds of sources, as -as names them.
func kinds() []string {
	return []string{"folder", "csv", "tsv", "jsonl", "parquet", "uci", "git", "changelogs", "text"}
}

// open returns the table that the source is. The caller calls done in the end.
func open(ctx context.Context, o *options, stdin io.Reader) (t table, done func(), err error) {
	dir, err := os.MkdirTemp("", "spectral-*")
	if err != nil {
		return t, func() {}, err
	}
	done = func() { os.RemoveAll(dir) }
	in := input{path: o.source, name: o.source}
	if o.source == "-" {
		in = input{path: filepath.Join(dir, "in"), name: "the standard input", moved: true}
		if err = save(ctx, stdin, in.path); err != nil {
			return t, done, err
		}
	}
	info, err := os.Stat(in.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, done, fmt.Errorf("%s: there is no such file or folder", o.source)
	case err != nil:
		return t, done, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return t, done, fmt.Errorf("%s: it is a pipe or a device; give - and pass it as the standard input", o.source)
	}
	t.name = cmp.Or(map[bool]string{true: "the standard input"}[in.moved], base(o.source))
	t.nouns.Document, t.nouns.Documents = "text", "texts"
	kind := o.as
	if info.IsDir() {
		kind = cmp.Or(kind, folderKind(in.path))
	} else if in.head, err = in.begin(); err != nil {
		return t, done, err
	} else if kind == "" {
		if kind, err = fileKind(in); err != nil {
			return t, done, err
		}
	}
	switch folder := kind == "folder" || kind == "git" || kind == "changelogs"; {
	case folder && !info.IsDir():
		return t, done, fmt.Errorf("%s: it is a file, and -as %s wants a folder", o.source, kind)
	case !folder && info.IsDir():
		return t, done, fmt.Errorf("%s: it is a folder, and -as %s wants a file", o.source, kind)
	}
	made := cmp.Or(o.table, filepath.Join(dir, "table.csv"))
	switch kind {
	case "git":
		t.nouns.Document, t.nouns.Documents = "commit", "commits"
		t.name, err = "the log of "+t.name, t.make(made, o.encoding, func(w *maker) error { return writeGit(ctx, in.path, w) })
		o.columns(column{text: "text", id: "id", title: "title", time: "date", class: "folder"})
	case "changelogs":
		t.nouns.Document, t.nouns.Documents = "entry", "entries"
		t.name, err = "Debian’s changelogs", t.make(made, o.encoding, func(w *maker) error { return writeChangelogs(ctx, in.path, w) })
		o.columns(column{text: "text", id: "id", time: "date", class: "urgency"})
	case "parquet":
		err = t.make(made, nil, func(w *maker) error { return writeParquet(ctx, in.path, w) })
	case "text":
		err = t.make(made, nil, func(w *maker) error { return writeParagraphs(in, o.encoding, w) })
		o.columns(column{text: "text"})
		t.nouns.Document, t.nouns.Documents = "paragraph", "paragraphs"
	case "folder":
		t.folder(o, in)
	case "uci":
		err = t.counts(o, in)
	case "jsonl":
		err = t.lines(o, in)
	}
	if err == nil && !slices.Contains([]string{"folder", "uci", "jsonl"}, kind) {
		if kind != "csv" && kind != "tsv" {
			in = input{path: made, name: in.name, moved: true}
			in.head, err = in.begin()
		}
		if err == nil {
			err = t.records(o, in, kind)
		}
	}
	if o.table != "" && !slices.Contains([]string{"git", "changelogs", "parquet", "text"}, kind) {
		err = cmp.Or(err, fmt.Errorf("-table: %s is a table or a folder already", o.source))
	}
	t.asked(o)
	return t, done, err
}

// save copies the standard input to a file: it is read several times.
func save(ctx context.Context, r io.Reader, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	// A read of a terminal does not end with ctx, so the copy is left behind if it does.
	end := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, r)
		end <- errors.Join(err, f.Close())
	}()
	select {
	case err = <-end:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// input is a file to be read.
type input struct {
	path, name string // where it is, and what to call it
	moved      bool   // the name is not the path
	head       []byte // its beginning, unpacked
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// file returns the file for a reader of package corpus, which unpacks gzip itself.
func (in input) file(e encoding.Encoding) corpus.File {
	f := corpus.File{Name: in.path, Encoding: e}
	packed, err := firstBytes(in.path, 4)
	switch {
	case err == nil && bytes.Equal(packed, zstdMagic):
		f.Name = in.name
		f.Open = func() (io.ReadCloser, error) { return openZstd(in.path) }
	case in.moved:
		f.Name = in.name
		f.Open = func() (io.ReadCloser, error) { return os.Open(in.path) }
	}
	return f
}

func firstBytes(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	n, err = io.ReadFull(f, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:n], err
}

type zstdFile struct {
	*zstd.Decoder
	file *os.File
}

func openZstd(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	d, err := zstd.NewReader(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return zstdFile{d, f}, nil
}

func (z zstdFile) Close() error {
	z.Decoder.Close()
	return z.file.Close()
}

// open returns the bytes of the file, unpacked.
func (in input) open() (io.ReadCloser, error) {
	magic, err := firstBytes(in.path, 4)
	switch {
	case err != nil:
		return nil, err
	case bytes.Equal(magic, zstdMagic):
		return openZstd(in.path)
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		f, err := os.Open(in.path)
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return struct {
			io.Reader
			io.Closer
		}{z, f}, nil
	}
	return os.Open(in.path)
}

// begin returns the beginning of the file, unpacked: enough to see what it is.
func (in input) begin() ([]byte, error) {
	r, err := in.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, 1<<18))
	if err != nil {
		return nil, fmt.Errorf("%s: it is damaged: %w", in.name, err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s: it is empty", in.name)
	}
	return b, nil
}

// folderKind says what a folder is.
func folderKind(path string) string {
	is := func(name string) bool { _, err := os.Stat(filepath.Join(path, name)); return err == nil }
	if is(".git") || is("HEAD") && is("objects") && is("refs") {
		return "git"
	}
	if some, _ := filepath.Glob(filepath.Join(path, "*", "changelog.Debian.gz")); len(some) > 0 {
		return "changelogs"
	}
	return "folder"
}

// fileKind says what a file is, by its beginning first and then by its name.
func fileKind(in input) (string, error) {
	b := in.head
	name := strings.ToLower(in.name)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch {
	case bytes.HasPrefix(b, []byte("PAR1")):
		return "parquet", nil
	case bytes.HasPrefix(b, []byte("\x89JSMF")):
		return "", fmt.Errorf("%s: it is a model; spectral show %[1]s prints it", in.name)
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		b = decoded(b, nil)
	}
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 || bytes.HasPrefix(b, []byte("%PDF")) {
		return "", fmt.Errorf("%s: it is no text, for it holds zero bytes or is a PDF; turn it into text or a table first (for UTF-16 give -encoding utf-16le)", in.name)
	}
	first := strings.TrimLeftFunc(strings.TrimPrefix(string(b), "\ufeff"), unicode.IsSpace)
	switch {
	case first == "":
		return "", fmt.Errorf("%s: it holds nothing but blanks", in.name)
	case strings.HasPrefix(first, "[") && (strings.HasSuffix(name, ".json") || json.Valid([]byte(first))):
		return "", fmt.Errorf("%s: it is one JSON array; make JSON Lines of it, an object a line, as by: jq -c '.[]' %[1]s", in.name)
	case first[0] == '{':
		return "jsonl", nil
	case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".ndjson"):
		return "jsonl", nil
	case strings.HasSuffix(name, ".tsv"), strings.HasSuffix(name, ".tab"):
		return "tsv", nil
	case strings.HasSuffix(name, ".csv"):
		return "csv", nil
	case isUCI(first):
		return "uci", nil
	case strings.HasSuffix(name, ".txt"), strings.HasSuffix(name, ".md"):
		return "text", nil
	case separator(first) != 0:
		return "csv", nil
	}
	return "text", nil
}

// isUCI reports whether a text begins with three lines of one number and goes on with three numbers
// a line.
func isUCI(s string) bool {
	n := 0
	for line := range strings.Lines(s) {
		words := strings.Fields(line)
		want := 3
		if n < 3 {
			want = 1
		}
		if len(words) != want || strings.Trim(strings.Join(words, ""), "0123456789") != "" {
			return false
		}
		if n++; n == 4 {
			return true
		}
	}
	return false
}

// separator returns the character that separates as many fields in each of the first records, or 0.
func separator(s string) rune {
	best, fields := rune(0), 1
	for _, c := range []rune{',', '\t', ';', '|'} {
		if rows := sample(s, c, 20); len(rows) > 1 && len(rows[0]) > fields && even(rows) {
			best, fields = c, len(rows[0])
		}
	}
	return best
}

func even(rows [][]string) bool {
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			return false
		}
	}
	return true
}

// sample returns the first records, at most n.
func sample(s string, comma rune, n int) (rows [][]string) {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
	for len(rows) < n {
		row, err := r.Read()
		if err != nil {
			break
		}
		rows = append(rows, row)
	}
	if len(s) >= 1<<18 && len(rows) > 1 && len(rows) < n {
		rows = rows[:len(rows)-1] // the last may be cut
	}
	return rows
}

// decoded returns text as UTF-8, as far as it goes.
func decoded(b []byte, e encoding.Encoding) []byte {
	if e == nil {
		e = encoding.Nop
	}
	out, _, err := transform.Bytes(unicodebom.BOMOverride(e.NewDecoder()), b)
	if err != nil && len(out) == 0 {
		return b
	}
	return out
}

// column are the columns of a table by what they hold.
type column struct{ text, id, title, time, layout, class string }

// columns takes columns where the flags name none.
func (o *options) columns(c column) {
	o.text, o.id, o.title = cmp.Or(o.text, c.text), cmp.Or(o.id, c.id), cmp.Or(o.title, c.title)
	if o.time == "" {
		o.time, o.layout = c.time, cmp.Or(o.layout, c.layout)
	}
	o.class = cmp.Or(o.class, c.class)
	for _, s := range []*string{&o.id, &o.title, &o.time, &o.class} {
		if *s == none {
			*s = ""
		}
	}
}

// records makes a source of a table of records.
func (t *table) records(o *options, in input, kind string) error {
	b := string(decoded(in.head, o.encoding))
	b = strings.TrimPrefix(b, "\ufeff")
	comma := ','
	switch {
	case o.comma != "":
		comma, _ = utf8.DecodeRuneInString(o.comma)
	case kind == "tsv":
		comma = '\t'
	case kind == "csv":
		comma = cmp.Or(separator(b), ',')
	}
	rows := sample(b, comma, 300)
	if len(rows) == 0 {
		return fmt.Errorf("%s: there is no table in it; give -as text if it is plain text", in.name)
	}
	c, rest := guess(rows[0], rows[1:])
	if o.text == "" && c.text == "" {
		return fmt.Errorf("%s: no column looks like texts; give -text with one of %s", in.name, strings.Join(rows[0], ", "))
	}
	t.noteColumns(o, c, rest)
	o.columns(c)
	for flag, names := range map[string]string{"text": o.text, "id": o.id, "title": o.title, "time": o.time, "class": o.class, "number": o.number, "cluster": o.cluster} {
		for name := range list(names) {
			if !slices.Contains(rows[0], name) && !strings.HasPrefix(name, "#") {
				return fmt.Errorf("%s: there is no column %q for -%s; the columns are %s", in.name, name, flag, strings.Join(rows[0], ", "))
			}
		}
	}
	e := o.encoding
	if kind != "csv" && kind != "tsv" {
		e = nil // it was made in UTF-8
	}
	t.body, t.title = o.text, o.title
	t.read = func(tok text.Tokenizer, f []corpus.Field) corpus.Source {
		return corpus.CSV{In: in.file(e), Comma: comma, Text: o.text, ID: o.id, Fields: f, Tokenizer: tok}
	}
	return nil
}

// lines makes a source of JSON Lines.
func (t *table) lines(o *options, in input) error {
	names, rows, tokens := objects(string(decoded(in.head, o.encoding)))
	if len(names) == 0 {
		return fmt.Errorf("%s: it is no JSON Lines, an object a line", in.name)
	}
	c, rest := guess(names, rows)
	if o.text == "" && c.text == "" {
		if len(tokens) == 0 {
			return fmt.Errorf("%s: no field looks like texts; give -text with one of %s, or a path such as body.text", in.name, strings.Join(names, ", "))
		}
		c.text = tokens[0]
	}
	t.noteColumns(o, c, rest)
	o.columns(c)
	if t.title = o.title; !slices.Contains(tokens, o.text) {
		t.body = o.text
	}
	t.read = func(tok text.Tokenizer, f []corpus.Field) corpus.Source {
		return corpus.JSONL{In: in.file(o.encoding), Text: o.text, ID: o.id, Fields: f, Tokenizer: tok}
	}
	return nil
}

// objects returns the fields of the first lines: the names in order, their values as text, and those
// that are arrays of tokens.
func objects(s string) (names []string, rows [][]string, arrays []string) {
	s = strings.TrimPrefix(s, "\ufeff")
	var all []map[string]any
	for line := range strings.Lines(s) {
		var x map[string]any
		if json.Unmarshal([]byte(line), &x) == nil {
			all = append(all, x)
		}
		if len(all) == 300 {
			break
		}
	}
	seen := map[string]bool{}
	for _, x := range all {
		for name, v := range x {
			switch v := v.(type) {
			case []any:
				if len(v) > 0 && !slices.Contains(arrays, name) {
					if _, ok := v[0].(string); ok {
						arrays = append(arrays, name)
					}
				}
			case map[string]any:
			default:
				seen[name] = true
			}
		}
	}
	names = sortedKeys(seen)
	slices.Sort(arrays)
	for _, x := range all {
		row := make([]string, len(names))
		for i, name := range names {
			if v := x[name]; v != nil {
				row[i] = fmt.Sprint(v)
			}
		}
		rows = append(rows, row)
	}
	if len(names) == 0 {
		names = arrays
	}
	return names, rows, arrays
}

// folder makes a source of the text files of a folder.
func (t *table) folder(o *options, in input) {
	dir := corpus.Dir{Path: in.path, Encoding: o.encoding}
	if o.ext != "" {
		dir.Ext = strings.Split(o.ext, ",")
	}
	if o.class == "" && subfolders(in.path) > 1 {
		o.class = "folder"
	}
	o.columns(column{})
	t.read = func(tok text.Tokenizer, f []corpus.Field) corpus.Source {
		d := dir
		d.Tokenizer = tok
		if slices.ContainsFunc(f, func(f corpus.Field) bool { return f.Name == "folder" }) {
			d.Folders = []string{"folder"}
		}
		return d
	}
	t.show = func(id string) string { return beginning(filepath.Join(in.path, filepath.FromSlash(id)), o.encoding) }
}

func subfolders(path string) int {
	all, _ := os.ReadDir(path)
	n := 0
	for _, d := range all {
		if d.IsDir() && d.Name()[0] != '.' {
			n++
		}
	}
	return n
}

// beginning returns the beginning of a text file, "" where it cannot be read anew.
func beginning(path string, e encoding.Encoding) string {
	r, err := (input{path: path, name: path}).open()
	if err != nil {
		return ""
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, 2000))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(decoded(b, e)), "")
}

// counts makes a source of counts in UCI form.
func (t *table) counts(o *options, in input) error {
	u := corpus.UCI{Docword: in.file(nil)}
	if o.vocab == "" && !in.moved {
		name := filepath.Base(in.path)
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
		try := filepath.Join(filepath.Dir(in.path), strings.Replace(name, "docword", "vocab", 1))
		for _, path := range []string{try, filepath.Join(filepath.Dir(in.path), "vocab.txt")} {
			if _, err := os.Stat(path); err == nil && name != filepath.Base(path) {
				o.vocab = path
				t.notes = append(t.notes, "the words are those of "+path)
				break
			}
		}
	}
	if o.vocab == "" {
		return fmt.Errorf("%s: it holds counts in UCI form; give -vocab with the file of the words, one a line", in.name)
	}
	u.Vocab = corpus.File{Name: o.vocab, Encoding: o.encoding}
	t.words = true
	o.columns(column{})
	t.nouns.Document, t.nouns.Documents = "document", "documents"
	t.read = func(text.Tokenizer, []corpus.Field) corpus.Source { return u }
	return nil
}

// writeParagraphs writes a record for each paragraph of a text, or for each line if no line is blank.
func writeParagraphs(in input, e encoding.Encoding, w *maker) error {
	r, err := in.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if e == nil {
		e = encoding.Nop
	}
	s := bufio.NewScanner(transform.NewReader(r, unicodebom.BOMOverride(e.NewDecoder())))
	s.Buffer(nil, 64<<20)
	blank := bytes.Contains(bytes.ReplaceAll(in.head, []byte("\r"), nil), []byte("\n\n"))
	w.encoding = nil
	if err := w.write("text"); err != nil {
		return err
	}
	var p strings.Builder
	n := 0
	flush := func() error {
		if p.Len() == 0 {
			return nil
		}
		n++
		defer p.Reset()
		return w.write(p.String())
	}
	for s.Scan() {
		line := s.Text()
		if !blank || strings.TrimSpace(line) == "" {
			if err := flush(); err != nil {
				return err
			}
		}
		if strings.TrimSpace(line) != "" {
			p.WriteString(line + "\n")
		}
	}
	if err := cmp.Or(s.Err(), flush()); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	return nil
}

// Names of columns, in the order in which they are looked for.
var (
	textNames  = []string{"text", "body", "content", "review", "message", "abstract", "description", "comment", "article", "document", "summary"}
	titleNames = []string{"title", "subject", "headline"}
	timeNames  = []string{"date", "time", "timestamp", "datetime", "when", "created", "created_at", "published", "published_at", "year"}
)

// guess says what the columns of a table hold, and names those that could be classes or numbers.
func guess(names []string, rows [][]string) (c column, rest []string) {
	values := func(i int) iter.Seq[string] {
		return func(yield func(string) bool) {
			for _, r := range rows {
				if i < len(r) && strings.TrimSpace(r[i]) != "" && !yield(strings.TrimSpace(r[i])) {
					return
				}
			}
		}
	}
	at := func(wanted []string, ok func(i int) bool) string {
		for _, w := range wanted {
			for i, name := range names {
				if strings.EqualFold(strings.TrimSpace(name), w) && ok(i) {
					return name
				}
			}
		}
		return ""
	}
	words := func(i int) float64 {
		n, w := 0, 0
		for s := range values(i) {
			n, w = n+1, w+len(strings.Fields(s))
		}
		if n == 0 {
			return 0
		}
		return float64(w) / float64(n)
	}
	any := func(int) bool { return true }
	c.text = at(textNames, func(i int) bool { return len(rows) == 0 || words(i) >= 2 })
	if c.text == "" {
		longest := 3.
		for i := range names {
			if w := words(i); w >= longest {
				c.text, longest = names[i], w
			}
		}
	}
	c.title = at(titleNames, func(i int) bool { return names[i] != c.text })
	c.id = at([]string{"id"}, func(i int) bool {
		seen := map[string]bool{}
		for s := range values(i) {
			if seen[s] {
				return false
			}
			seen[s] = true
		}
		return len(seen) == len(rows)
	})
	c.time = at(timeNames, func(i int) bool {
		layout, ok := layoutOf(values(i))
		if ok {
			c.layout = layout
		}
		return ok
	})
	if at(timeNames, any) == "" { // a column of another name, if all of it reads as times
		for i, name := range names {
			if layout, ok := layoutOf(values(i)); ok && layout == "" && c.time == "" {
				c.time = name
			}
		}
	}
	for i, name := range names {
		if name == c.text || name == c.title || name == c.id || name == c.time {
			continue
		}
		levels, n := map[string]bool{}, 0
		for s := range values(i) {
			levels[s] = true
			n++
		}
		if len(levels) > 1 && len(levels) <= n/3 {
			rest = append(rest, name)
		}
	}
	return c, rest
}

// layoutOf returns the layout in which all values read as times, "" for the default ones.
func layoutOf(values iter.Seq[string]) (string, bool) {
	for _, l := range []struct {
		option  string
		layouts []string
	}{{"", []string{time.RFC3339, time.DateOnly, time.DateTime, "2006-01-02T15:04:05"}}, {"2006", []string{"2006"}}, {"2006-01", []string{"2006-01"}}} {
		n, bad := 0, false
		for s := range values {
			n++
			if !slices.ContainsFunc(l.layouts, func(layout string) bool { _, err := time.Parse(layout, s); return err == nil }) {
				bad = true
				break
			}
		}
		if n > 0 && !bad {
			return l.option, true
		}
	}
	return "", false
}

// noteColumns says which columns were found by looking, and which could be named.
func (t *table) noteColumns(o *options, c column, rest []string) {
	if !slices.Contains([]string{"text", "texts"}, t.nouns.Document) {
		return // the program has made the table
	}
	var found []string
	say := func(what, flag, given, name string) {
		if given == "" && name != "" {
			found = append(found, fmt.Sprintf("%s in column %s (-%s)", what, name, flag))
		}
	}
	say("texts", "text", o.text, c.text)
	say("ids", "id", o.id, c.id)
	say("titles", "title", o.title, c.title)
	say("times", "time", o.time, c.time)
	if len(found) > 0 {
		t.notes = append(t.notes, "found by looking: "+strings.Join(found, ", "))
	}
	if o.class == "" && o.number == "" && len(rest) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("-class or -number tells how topics differ by %s", strings.Join(rest[:min(len(rest), 5)], ", ")))
	}
}

// asked takes the columns of metadata from the options.
func (t *table) asked(o *options) {
	var missing []string
	if o.missing != "" {
		missing = strings.Split(o.missing, ",")
	}
	field := func(name string, kind corpus.Kind) corpus.Field {
		f := corpus.Field{Column: corpus.Column{Name: name, Kind: kind}, Missing: missing}
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
