package corpus

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// WriteUCI writes the counts in UCI format (see UCI), and the words to vocab, one a line, unless
// it is nil. The format has no ids and labels. Words that could not be read back are an error:
// those that are empty, not UTF-8, begin or end with space, or hold a line break.
func (c *Corpus) WriteUCI(ctx context.Context, docword, vocab io.Writer) error {
	if vocab != nil {
		w := bufio.NewWriterSize(vocab, 1<<16)
		for i, s := range c.vocab {
			if s == "" || strings.TrimSpace(s) != s || strings.Contains(s, "\n") || !utf8.ValidString(s) || strings.HasPrefix(s, "\ufeff") {
				return fmt.Errorf("corpus: write UCI: word %d, %q, does not fit in a line of its own", i, s)
			}
			w.WriteString(s)
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("corpus: write UCI: vocabulary: %w", err)
		}
	}
	w := bufio.NewWriterSize(docword, 1<<16)
	fmt.Fprintf(w, "%d\n%d\n%d\n", c.NumDocs(), c.NumWords(), c.NNZ())
	for m := range c.NumDocs() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("corpus: write UCI: %w", err)
		}
		words, counts := c.Doc(m)
		for i := range words {
			if _, err := fmt.Fprintf(w, "%d %d %d\n", m+1, words[i]+1, counts[i]); err != nil {
				return fmt.Errorf("corpus: write UCI: counts: %w", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("corpus: write UCI: counts: %w", err)
	}
	return nil
}

// SaveUCI writes the corpus in UCI format to files, gzipped if the path ends in .gz. An empty
// vocabPath writes no vocabulary. Each file replaces an old one of its name when it is complete,
// and keeps its permission bits; a new one gets 0666 less the umask. Symbolic links are
// followed; an old file that is not regular is an error.
func (c *Corpus) SaveUCI(ctx context.Context, docwordPath, vocabPath string) error {
	return save(docwordPath, func(docword io.Writer) error {
		if vocabPath == "" {
			return c.WriteUCI(ctx, docword, nil)
		}
		return save(vocabPath, func(vocab io.Writer) error { return c.WriteUCI(ctx, docword, vocab) })
	})
}

// save writes a file as replace does, gzipped if the path ends in .gz.
func save(path string, write func(io.Writer) error) error {
	return replace(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return write(w)
		}
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return fmt.Errorf("corpus: write %s: %w", path, err)
		}
		return nil
	})
}

// replace writes a file whole or not at all. Errors of write stay as they are.
func replace(path string, write func(io.Writer) error) error {
	var inner error
	err := atomicfile.Write(path, func(w io.Writer) error {
		inner = write(w)
		return inner
	})
	if err != nil && inner == nil {
		return fmt.Errorf("corpus: write %s: %w", path, err)
	}
	return err
}
