package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Input is what a model is fitted to and measured against: a *corpus.Corpus or a
// co-occurrence matrix, that is, a cooc.Operator such as *cooc.Moments, *cooc.Stream
// or *cooc.Dense. A matrix is used as it is. Of any other Input the documents in
// Info().Corpus are counted, as by cooc.NewMoments with
// cooc.Options{DropUnused: true}.
//
// To count in another way, with tf-idf weights for example, or to share a count
// between several fits, call NewMoments and fit to the result:
//
//	counts, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, DropUnused: true})
//	m, err := p.Fit(ctx, counts)
//
// Words have the names in Info().Vocabulary, or else their numbers. cooc.WithInfo
// names the words of a matrix.
type Input interface{ Info() corpus.Info }

// problem is what the stages work on.
type problem struct {
	all   cooc.Operator // the whole matrix
	c     cooc.Operator // without the words whose rows are empty
	info  corpus.Info   // of all, with the names of all words
	keep  []int         // the numbers of the words of c among all; nil: all
	n     int           // how many words there are in all
	size  size          // for Estimate
	stats Stats         // of counting
}

// count makes the problem of an input.
func (p Pipeline) count(ctx context.Context, in Input, tr *tracker) (*problem, error) {
	if missing(in) {
		return nil, errors.New("jsmf: no corpus and no matrix")
	}
	c, counted := in.(cooc.Operator)
	pr := &problem{info: in.Info()}
	pr.size = sizeOf(pr.info, c)
	if err := p.affordable(pr.size); err != nil {
		return nil, err
	}
	duration, err := tr.run(StageCooc, "", func() (_ string, err error) {
		if !counted {
			if c, err = p.moments(ctx, in, cooc.Options{DropUnused: true}); err != nil {
				return "", err
			}
			pr.info = c.Info()
		} else if err := cooc.Check(ctx, c, p.workers); err != nil {
			return "", err
		}
		pr.all, pr.c, pr.n = c, c, c.Dim()
		pr.describe(tr)
		if p.k > pr.n {
			return "", tooMany(p.k, pr.n)
		}
		if pr.c, pr.keep, err = filled(ctx, c, p.workers); err != nil || pr.keep == nil {
			return fmt.Sprintf("N = %d, %d nonzeros", pr.n, pr.info.Nonzeros), err
		}
		tr.warn(&pr.stats, "%d of %d words have an empty row in the matrix; they are in no topic", pr.n-len(pr.keep), pr.n)
		if p.k > len(pr.keep) {
			return "", tooMany(p.k, len(pr.keep))
		}
		return fmt.Sprintf("N = %d of %d, %d nonzeros", len(pr.keep), pr.n, pr.info.Nonzeros), nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	pr.stats.Cooc.Duration = duration
	return pr, nil
}

// moments counts the documents of an input that is no matrix.
func (p Pipeline) moments(ctx context.Context, in Input, o cooc.Options) (*cooc.Moments, error) {
	docs := in.Info().Corpus
	if docs == nil {
		return nil, fmt.Errorf("a %T is no co-occurrence matrix and holds no documents", in)
	}
	o.Workers = p.workers
	return cooc.NewMoments(ctx, docs, o)
}

// describe fills in the statistics of the counts, and warns of what was left out.
func (pr *problem) describe(tr *tracker) {
	info, words, st := pr.info, pr.n, &pr.stats
	st.Cooc = CoocStats{Form: cmp.Or(info.Form, "caller's"), N: words, NNZ: int(info.Nonzeros)}
	if info.Tokens > 0 {
		st.Corpus = CorpusStats{
			Documents: info.Documents, Words: words, Tokens: info.Tokens, NNZ: int(info.Nonzeros),
			DroppedDocuments: info.DroppedDocuments, DroppedWords: info.DroppedWords,
		}
	}
	warn := func(what string, used int, dropped []corpus.Dropped) {
		for _, x := range dropped {
			used += x.Count
		}
		for _, x := range dropped {
			tr.warn(st, "%d of %d %s left out: %s", x.Count, used, what, x.Reason)
		}
	}
	warn("documents", info.Documents, info.DroppedDocuments)
	warn("words", words, info.DroppedWords)
}

// filled returns the matrix of the words whose rows are not empty, and their numbers; c
// and nil if no row is empty. A row that sums to zero is not empty if it holds numbers of
// both signs.
func filled(ctx context.Context, c cooc.Operator, workers int) (cooc.Operator, []int, error) {
	const rounding = 1e-14
	marg := c.Marginals()
	limit := rounding * slices.Max(marg)
	if slices.Min(marg) > limit {
		return c, nil, nil
	}
	m, ok := c.(cooc.Matrix)
	if !ok {
		gone := 0
		for _, v := range marg {
			if v <= limit {
				gone++
			}
		}
		return nil, nil, fmt.Errorf("%d of the %d words are in no document that is used; leave them out, by cooc.Options.DropUnused", gone, len(marg))
	}
	norms2, err := m.RowNorms2(ctx, workers)
	if err != nil {
		return nil, nil, err
	}
	largest := slices.Max(norms2)
	var keep []int
	for i, v := range marg {
		if v > limit || norms2[i] > rounding*largest {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(marg) {
		return c, nil, nil
	}
	sub, err := cooc.Submatrix(m, keep)
	return sub, keep, err
}

// word returns the number of word i of c among all words.
func (p *problem) word(i int) int {
	if p.keep == nil || i < 0 || i >= len(p.keep) {
		return i
	}
	return p.keep[i]
}

// names returns the names of the words of c. If there is no vocabulary, that is nil, or
// the numbers among all words if c has not all of them.
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

// name returns the name of word i of c, or its number if there is no vocabulary.
func (p *problem) name(i int) string {
	w := p.word(i)
	if v := p.info.Vocabulary; v != nil && w >= 0 && w < len(v) {
		return v[w]
	}
	return strconv.Itoa(w)
}

// expand adds zero rows for the words that c does not have.
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

// expandMarginals returns the marginals that a method returned, or else the given ones,
// with zeros for the words that c does not have.
func (p *problem) expandMarginals(left, given []float64) []float64 {
	if left == nil { // a method of the caller
		left = given
	}
	left = slices.Clone(left)
	if p.keep == nil {
		return left
	}
	return p.expand(mat.NewDense(len(left), 1, left)).RawMatrix().Data
}
