package jsmf

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
)

// DefaultInference is the method of Model.Transform: it came nearest to the
// true compositions of made-up documents and to long sampling of real ones
// (examples/inference).
func DefaultInference() infer.Method { return infer.MAP{} }

// InferTopics returns what package infer needs of the model. The matrices are
// copies, the caller's own: 16·N·K bytes.
func (m *Model) InferTopics() infer.Topics {
	t := m.inferTopics()
	t.B, t.A, t.Breve = m.TopicsTo(nil), m.CorrelationsTo(nil), m.WordTopicsTo(nil)
	return t
}

// inferTopics shares the model's memory.
func (m *Model) inferTopics() infer.Topics {
	t := infer.Topics{
		B:     mat.NewDense(m.n, m.k, m.topics),
		A:     mat.NewDense(m.k, m.k, m.corr),
		Breve: mat.NewDense(m.n, m.k, m.wordTopics),
		Alpha: slices.Clone(m.alpha),
	}
	if m.dual != nil {
		t.Dual = mat.NewSymDense(m.k, nil)
		for i := range m.k {
			for j := i; j < m.k; j++ {
				t.Dual.SetSym(i, j, (m.dual[i*m.k+j]+m.dual[j*m.k+i])/2)
			}
		}
	}
	return t
}

// Inferer prepares a method of package infer for this model; nil means
// DefaultInference. The Inferer finds the topics of documents given as word
// numbers and counts, one at a time without allocating; it is safe for
// concurrent use. Words gives the numbers of raw text.
//
// infer.PADD needs a model that LearnDual has made.
func (m *Model) Inferer(ctx context.Context, method infer.Method, opt infer.Options) (*infer.Inferer, error) {
	if method == nil {
		method = DefaultInference()
	}
	p, err := method.Prepare(ctx, m.inferTopics(), opt)
	if err != nil {
		return nil, fmt.Errorf("jsmf: %w", err)
	}
	return p, nil
}

// LearnDual learns what infer.PADD needs from documents, normally those the
// model was fitted to, and returns a model that holds it beside all that m does;
// m is not changed. Learned says how it went. Words of the corpus that the model
// lacks are left out.
func (m *Model) LearnDual(ctx context.Context, c *corpus.Corpus, p infer.PADD, opt infer.Options) (*Model, *infer.Learned, error) {
	if c == nil {
		return nil, nil, errors.New("jsmf: learn dual: no corpus")
	}
	docs, err := m.reindex(c)
	if err != nil {
		return nil, nil, fmt.Errorf("jsmf: learn dual: %w", err)
	}
	l, err := p.Learn(ctx, m.inferTopics(), docs, opt)
	if err != nil {
		return nil, nil, fmt.Errorf("jsmf: %w", err)
	}
	out := *m
	out.dual = mat.DenseCopyOf(l.Dual).RawMatrix().Data
	return &out, l, nil
}

// HasDual tells whether the model holds what infer.PADD needs.
func (m *Model) HasDual() bool { return m.dual != nil }

// LearnAlpha returns a model with the Dirichlet prior of topic proportions that
// infer.LearnAlpha learns from documents, normally those the model was fitted to; m is
// not changed. MAP and Gibbs, and so Transform, then use it in place of
// recovery.FitAlpha, and predict unseen words better. A refined model
// (Pipeline.Refine) has a prior already, which is better than one learned from the
// same documents. Words of the corpus that the model lacks are left out.
func (m *Model) LearnAlpha(ctx context.Context, c *corpus.Corpus, opt infer.Options) (*Model, error) {
	if c == nil {
		return nil, errors.New("jsmf: learn alpha: no corpus")
	}
	docs, err := m.reindex(c)
	if err != nil {
		return nil, fmt.Errorf("jsmf: learn alpha: %w", err)
	}
	alpha, err := infer.LearnAlpha(ctx, m.inferTopics(), docs, opt)
	if err != nil {
		return nil, fmt.Errorf("jsmf: %w", err)
	}
	out := *m
	out.alpha = alpha
	return &out, nil
}

