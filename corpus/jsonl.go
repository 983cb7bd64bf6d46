package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/corpus/text"
)

// JSONL reads JSON Lines: every line is a JSON object and a document. Blank lines
// are skipped. Of several fields with one name the last counts.
//
// A field within another is given by its path: "body.text" is the field "text" of the
// object "body", and "authors.0" the first element of the array "authors". A field whose
// own name holds the dots comes first.
type JSONL struct {
	In File

	// Text is the field with the text, which every line must have: a string, which the
	// Tokenizer splits, or an array of tokens. "" means "text".
	Text string

	// ID and Label are the fields with the document's id and label: a string, a number, a
	// boolean, or null for none. Every line must have them. "" means "id" and "label" in
	// lines that have such a field.
	ID, Label string

	// Fields are the fields that become metadata: strings, numbers or, for categories,
	// booleans. A line need not have them, but it is an error if no line has one.
	Fields []Field

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// Describe implements Source. Arrays of tokens are taken as they are.
func (s JSONL) Describe(context.Context) (Description, error) {
	return fromText(s.Tokenizer, columnsOfFields(s.Fields)), nil
}

// Docs implements Source.
func (s JSONL) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s JSONL) stream(ctx context.Context, yield func(Document, error) bool) error {
	if err := checkFields(s.Fields); err != nil {
		return s.In.at(0, err)
	}
	l, err := s.In.lines(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if s.Text == "" {
		s.Text = "text"
	}
	tok := orDefault(s.Tokenizer)
	d := Document{Place: Place{File: s.In.Name}}
	seen := make([]bool, len(s.Fields))
	docs := 0
	for {
		b, err := l.text()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return l.fail(ctx.Err())
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		if err := s.decode(&d, b, tok, seen); err != nil {
			return l.fail(err)
		}
		docs++
		d.Place.Line = l.n
		if !yield(d, nil) {
			return errStop
		}
	}
	if ctx.Err() != nil {
		return l.fail(ctx.Err())
	}
	if i := slices.Index(seen, false); i >= 0 && docs > 0 {
		return s.In.at(0, fmt.Errorf("no line has a field %q", s.Fields[i].from()))
	}
	return nil
}

// decode reads a line into d, and notes which Fields it has.
func (s JSONL) decode(d *Document, line []byte, tok text.Tokenizer, seen []bool) (err error) {
	var o object
	if err := json.Unmarshal(line, &o); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("want a JSON object, not %s%s", wrong.Value, notObject(line))
		}
		return fmt.Errorf("want a JSON object: %w%s", err, notObject(line))
	}
	if o == nil {
		return errors.New("want a JSON object, not null")
	}
	if d.Tokens, err = o.tokens(d.Tokens[:0], s.Text, tok); err != nil {
		return err
	}
	if d.ID, err = o.scalar(s.ID, "id"); err != nil {
		return err
	}
	if d.Label, err = o.scalar(s.Label, "label"); err != nil {
		return err
	}
	d.Values = d.Values[:0]
	for i := range s.Fields {
		f := &s.Fields[i]
		raw := o.find(f.from())
		seen[i] = seen[i] || raw != nil
		v, err := f.parseJSON(raw)
		if err != nil {
			return err
		}
		d.Values = append(d.Values, v)
	}
	return nil
}

// parseJSON makes a value of the content of a field; nil: there is no such field.
func (f *Field) parseJSON(raw json.RawMessage) (Value, error) {
	if raw == nil || raw[0] == 'n' {
		return Value{}, nil
	}
	switch raw[0] {
	case '"':
		var t string
		if err := json.Unmarshal(raw, &t); err != nil {
			return Value{}, &ValueError{Column: f.Name, Value: string(raw), Err: err}
		}
		return f.parse(t)
	case '{', '[':
		return Value{}, &ValueError{Column: f.Name, Value: string(raw), Err: errors.New("holds several values; give the path of one, as in author.name or authors.0")}
	}
	return f.parse(string(raw))
}

// object is a JSON object.
type object map[string]json.RawMessage

// find returns what is at a path, nil if there is nothing.
func (o object) find(path string) json.RawMessage {
	if raw, ok := o[path]; ok {
		return raw
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if raw, ok := o[path[:i]]; ok {
			if found := within(raw, path[i+1:]); found != nil {
				return found
			}
		}
	}
	return nil
}

// within returns what is at a path in a JSON object or array, nil if there is nothing.
func within(raw json.RawMessage, path string) json.RawMessage {
	switch raw[0] {
	case '{':
		var o object
		if json.Unmarshal(raw, &o) == nil {
			return o.find(path)
		}
	case '[':
		head, rest, deeper := strings.Cut(path, ".")
		var list []json.RawMessage
		n, err := strconv.Atoi(head)
		if err != nil || json.Unmarshal(raw, &list) != nil || n < 0 || n >= len(list) {
			return nil
		}
		if deeper {
			return within(list[n], rest)
		}
		return list[n]
	}
	return nil
}

// lacks says that there is no such field, and which there are.
func (o object) lacks(field string) error {
	names := slices.Sorted(maps.Keys(o))
	more := ""
	if len(names) > 20 {
		names, more = names[:20], " and more"
	}
	return fmt.Errorf("there is no field %q; there are %q%s", field, names, more)
}

// tokens appends the tokens of a field with text or tokens.
func (o object) tokens(dst []string, field string, tok text.Tokenizer) ([]string, error) {
	raw := o.find(field)
	if raw == nil {
		return dst, o.lacks(field)
	}
	switch raw[0] {
	case '"':
		var t string
		if err := json.Unmarshal(raw, &t); err != nil {
			return dst, fmt.Errorf("field %q: %w", field, err)
		}
		dst = tok.Tokenize(dst, t)
	case '[':
		var list []*string
		if err := json.Unmarshal(raw, &list); err != nil {
			return dst, fmt.Errorf("field %q: want an array of strings: %w", field, err)
		}
		for i, t := range list {
			if t == nil || *t == "" {
				return dst, fmt.Errorf("field %q: token %d is null or empty", field, i+1)
			}
			dst = append(dst, *t)
		}
	default:
		return dst, fmt.Errorf("field %q is neither a string nor an array of strings", field)
	}
	return dst, nil
}

// scalar returns a field as a string. If no name is given it is the fallback, which a line need
// not have.
func (o object) scalar(name, fallback string) (string, error) {
	asked := name != ""
	if !asked {
		name = fallback
	}
	raw := o.find(name)
	if raw == nil {
		if asked {
			return "", o.lacks(name)
		}
		return "", nil
	}
	switch raw[0] {
	case 'n':
		return "", nil
	case '{', '[':
		if asked {
			return "", fmt.Errorf("field %q is neither a string nor a number", name)
		}
		return "", nil
	case '"':
		var t string
		err := json.Unmarshal(raw, &t)
		return t, err
	}
	return string(raw), nil
}

// fromText describes documents whose text a Tokenizer splits.
func fromText(t text.Tokenizer, columns []Column) Description {
	return Description{Columns: columns, Text: settingOf(t), Stemmer: orDefault(t).Stemmer()}
}

// settingOf returns the setting of a Tokenizer, nil being the default.
func settingOf(t text.Tokenizer) *text.Setting {
	s := orDefault(t).Setting()
	return &s
}

func orDefault(t text.Tokenizer) text.Tokenizer {
	if t == nil {
		return text.Default()
	}
	return t
}
