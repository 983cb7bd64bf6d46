package corpus

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteUCI writes the counts in UCI form (see UCI), and the words to vocab,
// one a line, unless it is nil. Ids and labels have no place in that form.
// A word that could not be read back is an error: one that is empty, begins or
// ends with space, holds a line break, or is not valid UTF-8.
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

// SaveUCI writes the corpus in UCI form to files, gzipped where the path ends
// in .gz; "" for vocabPath writes no vocabulary. Each file appears under its
// name only when it is complete, replacing one that was there.
func (c *Corpus) SaveUCI(ctx context.Context, docwordPath, vocabPath string) (err error) {
	dw, err := create(docwordPath)
	if err != nil {
		return err
	}
	defer dw.discard()
	if vocabPath == "" {
		if err := c.WriteUCI(ctx, dw, nil); err != nil {
			return err
		}
		return dw.commit()
	}
	v, err := create(vocabPath)
	if err != nil {
		return err
	}
	defer v.discard()
	if err := c.WriteUCI(ctx, dw, v); err != nil {
		return err
	}
	return errors.Join(v.commit(), dw.commit())
}

// file is written beside its place and renamed at the end.
type file struct {
	io.Writer
	f    *os.File
	z    *gzip.Writer
	path string
}

func create(path string) (*file, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("corpus: write %s: %w", path, err)
	}
	w := &file{Writer: f, f: f, path: path}
	if strings.HasSuffix(path, ".gz") {
		w.z = gzip.NewWriter(f)
		w.Writer = w.z
	}
	return w, nil
}

func (w *file) commit() error {
	var err error
	if w.z != nil {
		err = w.z.Close()
	}
	err = errors.Join(err, w.f.Chmod(0o644), w.f.Close())
	if err == nil {
		err = os.Rename(w.f.Name(), w.path)
	}
	if err != nil {
		os.Remove(w.f.Name())
		err = fmt.Errorf("corpus: write %s: %w", w.path, err)
	}
	w.f = nil
	return err
}

// discard removes an uncommitted file.
func (w *file) discard() {
	if w.f != nil {
		w.f.Close()
		os.Remove(w.f.Name())
	}
}
