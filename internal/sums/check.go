package sums

import (
	"errors"
	"fmt"

	"github.com/jsmf-go/spectral/corpus"
)

// documentWeights are weights of documents, at most 1 each; nil: all weigh 1.
type documentWeights []float64

var errWeights = errors.New("documents on other machines cannot have weights")

func (x documentWeights) check() error {
	for d, v := range x {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("document %d has the weight %g; want it in [0, 1]", d+1, v)
		}
	}
	return nil
}

// of returns the weight of document d of a block.
func (x documentWeights) of(b *corpus.Block, d int) (float64, error) {
	if x == nil {
		return 1, nil
	}
	if b.First+d >= len(x) {
		return 0, fmt.Errorf("%w: more than the %d that have weights", corpus.ErrSourceChanged, len(x))
	}
	return x[b.First+d], nil
}

// checkWords checks that document d of a block has no word from n on.
func checkWords(b *corpus.Block, d, n int) error {
	words, _ := b.Doc(d)
	if w := words[len(words)-1]; int(w) >= n {
		return fmt.Errorf("document %s: word %d is not in [0, %d]", b.Name(d), w, n-1)
	}
	return nil
}

// checkSum checks that a sum may be that of a plan.
func checkSum(p Plan, sum []int64) error {
	if len(sum) != p.Len() {
		return fmt.Errorf("a sum of %d numbers; want %d", len(sum), p.Len())
	}
	for i, x := range sum {
		if x < 0 {
			return fmt.Errorf("number %d of a sum is %d", i, x)
		}
	}
	return nil
}
