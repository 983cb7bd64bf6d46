package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/jsmf-go/spectral/corpus/text"
)

// JSONL reads JSON Lines: every line is a JSON object and a document. Blank lines
// are skipped. Of several fields with one name the last counts.
type JSONL struct {
	In File

	// Text is the field with the text, which every line must have: a string, to be
	// split by the Tokenizer, or an array of tokens. "" means "text".
	Text string

	// ID and Label are the fields with the document's id and label: a string, a
	// number, a boolean, or null for none. Every line must have them. "" means
	// "id" and "label" in lines that have such a field.
	ID, Label string

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// ReadJSONL reads documents from a JSON Lines file, plain or gzipped, with the
// default fields and tokenizer. For other settings use Read with a JSONL.
func ReadJSONL(ctx context.Context, path string) (*Corpus, error) {
	return Read(ctx, JSONL{In: File{Name: path}})
}

// TextSetting implements FromText. Arrays of tokens are taken as they are.
func (s JSONL) TextSetting() *text.Setting { return settingOf(s.Tokenizer) }

// Docs implements Source.
func (s JSONL) Docs(ctx context.Context) iter.Seq2[Document, error] {
	field := s.Text
	if field == "" {
		field = "text"
	}
	tok := orDefault(s.Tokenizer)
	return func(yield func(Document, error) bool) {
		l, err := s.In.lines()
		if err != nil {
			yield(Document{}, err)
			return
		}
		defer l.close()
		var d Document
		for {
			b, err := l.text()
			if err == io.EOF {
				if err := ctx.Err(); err != nil {
					yield(Document{}, l.fail(err))
				}
				return
			}
			if err == nil && ctx.Err() != nil {
				err = l.fail(ctx.Err())
			}
			if err == nil {
				if len(bytes.TrimSpace(b)) == 0 {
					continue
				}
				if err = s.decode(&d, b, field, tok); err != nil {
					err = l.fail(err)
				}
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			d.place = place{file: s.In.Name, line: l.n}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (s JSONL) decode(d *Document, line []byte, field string, tok text.Tokenizer) (err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return fmt.Errorf("want a JSON object: %w", err)
	}
	if fields == nil {
		return errors.New("want a JSON object, not null")
	}
	d.Tokens = d.Tokens[:0]
	raw, ok := fields[field]
	if !ok {
		return fmt.Errorf("there is no field %q", field)
	}
	switch raw[0] {
	case '"':
		var t string
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("field %q: %w", field, err)
		}
		d.Tokens = tok.Tokenize(d.Tokens, t)
	case '[':
		var list []*string
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("field %q: want an array of strings: %w", field, err)
		}
		for i, t := range list {
			if t == nil || *t == "" {
				return fmt.Errorf("field %q: token %d is null or empty", field, i+1)
			}
			d.Tokens = append(d.Tokens, *t)
		}
	default:
		return fmt.Errorf("field %q is neither a string nor an array of strings", field)
	}
	if d.ID, err = scalar(fields, s.ID, "id"); err == nil {
		d.Label, err = scalar(fields, s.Label, "label")
	}
	return err
}

// scalar returns a field as a string.
func scalar(fields map[string]json.RawMessage, name, fallback string) (string, error) {
	asked := name != ""
	if !asked {
		name = fallback
	}
	raw, ok := fields[name]
	if !ok {
		if asked {
			return "", fmt.Errorf("there is no field %q", name)
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
