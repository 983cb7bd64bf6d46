package corpus

import (
	"context"
	"io"
	"iter"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Lines reads a text file with one document a line. A blank line is a document without
// words, so that documents have the numbers of their lines.
type Lines struct {
	In File

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// Describe implements Source.
func (s Lines) Describe(context.Context) (Description, error) { return fromText(s.Tokenizer, nil), nil }

// Docs implements Source.
func (s Lines) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s Lines) stream(ctx context.Context, yield func(Document, error) bool) error {
	tok := orDefault(s.Tokenizer)
	l, err := s.In.lines(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	var tokens []string
	for {
		b, err := l.text()
		if ctx.Err() != nil {
			return l.fail(ctx.Err())
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		tokens = tok.Tokenize(tokens[:0], string(b))
		if !yield(Document{Tokens: tokens, Place: Place{s.In.Name, l.n}}, nil) {
			return errStop
		}
	}
}
