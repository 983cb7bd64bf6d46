package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Method infers the topic proportions of documents. The methods of this package
// are [MAP], [PADD], [LeastSquares], [SPI], [TLI] and Gibbs.
type Method interface {
	// Prepare does what does not depend on the document. Errors: *TopicsError for
	// what is wrong with t, *SettingError, and that of ctx.
	Prepare(ctx context.Context, t Topics, opt Options) (*Inferer, error)
	// String returns the name and the settings.
	String() string
}

// Options are what every function takes besides the settings of the method. The zero
// value is ready for use.
type Options struct {
	// Workers is the number of goroutines; 0 or less: GOMAXPROCS. The result does not
	// depend on it.
	Workers int
	// Progress, if not nil, is told how many documents, or topics in TLI's preparation, are
	// done. It is called from one goroutine at a time, with growing values of done.
	Progress func(done, total int)
}

// Status is how the inference of a document, or [PADD.Learn], ended.
type Status uint8

const (
	Converged      Status = iota // the stopping rule was met, or the method has none
	IterationLimit               // the limit of iterations came first; the result is the point reached
	Stalled                      // rounding allows no further progress, although the stopping rule is not met
	LocalMinimum                 // PADD's problem for this Λ is not convex; the proportions are a local minimum
	NoTokens                     // no token that the model knows; the proportions are its topic shares
	AllZero                      // TLI found no topic above its threshold; all proportions are 0
	Diverged                     // no step of PADD.Learn brought the residual below that of Λ = 0

	// NoTopic: no topic explains the document, and its proportions say nothing, as where its words are drawn evenly
	// from the vocabulary or are of another language. Its n tokens (those of 50 of its words, where it has more) have
	// the sum L of ln(N·p), p being the probability of a word at the proportions. L is below ln(n/100), as if all N words were
	// alike, or below half of what n tokens have at the topic shares, by more than three standard deviations.
	// Or more than nine tenths of it are of topics that are hidden (Topics.Hidden).
	NoTopic

	numStatus
)

var statusNames = [numStatus]string{"converged", "iteration limit", "stalled", "local minimum", "no tokens", "all zero", "diverged", "no topic"}

