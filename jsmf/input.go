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
	"github.com/jsmf-go/spectral/internal/bytesize"
	"github.com/jsmf-go/spectral/internal/input"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Input is what a model is fitted to and measured against. It is one of
//
//   - a [*corpus.Corpus], documents in memory;
//   - any other collection of documents that Info().Source reads again and again, such as a
//     [*corpus.Encoded]. Info().Vocabulary or the Source ([corpus.Description]) names its words;
//   - documents on other machines, as package jsmf/beam encodes them;
//   - a co-occurrence matrix, that is, a [cooc.Matrix] such as [*cooc.Moments] or [*cooc.Dense], or
//     one that only multiplies ([cooc.Operator]). It is used as it is.
//
// New reads documents once and holds them encoded ([corpus.Encode]), in two to three bytes for each
// pair of a document and a word; a *corpus.Encoded, in memory or in a file, is used as it is.
// Published counts the documents of Info().Corpus as [cooc.NewMoments] does with
// cooc.Options{DropUnused: true}, others, encoded in the same way, as [cooc.FromEncoded] does: that
// matrix only multiplies, and [rectify.LR] asks for no more. To count in another way, or to share a
// count between several fits, call NewMoments and fit to the result:
//
//	counts, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true})
//	m, err := p.Fit(ctx, counts)
//
// Words have the names in Info().Vocabulary, or else their numbers. [cooc.WithInfo] names the words
// of a matrix.
type Input interface{ Info() corpus.Info }

// problem is what the stages work on.
type problem struct {
	in       Input         // or its documents encoded, once they are: what is read again
	docs     *documents    // whose best words c has; nil if a matrix was given or all words count
	c        cooc.Operator // without the words whose rows are empty
	info     corpus.Info   // of all words, with their names
	keep     []int         // the numbers of the words of c among all; nil: all
	n        int           // how many words there are in all
	function []bool        // of all words, function words; nil: none is known
	size     size          // for Estimate
	stats    Stats         // of counting
}

// count makes the problem of an input.
func (p Pipeline) count(ctx context.Context, in Input, tr *tracker) (*problem, error) {
	if err := p.suits(in); err != nil {
		return nil, wrap(err)
	}
	pr := &problem{in: in, info: in.Info()}
	pr.size = p.sizeOf(in)
	if err := carried(p.k, pr.size.docs); err != nil {
		return nil, err
	}
	if err := p.affordable(pr.size); err != nil {
		return nil, err
	}
	return pr, pr.stage(tr, func() (string, error) {
		if c := p.matrix(in); c != nil || p.allWords {
			return p.countAll(ctx, pr, c, tr)
		}
		var err error
		if pr.docs, err = readDocuments(ctx, in, p.workers); err != nil {
			return "", err
		}
		if pr.docs.encoded != nil && in.Info().Corpus == nil {
			pr.in = pr.docs.encoded
		}
		pr.info, pr.n, pr.function = pr.docs.info, len(pr.docs.unigram), pr.docs.function
		return p.choose(ctx, pr, tr)
	})
}

// suits checks the settings against an input, of which it reads nothing.
func (p Pipeline) suits(in Input) error {
	if missing(in) {
		return errors.New("no corpus and no matrix")
	}
	info, c, elsewhere := in.Info(), p.matrix(in), input.Elsewhere(in)
	documents := info.Source != nil || info.Corpus != nil && c == nil && p.allWords
	switch {
	case c == nil && p.allWords && elsewhere:
		return fmt.Errorf("Published counts documents in memory, and those of a %T are on other machines; fit them by New", in)
	case !documents && c == nil:
		return fmt.Errorf("a %T is no co-occurrence matrix and holds no documents", in)
	case elsewhere && p.seeds != nil:
		return fmt.Errorf("seeds are looked for in documents here, and those of a %T are on other machines", in)
	case !documents && p.refiner != nil:
		return fmt.Errorf("%v needs documents, and there are none behind this matrix (%s): fit it with Refine(nil) or by Published", p.refiner, cmp.Or(info.Form, "caller's"))
	case elsewhere && p.refiner != nil && !refine.Remote(p.refiner):
		return fmt.Errorf("%v needs the documents here, and those of a %T are on other machines; use refine.Batch", p.refiner, info.Source)
	}
	return nil
}

// stage runs StageCooc.
func (pr *problem) stage(tr *tracker, f func() (string, error)) error {
	return wrap(tr.run(&pr.stats, StageCooc, "", f))
}

// matrix returns the input if it is a co-occurrence matrix that is used as it is, or nil.
func (p Pipeline) matrix(in Input) cooc.Operator {
	if m, ok := in.(cooc.Matrix); ok {
		return m
	}
	if c, ok := in.(cooc.Operator); ok && (p.allWords || c.Info().Source == nil) {
		return c
	}
	return nil
}

// choose makes the matrix of the best words of the documents.
func (p Pipeline) choose(ctx context.Context, pr *problem, tr *tracker) (string, error) {
	if p.k > pr.n {
		return "", tooMany(p.k, pr.n)
	}
	c, words, err := pr.docs.start(ctx, min(p.bestWords(pr.n, pr.size.nnz), pr.n), 2*p.k, p.refiner != nil)
	if err != nil {
		return "", err
	}
	if pr.c, pr.keep, err = filled(ctx, c, p.workers); err != nil {
		return "", err
	}
	if pr.keep != nil {
		words = permuted(words, pr.keep)
	}
	pr.keep = words
	pr.describe(c.Info(), tr)
	if len(pr.keep) == pr.n {
		pr.keep = nil
	}
	return p.counted(pr)
}

