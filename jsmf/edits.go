package jsmf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Edits are what a person has decided about the topics of a model: their names, and which
// of them are one topic. The page of package report writes them as JSON, and encoding/json
// reads them:
//
//	{"model": "9f2c41d07ab3e855", "names": {"3": "courts"}, "merge": [[3, 7]]}
//
// A key that is not one of these is an error. All numbers are those of the topics before
// anything is merged.
type Edits struct {
	// Model is the Fingerprint of the model they were made for.
	Model string `json:"model"`
	// Names holds names by the number of the topic: see Model.WithNames. "" gives a topic its
	// automatic name back. The name of merged topics is that of the first.
	Names map[int]string `json:"names,omitempty"`
	// Merge holds groups of topics, two or more in each, that are one topic. The first of a
	// group stays, and the others become part of it.
	Merge [][]int `json:"merge,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Edits) UnmarshalJSON(b []byte) error {
	type plain Edits // without this method
	var x plain
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return errorf("edits: %w", err)
	}
	*e = Edits(x)
	return nil
}

// Fingerprint returns 16 hexadecimal digits that tell a model from others: a hash (SHA-256)
// of its words and topics, in their order. Names, documents and settings are not part of it,
// and a model file does not change it. O(NK).
func (m *Model) Fingerprint() string {
	h := sha256.New()
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(nil, uint64(m.n)), uint64(m.k))
	for _, w := range m.vocab {
		b = append(le.AppendUint32(b, uint32(len(w))), w...)
		if len(b) >= chunkLen {
			h.Write(b)
			b = b[:0]
		}
	}
	for _, x := range m.topics {
		if b = le.AppendUint64(b, math.Float64bits(x)); len(b) >= chunkLen {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Edit returns the model with the names and the merged topics of e. The topics that stay
// keep their order, and their numbers close up.
//
// A topic made of others has the sum of their shares, of their proportions in documents
// (Documents), of p(topic | word), of their rows and columns in Correlations, and of their
// α. Its probabilities of words and its Reading are the means of theirs, weighted by share.
// The anchor is that of the first; it is background if all of them are. Its Uncertainty has
// no intervals: they are NaN. What LearnDual has learned, the state for a refit (Resumable)
// and the Verdicts are those of all topics as they were, and are left out where some are
// merged.
//
// Errors: edits for another model, topics that are out of range or in two groups, a group of
// fewer than two, fewer than two topics left, names of topics that become part of another,
// and those of WithNames. O(NK).
func (m *Model) Edit(e Edits) (*Model, error) {
	out, err := m.edit(e)
	if err != nil {
		return nil, errorf("edit: %w", err)
	}
	return out, nil
}

func (m *Model) edit(e Edits) (*Model, error) {
	if own := m.Fingerprint(); e.Model != own {
		return nil, fmt.Errorf("the edits are of model %.40q, and this is model %q", e.Model, own)
	}
	into, err := e.into(m.k)
	if err != nil {
		return nil, err
	}
	out := *m
	out.given = make([]string, m.k)
	copy(out.given, m.given)
	for k, first := range into {
		if k != first {
			out.given[k] = ""
		}
	}
	for _, k := range slices.Sorted(maps.Keys(e.Names)) {
		switch {
		case k < 0 || k >= m.k:
			return nil, fmt.Errorf("a name for topic %d, which is not in [0, %d)", k, m.k)
		case into[k] != k:
			return nil, fmt.Errorf("a name for topic %d, which is part of topic %d; name that one", k, into[k])
		}
		out.given[k] = e.Names[k]
	}
	if err := out.checkNames(); err != nil {
		return nil, err
	}
	out.given = cloneNames(out.given)
	out.names = sync.OnceValue(out.makeNames)
	if len(e.Merge) == 0 {
		return &out, nil
	}
	return out.merged(into, e.Merge), nil
}

// into returns for each of k topics the one it is part of, which may be itself.
func (e Edits) into(k int) ([]int, error) {
	of := make([]int, k)
	for t := range of {
		of[t] = -1
	}
	left := k
	for _, group := range e.Merge {
		if len(group) < 2 {
			return nil, fmt.Errorf("merging %d: want two topics or more", group)
		}
		for _, t := range group {
			switch {
			case t < 0 || t >= k:
				return nil, fmt.Errorf("merging %d: topic %d is not in [0, %d)", group, t, k)
			case of[t] >= 0:
				return nil, fmt.Errorf("merging %d: topic %d is there twice, or in another group", group, t)
			}
			of[t] = group[0]
		}
		left -= len(group) - 1
	}
	if left < 2 {
		return nil, fmt.Errorf("merging leaves %d topic; want two or more", left)
	}
	for t, first := range of {
		if first < 0 {
			of[t] = t
		}
	}
	return of, nil
}

// merging says how topics become fewer.
type merging struct {
	first  []int     // by new number: the topic that stays
	to     []int     // by old number: the new one
	weight []float64 // by old number: its part in the topic it is part of
}

// plan numbers the topics that stay, and weighs those that are merged by their shares: those
// that are not negative, or equally if none is positive.
func (m *Model) plan(into []int) merging {
	p := merging{to: make([]int, m.k), weight: make([]float64, m.k)}
	for t, first := range into {
		if t == first {
			p.to[t] = len(p.first)
			p.first = append(p.first, t)
		}
	}
	shares := m.TopicShares()
	sums, members := make([]float64, len(p.first)), make([]float64, len(p.first))
	for t, first := range into {
		p.to[t] = p.to[first]
		if shares[t] > 0 {
			sums[p.to[t]] += shares[t]
		}
		members[p.to[t]]++
	}
	for t, l := range p.to {
		switch {
		case sums[l] == 0:
			p.weight[t] = 1 / members[l]
		case shares[t] > 0:
			p.weight[t] = shares[t] / sums[l]
		}
	}
	return p
}

// columns returns a matrix of a column for each old topic with one for each new topic: the
// sum of its parts with their weights, nil for 1 each.
func (p merging) columns(a, weight []float64) []float64 {
	if a == nil {
		return nil
	}
	k, left := len(p.to), len(p.first)
	out := make([]float64, len(a)/k*left)
	for i, x := range a {
		if weight != nil {
			x *= weight[i%k]
		}
		out[i/k*left+p.to[i%k]] += x
	}
	return out
}

// reading merges reading weights. A topic without any does not count.
func (p merging) reading(a []float64) []float64 {
	out := p.columns(a, p.weight)
	left := len(p.first)
	sums := make([]float64, left)
	for i, x := range out {
		sums[i%left] += x
	}
	for i := range out {
		if s := sums[i%left]; s > 0 {
			out[i] /= s
		}
	}
	return out
}

// merged returns the model with each topic as a part of the one that into says.
func (m *Model) merged(into []int, groups [][]int) *Model {
	p := m.plan(into)
	out := *m
	out.k = len(p.first)
	out.topics, out.wordTopics = p.columns(m.topics, p.weight), p.columns(m.wordTopics, nil)
	out.reading = p.reading(m.reading)
	half := p.columns(m.corr, nil) // a row for each old topic
	out.corr = make([]float64, out.k*out.k)
	for i, x := range half {
		out.corr[p.to[i/out.k]*out.k+i%out.k] += x
	}
	out.alpha = p.columns(m.alpha, nil)
	out.dual, out.state, out.verdicts = nil, nil, nil
	if m.background != nil {
		out.background = slices.Repeat([]bool{true}, out.k)
		for t, b := range m.background {
			out.background[p.to[t]] = out.background[p.to[t]] && b
		}
		if !slices.Contains(out.background, true) {
			out.background = nil
		}
	}
	out.anchors, out.groups, out.given = permuted(m.anchors, p.first), permuted(m.groups, p.first), cloneNames(permuted(m.given, p.first))
	out.names = sync.OnceValue(out.makeNames)
	if m.docs != nil {
		out.docs = m.docs.clone()
		if len(m.docs.IDs) > 0 {
			out.docs.W = mat.NewDense(len(m.docs.IDs), out.k, p.columns(packed(m.docs.W), nil))
		}
	}
	out.unsure = m.unsure.renumbered(p, &out)
	out.stats = m.stats.clone()
	if s := &out.stats.Anchors; len(s.Norms) == m.k {
		s.Norms = permuted(s.Norms, p.first)
	}
	if s := &out.stats.Refit; len(s.Drift) == m.k {
		s.Drift = permuted(s.Drift, p.first)
		var added []int
		for _, t := range s.New {
			if into[t] == t {
				added = append(added, p.to[t])
			}
		}
		s.New = added
	}
	out.prov.Stages = slices.Clone(m.prov.Stages)
	for _, g := range groups {
		out.prov.Stages = append(out.prov.Stages, "topics merged: "+strings.Trim(fmt.Sprint(g), "[]"))
	}
	return &out
}
