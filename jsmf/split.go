package jsmf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/bag"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/recover/refine"
)

// SplitStats says whether the documents bear out that a topic was split (Pipeline.Edit).
type SplitStats struct {
	Topic int    `json:"topic"` // its number, which its largest part has now
	Name  string `json:"name"`  // before
	Parts int    `json:"parts"`
	// Gain is how much likelier Parts topics make the tokens that documents have of the topic than Parts−1 topics
	// do, in nats a token; 0 where too few documents have enough of it to tell. Chance is the most that it is in
	// five collections drawn of Parts−1 topics, of as many documents, as long, that repeat words as often.
	Gain   float64 `json:"gain"`
	Chance float64 `json:"chance"`
}

// splitMargin is how many times Chance, of splitDraws collections, the Gain is from which on it counts. Topics of few
// documents hold something of others, which brings it up to 1.3 times.
const splitDraws, splitMargin = 5, 1.4

// BorneOut reports whether Gain is more than 1.4 times Chance.
func (s SplitStats) BorneOut() bool { return s.Gain > splitMargin*s.Chance }

// String says so in a sentence.
func (s SplitStats) String() string {
	if s.Gain == 0 {
		return fmt.Sprintf("too few documents have enough of topic %d (%s) to tell whether it is %d topics", s.Topic, s.Name, s.Parts)
	}
	do := map[bool]string{true: "bear", false: "do not bear"}[s.BorneOut()]
	return fmt.Sprintf("the documents %s out that topic %d (%s) is %d topics: in place of %d they gain %.3f nats of log-likelihood a token, and up to %.3f by chance", do, s.Topic, s.Name, s.Parts, s.Parts-1, s.Gain, s.Chance)
}

// judge fills in Gain and Chance. topics are those before the split, over the words of the documents.
func (s *SplitStats) judge(ctx context.Context, r *run, topics [][]float64) error {
	docs, err := r.tokensOf(ctx, topics, s.Topic)
	if err != nil {
		return err
	}
	if docs.Info().Documents == 0 {
		return nil
	}
	less, gain, err := s.gain(ctx, r, docs, topics[s.Topic])
	if err != nil || less == nil {
		return err
	}
	s.Gain = gain
	by, err := infer.Draw{Seed: r.ask.seed}.Prepare(ctx, infer.Topics{B: less.B, A: less.A, Alpha: less.Alpha, Logits: less.Prior}, infer.Options{})
	if err != nil {
		return err
	}
	w := mat.NewDense(docs.Info().Documents, s.Parts-1, nil)
	g := corpus.Generator{Topics: less.B, Proportions: w, Workers: r.ask.workers}
	for d, err := range docs.Docs(ctx) {
		if err != nil {
			return err
		}
		doc, err := by.InferTo(w.RawRowView(len(g.Lengths)), d.Words, d.Counts)
		if err != nil {
			return err
		}
		g.Lengths = append(g.Lengths, int(doc.Tokens))
	}
	for g.Seed = range uint64(splitDraws) {
		c, _, err := repetitive(ctx, &g, docs.Info().Nonzeros)
		if err != nil {
			return err
		}
		drawn, err := corpus.Encode(ctx, c.Source())
		if err != nil {
			return err
		}
		_, gain, err := s.gain(ctx, r, drawn, topics[s.Topic])
		if err != nil {
			return err
		}
		s.Chance = max(s.Chance, gain)
	}
	return nil
}

// gain divides a topic of documents that have no other, and returns that of one topic less; nil if they cannot be divided so far.
func (s *SplitStats) gain(ctx context.Context, r *run, docs *corpus.Encoded, topic []float64) (less *refine.Result, gain float64, err error) {
	begin := refine.Start{B: mat.NewDense(len(topic), 1, topic)}
	for k := s.Parts - 1; k <= s.Parts; k++ {
		x, err := refine.Passes{}.Refine(ctx, docs, begin, refine.Options{K: k, Function: r.pr.function, Workers: r.ask.workers})
		if _, ok := errors.AsType[*refine.SplitError](err); ok {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		h := x.LogLik()
		if gain = h[len(h)-1] - gain; k < s.Parts {
			less = x
		}
	}
	return less, gain, nil
}

// tokensOf draws from each document the tokens of a topic, by what the previous model says of it. Documents with
// fewer than two are left out.
func (r *run) tokensOf(ctx context.Context, topics [][]float64, topic int) (*corpus.Encoded, error) {
	t := r.ask.from.inferTopics()
	t.B, t.WordTopics, t.Dual, t.Hidden = beside(topics), nil, nil, 0
	by, err := infer.MAP{}.Prepare(ctx, t, infer.Options{})
	if err != nil {
		return nil, err
	}
	docs, err := r.pr.encoded(ctx)
	if err != nil {
		return nil, err
	}
	return corpus.Encode(ctx, corpus.FromSeq(func(yield func(corpus.Document, error) bool) {
		var pcg rand.PCG
		rng, theta, n := rand.New(&pcg), make([]float64, len(topics)), 0
		for d, err := range docs.Docs(ctx) {
			n++
			if err == nil {
				_, err = by.InferTo(theta, d.Words, d.Counts)
			}
			pcg.Seed(r.ask.seed, bag.Key(d.ID, n))
			out, tokens := corpus.Document{}, int32(0)
			for i, w := range d.Words {
				part := theta[topic] * topics[topic][w] / vec.Dot(theta, t.B.RawRowView(int(w)))
				count := int32(0)
				for range d.Counts[i] {
					if rng.Float64() < part {
						count++
					}
				}
				if tokens += count; count > 0 {
					out.Words, out.Counts = append(out.Words, w), append(out.Counts, count)
				}
			}
			if (err != nil || tokens > 1) && !yield(out, err) {
				return
			}
		}
	}, corpus.Description{Vocabulary: make([]string, r.pr.n)}))
}