// countAll takes the matrix given, or counts all words of the documents if c is nil.
func (p Pipeline) countAll(ctx context.Context, pr *problem, c cooc.Operator, tr *tracker) (_ string, err error) {
	if c == nil {
		if c, err = p.countDocuments(ctx, pr); err != nil {
			return "", err
		}
		pr.info = c.Info()
	} else if err := cooc.Check(ctx, c, p.workers); err != nil {
		return "", err
	}
	pr.c, pr.n = c, c.Dim()
	pr.describe(pr.info, tr)
	if p.k > pr.n {
		return "", tooMany(p.k, pr.n)
	}
	if pr.n > manyWords {
		need := rectify.Bytes(p.rectifier, pr.n, p.startTopics(pr.n, pr.size.nnz), rectify.Options{})
		tr.warn(&pr.stats, "all %d words take part, where New takes the %d best: rectification alone, %v, may take minutes and %s",
			pr.n, p.bestWords(pr.n, pr.size.nnz), p.rectifier, bytesize.String(need))
	}
	if pr.c, pr.keep, err = filled(ctx, c, p.workers); err != nil {
		return "", err
	}
	if pr.keep != nil {
		tr.warn(&pr.stats, "%d of %d words have an empty row in the matrix; they are in no topic", pr.n-len(pr.keep), pr.n)
	}
	return p.counted(pr)
}

// counted returns the outcome of the counts in words, if they hold the words of K topics.
func (p Pipeline) counted(pr *problem) (string, error) {
	if n := pr.c.Dim(); min(p.k, p.startTopics(n, pr.size.nnz)) > n {
		return "", tooMany(p.k, n)
	}
	if pr.docs == nil && pr.keep == nil {
		return fmt.Sprintf("N = %d, %d nonzeros", pr.n, pr.info.Nonzeros), nil
	}
	return fmt.Sprintf("N = %d of %d, %d nonzeros", pr.c.Dim(), pr.n, pr.info.Nonzeros), nil
}

// manyWords is from where on a fit with all words takes minutes.
const manyWords = 30_000

// countDocuments counts all words of the documents of an input that is no matrix: in memory if they
// are there, so that the matrix has rows, or else by decoding them for each product.
func (p Pipeline) countDocuments(ctx context.Context, pr *problem) (cooc.Operator, error) {
	info, o := pr.in.Info(), cooc.Options{DropUnused: true, Workers: p.workers}
	if info.Corpus != nil {
		return cooc.NewMoments(ctx, info.Corpus, o)
	}
	e, err := input.Encoded(ctx, pr.in)
	if err != nil {
		return nil, err
	}
	pr.in = e
	return cooc.FromEncoded(ctx, e, o)
}

// describe fills in the statistics of the counts, and warns of what was left out. matrix is what is
// known of the matrix.
func (pr *problem) describe(matrix corpus.Info, tr *tracker) {
	info, words, st := pr.info, pr.n, &pr.stats
	st.Cooc = CoocStats{Form: cmp.Or(matrix.Form, "caller's"), N: words, NNZ: int(matrix.Nonzeros)}
	if pr.docs != nil {
		st.Cooc.N = pr.c.Dim()
	}
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
	if pr.docs != nil {
		for _, w := range pr.docs.said {
			tr.warn(st, "%s", w)
		}
	}
}

// filled returns the matrix of the words whose rows are not empty, and their numbers; c and nil if
// no row is empty. A row that sums to zero is not empty if it holds numbers of both signs.
func filled(ctx context.Context, c cooc.Operator, workers int) (cooc.Operator, []int, error) {
	const rounding = 1e-14
	marg := c.Marginals()
	limit := rounding * slices.Max(marg)
	var empty []int
	for i, v := range marg {
		if v <= limit {
			empty = append(empty, i)
		}
	}
	if empty == nil {
		return c, nil, nil
	}
	m, ok := c.(cooc.Matrix)
	if !ok {
		return nil, nil, fmt.Errorf("%d of the %d words are in no document that is used; leave them out, by cooc.Options.DropUnused", len(empty), len(marg))
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

// Info makes a problem an Input: of its documents, whose words are those of all.
func (p *problem) Info() corpus.Info { return p.info }

// encoded returns the documents as passes read them, if they are not elsewhere.
func (p *problem) encoded(ctx context.Context) (*corpus.Encoded, error) {
	if p.docs != nil {
		return p.docs.encoded, nil
	}
	e, err := input.Encoded(ctx, p)
	if err == nil {
		p.info.Source = e // which passes need not encode again
	}
	return e, err
}

// word returns the number of word i of c among all words.
func (p *problem) word(i int) int {
	if p.keep == nil || i < 0 || i >= len(p.keep) {
		return i
	}
	return p.keep[i]
}

// names returns the names of the words of c. If there is no vocabulary, that is nil, or the numbers
// among all words if c has not all of them.
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

// expandMarginals returns the marginals that a method returned, or else the given ones, with zeros
// for the words that c does not have. If c has the best words of documents, it returns p(word) of
// all.
func (p *problem) expandMarginals(left, given []float64) []float64 {
	if p.docs != nil {
		return p.docs.unigram
	}
	if left == nil { // a method of the caller
		left = given
	}
	left = slices.Clone(left)
	if p.keep == nil {
		return left
	}
	return p.expand(mat.NewDense(len(left), 1, left)).RawMatrix().Data
}
