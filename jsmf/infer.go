package jsmf

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
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
// infer.PADD needs a model that LearnDual has made (infer.ErrNoDual).
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
		return nil, nil, fmt.Errorf("jsmf: learn dual: %w", err)
	}
	out := *m
	out.dual = mat.DenseCopyOf(l.Dual).RawMatrix().Data
	return &out, l, nil
}

// HasDual tells whether the model holds what infer.PADD needs.
func (m *Model) HasDual() bool { return m.dual != nil }

// LearnAlpha learns the parameters of a Dirichlet distribution of compositions
// from documents, normally those the model was fitted to (infer.LearnAlpha), and
// returns a model that holds them beside all that m does; m is not changed. MAP and
// Gibbs, and so Transform, then use them instead of the match to the moments in A,
// and predict unseen words better: on UCI KOS, K = 50, −7.269 a token instead of
// −7.277. Fit does not do it unasked, for it takes some half of the time of a fit.
// A refined model (Pipeline.Refine) has parameters already, which are better than what
// this learns from the documents of the fit. Words of the corpus that the model lacks
// are left out.
func (m *Model) LearnAlpha(ctx context.Context, c *corpus.Corpus, s infer.AlphaSettings, opt infer.Options) (*Model, *infer.LearnedAlpha, error) {
	if c == nil {
		return nil, nil, errors.New("jsmf: learn alpha: no corpus")
	}
	docs, err := m.reindex(c)
	if err != nil {
		return nil, nil, fmt.Errorf("jsmf: learn alpha: %w", err)
	}
	l, err := infer.LearnAlpha(ctx, m.inferTopics(), docs, s, opt)
	if err != nil {
		return nil, nil, fmt.Errorf("jsmf: learn alpha: %w", err)
	}
	out := *m
	out.alpha = slices.Clone(l.Alpha)
	return &out, l, nil
}

// reindex brings a corpus onto the model's words.
func (m *Model) reindex(c *corpus.Corpus) (*corpus.Corpus, error) {
	if m.vocab == nil {
		if c.NumWords() != m.n {
			return nil, fmt.Errorf("a model of %d words without names, but the corpus has %d", m.n, c.NumWords())
		}
		return c, nil
	}
	same := c.NumWords() == m.n
	for i := 0; same && i < m.n; i++ {
		same = c.Word(i) == m.vocab[i]
	}
	if same {
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
	for _, w := range t.Tokenize(nil, text) {
		if i, ok := m.Index(w); ok {
			ids = append(ids, int32(i))
		} else {
			unknown++
		}
	}
	slices.Sort(ids)
	n := 0
	for i, id := range ids {
		if i > 0 && id == ids[n-1] {
			counts[n-1]++
			continue
		}
		ids[n] = id
		counts = append(counts, 1)
		n++
	}
	return ids[:n], counts, unknown
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
	number, err := m.numbering(ctx, docs)
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
		unknown, err := held.add(d, number)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", id, err)
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

// numbering returns how the words of a source become the model's, −1 where it
// has none.
type numbering struct {
	m  *Model
	to []int32 // of the numbers of a Numbered source
}

func (m *Model) numbering(ctx context.Context, docs corpus.Source) (numbering, error) {
	out := numbering{m: m}
	n, ok := docs.(corpus.Numbered)
	if !ok {
		return out, nil
	}
	vocab, err := n.Vocabulary(ctx)
	if err != nil {
		return out, err
	}
	if m.vocab == nil && len(vocab) != m.n {
		return out, fmt.Errorf("a model of %d words without names, but the documents have %d", m.n, len(vocab))
	}
	out.to = make([]int32, len(vocab))
	for i, w := range vocab {
		out.to[i] = int32(i)
		if m.vocab != nil {
			out.to[i] = out.token(w)
		}
	}
	return out, nil
}

func (n numbering) token(w string) int32 {
	if i, ok := n.m.Index(w); ok {
		return int32(i)
	}
	return -1
}

// heldDocs are documents over the model's words.
type heldDocs struct {
	n           int
	ptr         []int
	ids, counts []int32
	pairs       []int64 // of the document in hand: word<<32 | count
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

// add appends a document, words ascending and each once, and returns how many
// tokens of words the model does not have there were.
func (h *heldDocs) add(d corpus.Document, number numbering) (unknown int64, err error) {
	n := max(len(d.Words), len(d.Tokens))
	switch {
	case len(d.Words) > 0 && len(d.Tokens) > 0:
		return 0, errors.New("both Tokens and Words are given")
	case len(d.Words) > 0 && number.to == nil:
		return 0, errors.New("words are given by number, but the source has no vocabulary")
	case d.Counts != nil && len(d.Counts) != n:
		return 0, fmt.Errorf("%d counts for %d words", len(d.Counts), n)
	}
	h.pairs = h.pairs[:0]
	for i := range n {
		c := int32(1)
		if d.Counts != nil {
			c = d.Counts[i]
		}
		if c < 0 {
			return 0, fmt.Errorf("word number %d has the count %d", i, c)
		}
		var w int32
		if len(d.Tokens) > 0 {
			w = number.token(d.Tokens[i])
		} else {
			if d.Words[i] < 0 || int(d.Words[i]) >= len(number.to) {
				return 0, fmt.Errorf("word %d is not in [0, %d)", d.Words[i], len(number.to))
			}
			w = number.to[d.Words[i]]
		}
		switch {
		case w < 0:
			unknown += int64(c)
		case c > 0:
			h.pairs = append(h.pairs, int64(w)<<32|int64(c))
		}
	}
	slices.Sort(h.pairs)
	for i := 0; i < len(h.pairs); {
		w, total := int32(h.pairs[i]>>32), int64(0)
		for ; i < len(h.pairs) && int32(h.pairs[i]>>32) == w; i++ {
			total += h.pairs[i] & math.MaxUint32
		}
		if total > corpus.MaxCount {
			return 0, fmt.Errorf("word %d occurs %d times, more than %d", w, total, corpus.MaxCount)
		}
		h.ids, h.counts = append(h.ids, w), append(h.counts, int32(total))
	}
	h.ptr = append(h.ptr, len(h.ids))
	return unknown, nil
}
