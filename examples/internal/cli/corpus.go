package cli

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/jsmf"
)

// UCI holds the flags that name a corpus in UCI form.
type UCI struct {
	Docword, Vocab string // the paths of its files
	Stop           string // that of a list of stop words, or ""
}

// Flags defines -docword, -vocab and -stop.
func (u *UCI) Flags(f *flag.FlagSet) {
	f.StringVar(&u.Docword, "docword", "", "the counts in UCI form, plain or gzipped: a `file`")
	f.StringVar(&u.Vocab, "vocab", "", "the words, one a line: a `file`")
	f.StringVar(&u.Stop, "stop", "", "stop words, one a line: a `file`")
}

// Require says which of the files is missing.
func (u UCI) Require(w *Wrong) {
	w.If(u.Docword == "", "-docword is missing")
	w.If(u.Vocab == "", "-vocab is missing")
}

// Read reads the corpus.
func (u UCI) Read(ctx context.Context) (*corpus.Corpus, error) {
	return corpus.ReadUCI(ctx, u.Docword, u.Vocab)
}

// Curate curates a corpus, without the stop words of -stop. An error says what
// each rule has left out.
func (u UCI) Curate(ctx context.Context, raw *corpus.Corpus, cur corpus.Curation) (*corpus.Corpus, error) {
	if u.Stop != "" {
		stop, err := corpus.ReadStopWords(ctx, u.Stop)
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

// Count counts how the words of a corpus go together, without the words that no
// document used has, and reports that as the stage "count". It returns the time it
// took, too.
func Count(ctx context.Context, rec func(jsmf.Event), c *corpus.Corpus, o cooc.Options) (m *cooc.Moments, d time.Duration, err error) {
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
