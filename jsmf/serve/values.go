package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

const (
	maxColumns  = 64      // of documents
	maxName     = 64      // bytes of the name of one
	maxCategory = 256     // bytes of a category
	maxValues   = 4 << 10 // bytes of all values of a document, in JSON
)

// checkColumns refuses columns that requests could not name.
func checkColumns(columns []corpus.Column) error {
	if len(columns) > maxColumns {
		return fmt.Errorf("serve: %d Columns; want at most %d", len(columns), maxColumns)
	}
	for _, c := range columns {
		if len(c.Name) > maxName || strings.ContainsFunc(c.Name, unicode.IsControl) {
			return fmt.Errorf("serve: the name of the column %s has more than %d bytes or a control character", quote(c.Name), maxName)
		}
	}
	if _, err := corpus.NewMetadata(columns, nil); err != nil {
		return fmt.Errorf("serve: Columns: %w", err)
	}
	return nil
}

// setColumns adds the columns of the configuration that the documents do not have yet.
// None goes, so that a start that does not name one loses nothing.
func (s *Service) setColumns() error {
	var added []corpus.Column
	for _, c := range s.cfg.Columns {
		i := slices.IndexFunc(s.columns, func(have corpus.Column) bool { return have.Name == c.Name })
		switch {
		case i < 0:
			added = append(added, c)
		case s.columns[i].Kind != c.Kind:
			return fmt.Errorf("serve: the column %q of the documents is a %v, not a %v: this cannot change afterwards", c.Name, s.columns[i].Kind, c.Kind)
		}
	}
	if len(added) == 0 {
		return nil
	}
	if err := checkColumns(slices.Concat(s.columns, added)); err != nil {
		return err
	}
	b, err := json.Marshal(added)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if s.seq, err = s.store.Append([]store.Record{{Op: opColumns, Data: b}}); err != nil {
		return err
	}
	return s.addColumns(added)
}

func (s *Service) addColumns(added []corpus.Column) error {
	if err := s.held.AddColumns(added...); err != nil {
		return err
	}
	s.columns = s.held.Options().Columns
	return nil
}

// parseValues reads the values of a document, which come next.
func parseValues(dec *json.Decoder, columns []corpus.Column) ([]corpus.Value, *problem) {
	tok, err := dec.Token()
	if err != nil {
		return nil, noJSON(err)
	}
	if tok != json.Delim('{') {
		return nil, inField("values", "want an object: the value of each column by its name")
	}
	var values []corpus.Value
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, noJSON(err)
		}
		name, _ := tok.(string)
		i := slices.IndexFunc(columns, func(c corpus.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, inField("values."+shorten(name), "there is no such column; %s", columnNames(columns))
		}
		if values == nil {
			values = make([]corpus.Value, len(columns))
		}
		if values[i].Kind() != 0 {
			return nil, inField("values."+name, "the field is given twice")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, noJSON(err)
		}
		if values[i], err = parseValue(columns[i], raw); err != nil {
			return nil, inField("values."+name, "%v", err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, noJSON(err)
	}
	return values, nil
}

func columnNames(columns []corpus.Column) string {
	if len(columns) == 0 {
		return "this service keeps none: see its flag -column"
	}
	var names []string
	for _, c := range columns {
		names = append(names, strconv.Quote(c.Name))
	}
	return "the columns are " + shorten(strings.Join(names, ", "))
}

// parseValue reads a value of a column from JSON.
func parseValue(c corpus.Column, raw []byte) (v corpus.Value, err error) {
	if c.Kind == corpus.Number {
		var x float64
		if json.Unmarshal(raw, &x) != nil {
			return v, errors.New("want a number that a double can hold")
		}
		return corpus.NumberOf(x), nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return v, fmt.Errorf("want a %v, as a string", c.Kind)
	}
	if c.Kind == corpus.Time {
		t, _, err := parseTime(text)
		return corpus.TimeOf(t), err
	}
	if len(text) > maxCategory || strings.ContainsFunc(text, unicode.IsControl) {
		return v, fmt.Errorf("the category has more than %d bytes or a control character", maxCategory)
	}
	v = corpus.CategoryOf(strings.Clone(text))
	if c.Check(v) != nil {
		return v, fmt.Errorf("%s is none of the categories of the column", quote(text))
	}
	return v, nil
}

// parseTime reads a time, or a date as its first moment.
func parseTime(s string) (t time.Time, date bool, err error) {
	if t, err = time.Parse(time.DateOnly, s); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, s); err == nil {
		if year := t.UTC().Year(); year >= 0 && year <= 9999 { // others cannot be written
			return t.UTC(), false, nil
		}
	}
	return t, false, fmt.Errorf("%s: want a time of RFC 3339, such as 2006-01-02T15:04:05Z, or a date, such as 2006-01-02", quote(s))
}

