package jsmf

import (
	"context"
	"fmt"
	"iter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/stems"
)

// TextSetting says how the texts of the fit were split into words; nil where that is not
// known, as for documents that were not text. Fit takes it from the documents
// (corpus.Info.Text), and the file of the model keeps it.
func (m *Model) TextSetting() *text.Setting {
	if m.text == nil {
		return nil
	}
	s := *m.text
	return &s
}

// Tokenizer returns what splits raw text as the texts of the fit were split, or the default
// where that is not known. If the setting names the user's own tokenizer or tools, a model
// that has just been fitted or read does not have them: the error says how to give them.
func (m *Model) Tokenizer() (text.Tokenizer, error) {
	t, err := m.splitter()
	return t, wrap(err)
}

func (m *Model) splitter() (text.Tokenizer, error) {
	switch {
	case m.tokenizer != nil:
		return m.tokenizer, nil
	case m.text == nil:
		return text.Default(), nil
	case m.text.Own != "" && m.text.Stemmer != "":
		return nil, fmt.Errorf("the texts of the fit were split by the user's own tokenizer %q, and the words merged by the stemmer %q: give both by Model.WithTokenizer(text.OwnWithStemmer(%[1]q, …))", m.text.Own, m.text.Stemmer)
	case m.text.Own != "":
		return nil, fmt.Errorf("the texts of the fit were split by the user's own tokenizer %q: give it by Model.WithTokenizer(text.Own(%[1]q, …))", m.text.Own)
	}
	t, err := m.text.Tokenizer()
	if err != nil {
		return nil, fmt.Errorf("the texts of the fit were split with tools: give them by Model.WithTokenizer of what Model.TextSetting().Tokenizer(tools…) returns: %w", err)
	}
	return t, nil
}

// WithTokenizer returns a copy of the model that splits raw text by t. Its setting must be
// that of the fit (TextSetting), of which Own and the names of the tools are a part; a model
// that knows no setting takes any, and its file keeps it.
func (m *Model) WithTokenizer(t text.Tokenizer) (*Model, error) {
	s := t.Setting()
	if err := s.Validate(); err != nil {
		return nil, wrap(err)
	}
	if m.text != nil && !m.text.Equal(s) {
		return nil, errorf("the texts of the fit were split by the setting %v, not by %v", m.text, s)
	}
	out := *m
	out.tokenizer, out.stems = t, nil
	if by := t.Stemmer(); by != nil && m.vocab != nil {
		out.stems = stems.NewIndex(by, m.vocab)
	}
	if out.text == nil {
		out.text = &s
	}
	return &out, nil
}

// Words splits text with the model's Tokenizer. It returns the numbers of the
// words that the model knows, ascending, and how often each occurs, as
// infer.Inferer.InferTo takes them. unknown counts the other tokens. Errors: those of
// Tokenizer, and a word that occurs more than corpus.MaxCount times.
func (m *Model) Words(text string) (ids, counts []int32, unknown int64, err error) {
	t, err := m.splitter()
	if err != nil {
		return nil, nil, 0, wrap(err)
	}
	var c bag.Counter
	err = c.Read(&bag.Words{Token: m.number}, bag.Document{Tokens: t.Tokenize(nil, text)}, 1)
	if err == nil {
		err = c.Sorted()
	}
	if err != nil {
		return nil, nil, 0, wrap(err)
	}
	return c.Words, c.Counts, c.Unknown, nil
}

// number returns the number of a word for package bag: that of the word itself, or else of
// the word that has its stem.
func (m *Model) number(word string) (int32, error) {
	if i, ok := m.Index(word); ok {
		return int32(i), nil
	}
	if m.stems != nil {
		if i, ok := m.stems.Find(word); ok {
			return i, nil
		}
	} else if m.text != nil && m.text.Stemmer != "" {
		return 0, fmt.Errorf("the words of the fit were merged by the stemmer %q, which is needed for the word %q: give it by Model.WithTokenizer of what Model.TextSetting().Tokenizer(tools…) returns", m.text.Stemmer, word)
	}
	return bag.Unknown, nil
}

// Texts returns raw texts as a source of documents for Transform, split by the
// model's Tokenizer, whose error the source yields. The ids of the documents are their
// numbers, from 1.
func (m *Model) Texts(texts ...string) corpus.Source { return textSource{m, texts} }

type textSource struct {
	m     *Model
	texts []string
}

var _ corpus.FromText = textSource{}

func (s textSource) TextSetting() *text.Setting { return s.m.TextSetting() }

// Stemmer is nil: the model finds the words.
func (s textSource) Stemmer() text.Stemmer { return nil }

func (s textSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		t, err := s.m.splitter()
		if err != nil {
			yield(corpus.Document{}, err)
			return
		}
		var tokens []string
		for _, text := range s.texts {
			if err := ctx.Err(); err != nil {
				yield(corpus.Document{}, err)
				return
			}
			tokens = t.Tokenize(tokens[:0], text)
			if !yield(corpus.Document{Tokens: tokens}, nil) {
				return
			}
		}
	}
}

// sameText refuses documents whose text was split otherwise than that of the fit.
func (m *Model) sameText(docs corpus.Source) error {
	from, ok := docs.(corpus.FromText)
	if !ok || m.text == nil {
		return nil
	}
	s := from.TextSetting()
	if s == nil {
		return nil
	}
	same := *s
	if same.Stemmer == "" { // the model finds the words of unmerged forms
		same.Stemmer = m.text.Stemmer
	}
	if !m.text.Equal(same) {
		return fmt.Errorf("the documents were split into words by the setting %v, those of the fit by %v: read them with the Tokenizer of the model", s, m.text)
	}
	return nil
}
