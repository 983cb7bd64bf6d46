package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/run"
)

// Topics is what inference needs of a model. jsmf.Model makes one; it can be
// filled in by hand as well, with topics from elsewhere. The matrices are read,
// never written to, and must not change while an Inferer made of them is in use.
type Topics struct {
	// B is N×K: column k is p(word | topic k), non-negative, and sums to 1 to
	// 1e-6. Required. A word with an empty row is in no topic: its tokens tell
	// nothing and are left out, and counted as Unknown.
	B *mat.Dense

	// A is K×K and symmetric, p(topic, topic) of two words of a document. It is
	// scaled to sum 1. PADD needs it to learn; it also gives Alpha, and the
	// topic shares a = A·1 of documents that hold no token.
	A *mat.Dense

	// Breve is N×K: row n is p(topic | word n), non-negative. Only SPI needs it;
	// nil: by Bayes' rule from B and the topic shares.
	Breve *mat.Dense

	// Alpha are the K parameters α > 0 of a Dirichlet distribution of the
	// compositions, for MAP, Gibbs and LeftToRight. nil: α = α₀·a with the α₀ for
	// which E[wwᵀ] is nearest to A in the Frobenius norm (lee-2018 §4.3.1).
	Alpha []float64

	// Dual is Λ/M, K×K: the dual variables PADD.Learn found, divided by the
	// number of documents. Only PADD needs it.
	Dual *mat.SymDense
}

// Method is a way to infer the composition of a document.
type Method interface {
	// Prepare does once what does not depend on the document. Errors: *TopicsError
	// for what is wrong with t, *SettingError, and that of ctx.
	Prepare(ctx context.Context, t Topics, opt Options) (*Inferer, error)
	// String returns the name and the settings, for records of provenance.
	String() string
}

// Options are what every method takes beside its own settings. The zero value
// is ready for use.
type Options struct {
	// Workers is the number of goroutines; 0 or less means GOMAXPROCS. It has
	// no influence on the result.
	Workers int
	// Progress, if not nil, is told how much is done of what there is: documents,
	// or topics for TLI's preparation. It is called from one goroutine at a
	// time, with growing values of done.
	Progress func(done, total int)
}

// Status tells how the inference of a document ended.
type Status uint8

const (
	// Converged: the method's own stopping rule was met, or it has none.
	Converged Status = iota
	// IterationLimit: the limit of iterations came first; the composition is
	// the point reached.
	IterationLimit
	// Stalled: rounding let no further progress be made although the stopping
	// rule is not met. Seen, if ever, a little above rounding.
	Stalled
	// LocalMinimum: PADD's problem for this Λ is not convex; the composition is
	// a local minimum of it.
	LocalMinimum
	// NoTokens: the document holds no token that the model knows. Its
	// composition is the mean one, the topic shares.
	NoTokens
	// AllZero: TLI found no topic above its threshold. The composition is all
	// zeros.
	AllZero

	numStatus
)

var statusNames = [numStatus]string{"converged", "iteration limit", "stalled", "local minimum", "no tokens", "all zero"}

