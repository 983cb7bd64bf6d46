package corpus

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// CSV reads documents from a column of a table, such as a CSV or TSV file. Columns are
// given by name in the header, or by number from 1 as "#1", "#2", …; a name that two columns
// have is an error. Every record must have as many fields as the first. Empty lines are skipped.
type CSV struct {
	In File

	// Text is the column with the text. It must be given.
	Text string

	// ID and Label are the columns with ids and labels; "": none.
	ID, Label string

	// Fields are the columns that become metadata. Field.From is a column as above.
	Fields []Field

	// Comma separates the fields. 0 means a tab if the name ends in .tsv or .tab (before a
	// final .gz), else a comma.
	Comma rune

	// NoHeader makes the first record a document instead of a header.
	NoHeader bool

	// LazyQuotes accepts misplaced quotes, as in encoding/csv.
	LazyQuotes bool

	// NoQuotes makes quotes ordinary characters and every line a record, as in many TSV files.
	NoQuotes bool

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// Describe implements Source.
func (s CSV) Describe(context.Context) (Description, error) {
	return fromText(s.Tokenizer, columnsOfFields(s.Fields)), nil
}

// Docs implements Source.
func (s CSV) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s CSV) stream(ctx context.Context, yield func(Document, error) bool) error {
	if s.Text == "" {
		return s.In.at(0, errors.New("CSV.Text does not say which column holds the text"))
	}
	if err := checkFields(s.Fields); err != nil {
		return s.In.at(0, err)
	}
	names := []string{s.Text, s.ID, s.Label}
	for _, f := range s.Fields {
		names = append(names, f.from())
	}
	tok := orDefault(s.Tokenizer)
	d := Document{Place: Place{File: s.In.Name}}
	return s.each(ctx, names, func(f []string, line int) (err error) {
		d.ID, d.Label, d.Place.Line = f[1], f[2], line
		d.Tokens, d.Values = tok.Tokenize(d.Tokens[:0], f[0]), d.Values[:0]
		for i, cell := range f[3:] {
			var v Value
			if cell != "" {
				if v, err = s.Fields[i].parse(cell); err != nil {
					return s.In.at(line, err)
				}
			}
			d.Values = append(d.Values, v)
		}
		if !yield(d, nil) {
			return errStop
		}
		return nil
	})
}

// each calls f for every record with the columns of these names, "" for those without a name, and the
// line on which it begins.
func (s CSV) each(ctx context.Context, names []string, f func(fields []string, line int) error) error {
	s.Comma = s.comma()
	next, closer, err := s.records(ctx)
	if err != nil {
		return err
	}
	defer closer.Close()
	rec, line, err := next()
	if err == io.EOF {
		return s.In.at(0, ErrNoDocuments)
	}
	if err != nil {
		return err
	}
	col, err := s.columns(rec, names)
	if err != nil {
		return s.In.at(line, err)
	}
	if !s.NoHeader {
		rec, line, err = next()
	}
	fields := make([]string, len(col))
	for ; err == nil; rec, line, err = next() {
		if err := ctx.Err(); err != nil {
			return s.In.at(line, err)
		}
		if err := s.fields(fields, rec, col); err != nil {
			return s.In.at(line, err)
		}
		if err := f(fields, line); err != nil {
			return err
		}
	}
	switch {
	case err != io.EOF:
		return err
	case ctx.Err() != nil:
		return s.In.at(line, ctx.Err())
	}
	return nil
}

// columns returns the places of columns in a record, −1 for "". first is the first record.
func (s CSV) columns(first, names []string) (col []int, err error) {
	var header []string
	if !s.NoHeader {
		for i, f := range first {
			b, err := s.In.text([]byte(f), "name")
			if err != nil {
				return nil, fmt.Errorf("column %d: %w", i+1, err)
			}
			header = append(header, strings.TrimSpace(string(b)))
		}
	}
	for _, name := range names {
		c, err := column(name, header, len(first))
		if err != nil {
			return nil, err
		}
		col = append(col, c)
	}
	return col, nil
}

// comma returns what separates the fields.
func (s CSV) comma() rune {
	if s.Comma != 0 {
		return s.Comma
	}
	if x := path.Ext(strings.TrimSuffix(s.In.Name, ".gz")); strings.EqualFold(x, ".tsv") || strings.EqualFold(x, ".tab") {
		return '\t'
	}
	return ','
}