// reindex brings a corpus onto the model's words.
func (m *Model) reindex(c *corpus.Corpus) (*corpus.Corpus, error) {
	if m.vocab == nil {
		if c.NumWords() != m.n {
			return nil, fmt.Errorf("a model of %d words without names, but the corpus has %d", m.n, c.NumWords())
		}
		return c, nil
	}
	if slices.Equal(c.Vocabulary(), m.vocab) {
		return c, nil
	}
	out, _, err := c.Reindex(m.vocab)
	return out, err
}

// WithTokenizer returns a model that splits raw text by t, which its file keeps;
// m is not changed. It should be the tokenizer of the documents the model was
// fitted to. It fails for settings out of range.
func (m *Model) WithTokenizer(t text.WordTokenizer) (*Model, error) {
	if err := checkTokenizer(t); err != nil {
		return nil, fmt.Errorf("jsmf: %w", err)
	}
	out := *m
	out.tokenizer = &t
	return &out, nil
}

// Tokenizer returns what raw text is split by, and whether it was set by
// WithTokenizer; the default is the zero WordTokenizer.
func (m *Model) Tokenizer() (t text.WordTokenizer, set bool) {
	if m.tokenizer == nil {
		return text.WordTokenizer{}, false
	}
	return *m.tokenizer, true
}

// Words splits text with the model's Tokenizer and returns the numbers of the
// words that the model knows, ascending, and how often each occurs, for
// infer.Inferer.InferTo. unknown counts the other tokens, stop words among them.
func (m *Model) Words(text string) (ids, counts []int32, unknown int64) {
	t, _ := m.Tokenizer()
	var c bag.Counter
	err := c.Read(&bag.Words{Token: m.number}, bag.Document{Tokens: t.Tokenize(nil, text)}, 1)
	if err == nil {
		err = c.Sorted()
	}
	if err != nil { // a word more than corpus.MaxCount times
		return nil, nil, c.Unknown
	}
	return c.Words, c.Counts, c.Unknown
}

// number returns the number of a word for package bag.
func (m *Model) number(word string) (int32, error) {
	if i, ok := m.Index(word); ok {
		return int32(i), nil
	}
	return bag.Unknown, nil
}

// Texts returns raw texts as a corpus.Source for Transform, split by the
// model's Tokenizer. The documents are called by their number, from 1.
func (m *Model) Texts(texts ...string) corpus.Source {
	t, _ := m.Tokenizer()
	return textSource{t, texts}
}

type textSource struct {
	tokenizer text.Tokenizer
	texts     []string
}

func (s textSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		var tokens []string
		for _, text := range s.texts {
			if err := ctx.Err(); err != nil {
				yield(corpus.Document{}, err)
				return
			}
			tokens = s.tokenizer.Tokenize(tokens[:0], text)
			if !yield(corpus.Document{Tokens: tokens}, nil) {
				return
			}
		}
	}
}

// Compositions are the topics of documents.
type Compositions struct {
	// Method says how they were found.
	Method string
	// W is M×K: row m holds the share of each topic in document m, which sum to
	// 1. (For infer.TLI see infer.AllZero.) Empty for no documents.
	W *mat.Dense
	// IDs and Labels are those of the documents; IDs are their numbers from 1
	// where the source has none, Labels nil where none has one.
	IDs, Labels []string
	// Docs tells what became of each document.
	Docs []infer.Doc
	// Unknown counts for each document the tokens of words that the model does
	// not have. (Docs[m].Unknown counts those of words it has in no topic.)
	Unknown []int64
}

// Transform finds the topics of documents by DefaultInference. Any source will
// do: a reader of package corpus, a corpus' Source, raw texts (Texts). Words are
// matched by name; where the model has no vocabulary, a source of numbers must
// have as many words as the model. Documents are read once, and held a thousand at a
// time.
//
// Documents without a known word are no error: they get the mean composition and
// the status infer.NoTokens. Errors: the source's, those of the method's Prepare,
// ctx's.
func (m *Model) Transform(ctx context.Context, docs corpus.Source) (*Compositions, error) {
	return m.TransformBy(ctx, docs, nil, infer.Options{})
}

