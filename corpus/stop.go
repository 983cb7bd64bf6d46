package corpus

import (
	"bytes"
	"context"
	"io"
)

// ReadStopWords reads a stop list from a file, plain or gzipped: one word a
// line, without the space around it. Blank lines and lines that begin with #
// are skipped. See also text.EnglishStopWords.
func ReadStopWords(ctx context.Context, path string) ([]string, error) {
	l, err := File{Name: path}.lines()
	if err != nil {
		return nil, err
	}
	defer l.close()
	var list []string
	for {
		b, err := l.text()
		if err == io.EOF {
			return list, nil
		}
		if err == nil {
			err = l.check(ctx)
		}
		if err != nil {
			return nil, err
		}
		if b = bytes.TrimSpace(b); len(b) > 0 && b[0] != '#' {
			list = append(list, string(b))
		}
	}
}