// encodeValues writes values as parseValues reads them; nil if all are missing.
func encodeValues(columns []corpus.Column, values []corpus.Value) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, v := range values {
		if v.Kind() == 0 {
			continue
		}
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		var what any = v.String()
		if x, ok := v.Number(); ok {
			what = x
		}
		for j, part := range []any{columns[i].Name, what} {
			if err := enc.Encode(part); err != nil {
				return nil, fmt.Errorf("serve: %w", err)
			}
			b.Truncate(b.Len() - 1) // the end of the line
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	if b.Len() == 0 {
		return nil, nil
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// filter selects documents by their values.
type filter []condition

// condition is what the value of a column has to be: one of some categories, or a number
// from least to most, or a time from from on and before to.
type condition struct {
	column      int
	categories  []string
	least, most float64
	from, to    time.Time
}

func (f filter) keeps(values []corpus.Value) bool {
	return !slices.ContainsFunc(f, func(c condition) bool { return values == nil || !c.holds(values[c.column]) })
}

func (c *condition) holds(v corpus.Value) bool {
	if x, ok := v.Number(); ok {
		return x >= c.least && x <= c.most
	}
	if t, ok := v.Time(); ok {
		return !t.Before(c.from) && t.Before(c.to)
	}
	name, ok := v.Category()
	return ok && slices.Contains(c.categories, name)
}

// parseCondition reads what the address wants of a column.
func parseCondition(columns []corpus.Column, name string, texts []string) (c condition, p *problem) {
	field := "values." + shorten(name)
	i := slices.IndexFunc(columns, func(c corpus.Column) bool { return c.Name == name })
	if i < 0 {
		return c, inField(field, "there is no such column; %s", columnNames(columns))
	}
	c.column = i
	if columns[i].Kind == corpus.Category {
		c.categories = texts
		return c, nil
	}
	if len(texts) != 1 {
		return c, inField(field, "the parameter is given %d times", len(texts))
	}
	low, high, ranged := strings.Cut(texts[0], "..")
	if !ranged {
		high = low
	}
	if columns[i].Kind == corpus.Time {
		return c, c.times(field, low, high, ranged)
	}
	c.least, c.most = math.Inf(-1), math.Inf(1)
	for _, end := range []struct {
		text string
		to   *float64
	}{{low, &c.least}, {high, &c.most}} {
		if end.text == "" && ranged {
			continue
		}
		x, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return c, inField(field, "%s: want a number, or two with .. between, of which one may be missing", quote(texts[0]))
		}
		*end.to = x
	}
	return c, nil
}

// times reads the ends of a time. A date alone is the whole day. An end that is missing is
// that of all times that parseTime takes.
func (c *condition) times(field, low, high string, ranged bool) *problem {
	c.from, c.to = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	var date bool
	var err error
	if low != "" || !ranged {
		if c.from, date, err = parseTime(low); err != nil {
			return inField(field, "%v, or two with .. between, of which one may be missing", err)
		}
	}
	switch {
	case !ranged && date:
		c.to = c.from.AddDate(0, 0, 1)
	case !ranged:
		c.to = c.from.Add(1)
	case high != "":
		if c.to, _, err = parseTime(high); err != nil {
			return inField(field, "%v, or two with .. between, of which one may be missing", err)
		}
	}
	return nil
}
