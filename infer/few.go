package infer

import (
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/vec"
)

const (
	manyTopics = 128  // with more topics, MAP drops those that a document hardly has
	fewTol     = 1e-5 // the least MAP.Tol with which it does so
	falls      = 0.8  // the ratio of its tokens to those and α a step before below which a topic is dropped
	// worthwhile is the part of the columns, with their padding, that may be left for a smaller
	// matrix to pay.
	worthwhile = 0.5
)

// dropBelow returns below what part of an even share of n tokens a topic may be dropped.
func (m *mapEM) dropBelow(n float64) float64 {
	if n < 100*m.sum { // dropped topics have more from the prior than a hundredth of the document
		return 0.025
	}
	return 0.25
}

// few is what is left of the topics of a document. Numbers by topic of mapScratch are for
// these topics.
type few struct {
	topics []int32    // their numbers in the model, ascending
	share  float64    // of the document, of the topics dropped
	b      estep.Rows // of the document's words, these topics
	last   []float32  // T before the last step
	keep   []int32    // scratch memory
	rows   []int32    // 0, 1, …
}

// begin puts all of k topics back.
func (f *few) begin(k int) {
	f.share = 0
	if len(f.topics) == k {
		return
	}
	f.topics = vec.Resize(f.topics, k)
	for i := range f.topics {
		f.topics[i] = int32(i)
	}
}

// drop drops the topics that have less than least of the document and become fewer, if they are
// many. It writes their proportions to dst. b has the topics of the model, and ids are the rows of
// the document.
func (s *mapScratch) drop(least float32, dst []float64, b *estep.Rows, ids []int32) {
	f := &s.few
	f.keep = f.keep[:0]
	for j := range f.topics {
		if s.N[j] >= least || s.N[j] >= falls*f.last[j] {
			f.keep = append(f.keep, int32(j))
		}
	}
	n := estep.Padded(len(f.keep))
	if n == 0 || float64(n) > worthwhile*float64(len(s.T)) {
		return
	}
	left, prior := f.topics[:0], s.step.Floor
	if s.of.x != nil {
		prior = s.of.alpha
	}
	for j, k := range f.topics {
		if i := len(left); i < len(f.keep) && f.keep[i] == int32(j) {
			left = append(left, k)
			continue
		}
		dst[k] = float64(prior[j]) / (1 - float64(s.N[j]/f.last[j]))
		f.share += dst[k]
	}
	f.topics = left
	if s.step.B == b {
		f.b.Take(b, ids, f.keep)
		s.step.B = &f.b
		for len(f.rows) < len(ids) {
			f.rows = append(f.rows, int32(len(f.rows)))
		}
		s.ids = f.rows[:len(ids)]
	} else {
		f.b.Narrow(f.keep)
	}
	s.Narrow(f.keep)
	s.step.Floor = estep.Narrow(s.step.Floor, 1, f.keep)
	s.of.narrow(f.keep)
	estep.Narrow(s.first, 1, f.keep)
	estep.Narrow(s.then, 1, f.keep)
}

// result writes the proportions of the topics that are left to dst, which has the others.
func (s *mapScratch) result(dst []float64) {
	scale := 1.0
	if f := &s.few; f.share > 0 {
		sum := 0.0
		for j := range f.topics {
			sum += float64(s.T[j])
		}
		scale = (1 - f.share) / sum
	}
	for j, k := range s.few.topics {
		dst[k] = scale * float64(s.T[j])
	}
	vec.Normalise(dst)
}