// fields takes the columns out of a record, as valid UTF-8; "" for −1.
func (s CSV) fields(dst, rec []string, col []int) error {
	for i, c := range col {
		dst[i] = ""
		if c < 0 {
			continue
		}
		dst[i] = rec[c]
		if s.In.Encoding == nil && utf8.ValidString(dst[i]) {
			continue
		}
		b, err := s.In.text([]byte(dst[i]), "field")
		if err != nil {
			return fmt.Errorf("column %d: %w", c+1, err)
		}
		dst[i] = string(b)
	}
	return nil
}

// records returns a function that returns the next record, valid until the next call, and the
// line on which it begins.
func (s *CSV) records(ctx context.Context) (next func() ([]string, int, error), c io.Closer, err error) {
	br, rc, err := s.In.open()
	if err != nil {
		return nil, nil, err
	}
	if s.NoQuotes {
		l := &lines{in: s.In, br: br, rc: rc, ctx: ctx}
		fields := 0
		return func() ([]string, int, error) {
			b, err := l.next()
			for err == nil && len(b) == 0 { // as encoding/csv does
				b, err = l.next()
			}
			if err != nil {
				return nil, l.n, err
			}
			rec := strings.Split(string(b), string(s.Comma))
			if fields == 0 {
				fields = len(rec)
			}
			if len(rec) != fields {
				return nil, l.n, l.fail(fmt.Errorf("%d fields, the first record has %d", len(rec), fields))
			}
			return rec, l.n, nil
		}, rc, nil
	}
	begin, _ := br.Peek(64)
	head := string(begin)
	lim := &limited{r: br}
	r := csv.NewReader(lim)
	r.Comma, r.LazyQuotes, r.ReuseRecord = s.Comma, s.LazyQuotes, true
	line := 0
	return func() ([]string, int, error) {
		// An open quote must not swallow the memory: one record may take the
		// limit and what the csv reader has buffered ahead.
		begin := r.InputOffset()
		lim.left = begin - lim.read + int64(s.In.max()) + 1<<13
		rec, err := r.Read()
		if r.InputOffset()-begin > int64(s.In.max()) && err == nil {
			err = ErrTooLong
		}
		var pe *csv.ParseError
		switch {
		case err == nil:
			line, _ = r.FieldPos(0)
			return rec, line, nil
		case err == io.EOF:
			return nil, line, io.EOF
		case errors.As(err, &pe):
			if pe.StartLine == 1 {
				pe.Err = fmt.Errorf("%w%s", pe.Err, notTable(head))
			}
			return nil, pe.Line, s.In.at(pe.Line, pe.Err)
		case errors.Is(err, ErrTooLong):
			return nil, line, s.In.at(line+1, fmt.Errorf("record %w of %d bytes", ErrTooLong, s.In.max()))
		}
		return nil, line, s.In.at(line+1, readErr(err))
	}, rc, nil
}

// limited passes on a limited number of bytes, then fails.
type limited struct {
	r          io.Reader
	read, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, ErrTooLong
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.read += int64(n)
	l.left -= int64(n)
	return n, err
}

// column finds a column by name or "#number"; −1 for "".
func column(name string, header []string, fields int) (int, error) {
	if name == "" {
		return -1, nil
	}
	if i, err := only(header, name); i >= 0 || err != nil {
		return i, err
	}
	if num, ok := strings.CutPrefix(name, "#"); ok {
		if i, err := strconv.Atoi(num); err == nil {
			if i < 1 || i > fields {
				return 0, fmt.Errorf("column %s: the table has %d columns", name, fields)
			}
			return i - 1, nil
		}
	}
	if header == nil {
		return 0, fmt.Errorf("column %q: without a header, columns are given as #1 to #%d", name, fields)
	}
	return 0, fmt.Errorf("column %q is not in the header, which has %q%s", name, header, notColumns(header))
}

// only returns the place of a column by its name, −1 for none; two of the name are an error.
func only(names []string, name string) (int, error) {
	i := slices.Index(names, name)
	if j := slices.Index(names[i+1:], name); i >= 0 && j >= 0 {
		return i, fmt.Errorf("two columns are called %q, #%d and #%d", name, i+1, i+j+2)
	}
	return i, nil
}
