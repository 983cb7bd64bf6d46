package jsmf

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/spelling"
	"github.com/jsmf-go/spectral/internal/vec"
)

// Edits are what a person has decided about the topics of a model: their names, which of them
// are one topic, several, or none, and words that are no part of one, or say nothing about any. The page of package report writes them as JSON, and encoding/json reads them:
//
//	{"model": "9f2c41d07ab3e855", "names": {"3": "courts"}, "merge": [[3, 7]], "split": {"2": 3}, "drop": [5],
//	"hide": ["page", "said"], "exclude": {"3": ["ball"]}, "stop": ["unsubscribe"]}
//
// A key that is not one of these is an error. All numbers are those of the
// topics before anything is edited. A refit keeps what was decided: see [Pipeline.From].
type Edits struct {
	// Model is the Fingerprint of the model they were made for.
	Model string `json:"model"`
	// Names holds names by the number of the topic: see Additions.Names. "" gives a topic its
	// automatic name back. The name of merged topics is that of the first.
	Names map[int]string `json:"names,omitempty"`
	// Merge holds groups of topics, two or more in each, that are one topic. The first of a group
	// stays, and the others become part of it.
	Merge [][]int `json:"merge,omitempty"`
	// Split says into how many topics, two or more, a topic is divided, by its number. It needs the documents: see
	// [Pipeline.Edit].
	Split map[int]int `json:"split,omitempty"`
	// Drop says which topics are none. Nothing shows them, but inference, the model's file and the passes of a refit
	// keep them, so that no other topic takes their words. Shares, correlations and proportions in documents are
	// those of the other topics alone, with sum 1, as if documents had no more than these: how much they had of
	// topics that were dropped is in infer.Doc.Unknown. No topic explains a document of which less than a tenth is
	// left.
	Drop []int `json:"drop,omitempty"`
	// Hide holds words that no topic is to be read or named by, such as those of footers and names of persons.
	// They stay in the topics and in documents.
	Hide []string `json:"hide,omitempty"`
	// Exclude holds words that are kept out of a topic, by its number: their p(word | topic) is 0, and that of the
	// other words adds up to 1 again. Shares of topics stay as they were. In a refit other topics take such words.
	Exclude map[int][]string `json:"exclude,omitempty"`
	// Stop holds words that are in no topic, as if no document had them. Shares of topics, their correlations and
	// their proportions in Documents are those that the other words have by the model. The model does not know the words any
	// more, but for their numbers.
	Stop []string `json:"stop,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Edits) UnmarshalJSON(b []byte) (err error) {
	defer while("edits", &err)
	type plain Edits // without this method
	var x plain
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return err
	}
	*e = Edits(x)
	return nil
}

// Fingerprint returns 16 hexadecimal digits that tell a model from others: a hash (SHA-256) of its
// words and topics, in their order. Names, documents and settings are not part of it, and a model
// file does not change it. O(NK).
func (m *Model) Fingerprint() string {
	h := sha256.New()
	b, le := bufio.NewWriter(h), binary.LittleEndian
	number := func(x uint64) { b.Write(le.AppendUint64(b.AvailableBuffer(), x)) }
	number(uint64(m.n))
	number(uint64(m.k))
	for _, w := range m.vocab {
		b.Write(le.AppendUint32(b.AvailableBuffer(), uint32(len(w))))
		b.WriteString(w)
	}
	for _, x := range m.topics {
		number(math.Float64bits(x))
	}
	b.Flush()
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Edit returns the model with the names, the merged topics and the words of e. The topics that stay keep their
// order, and their numbers close up.
//
// A topic made of others has the sum of their shares, of their proportions in documents
// (Documents), of p(topic | word), of their rows and columns in Correlations, and of their α. Its
// probabilities of words and its Reading are the means of theirs, weighted by share. The anchor is
// that of the first; it is background if all of them are. In the Tree it is in the groups of the
// first, and a group that has no topic left is gone. Its Uncertainty has no intervals: they
// are NaN. What LearnDual has learned and the Verdicts are those of all topics as they were, and are left out where some are merged, and
// with the Uncertainty where topics are dropped or words excluded or stopped. Later merging forgets which words were kept out of the topics that become one.
//
// Errors: edits for another model, topics that are split (Pipeline.Edit), topics that are out of range, in two groups or dropped twice, a group of fewer
// than two, fewer than two topics left, names of topics that become part of another, and those of
// With. O(NK).
func (m *Model) Edit(e Edits) (_ *Model, err error) {
	defer while("edit", &err)
	if own := m.Fingerprint(); e.Model != own {
		return nil, fmt.Errorf("the edits are of model %.40q, and this is model %q", e.Model, own)
	}
	if len(e.Split) > 0 {
		return nil, errors.New("topics are split by Pipeline.Edit, with the documents")
	}
	into, err := e.into(m.k)
	if err != nil {
		return nil, err
	}
	out := *m
	out.add.Names = make([]string, m.k)
	copy(out.add.Names, m.add.Names)
	for k, first := range into {
		if k != first {
			out.add.Names[k] = ""
		}
	}
	for k, name := range e.Names {
		out.add.Names[k] = name
	}
	words := EditStats{Hidden: e.Hide, Stopped: e.Stop}
	for _, k := range slices.Sorted(maps.Keys(e.Exclude)) {
		words.Excluded = append(words.Excluded, Exclusion{k, e.Exclude[k]})
	}
	if err := out.without(words); err != nil {
		return nil, err
	}
	if err := checkNames(out.add.Names); err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	out.setNames(out.add.Names)
	if len(e.Merge)+len(e.Drop) == 0 {
		return &out, nil
	}
	merged := out.regrouped(out.plan(into))
	merged.prov = out.prov.clone()
	for _, g := range e.Merge {
		merged.prov.Stages = append(merged.prov.Stages, "topics merged: "+strings.Trim(fmt.Sprint(g), "[]"))
	}
	for _, t := range e.Drop {
		merged.prov.Stages = append(merged.prov.Stages, fmt.Sprintf("topic %d dropped, with a share of %.3g", t, m.TopicShares()[t]))
	}
	merged.stats.Edited.Topics = true
	return merged, nil
}

// Edit is [Model.Edit] for edits that split topics, too. It is a refit ([Pipeline.From]) of m, which p has made, to in,
// normally the documents of m, and each split costs about as much as a fit. A topic is divided as if the parts that it
// has of the documents were a corpus. Passes (Refine) then improve all topics, of which none is merged with another.
// The largest part has the number of the topic that was split, and the others come last. Other topics move a little:
// Stats.Refit.Drift says how far. Stats.Edited.Splits says whether the documents bear a split out, and a warning where
// they do not; nothing is said of documents on other machines.
//
// Names stay, but for those of topics that are split. Seeds of topics that are split are
// forgotten. The other Additions, but for the Tokenizer, are not those of this model, and are gone.
//
// Errors: those of Model.Edit and Fit; topics that are out of range, or of which two things are asked; fewer
// than two parts; no passes; and a topic that the documents do not divide.
func (p Pipeline) Edit(ctx context.Context, m *Model, in Input, e Edits) (_ *Model, err error) {
	defer while("edit", &err)
	into, err := e.into(m.k)
	if err != nil {
		return nil, err
	}
	parts := e.Split
	e.Split = nil
	edited, err := m.Edit(e)
	if err != nil || len(parts) == 0 {
		return edited, err
	}
	plan := m.plan(into)
	p.from, p.parts, p.seeds, p.k = edited, make(map[int]int, len(parts)), nil, cmp.Or(m.stats.Anchors.Requested, m.k)
	names := edited.Additions().Names
	var stages []string
	for _, t := range slices.Sorted(maps.Keys(parts)) {
		p.parts[plan.to[t]] = parts[t]
		if names != nil {
			names[plan.to[t]] = ""
		}
		stages = append(stages, fmt.Sprintf("topic %d split into %d", t, parts[t]))
	}
	if p.refiner == nil {
		return nil, errors.New("topics are split by passes over documents, and there are none; use New")
	}
	if p.from, err = edited.With(Additions{Names: names}); err != nil {
		return nil, err
	}
	out, err := p.Fit(ctx, in)
	if err != nil {
		return nil, err
	}
	out.stats.Edited.Topics = true
	out.prov.Stages = append(out.prov.Stages, stages...)
	return out.With(Additions{Tokenizer: m.add.Tokenizer})
}

// without applies what is said of words.
func (m *Model) without(e EditStats) error {
	defer m.derive()
	m.stats, m.prov = m.stats.clone(), m.prov.clone()
	own := &m.stats.Edited
	find := func(words []string, what string, known *[]string) ([]int, error) {
		var unknown []string
		ids := make([]int, 0, len(words))
		for _, w := range words {
			i, ok := m.Index(w)
			if !ok {
				unknown = append(unknown, w)
			} else if ids = append(ids, i); !slices.Contains(*known, w) {
				*known = append(*known, w)
			}
		}
		if unknown != nil {
			return nil, fmt.Errorf("words to %s that are not in the vocabulary: %s", what, strings.Join(spelling.Quoted(unknown, m.vocab), ", "))
		}
		if len(words) > 0 {
			m.prov.Stages = append(m.prov.Stages, fmt.Sprintf("words to %s: %s", what, strings.Join(words, " ")))
		}
		return ids, nil
	}
	hide, err := find(e.Hidden, "hide", &own.Hidden)
	if err != nil {
		return err
	}
	stop, err := find(e.Stopped, "stop", &own.Stopped)
	if err != nil {
		return err
	}
	if len(hide) > 0 {
		reading := slices.Clone(m.topics)
		for k := range m.k {
			ranks := m.ranks(k)
			for i := k; i < len(ranks); i += m.k {
				reading[i] = ranks[i]
			}
		}
		for _, i := range hide {
			clear(reading[i*m.k:][:m.k])
		}
		m.reading = scaled(reading, m.k)
	}
	if len(stop)+len(e.Excluded) == 0 {
		return nil
	}
	if m.all != nil {
		all := *m.all
		if err := all.without(EditStats{Stopped: e.Stopped, Excluded: e.Excluded}); err != nil {
			return fmt.Errorf("with the topics that were dropped: %w", err)
		}
		m.all = &all
	}
	m.topics, m.reading, m.wordTopics = slices.Clone(m.topics), slices.Clone(m.reading), slices.Clone(m.wordTopics)
	left := make([]float64, m.k)
	for k := range left {
		if left[k], err = m.take(k, stop); err != nil {
			return err
		}
	}
	if len(stop) > 0 {
		m.weigh(left)
	}
	for _, x := range e.Excluded {
		at := slices.IndexFunc(own.Excluded, func(y Exclusion) bool { return y.Topic == x.Topic })
		if at < 0 {
			at, own.Excluded = len(own.Excluded), append(own.Excluded, Exclusion{Topic: x.Topic})
		}
		ids, err := find(x.Words, fmt.Sprintf("keep out of topic %d", x.Topic), &own.Excluded[at].Words)
		if err == nil {
			_, err = m.take(x.Topic, ids)
		}
		if err != nil {
			return err
		}
	}
	m.dual, m.add.Uncertainty, m.add.Verdicts = nil, nil, nil
	return nil
}

// take keeps words out of a topic, and returns the part of it that is left.
func (m *Model) take(k int, words []int) (left float64, err error) {
	left = 1
	if len(words) == 0 {
		return left, nil
	}
	for _, i := range words {
		left -= m.topics[i*m.k+k]
		m.topics[i*m.k+k] = 0
		if m.reading != nil {
			m.reading[i*m.k+k] = 0
		}
		if m.wordTopics != nil {
			m.wordTopics[i*m.k+k] = 0
			if row := m.wordTopics[i*m.k:][:m.k]; vec.Sum(row) > 0 {
				floats.Scale(1/vec.Sum(row), row)
			}
		}
	}
	for _, a := range [][]float64{m.topics, m.reading} {
		sum := 0.
		for i := k; i < len(a); i += m.k {
			sum += a[i]
		}
		for i := k; i < len(a) && sum > 0; i += m.k {
			a[i] /= sum
		}
	}
	if left < 1e-9 {
		return 0, fmt.Errorf("topic %d has no words but those that are kept out of it", k)
	}
	return left, nil
}

// weigh makes the shares of topics those of the parts that are left of them. What is left of a document is
// not known: for the documents of a topic it is about what A says of them.
func (m *Model) weigh(left []float64) {
	m.corr = slices.Clone(m.corr)
	before, after, weights := vec.Sum(m.corr), 0., slices.Clone(left)
	for k := range weights {
		if row := m.corr[k*m.k:][:m.k]; vec.Dot(row, left) > 0 {
			weights[k] *= vec.Sum(row) / vec.Dot(row, left)
		}
	}
	for i := range m.corr {
		m.corr[i] *= weights[i/m.k] * weights[i%m.k]
		after += m.corr[i]
	}
	floats.Scale(before/after, m.corr)
	if m.logits != nil && m.logits.Families == nil {
		logits := *m.logits
		logits.Mean = slices.Clone(logits.Mean)
		for k, v := range left {
			logits.Mean[k] += arith.Log(v)
		}
		m.logits = &logits
	}
	if c := m.add.Documents.clone(); c != nil {
		for d := range c.IDs {
			row := c.W.RawRowView(d)
			floats.Mul(row, left)
			if sum := vec.Sum(row); sum > 0 {
				floats.Scale(1/sum, row)
			}
		}
		m.add.Documents = c
	}
}

// scaled divides the columns of a matrix of k columns by their sums, but for zeros.
func scaled(a []float64, k int) []float64 {
	sums := make([]float64, k)
	for i, x := range a {
		sums[i%k] += x
	}
	for i := range a {
		if s := sums[i%k]; s > 0 {
			a[i] /= s
		}
	}
	return a
}

// into returns for each of k topics the one it is part of, which may be itself; −1: it is dropped.
func (e Edits) into(k int) ([]int, error) {
	of, fate, left := make([]int, k), make([]string, k), k
	for t := range of {
		of[t] = t
	}
	can := func(t int, what string) error {
		switch {
		case t < 0 || t >= k:
			return fmt.Errorf("topic %d, to be %s, is not in [0, %d)", t, what, k)
		case fate[t] != "":
			return fmt.Errorf("topic %d is to be %s and %s", t, fate[t], what)
		}
		return nil
	}
	set := func(t, into int, what string) error {
		if err := can(t, what); err != nil {
			return err
		}
		of[t], fate[t] = into, what
		return nil
	}
	for _, group := range e.Merge {
		if len(group) < 2 {
			return nil, fmt.Errorf("merging %d: want two topics or more", group)
		}
		left -= len(group) - 1
		for _, t := range group {
			if err := set(t, group[0], fmt.Sprintf("part of %d", group[0])); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range e.Drop {
		left--
		if err := set(t, -1, "dropped"); err != nil {
			return nil, err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(e.Split)) {
		if e.Split[t] < 2 {
			return nil, fmt.Errorf("splitting topic %d into %d; want two or more", t, e.Split[t])
		}
		if err := set(t, t, fmt.Sprintf("split into %d", e.Split[t])); err != nil {
			return nil, err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(e.Names)) {
		if err := can(t, "named"); err != nil && !slices.ContainsFunc(e.Merge, func(g []int) bool { return g[0] == t }) {
			return nil, err
		}
	}
	for _, t := range slices.Sorted(maps.Keys(e.Exclude)) {
		if err := can(t, "without some words"); err != nil {
			return nil, err
		}
	}
	if left < 2 {
		return nil, fmt.Errorf("merging and dropping leave %d topics; want two or more", left)
	}
	return of, nil
}
