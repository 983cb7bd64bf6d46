package jsmf

import (
	"fmt"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/stems"
)

// Tokenizer returns what splits raw text as the texts of the fit were split, or the default where
// that is not known. If the setting names the user's own tokenizer or tools, a model that has just
// been fitted or read does not have them: the error says how to give them.
func (m *Model) Tokenizer() (text.Tokenizer, error) {
	set := m.prov.Text
	switch {
	case m.add.Tokenizer != nil:
		return m.add.Tokenizer, nil
	case set == nil:
		return text.Default(), nil
	case set.Own != "" && set.Stemmer != "":
		return nil, errorf("the texts of the fit were split by the user's own tokenizer %q, and the words merged by "+
			"the stemmer %q: give both by Model.With(jsmf.Additions{Tokenizer: text.OwnWithStemmer(%[1]q, …)})", set.Own, set.Stemmer)
	case set.Own != "":
		return nil, errorf("the texts of the fit were split by the user's own tokenizer %q: "+
			"give it by Model.With(jsmf.Additions{Tokenizer: text.Own(%[1]q, …)})", set.Own)
	}
	t, err := set.Tokenizer()
	if err != nil {
		return nil, errorf("the texts of the fit were split with tools: %s: %w", giveTools, err)
	}
	return t, nil
}

// giveTools says how a model gets the tools of its text setting.
const giveTools = "give them by Model.With(jsmf.Additions{Tokenizer: t}), where Model.Provenance().Text.Tokenizer(tools…) makes t"

// split makes t the tokenizer of the model.
func (m *Model) split(t text.Tokenizer) error {
	s := t.Setting()
	if err := s.Validate(); err != nil {
		return err
	}
	if m.prov.Text != nil && !m.prov.Text.Equal(s) {
		return fmt.Errorf("the texts of the fit were split by the setting %v, not by %v", m.prov.Text, s)
	}
	m.add.Tokenizer, m.stems = t, nil
	if by := t.Stemmer(); by != nil && m.vocab != nil {
		m.stems = stems.NewIndex(by, m.vocab)
	}
	if m.prov.Text == nil {
		m.prov.Text = &s
	}
	return nil
}

// CountWords splits a text with the model's Tokenizer. It returns the numbers of the words that the
// model knows, ascending, and how often each occurs, as [infer.Inferer.InferTo] takes them. unknown
// counts the other tokens. Errors: those of Tokenizer, and a word that occurs more than
// [corpus.MaxCount] times.
func (m *Model) CountWords(s string) (ids, counts []int32, unknown int64, err error) {
	t, err := m.Tokenizer()
	if err != nil {
		return nil, nil, 0, err
	}
	var c bag.Counter
	err = c.Read(&bag.Words{Token: m.number}, bag.Document{Tokens: t.Tokenize(nil, s)}, 1)
	if err == nil {
		err = c.Sorted()
	}
	if err != nil {
		return nil, nil, 0, wrap(err)
	}
	return c.Words, c.Counts, c.Unknown, nil
}

// number returns the number of a word for package bag: that of the word itself, or else of the word
// that has its stem.
func (m *Model) number(word string) (int32, error) {
	if i, ok := m.Index(word); ok {
		return int32(i), nil
	}
	if m.stems != nil {
		if i, ok := m.stems.Find(word); ok {
			return i, nil
		}
	} else if m.prov.Text != nil && m.prov.Text.Stemmer != "" {
		return 0, fmt.Errorf("the words of the fit were merged by the stemmer %q, without which the word %q is not known: %s", m.prov.Text.Stemmer, word, giveTools)
	}
	return bag.Unknown, nil
}

// Texts returns raw texts as a source of documents for Transform, split by the model's Tokenizer,
// whose error the source yields. The ids of the documents are their numbers, from 1.
func (m *Model) Texts(texts ...string) corpus.Source {
	return corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
		t, err := m.Tokenizer()
		if err != nil {
			yield(corpus.Document{}, err)
			return
		}
		var tokens []string
		for _, s := range texts {
			tokens = t.Tokenize(tokens[:0], s)
			if !yield(corpus.Document{Tokens: tokens}, nil) {
				return
			}
		}
	}, corpus.Description{Documents: len(texts), Text: m.prov.Text}) // no Stemmer: the model finds the words
}

// sameText refuses documents whose text was split otherwise than that of the fit; nil: that is not
// known.
func (m *Model) sameText(s *text.Setting) error {
	if s == nil || m.prov.Text == nil {
		return nil
	}
	same := *s
	if same.Stemmer == "" { // the model finds the words of unmerged forms
		same.Stemmer = m.prov.Text.Stemmer
	}
	if !m.prov.Text.Equal(same) {
		return fmt.Errorf("the documents were split into words by the setting %v, those of the fit by %v: read them with the Tokenizer of the model", s, m.prov.Text)
	}
	return nil
}
