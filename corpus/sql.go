package corpus

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// SQL reads documents from a database. Every row of a query is a document. Columns are given by
// their names, of which two in the result may not be the same. Without ORDER BY the order of the
// documents is the database's.
type SQL struct {
	// Query runs the query. Every pass over the documents runs it once, reads all rows, and
	// closes them; rows that are there already can be read once.
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

// Describe implements Source.
func (s SQL) Describe(context.Context) (Description, error) {
	return fromText(s.Tokenizer, columnsOfFields(s.Fields)), nil
}

// sqlName is the file in errors, whose lines are rows.
const sqlName = "query"

// Docs implements Source. Errors in a row are a [*FileError] for the file "query", whose
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
	if rows == nil {
		return errors.New("SQL.Query returned no rows and no error")
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	var col []int // −1: none
	for _, name := range columnNames(s.Text, s.ID, s.Label, s.Fields) {
		if name == "" {
			col = append(col, -1)
			continue
		}
		c, err := only(names, name)
		if err != nil {
			return err
		}
		if c < 0 {
			return fmt.Errorf("column %q is not in the result, which has %q", name, names)
		}
		col = append(col, c)
	}
	cells, to := make([]any, len(names)), make([]any, len(names))
	for i := range cells {
		to[i] = &cells[i]
	}
	tok := orDefault(s.Tokenizer)
	d := Document{Place: Place{File: sqlName}}
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
		d.Place.Line = *row
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
