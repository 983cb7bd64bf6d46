package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/jsmf/find"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

const (
	topTopics  = 5  // of a document
	labelWords = 4  // that stand for a topic in an answer
	listWords  = 10 // of a topic in the list of all
	topicWords = 50 // of a topic by itself
)

// modelName is what answers call a model.
type modelName struct {
	Version  int    `json:"version"`
	Checksum string `json:"checksum"` // SHA-256 of its file
}

// served is a model made ready to answer. Only its study changes.
type served struct {
	name    modelName
	model   *jsmf.Model
	inferer *infer.Inferer
	print   string      // the fingerprint, which edits name
	words   *find.Words // nil: it cannot explain documents, for it has no prior
	names   []string    // of the topics
	labels  [][]string  // the first words of each topic
	drift   []*float64  // of each topic from the model before, nil where it has none there; nil: there was none
	shown   *shown      // as /v1/report

	index   *index   // of the documents; nil: there is none yet, or else
	noIndex *problem // why not
	study   *study   // of the columns: the only part that goes on

	topics, correlations []byte   // the answers
	topic                [][]byte // likewise
}

type topicWord struct {
	Word   string  `json:"word"`
	Prob   float64 `json:"prob"`   // p(word | topic)
	Weight float64 `json:"weight"` // by which the words are ranked
}

type topicAnswer struct {
	Topic      int            `json:"topic"`
	Name       string         `json:"name"`
	Share      *float64       `json:"share"` // of all tokens; null as Joint
	Background bool           `json:"background"`
	Verdict    *verdictAnswer `json:"verdict,omitempty"` // none of a model that no refit of the service made
	Anchor     string         `json:"anchor,omitempty"`  // empty where topics were learned without
	Drift      *float64       `json:"drift,omitempty"`   // from the same topic of the model before
	Words      []topicWord    `json:"words"`
}

type pairAnswer struct {
	Topics      [2]int   `json:"topics"`
	Correlation *float64 `json:"correlation"` // null where a topic has the same share everywhere
	Joint       *float64 `json:"joint"`       // null where the correlations sum to 0 or less
	Lift        *float64 `json:"lift"`        // null where a topic has no share too
}

// serve makes a model ready except for its name. A model can be named if serve returns no error.
func serve(ctx context.Context, m *jsmf.Model) (*served, error) {
	if m.Vocabulary() == nil {
		return nil, fmt.Errorf("serve: the model has no vocabulary, and could not read texts")
	}
	if _, err := m.Tokenizer(); err != nil {
		return nil, fmt.Errorf("serve: the model could not read texts: %w", err)
	}
	s := &served{model: m, print: m.Fingerprint()}
	for _, x := range m.Stats().Refit.Drift {
		s.drift = append(s.drift, finite(x))
	}
	var err error
	if s.inferer, err = m.Inferer(ctx, nil, infer.Options{}); err != nil {
		return nil, err
	}
	if s.words, err = find.NewWords(ctx, m); err != nil {
		if s.words = nil; ctx.Err() != nil {
			return nil, err
		}
	}
	for _, t := range m.Summary(labelWords) {
		var label []string
		for _, w := range t.Words {
			label = append(label, w.Word)
		}
		s.names, s.labels = append(s.names, t.Name), append(s.labels, label)
	}
	_, err = s.named(store.Saved{}) // before it is saved, and taken up at each start
	return s, err
}

// named returns the model with its name and the answers that hold it.
func (s served) named(saved store.Saved) (*served, error) {
	s.name = modelName{saved.Version, saved.Checksum}
	m := s.model
	s.shown = new(shown)
	list := make([]topicAnswer, m.K())
	for k, t := range m.Summary(topicWords) {
		list[k] = topicAnswer{Topic: k, Name: t.Name, Share: finite(t.Share), Background: t.Background, Verdict: verdictOf(t.Verdict), Anchor: t.Anchor}
		for _, w := range t.Words {
			list[k].Words = append(list[k].Words, topicWord{w.Word, w.Prob, w.Weight})
		}
		if s.drift != nil {
			list[k].Drift = s.drift[k]
		}
	}
	pairs := m.CorrelatedPairs(-1)
	all := make([]pairAnswer, len(pairs))
	for i, p := range pairs {
		all[i] = pairAnswer{[2]int{p.K, p.L}, finite(p.Correlation), finite(p.Joint), finite(p.Lift)}
	}
	var err error
	encode := func(v any) (b []byte) {
		if err == nil {
			b, err = json.Marshal(v)
		}
		return append(b, '\n')
	}
	s.topic = make([][]byte, m.K())
	for k, t := range list {
		var mine []pairAnswer
		for _, p := range all {
			if p.Topics[0] == k || p.Topics[1] == k {
				mine = append(mine, p)
			}
		}
		s.topic[k] = encode(struct {
			Model modelName `json:"model"`
			topicAnswer
			Pairs []pairAnswer `json:"pairs"`
		}{s.name, t, mine})
		list[k].Words = t.Words[:min(len(t.Words), listWords)]
	}
	s.topics = encode(struct {
		Model       modelName     `json:"model"`
		Fingerprint string        `json:"fingerprint"`
		Topics      []topicAnswer `json:"topics"`
	}{s.name, s.print, list})
	s.correlations = encode(struct {
		Model modelName    `json:"model"`
		Pairs []pairAnswer `json:"pairs"`
	}{s.name, all})
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return &s, nil
}

