package jsmf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Input is what a model is fitted to and measured against: a *corpus.Corpus, or a
// co-occurrence matrix, that is a cooc.Operator such as *cooc.Moments, *cooc.Stream
// or *cooc.Dense. An Operator is taken as it is. Of any other Input the documents
// that Info().Corpus holds are counted, with the Pipeline's Weighting and
// MinTokens.
//
// Several fits can share a count: make it once with cooc.NewMoments, and fit to
// the result.
//
// Words are called as Info().Vocabulary says, or else by their number; see
// cooc.WithInfo for naming the words of a matrix.
type Input interface{ Info() corpus.Info }

// problem is what the stages work on.
type problem struct {
	all  cooc.Operator // the whole matrix
	c    cooc.Operator // without the words that take no part
	info corpus.Info   // of the input, with all words
	keep []int         // the numbers of the words of c among all; nil: all
	n    int           // how many words there are in all
	size size          // for estimates of memory
}

// count makes the problem of an input and writes its statistics.
func (p Pipeline) count(ctx context.Context, in Input, tr *tracker, st *Stats) (pr problem, err error) {
	if in == nil {
		return pr, errors.New("jsmf: no corpus and no matrix")
	}
	c, counted := in.(cooc.Operator)
	pr.info = in.Info()
	pr.size = sizeOf(pr.info, c)
	if err := p.affordable(pr.size); err != nil {
		return pr, err
	}
	st.Cooc.Duration, err = tr.run(StageCooc, "", func() (string, error) {
		if !counted {
			if pr.info.Corpus == nil {
				return "", fmt.Errorf("a %T is no co-occurrence matrix and holds no documents", in)
			}
			o := cooc.Options{Weighting: p.weighting, MinTokens: p.minTokens, DropUnused: true, Workers: p.workers}
			if c, err = cooc.NewMoments(ctx, pr.info.Corpus, o); err != nil {
				return "", err
			}
			pr.info = c.Info()
		} else if err := cooc.Check(ctx, c, p.workers); err != nil {
			return "", err
		}
		pr.all, pr.c, pr.n = c, c, c.Dim()
		st.describe(pr.info, pr.n)
		p.warnDropped(tr, st, pr.info, pr.n)
		if p.k > pr.n {
			return "", &TopicsError{K: p.k, Words: pr.n}
		}
		if pr.keep, err = filledRows(ctx, c, p.workers); err != nil || pr.keep == nil {
			return fmt.Sprintf("N = %d, %d nonzeros", pr.n, pr.info.Nonzeros), err
		}
		p.warn(tr, st, fmt.Sprintf("%d of %d words have an empty row in the matrix; they are in no topic", pr.n-len(pr.keep), pr.n))
		if p.k > len(pr.keep) {
			return "", &TopicsError{K: p.k, Words: len(pr.keep)}
		}
		if pr.c, err = cooc.Submatrix(c.(cooc.Matrix), pr.keep); err != nil {
			return "", err
		}
		return fmt.Sprintf("N = %d of %d, %d nonzeros", len(pr.keep), pr.n, pr.info.Nonzeros), nil
	})
	if err != nil {
		return pr, wrap(err)
	}
	return pr, nil
}

// describe writes down where the counts come from.
func (st *Stats) describe(info corpus.Info, words int) {
	form := info.Form
	if form == "" {
		form = "caller's"
	}
	st.Cooc = CoocStats{Form: form, N: words, NNZ: int(info.Nonzeros)}
	if info.Tokens > 0 {
		st.Corpus = CorpusStats{
			Documents: info.Documents, Words: words, Tokens: info.Tokens, NNZ: int(info.Nonzeros),
			DroppedDocuments: info.DroppedDocuments, DroppedWords: info.DroppedWords,
		}
	}
}

func (p Pipeline) warnDropped(tr *tracker, st *Stats, info corpus.Info, words int) {
	docs := info.Documents
	for _, x := range info.DroppedDocuments {
		docs += x.Count
	}
	for _, x := range info.DroppedWords {
		words += x.Count
	}
	for _, x := range info.DroppedDocuments {
		p.warn(tr, st, fmt.Sprintf("%d of %d documents left out: %s", x.Count, docs, x.Reason))
	}
	for _, x := range info.DroppedWords {
		p.warn(tr, st, fmt.Sprintf("%d of %d words left out: %s", x.Count, words, x.Reason))
	}
}

// filledRows returns the numbers of the rows that are not empty, nil where all
// are filled. A row of sum zero may still hold numbers of both signs.
func filledRows(ctx context.Context, c cooc.Operator, workers int) ([]int, error) {
	const rounding = 1e-14
	marg := c.Marginals()
	limit := rounding * slices.Max(marg)
	if slices.Min(marg) > limit {
		return nil, nil
	}
	m, ok := c.(cooc.Matrix)
	if !ok {
		gone := 0
		for _, v := range marg {
			if v <= limit {
				gone++
			}
		}
		return nil, fmt.Errorf("%d of the %d words are in no document that is used; leave them out, by cooc.Options.DropUnused", gone, len(marg))
	}
	norms2, err := m.RowNorms2(ctx, workers)
	if err != nil {
		return nil, err
	}
	largest := slices.Max(norms2)
	var keep []int
	for i, v := range marg {
		if v > limit || norms2[i] > rounding*largest {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(marg) {
		keep = nil
	}
	return keep, nil
}

// word returns the number among all words of word i of c.
func (p *problem) word(i int) int {
	if p.keep == nil || i < 0 || i >= len(p.keep) {
		return i
	}
	return p.keep[i]
}

// names returns the words of c: those of the vocabulary, or, where some words
// take no part and there is no vocabulary, their numbers.
func (p *problem) names() []string {
	if p.keep == nil {
		return p.info.Vocabulary
	}
	names := make([]string, len(p.keep))
	for i := range names {
		names[i] = p.name(i)
	}
	return names
}

// name returns word i of c, or its number where there is no vocabulary.
func (p *problem) name(i int) string {
	w := p.word(i)
	if v := p.info.Vocabulary; v != nil && w >= 0 && w < len(v) {
		return v[w]
	}
	return strconv.Itoa(w)
}

// expand returns a matrix of a row for each word of c with zero rows added for
// the others.
func (p *problem) expand(a *mat.Dense) *mat.Dense {
	if p.keep == nil {
		return a
	}
	_, k := a.Dims()
	all := mat.NewDense(p.n, k, nil)
	for i, w := range p.keep {
		all.SetRow(w, a.RawRowView(i))
	}
	return all
}

// expandMarginals returns those that a method has left, or else the given ones, with
// zeros for the words that c does not have.
func (p *problem) expandMarginals(left, given []float64) []float64 {
	if left == nil { // a method of the caller's own
		left = given
	}
	left = slices.Clone(left)
	if p.keep == nil {
		return left
	}
	return p.expand(mat.NewDense(len(left), 1, left)).RawMatrix().Data
}
