package corpus

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// WriteUCI writes the counts in UCI format (see UCI), and the words to vocab, one a
// line, unless it is nil. The format has no ids and labels. Words that could not be
// read back are an error: those that are empty, begin or end with space, hold a
// line break, or are not valid UTF-8.
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
	var b []byte
	for m := range c.NumDocs() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("corpus: write UCI: %w", err)
		}
		words, counts := c.Doc(m)
		for i := range words {
			b = strconv.AppendInt(b[:0], int64(m)+1, 10)
			b = strconv.AppendInt(append(b, ' '), int64(words[i])+1, 10)
			b = strconv.AppendInt(append(b, ' '), int64(counts[i]), 10)
			if _, err := w.Write(append(b, '\n')); err != nil {
				return fmt.Errorf("corpus: write UCI: counts: %w", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("corpus: write UCI: counts: %w", err)
	}
	return nil
}

// SaveUCI writes the corpus in UCI format to files, gzipped if the path ends in
// .gz. An empty vocabPath writes no vocabulary. Each file replaces an old one of its
// name only when it is complete, and keeps its permission bits; a new one gets 0666
// less the umask. Symbolic links are followed; an old file that is not regular is an
// error.
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

// replace writes a file whole or not at all. Errors of write pass as they are,
// those of the file get its path.
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