// TransformBy is Transform by another method; nil means DefaultInference.
// opt.Progress hears of the documents done; their total, which no source tells
// ahead, is given as 0.
func (m *Model) TransformBy(ctx context.Context, docs corpus.Source, method infer.Method, opt infer.Options) (*Compositions, error) {
	if docs == nil {
		return nil, errors.New("jsmf: transform: no documents")
	}
	p, err := m.Inferer(ctx, method, infer.Options{Workers: opt.Workers})
	if err != nil {
		return nil, err
	}
	out, err := m.transform(ctx, docs, p, opt)
	if err != nil {
		return nil, fmt.Errorf("jsmf: transform: %w", err)
	}
	return out, nil
}

// transformChunk is how many documents are held at a time.
const transformChunk = 1000

func (m *Model) transform(ctx context.Context, docs corpus.Source, p *infer.Inferer, opt infer.Options) (*Compositions, error) {
	words, err := m.words(ctx, docs)
	if err != nil {
		return nil, err
	}
	out := &Compositions{Method: p.String(), W: new(mat.Dense)}
	var w []float64
	held := &heldDocs{n: m.n}
	flush := func() error {
		b, err := p.Infer(ctx, held, infer.Options{Workers: opt.Workers})
		if err != nil {
			return fmt.Errorf("of those after document %d, %w", len(out.Docs), err)
		}
		if len(b.Docs) > 0 {
			w = append(w, b.W.RawMatrix().Data...)
		}
		out.Docs = append(out.Docs, b.Docs...)
		held.reset()
		if opt.Progress != nil {
			opt.Progress(len(out.Docs), 0)
		}
		return nil
	}
	labels := false
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			return nil, err
		}
		id := d.ID
		if id == "" {
			id = fmt.Sprint(len(out.IDs) + 1)
		}
		unknown, err := held.add(words, d, len(out.IDs)+1)
		if err != nil {
			return nil, err
		}
		out.IDs, out.Labels, out.Unknown = append(out.IDs, id), append(out.Labels, d.Label), append(out.Unknown, unknown)
		labels = labels || d.Label != ""
		if held.NumDocs() == transformChunk {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if held.NumDocs() > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	if !labels {
		out.Labels = nil
	}
	if len(out.Docs) > 0 {
		out.W = mat.NewDense(len(out.Docs), m.k, w)
	}
	return out, ctx.Err()
}

// words returns how the words of a source become the model's.
func (m *Model) words(ctx context.Context, docs corpus.Source) (*bag.Words, error) {
	n, ok := docs.(corpus.Numbered)
	if !ok {
		return &bag.Words{Token: m.number, Name: m.wordName}, nil
	}
	vocab, err := n.Vocabulary(ctx)
	if err != nil {
		return nil, err
	}
	out := &bag.Words{Size: len(vocab), Names: vocab, Name: m.wordName}
	switch {
	case m.vocab != nil:
		out.To = bag.Match(vocab, m.vocab)
	case len(vocab) != m.n:
		return nil, fmt.Errorf("a model of %d words without names, but the documents have %d", m.n, len(vocab))
	}
	return out, nil
}

func (m *Model) wordName(w int32) string { return m.Word(int(w)) }

// heldDocs are documents over the model's words.
type heldDocs struct {
	n           int
	ptr         []int
	ids, counts []int32
	counter     bag.Counter
}

func (h *heldDocs) reset() { h.ptr, h.ids, h.counts = h.ptr[:0], h.ids[:0], h.counts[:0] }

func (h *heldDocs) NumDocs() int  { return len(h.ptr) }
func (h *heldDocs) NumWords() int { return h.n }

func (h *heldDocs) Doc(m int) (words, counts []int32) {
	lo, hi := 0, h.ptr[m]
	if m > 0 {
		lo = h.ptr[m-1]
	}
	return h.ids[lo:hi], h.counts[lo:hi]
}

// add appends a document, its words ascending and each once, and returns how many
// tokens the model does not have.
func (h *heldDocs) add(words *bag.Words, d corpus.Document, number int) (unknown int64, err error) {
	c := &h.counter
	if err = c.Read(words, bag.Document(d), number); err == nil {
		err = c.Sorted()
	}
	if err != nil {
		return 0, err
	}
	h.ids, h.counts = append(h.ids, c.Words...), append(h.counts, c.Counts...)
	h.ptr = append(h.ptr, len(h.ids))
	return c.Unknown, nil
}