// shown is the report of a model, which is made when it is asked for, and anew when more is known.
type shown struct {
	mu      sync.Mutex
	page    []byte
	index   *index           // that it shows
	effects *effects.Effects // likewise
}

// report returns a page that shows the model, its documents if they are known, and how topics depend on
// the first time or else on the first column that has been studied.
func (s *served) report() ([]byte, error) {
	var found *effects.Effects
	var kind corpus.Kind
	for _, c := range s.study.all() {
		if c.found != nil && (found == nil || c.column.Kind == corpus.Time && kind != corpus.Time) {
			found, kind = c.found, c.column.Kind
		}
	}
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	if p := s.shown; p.page != nil && p.index == s.index && p.effects == found {
		return p.page, nil
	}
	o := report.Options{Title: fmt.Sprintf("Topics: model %d", s.name.Version), About: "Checksum " + s.name.Checksum, Effects: found}
	if s.index != nil {
		o.Documents = s.index.shares
	}
	var b bytes.Buffer
	if err := report.Write(&b, s.model, o); err != nil {
		return nil, err
	}
	s.shown.page, s.shown.index, s.shown.effects = b.Bytes(), s.index, found
	return b.Bytes(), nil
}

// called returns a copy of the name, that does not keep the model in memory.
func (s *served) called() *modelName {
	name := s.name
	return &name
}

// finite is x, or null in JSON if x is not finite.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// shareAnswer is a topic of a document.
type shareAnswer struct {
	Topic int      `json:"topic"`
	Name  string   `json:"name"`
	Share float64  `json:"share"`
	Words []string `json:"words"`
}

// inferAnswer holds the topics of a document.
type inferAnswer struct {
	Model       modelName     `json:"model"`
	Line        int           `json:"line,omitempty"` // of the stream
	ID          string        `json:"id,omitempty"`
	Status      string        `json:"status"`
	Tokens      float64       `json:"tokens"`  // that the composition comes from
	Unknown     float64       `json:"unknown"` // that the model does not know
	Top         []shareAnswer `json:"top"`
	Composition []float64     `json:"composition"` // the share of every topic
}

// infer answers for a document.
func (s *served) infer(d document, lim Limits) (*inferAnswer, *problem) {
	ids, counts, unknown, p := s.numbers(d, lim)
	if p != nil {
		return nil, p
	}
	out := &inferAnswer{Model: s.name, ID: d.id, Composition: make([]float64, s.model.K())}
	doc, err := s.inferer.InferTo(out.Composition, ids, counts)
	if err != nil {
		return nil, internal(err)
	}
	out.Status, out.Tokens, out.Unknown = doc.Status.String(), doc.Tokens, doc.Unknown+float64(unknown)
	out.Top = s.largest(out.Composition, topTopics)
	return out, nil
}

// largest returns the n largest shares of topics, the first ones of equal ones.
func (s *served) largest(shares []float64, n int) []shareAnswer {
	order := make([]int, len(shares))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	var out []shareAnswer
	for _, k := range order[:min(n, len(order))] {
		out = append(out, shareAnswer{k, s.names[k], shares[k], s.labels[k]})
	}
	return out
}

// numbers returns the words of a document by their numbers, those of text and
// words ascending, so that the same words give the same bits.
func (s *served) numbers(d document, lim Limits) (ids, counts []int32, unknown int64, p *problem) {
	switch d.kind {
	case "ids":
		for i, w := range d.ids {
			if int(w) >= s.model.N() {
				return nil, nil, 0, inField(fmt.Sprintf("ids[%d]", i), "there is no word %d; model %d has %d words", w, s.name.Version, s.model.N())
			}
		}
		return d.ids, d.counts, 0, nil
	case "text":
		ids, counts, unknown, err := s.model.CountWords(d.text)
		if err != nil {
			return nil, nil, 0, internal(err)
		}
		n := unknown
		for _, c := range counts {
			n += int64(c)
		}
		return ids, counts, unknown, tooManyTokens("text", n, lim)
	}
	sums := make(map[int32]int64, len(d.words))
	for i, w := range d.words {
		c := int64(1)
		if d.counts != nil {
			c = int64(d.counts[i])
		}
		if j, ok := s.model.Index(w); ok {
			sums[int32(j)] += c
		} else {
			unknown += c
		}
	}
	for _, j := range slices.Sorted(maps.Keys(sums)) {
		if sums[j] > corpus.MaxCount {
			return nil, nil, 0, inField("words", "the word %q occurs more than %d times", s.model.Word(int(j)), corpus.MaxCount)
		}
		ids, counts = append(ids, j), append(counts, int32(sums[j]))
	}
	return ids, counts, unknown, nil
}
