package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
)

// UCI holds the flags that name a corpus in UCI form.
type UCI struct {
	Docword, Vocab string            // the paths of its files
	Stop           string            // that of a list of stop words, or ""
	Repeated       bool              // the vocabulary may have a word several times
	Encoding       encoding.Encoding // of Vocab and Stop; nil: UTF-8
}

// Flags defines -docword, -vocab, -repeated-words, -stop and -encoding.
func (u *UCI) Flags(f *flag.FlagSet, files *Files) {
	files.In(f, &u.Docword, "docword", "the counts in UCI form, plain or gzipped: a `file`")
	files.In(f, &u.Vocab, "vocab", "the words, one a line: a `file`")
	f.BoolVar(&u.Repeated, "repeated-words", false, "-vocab may have a word several times; each place is a word of its own, and the second\nHamlet is called Hamlet (2)")
	files.In(f, &u.Stop, "stop", "stop words, one a line: a `file`")
	Encoding(f, &u.Encoding)
}

// Require says which of the files is missing.
func (u UCI) Require(w *Wrong) {
	w.If(u.Docword == "", "-docword is missing")
	w.If(u.Vocab == "", "-vocab is missing")
}

// Source returns the documents of a file of counts over the words of -vocab.
func (u UCI) Source(docword string) corpus.Source {
	s := corpus.UCI{Docword: corpus.File{Name: docword}, Vocab: corpus.File{Name: u.Vocab, Encoding: u.Encoding}}
	if !u.Repeated {
		return s
	}
	s.RepeatedWords, s.Ungrouped = true, true
	return renamed{s}
}

// renamed is a Source whose words all differ: a repeated word is followed by the number
// of its place.
type renamed struct{ corpus.Source }

func (r renamed) Describe(ctx context.Context) (corpus.Description, error) {
	desc, err := r.Source.Describe(ctx)
	desc.Vocabulary = distinct(desc.Vocabulary)
	return desc, err
}

// distinct returns the words with names that all differ.
func distinct(words []string) []string {
	words = slices.Clone(words)
	taken := make(map[string]bool, len(words))
	for _, w := range words {
		taken[w] = true
	}
	times := make(map[string]int, len(words))
	for i, w := range words {
		if times[w]++; times[w] == 1 {
			continue
		}
		name := fmt.Sprintf("%s (%d)", w, times[w])
		for taken[name] { // a word of the file
			times[w]++
			name = fmt.Sprintf("%s (%d)", w, times[w])
		}
		words[i], taken[name] = name, true
	}
	return words
}

// Read reads the corpus.
func (u UCI) Read(ctx context.Context) (*corpus.Corpus, error) {
	c, err := corpus.Read(ctx, u.Source(u.Docword))
	if errors.Is(err, corpus.ErrRepeatedWord) {
		err = fmt.Errorf("%w; -repeated-words makes each a word of its own", err)
	}
	return c, err
}

// Curate curates a corpus, without the stop words of -stop. An error says what
// each rule has left out.
func (u UCI) Curate(ctx context.Context, raw *corpus.Corpus, cur corpus.Curation) (*corpus.Corpus, error) {
	if u.Stop != "" {
		stop, err := corpus.ReadStopWords(ctx, corpus.File{Name: u.Stop, Encoding: u.Encoding})
		if err != nil {
			return nil, err
		}
		cur.StopWords = append(cur.StopWords, stop...)
	}
	c, rep, err := corpus.Curate(raw, cur)
	if err != nil && rep != nil {
		err = fmt.Errorf("%w\n%v", err, rep)
	}
	return c, err
}

// Load reads the corpus and curates it.
func (u UCI) Load(ctx context.Context, cur corpus.Curation) (*corpus.Corpus, error) {
	raw, err := u.Read(ctx)
	if err != nil {
		return nil, err
	}
	return u.Curate(ctx, raw, cur)
}

// Sizes returns the sizes of a corpus in words.
func Sizes(c *corpus.Corpus) string {
	return fmt.Sprintf("%d documents, %d words, %d tokens", c.NumDocs(), c.NumWords(), c.Tokens())
}

// Pairs counts how the words of a corpus go together, without the words that no
// document used has, and reports that as the stage "count". It returns the time it
// took, too.
func Pairs(ctx context.Context, rec func(jsmf.Event), c *corpus.Corpus, o cooc.Options) (m *cooc.Moments, d time.Duration, err error) {
	o.DropUnused = true
	d, err = Stage(rec, "count", func() (string, error) {
		var err error
		if m, err = cooc.NewMoments(ctx, c, o); err != nil {
			return "", err
		}
		return Sizes(m.Info().Corpus), nil
	})
	return m, d, err
}