func (s Status) String() string {
	if s < numStatus {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// SettingError reports a field of a method outside its range.
type SettingError struct {
	Method, Field string
	Value         float64
	Range         string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: %s = %g, must be %s", e.Method, e.Field, e.Value, e.Range)
}

// named gives an error of an exported function the name of the package, once.
func named(err *error) { *err = errs.Wrap("infer", *err) }

// Doc is how the inference of a document went.
type Doc struct {
	Status     Status
	Tokens     float64 // total weight of the words that were used
	Unknown    float64 // total weight of words that are in no topic, or in hidden ones
	Iterations int     // what the method counts: solves, steps or sweeps; 0 for SPI and TLI
}

// Inferer infers topic proportions by one method and one model. It is immutable
// and safe for concurrent use.
type Inferer struct {
	name   string
	n, k   int    // K without hidden topics
	known  []bool // N: the word is in a topic
	mean   []float64
	hidden int
	method inference
	pool   sync.Pool

	evidence evidence
}

// inference is the work of a method on a document.
type inference interface {
	// scratch returns what one goroutine needs.
	scratch() any
	// infer writes the proportions of a document with at least one token to dst, whose
	// content is undefined before. It ends soon after ctx, also within a long document.
	infer(ctx context.Context, dst []float64, d *document, scratch any) (Status, int, error)
}

// document holds the words of a document that are in a topic.
type document struct {
	ids []int32
	x   []float64 // weights, > 0
	n   float64   // their sum, > 0
}

// work is what one goroutine needs: the document in hand, and the scratch memory of
// the method.
type work struct {
	doc    document
	own    any
	words  []int32 // as given, then each once
	counts []int32
	pairs  []uint64
	theta  []float64 // of all topics, where some are hidden
}

func newInferer(name string, c *checked, m inference) *Inferer {
	p := &Inferer{name: name, n: c.n, k: c.k - c.Hidden, known: c.known, mean: c.mean, hidden: c.Hidden, method: m, evidence: newEvidence(c)}
	if p.hidden > 0 {
		p.mean = slices.Clone(c.mean[:p.k])
		vec.Normalise(p.mean)
	}
	p.pool.New = func() any { return &work{own: m.scratch(), theta: make([]float64, c.k)} }
	return p
}

// String returns the method and its settings.
func (p *Inferer) String() string { return p.name }

// N returns the number of words of the model.
func (p *Inferer) N() int { return p.n }

// K returns the number of topics.
func (p *Inferer) K() int { return p.k }

// InferTo writes the topic proportions of a document to dst, which has length K.
// They are non-negative and sum to 1 to rounding, except for the status [AllZero]. The
// document has counts[i] ≥ 0 tokens of word ids[i], 0 ≤ ids[i] < N. Nil counts mean
// one each. Words may come in any order, and the counts of repeated words are added.
//
// A document without a known token is no error: see [NoTokens]. Errors: slices of the wrong
// length, words outside the vocabulary and negative counts; dst is then undefined. InferTo
// does not allocate once its pool is filled, and cannot be interrupted, unlike Infer.
func (p *Inferer) InferTo(dst []float64, ids, counts []int32) (_ Doc, err error) {
	defer named(&err)
	w := p.pool.Get().(*work)
	defer p.pool.Put(w)
	return p.infer(context.Background(), dst, w, ids, counts)
}

// InferWeightsTo is InferTo for real weights ≥ 0 in place of counts, such as exact
// word probabilities. Each word should be given once. [MAP] and [TLI] take the total weight
// for the number of tokens; Gibbs takes whole numbers only.
func (p *Inferer) InferWeightsTo(dst []float64, ids []int32, weights []float64) (out Doc, err error) {
	defer named(&err)
	w := p.pool.Get().(*work)
	defer p.pool.Put(w)
	if len(weights) != len(ids) {
		return Doc{}, fmt.Errorf("%d weights for %d words", len(weights), len(ids))
	}
	w.doc.reset()
	for i, id := range ids {
		if err := checkWord(p.n, i, id, weights[i]); err != nil {
			return Doc{}, err
		}
		p.add(&w.doc, &out, id, weights[i])
	}
	err = p.finish(context.Background(), dst, w, &out)
	return out, err
}

// infer is InferTo with the scratch memory of a goroutine.
func (p *Inferer) infer(ctx context.Context, dst []float64, w *work, ids, counts []int32) (out Doc, err error) {
	if counts != nil && len(counts) != len(ids) {
		return Doc{}, fmt.Errorf("%d counts for %d words", len(counts), len(ids))
	}
	w.words, w.counts = w.words[:0], w.counts[:0]
	for i, id := range ids {
		x := int32(1)
		if counts != nil {
			x = counts[i]
		}
		if err := checkWord(p.n, i, id, float64(x)); err != nil {
			return Doc{}, err
		}
		if x > 0 {
			w.words, w.counts = append(w.words, id), append(w.counts, x)
		}
	}
	n, word, sum := bag.Merge(w.words, w.counts, &w.pairs)
	if word >= 0 {
		return Doc{}, fmt.Errorf("word %d occurs %g times, more than %d", word, sum, bag.MaxCount)
	}
	w.doc.reset()
	for i, id := range w.words[:n] {
		p.add(&w.doc, &out, id, float64(w.counts[i]))
	}
	err = p.finish(ctx, dst, w, &out)
	return out, err
}

func (d *document) reset() { d.ids, d.x, d.n = d.ids[:0], d.x[:0], 0 }

// checkWord refuses what cannot be the i-th word of a document over n words, of weight x.
func checkWord(n, i int, id int32, x float64) error {
	if id < 0 || int(id) >= n {
		return fmt.Errorf("word %d, number %d of the document, is not in [0, %d): are these numbers of another vocabulary?", id, i, n)
	}
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("the weight of word %d, number %d of the document, is %g, must be finite and at least 0", id, i, x)
	}
	return nil
}

// add adds x tokens of a word.
func (p *Inferer) add(d *document, out *Doc, id int32, x float64) {
	switch {
	case x == 0:
	case !p.known[id]:
		out.Unknown += x
	default:
		d.ids, d.x = append(d.ids, id), append(d.x, x)
		d.n += x
	}
}

// finish infers the document in w.
func (p *Inferer) finish(ctx context.Context, dst []float64, w *work, out *Doc) error {
	if len(dst) != p.k {
		return fmt.Errorf("dst has the length %d, must have %d", len(dst), p.k)
	}
	n := w.doc.n
	if math.IsInf(n, 1) || n > 0 && math.IsInf(1/n, 1) {
		return fmt.Errorf("the total weight of the document is %g", n)
	}
	out.Tokens = n
	if n == 0 {
		copy(dst, p.mean)
		out.Status = NoTokens
		return nil
	}
	var err error
	theta := dst
	if p.hidden > 0 {
		theta = w.theta
	}
	out.Status, out.Iterations, err = p.method.infer(ctx, theta, &w.doc, w.own)
	if err != nil || out.Status == AllZero {
		clear(dst)
		return err
	}
	if !p.evidence.explains(theta, &w.doc) {
		out.Status = NoTopic
	}
	if p.hidden > 0 {
		out.show(dst, theta)
	}
	return nil
}

// show sets dst to the proportions of the first topics alone, and counts the tokens of the others as unknown.
func (d *Doc) show(dst, theta []float64) {
	copy(dst, theta)
	left := vec.Sum(dst)
	switch {
	case left == 0:
		d.Status = AllZero
	case left < 0.1:
		d.Status = NoTopic
	}
	if left > 0 {
		vec.Normalise(dst)
	}
	unknown := float64(d.Tokens * vec.Sum(theta[len(dst):]))
	d.Tokens, d.Unknown = d.Tokens-unknown, d.Unknown+unknown
}

// Documents is a collection of documents over the words of a model, safe for
// concurrent reading; *corpus.Corpus is one.
type Documents interface {
	NumDocs() int
	NumWords() int
	// Doc returns the words of document m and how often each occurs (nil: once). The
	// slices are only read.
	Doc(m int) (words, counts []int32)
}

// Batch holds the topic proportions of M documents.
type Batch struct {
	W    *mat.Dense // M×K, a row for each document: the transpose of W in the papers
	Docs []Doc      // how the inference of each document went
}

// Count returns how many documents ended with a status.
func (b *Batch) Count(s Status) int {
	n := 0
	for _, d := range b.Docs {
		if d.Status == s {
			n++
		}
	}
	return n
}

const docChunk = 16

// Infer infers the topic proportions of all documents. Row m is what InferTo gives
// for document m, to the bit, for any opt.Workers. It fails for documents over
// another number of words, for what InferTo refuses, naming the document, and with
// the error of ctx. Memory: 8·M·K bytes.
func (p *Inferer) Infer(ctx context.Context, docs Documents, opt Options) (_ *Batch, err error) {
	defer named(&err)
	if err := checkDocuments(docs, p.n); err != nil {
		return nil, err
	}
	m := docs.NumDocs()
	if m == 0 {
		return &Batch{W: new(mat.Dense)}, ctx.Err()
	}
	b := &Batch{W: mat.NewDense(m, p.k, nil), Docs: make([]Doc, m)}
	err = parallel.Progress(ctx, m, docChunk, opt.Workers, opt.Progress, func(_, lo, hi int) error {
		w := p.pool.Get().(*work)
		defer p.pool.Put(w)
		for i := lo; i < hi; i++ {
			ids, counts := docs.Doc(i)
			var err error
			if b.Docs[i], err = p.infer(ctx, b.W.RawRowView(i), w, ids, counts); err != nil {
				return fmt.Errorf("document %d: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// checkDocuments refuses a collection over other words than the model's n.
func checkDocuments(docs Documents, n int) error {
	if docs == nil {
		return errors.New("no documents")
	}
	if words := docs.NumWords(); words != n {
		return fmt.Errorf("documents over %d words for a model of %d; corpus.Reindex brings them onto its vocabulary", words, n)
	}
	return nil
}