func (s Status) String() string {
	if s < numStatus {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Doc tells what became of a document.
type Doc struct {
	Status     Status
	Tokens     float64 // total weight of the words the composition comes from
	Unknown    float64 // total weight of words that are in no topic
	Iterations int     // what the method counts: solves, steps or sweeps; 0 for SPI and TLI
}

// Inferer infers compositions by one method and one model. It never changes
// and is safe for concurrent use; scratch memory is kept in a pool.
type Inferer struct {
	name   string
	n, k   int
	rows   *rows
	mean   []float64
	method inference
	pool   sync.Pool
}

// inference is the work of a method on a document.
type inference interface {
	// scratch returns what one goroutine needs.
	scratch() any
	// infer writes the composition of a document with at least one token to
	// dst, whose content is undefined before.
	infer(dst []float64, d *document, scratch any) (Status, int, error)
}

// document holds the words of a document that are in a topic.
type document struct {
	ids []int32
	x   []float64 // weights, > 0
	n   float64   // their sum, > 0
}

type work struct {
	doc document
	own any
}

func newInferer(name string, c *checked, m inference) *Inferer {
	p := &Inferer{name: name, n: c.n, k: c.k, rows: c.rows, mean: c.mean, method: m}
	p.pool.New = func() any { return &work{own: m.scratch()} }
	return p
}

// String returns the method.
func (p *Inferer) String() string { return p.name }

// N returns the number of words of the model.
func (p *Inferer) N() int { return p.n }

// K returns the number of topics.
func (p *Inferer) K() int { return p.k }

// WordError reports a word of a document that the model cannot have.
type WordError struct {
	Index int   // position in the list of words
	Word  int32 // what stands there
	N     int   // words of the model
}

func (e *WordError) Error() string {
	return fmt.Sprintf("infer: word %d, number %d of the document, is not in [0, %d): are these numbers of another vocabulary?", e.Word, e.Index, e.N)
}

// WeightError reports a count or a weight that is none.
type WeightError struct {
	Index  int // position in the list of words; −1: the sum
	Word   int32
	Value  float64
	Reason string
}

func (e *WeightError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("infer: the total weight of the document is %g: %s", e.Value, e.Reason)
	}
	return fmt.Sprintf("infer: the weight of word %d, number %d of the document, is %g: %s", e.Word, e.Index, e.Value, e.Reason)
}

// LengthError reports a slice of the wrong length.
type LengthError struct {
	Name      string // "dst", "counts" or "weights"
	Len, Want int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("infer: %s has the length %d, must have %d", e.Name, e.Len, e.Want)
}

// InferTo writes the composition of a document to dst, which has length K: w_k
// ≥ 0 is the share of topic k, and the shares sum to 1 to rounding, but where the
// status is AllZero. The document has counts[i] ≥ 0 tokens of word ids[i], 0 ≤
// ids[i] < N; counts nil means one each. Words may come in any order and
// repeatedly.
//
// A document without a known token is no error: see NoTokens. Errors, after
// which dst is undefined: *WordError, *WeightError, *LengthError. It allocates
// nothing once its pool is filled, and the result depends on the model, the
// method and the arguments alone, to the bit.
func (p *Inferer) InferTo(dst []float64, ids, counts []int32) (Doc, error) {
	if counts != nil && len(counts) != len(ids) {
		return Doc{}, &LengthError{"counts", len(counts), len(ids)}
	}
	w := p.pool.Get().(*work)
	defer p.pool.Put(w)
	return p.infer(dst, w, ids, counts, nil)
}

// InferWeightsTo is InferTo for real weights ≥ 0 instead of counts, as for
// exact word probabilities or words that count for less. Gibbs takes whole
// numbers only (*WeightError). MAP, Gibbs and TLI take the total weight for the
// number of tokens.
func (p *Inferer) InferWeightsTo(dst []float64, ids []int32, weights []float64) (Doc, error) {
	if len(weights) != len(ids) {
		return Doc{}, &LengthError{"weights", len(weights), len(ids)}
	}
	w := p.pool.Get().(*work)
	defer p.pool.Put(w)
	return p.infer(dst, w, ids, nil, weights)
}

func (p *Inferer) infer(dst []float64, w *work, ids, counts []int32, weights []float64) (Doc, error) {
	if len(dst) != p.k {
		return Doc{}, &LengthError{"dst", len(dst), p.k}
	}
	out := Doc{}
	d := &w.doc
	d.ids, d.x, d.n = d.ids[:0], d.x[:0], 0
	for i, id := range ids {
		if id < 0 || int(id) >= p.n {
			return out, &WordError{i, id, p.n}
		}
		x := 1.0
		switch {
		case counts != nil:
			x = float64(counts[i])
		case weights != nil:
			x = weights[i]
		}
		if !(x >= 0) || math.IsInf(x, 1) {
			return out, &WeightError{i, id, x, "must be finite and at least 0"}
		}
		switch {
		case x == 0:
		case p.rows.empty(id):
			out.Unknown += x
		default:
			d.ids, d.x = append(d.ids, id), append(d.x, x)
			d.n += x
		}
	}
	if math.IsInf(d.n, 1) || d.n > 0 && math.IsInf(1/d.n, 1) {
		return out, &WeightError{-1, 0, d.n, "is out of range"}
	}
	out.Tokens = d.n
	if d.n == 0 {
		copy(dst, p.mean)
		out.Status = NoTokens
		return out, nil
	}
	var err error
	out.Status, out.Iterations, err = p.method.infer(dst, d, w.own)
	return out, err
}

// Documents is a collection of documents over the words of a model;
// *corpus.Corpus is one. It must be safe for concurrent reading.
type Documents interface {
	NumDocs() int
	NumWords() int
	// Doc returns the words of document m and how often each occurs. They are
	// not written to.
	Doc(m int) (words, counts []int32)
}

// Batch holds the compositions of M documents.
type Batch struct {
	// W is M×K, row m the composition of document m; the papers' W is its
	// transpose, W.T().
	W *mat.Dense
	// Docs tells what became of each document.
	Docs []Doc
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

// Infer infers the compositions of all documents: row m of the result is what
// InferTo gives for document m, to the bit, for any opt.Workers. Errors name the
// document: those of InferTo, *VocabularyError, and that of ctx. Memory: 8·M·K
// bytes.
func (p *Inferer) Infer(ctx context.Context, docs Documents, opt Options) (*Batch, error) {
	if docs == nil {
		return nil, errors.New("infer: no documents")
	}
	m := docs.NumDocs()
	if n := docs.NumWords(); n != p.n {
		return nil, &VocabularyError{n, p.n}
	}
	if m == 0 {
		return &Batch{W: new(mat.Dense)}, ctx.Err()
	}
	b := &Batch{W: mat.NewDense(m, p.k, nil), Docs: make([]Doc, m)}
	err := inChunks(ctx, m, docChunk, opt, func(_, lo, hi int) error {
		w := p.pool.Get().(*work)
		defer p.pool.Put(w)
		for i := lo; i < hi; i++ {
			ids, counts := docs.Doc(i)
			if counts != nil && len(counts) != len(ids) {
				return fmt.Errorf("document %d: %w", i, &LengthError{"counts", len(counts), len(ids)})
			}
			var err error
			if b.Docs[i], err = p.infer(b.W.RawRowView(i), w, ids, counts, nil); err != nil {
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

// VocabularyError says that documents have other words than the model.
type VocabularyError struct{ Words, Want int }

func (e *VocabularyError) Error() string {
	return fmt.Sprintf("infer: documents over %d words for a model of %d; corpus.Reindex brings them onto its vocabulary", e.Words, e.Want)
}

// inChunks runs f over chunks of n items and reports progress.
func inChunks(ctx context.Context, n, size int, opt Options, f func(worker, lo, hi int) error) error {
	var (
		mu   sync.Mutex
		done int
	)
	return run.Chunks(ctx, n, size, opt.Workers, func(worker, _, lo, hi int) error {
		if err := f(worker, lo, hi); err != nil {
			return err
		}
		if opt.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done += hi - lo
			opt.Progress(done, n)
		}
		return nil
	})
}

// TopicsError reports what is wrong with a Topics.
type TopicsError struct {
	Field    string // of Topics
	Row, Col int    // the place; −1 where a whole row, column or the field is meant
	Reason   string
}

func (e *TopicsError) Error() string {
	s := "infer: Topics." + e.Field
	switch {
	case e.Row >= 0 && e.Col >= 0:
		s += fmt.Sprintf("[%d, %d]", e.Row, e.Col)
	case e.Row >= 0:
		s += fmt.Sprintf(", row %d", e.Row)
	case e.Col >= 0:
		s += fmt.Sprintf(", topic %d", e.Col)
	}
	return s + " " + e.Reason
}

// SettingError reports a field of a method outside its range.
type SettingError struct {
	Method, Field string
	Value         float64
	Range         string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("infer: %s: %s = %g, must be %s", e.Method, e.Field, e.Value, e.Range)
}
