package jsmf

import (
	"context"
	"iter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// WithTokenizer returns a copy of the model that splits raw text by t, normally
// the tokenizer of the documents of the fit. The file of the model keeps it.
// Settings out of range are an error.
func (m *Model) WithTokenizer(t text.WordTokenizer) (*Model, error) {
	if err := checkTokenizer(t); err != nil {
		return nil, wrap(err)
	}
	out := *m
	out.tokenizer = &t
	return &out, nil
}

// Tokenizer returns the tokenizer for raw text, and whether WithTokenizer set it;
// the default is the zero WordTokenizer.
func (m *Model) Tokenizer() (t text.WordTokenizer, set bool) {
	if m.tokenizer == nil {
		return text.WordTokenizer{}, false
	}
	return *m.tokenizer, true
}

// Words splits text with the model's Tokenizer. It returns the numbers of the
// words that the model knows, ascending, and how often each occurs, as
// infer.Inferer.InferTo takes them. unknown counts the other tokens.
func (m *Model) Words(text string) (ids, counts []int32, unknown int64) {
	t, _ := m.Tokenizer()
	var c bag.Counter
	err := c.Read(&bag.Words{Token: m.number}, bag.Document{Tokens: t.Tokenize(nil, text)}, 1)
	if err == nil {
		err = c.Sorted()
	}
	if err != nil { // a word more than corpus.MaxCount times
		return nil, nil, c.Unknown
	}
	return c.Words, c.Counts, c.Unknown
}

// number returns the number of a word for package bag.
func (m *Model) number(word string) (int32, error) {
	if i, ok := m.Index(word); ok {
		return int32(i), nil
	}
	return bag.Unknown, nil
}

// Texts returns raw texts as a source of documents for Transform, split by the
// model's Tokenizer. The ids of the documents are their numbers, from 1.
func (m *Model) Texts(texts ...string) corpus.Source {
	t, _ := m.Tokenizer()
	return textSource{t, texts}
}

type textSource struct {
	tokenizer text.Tokenizer
	texts     []string
}

func (s textSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		var tokens []string
		for _, text := range s.texts {
			if err := ctx.Err(); err != nil {
				yield(corpus.Document{}, err)
				return
			}
			tokens = s.tokenizer.Tokenize(tokens[:0], text)
			if !yield(corpus.Document{Tokens: tokens}, nil) {
				return
			}
		}
	}
}
