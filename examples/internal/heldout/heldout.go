// Package heldout scores topics, of any program, on a corpus of which some
// documents are held out: how likely they make what those documents hide, and how
// their top words go together in the others.
package heldout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// Split is a corpus with documents held out, whose tokens are in two halves. The
// three parts have the same vocabulary, and Observed and Held the same documents in
// the same order.
type Split struct{ Train, Observed, Held *corpus.Corpus }

// ReadSplit reads vocab.txt and docword.train.txt, docword.obs.txt and
// docword.held.txt, or these with .gz, from a folder.
func ReadSplit(ctx context.Context, dir string) (s Split, err error) {
	for _, part := range []struct {
		name string
		to   **corpus.Corpus
	}{{"train", &s.Train}, {"obs", &s.Observed}, {"held", &s.Held}} {
		path := filepath.Join(dir, "docword."+part.name+".txt")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path += ".gz"
		}
		if *part.to, err = corpus.ReadUCI(ctx, path, filepath.Join(dir, "vocab.txt")); err != nil {
			return Split{}, err
		}
	}
	return s, s.Check()
}

// Check reports parts that do not fit each other, and a held half without tokens.
func (s Split) Check() error {
	n, o, h := s.Train.NumWords(), s.Observed.NumWords(), s.Held.NumWords()
	if n != o || n != h {
		return fmt.Errorf("the training documents have a vocabulary of %d words, the halves of the others one of %d and %d", n, o, h)
	}
	if o, h := s.Observed.NumDocs(), s.Held.NumDocs(); o != h {
		return fmt.Errorf("%d documents have an observed half and %d a hidden one", o, h)
	}
	if s.Held.Tokens() == 0 {
		return errors.New("the documents held out have no hidden tokens")
	}
	return nil
}

// InCorpus returns a matrix over the words of a model, such as its topics, with a row for
// each word of a corpus, and zeros for words that the model lacks.
func InCorpus(m *jsmf.Model, b *mat.Dense, c *corpus.Corpus) *mat.Dense {
	out := mat.NewDense(c.NumWords(), m.K(), nil)
	for i := range c.NumWords() {
		if w, ok := m.Index(c.Word(i)); ok {
			out.SetRow(i, b.RawRowView(w))
		}
	}
	return out
}
