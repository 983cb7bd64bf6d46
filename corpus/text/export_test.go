package text

import (
	"context"
	"iter"
)

// FindPhrases finds the phrases of documents that are sequences of words, with Break where two
// words do not stand next to each other.
func FindPhrases(ctx context.Context, docs func() iter.Seq2[[]string, error], o Learning) (*Phrases, error) {
	limits, err := o.limits()
	if err != nil {
		return nil, err
	}
	return findPhrases(ctx, docs, limits)
}

// Join appends tokens to dst, with phrases joined and Breaks left out.
func (p *Phrases) Join(dst, tokens []string) []string {
	from := len(dst)
	return p.joinFrom(append(dst, tokens...), from)
}
