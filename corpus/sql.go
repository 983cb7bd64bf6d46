package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// SQL reads documents from a database. Every row of a query is a document, and columns
// are given by their names in its result. Without ORDER BY the order of the documents is
// the database's.
type SQL struct {
	// Query runs the query. Every pass over the documents runs it once, reads all rows, and
	// closes them. For rows that are there already see OneQuery.
	Query func(ctx context.Context) (*sql.Rows, error)

	// Text is the column with the text. It must be given. NULL is a text without words.
	Text string

	// ID and Label are the columns with ids and labels, strings or integers; "": none.
	ID, Label string

	// Fields are the columns that become metadata.
	Fields []Field

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// OneQuery returns a function for SQL.Query that hands over rows to the first pass. A
// further pass is an error: what reads documents several times, such as cooc.NewStream,
// needs a Query that runs again, or Encode before it.
func OneQuery(rows *sql.Rows) func(context.Context) (*sql.Rows, error) {
	used := new(atomic.Bool)
	return func(context.Context) (*sql.Rows, error) {
		if used.Swap(true) {
			return nil, errors.New("these rows have been read and cannot be read again")
		}
		return rows, nil
	}
}

// TextSetting implements FromText.
func (s SQL) TextSetting() *text.Setting { return settingOf(s.Tokenizer) }

// Stemmer implements FromText.
func (s SQL) Stemmer() text.Stemmer { return orDefault(s.Tokenizer).Stemmer() }

var (
	_ FromText  = SQL{}
	_ Described = SQL{}
)

// Columns implements Described.
func (s SQL) Columns() []Column { return columnsOfFields(s.Fields) }

// sqlName stands for the query in errors, whose lines are rows.
const sqlName = "query"

// Docs implements Source. Errors in a row are a *FileError for the file "query", whose
// Line is the number of the row.
func (s SQL) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		row := 0
		if err := s.stream(ctx, &row, yield); err != nil && err != errStop {
			yield(Document{}, &FileError{File: sqlName, Line: row, Err: err})
		}
	}
}

func (s SQL) stream(ctx context.Context, row *int, yield func(Document, error) bool) error {
	if s.Query == nil || s.Text == "" {
		return errors.New("SQL.Query and SQL.Text must be given")
	}
	if err := checkFields(s.Fields); err != nil {
		return err
	}
	rows, err := s.Query(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	var col []int // −1: none
	for i, name := range append([]string{s.Text, s.ID, s.Label}, s.from()...) {
		c := slices.Index(names, name)
		if c < 0 && (name != "" || i > 2) {
			return fmt.Errorf("column %q is not in the result, which has %q", name, names)
		}
		col = append(col, c)
	}
	cells, to := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		to[i] = &cells[i]
	}
	tok := orDefault(s.Tokenizer)
	d := Document{place: place{file: sqlName}}
	for *row++; rows.Next(); *row++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := s.document(&d, cells, names, col, tok); err != nil {
			return err
		}
		d.place.line = *row
		if !yield(d, nil) {
			return errStop
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	*row = 0
	return errors.Join(ctx.Err(), rows.Close())
}

func (s SQL) from() []string {
	var out []string
	for i := range s.Fields {
		out = append(out, s.Fields[i].from())
	}
	return out
}

// document reads a row into d.
func (s SQL) document(d *Document, cells []any, names []string, col []int, tok text.Tokenizer) error {
	var known [3]string
	for i := range known {
		if col[i] < 0 || cells[col[i]] == nil {
			continue
		}
		t, err := sqlText(cells[col[i]])
		if err != nil {
			return fmt.Errorf("column %q: %w", names[col[i]], err)
		}
		known[i] = t
	}
	d.ID, d.Label = known[1], known[2]
	d.Tokens, d.Values = tok.Tokenize(d.Tokens[:0], known[0]), d.Values[:0]
	for i := range s.Fields {
		v, err := s.Fields[i].parseSQL(cells[col[3+i]])
		if err != nil {
			return err
		}
		d.Values = append(d.Values, v)
	}
	return nil
}

// sqlText returns a string or an integer as text.
func sqlText(cell any) (string, error) {
	t := ""
	switch x := cell.(type) {
	case string:
		t = x
	case []byte:
		t = string(x)
	case int64:
		t = strconv.FormatInt(x, 10)
	default:
		return "", fmt.Errorf("it holds a %T, not text", cell)
	}
	if !utf8.ValidString(t) {
		return "", ErrInvalidUTF8
	}
	return t, nil
}

// parseSQL makes a value of what a driver gave.
func (f *Field) parseSQL(cell any) (Value, error) {
	switch x := cell.(type) {
	case nil:
		return Value{}, nil
	case time.Time:
		return TimeOf(x), f.Check(TimeOf(x))
	case float64:
		return f.parse(strconv.FormatFloat(x, 'g', -1, 64))
	case bool:
		return f.parse(strconv.FormatBool(x))
	}
	t, err := sqlText(cell)
	if err != nil {
		return Value{}, &ValueError{Column: f.Name, Value: fmt.Sprint(cell), Err: err}
	}
	return f.parse(t)
}
