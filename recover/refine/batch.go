package refine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/sums"
)

// Batch fits latent Dirichlet allocation by passes that keep nothing of the documents. The zero
// value is ready for use. It is for documents on many machines (package jsmf/beam), where [Passes]
// cannot go. One machine gives the same bits, in two to three times the time of
// Passes.
//
// A pass goes over all documents with the same topics. It finds each document's topic counts
// from the shares of the topics by a few over-relaxed steps: one of EM, and from then on,
// except in the first pass, with a token left out of the document's counts as in Passes. Then
// it shares out the document's tokens in the same way. Before a responsibility is added up, it
// is rounded to a whole multiple of a small number, 2⁻⁴⁰ for a word of fewer than four million
// tokens, so that sums do not depend on the order of the documents or on who adds up which.
//
// The topics are over-relaxed too, except in the first pass, in the first one after topics were
// split, and in the last two: the tokens by word and topic move 1.8 times as far as the documents
// say, no number below a tenth of what they say.
//
// The start, splitting and merging, the priors, documents held out, weights and the end of the passes are
// as in Passes. The costs of merging are found in the pass before, and the last read finds topic counts by
// more steps. Documents on other machines have no weights. To split topics takes two reads of the
// documents for each level, or more where there are hundreds of topics. After that each pass finds
// anew which topics a document keeps: it takes the Steps with the mean of each block of 16 topics,
// and then again with the topics of the blocks that have tokens enough, as in Passes.
//
// Cost: nnz·K·(Steps+1) times a few operations a pass, or nnz·(Steps+1) times 16 for each block that
// a document keeps. Documents that are neither encoded
// ([corpus.Encoded]) nor on other machines are encoded first, in memory. Memory besides that:
// 36·N·K bytes, and 8·N·K for each goroutine, of which there are at most eight.
type Batch struct {
	// N is the largest number of passes, besides those before topics are split; 0 means 60.
	N int
	// Steps is the number of steps that find the topic counts of a document; 0 means 3. With 2
	// a pass takes a tenth less, and the log-likelihood of a token loses some thousandths of a
	// nat.
	Steps int
	// Alpha, Beta and Gain are those of Passes.
	Alpha, Beta, Gain float64
	// Correlated is that of Passes. Each of these passes finds a document's logits anew, by six steps or, under a prior of families, by four after those of Steps. Topics move to what
	// all documents say.
	Correlated int
}

// lastSteps find the topic counts of a document that is read the last time.
const lastSteps = 10

func (b Batch) withDefaults() Batch {
	p := b.passes().withDefaults()
	b.N, b.Beta, b.Gain = p.N, p.Beta, p.Gain
	b.Steps = cmp.Or(b.Steps, 3)
	return b
}

// passes returns the settings that Passes has too.
func (b Batch) passes() Passes {
	return Passes{N: b.N, Alpha: b.Alpha, Beta: b.Beta, Gain: b.Gain, Correlated: b.Correlated}
}

// Validate reports all settings that are out of range, joined into one error.
func (b Batch) Validate() error {
	err := b.passes().Validate()
	if d := (Batch{}).withDefaults(); b.Steps < 0 || b.Steps > maxSteps {
		err = errors.Join(err, fmt.Errorf("refine: Steps = %d; want 0 for %d, or from 1 to %d", b.Steps, d.Steps, maxSteps))
	}
	return err
}

const maxSteps = 1000

// String names the method and what it was set to.
func (b Batch) String() string {
	b = b.withDefaults()
	return fmt.Sprintf("Batch(%d of %d steps, %s)", b.N, b.Steps, b.passes().settings())
}

// bytes counts what other machines hold as if they were this one.
func (b Batch) bytes(docs, words, nonzeros, k float64) float64 {
	padded := float64(estep.Padded(int(k)))
	// B, the reading weights, and a sum for each goroutine and the one before; the topics and the
	// tokens by word and topic in float32.
	x := 1<<16 + float64(8*words*k*(3+maxSlots)) + float64(8*words*padded) + float64(60*words) + float64(4*words*maxSlots)
	x += pairBytes(k) + encodedBytes(docs, words, nonzeros) + b.passes().correlatedBytes(k)
	x += splitBytes(words, k)
	x += float64(maxSlots * (float64(60*min(corpus.MaxBlockNonzeros, nonzeros)) + float64(64*min(corpus.MaxBlockDocs, docs)) + float64(16*k*k) + float64(200*padded)))
	logits := 0.0 // of families, whose moments are by topic, too
	if k > ofTopics && b.Correlated >= 0 {
		logits = mostCorrelated
	}
	return x + float64(8*(maxSlots+2)*k*logits)
}

// Refine implements Refiner. Errors are those of [Passes.Refine], except for the scratch file,
// and those of the machines that the documents are on.
func (b Batch) Refine(ctx context.Context, docs corpus.Source, start Start, opt Options) (*Result, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	b = b.withDefaults()
	f := &plans{Batch: b}
	var err error
	if f.topics, err = newTopics(prior{b.Alpha, b.Beta, b.Gain}, docs, start, opt); err != nil {
		return nil, err
	}
	var elsewhere bool
	if f.docs, elsewhere = sums.Of(docs); !elsewhere {
		e, err := encoded(ctx, docs, f.n)
		if err != nil {
			return nil, fmt.Errorf("refine: %w", err)
		}
		f.docs = f.local(e)
	}
	if err := f.begin(ctx, f.docs, start); err != nil {
		return nil, fmt.Errorf("refine: %w", err)
	}
	return f.fit(ctx, f, b.N, b.Correlated, opt)
}
