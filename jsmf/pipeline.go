package jsmf

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Pipeline says how a model is fitted. It is a value: every setter returns a
// changed copy and leaves its receiver alone, so that variants can branch off
// a common beginning. Setters never fail; Validate and Fit report everything
// that is wrong at once. A Pipeline may be used by many goroutines, if its
// stages and its Recorder may.
type Pipeline struct {
	k         int
	rounds    int // of ReplaceAnchors
	rectifier rectify.Rectifier
	finder    anchor.Finder
	recoverer recovery.Recoverer
	learner   anchorfree.Learner // nil: by anchors
	weighting cooc.Weighting
	refiner   refine.Refiner // nil: none
	minTokens int
	seed      uint64
	workers   int
	rec       Recorder
	resumable bool
	from      *Model // nil: none
	memory    int64  // bytes; 0: no limit
}

// New returns a Pipeline for k topics, 2 ≤ k ≤ N. An anchor finder that chooses
// their number itself, as anchor.Hull{All: true} does, may return more or fewer;
// k is then the rank of the rectification only. The defaults: exact
// alternating projection while it fits in a gigabyte, low-rank rectification
// beyond (rectify.Auto), pivoted QR (anchor.QR), and exact least squares
// (recovery.SCLS).
func New(k int) Pipeline {
	return Pipeline{k: k, rectifier: rectify.Auto{}, finder: anchor.QR{}, recoverer: recovery.SCLS{}, rounds: 5}
}

// K sets another number of topics than New did, for the same settings.
func (p Pipeline) K(k int) Pipeline { p.k = k; return p }

// Rectify sets how the co-occurrence matrix is rectified. Default:
// rectify.Auto{}; Model.Stats says what it chose and why.
func (p Pipeline) Rectify(r rectify.Rectifier) Pipeline { p.rectifier = r; return p }

// Anchors sets how anchor words are found. Default: anchor.QR{}. anchor.Fixed and
// anchor.Tandem take them from the user, who calls them as the Model does; Tandem
// asks for explicit rows, as rectify.AP keeps them, and for recovery.SCLS.
func (p Pipeline) Anchors(f anchor.Finder) Pipeline { p.finder = f; return p }

// ReplaceAnchors retries with other anchors when the model does not fit, that is,
// when ΣA is above 2 or below ½. Words of very few documents do that as anchors:
// nobody can estimate their own co-occurrence. Each round excludes the anchors of
// badly fitting topics, those whose row of A sums to more than twice or less than
// half of p(topic), and every word at least as rare. The round with ΣA closest to 1
// wins. A warning and Stats.Anchors.Replaced name the anchors that were given up.
//
// A round costs what finding the anchors and recovering the topics cost; a model
// that fits costs nothing. Finders that cannot exclude words (anchor.Fixed, Tandem,
// Hull, LP) keep their anchors. Default: 5 rounds. 0: never, as in the papers.
func (p Pipeline) ReplaceAnchors(rounds int) Pipeline { p.rounds = rounds; return p }

// Recover sets how topics and correlations are recovered. Default:
// recovery.SCLS{}, which solves exactly.
func (p Pipeline) Recover(r recovery.Recoverer) Pipeline { p.recoverer = r; return p }

// AnchorFree learns topics and correlations by l, without anchors, and skips the
// steps that Anchors and Recover set. The model has no anchor words. nil, the
// default, takes anchors. The matrix is rectified before as for anchors;
// fu-2018 does without: Rectify(rectify.None{}).
func (p Pipeline) AnchorFree(l anchorfree.Learner) Pipeline { p.learner = l; return p }

// Weighting sets how the words of a document weigh in the co-occurrence matrix
// that Fit makes of a corpus, and Evaluate measures against. Default:
// cooc.Unbiased. With cooc.TFIDF words in every document keep their number but
// are in no topic.
func (p Pipeline) Weighting(w cooc.Weighting) Pipeline { p.weighting = w; return p }

// Refine adds a last step: topics and correlations are improved by passes over
// the documents, as by refine.Passes{N: 10}. The Model then holds the refined
// ones, and Model.Spectral those before. It needs an Input with documents
// (Info().Source). Default: nil, no such step.
func (p Pipeline) Refine(r refine.Refiner) Pipeline { p.refiner = r; return p }

// MinTokens leaves documents with fewer than n tokens out of the estimate of
// C. 0 means 5, as in the papers; the least is 2, for a single token holds no
// pair of words.
func (p Pipeline) MinTokens(n int) Pipeline { p.minTokens = n; return p }

// Seed sets the seed of every stage that draws random numbers. Each derives a
// stream of its own from it. The default stages draw none. Default: 0.
func (p Pipeline) Seed(seed uint64) Pipeline { p.seed = seed; return p }

// Workers bounds how many goroutines work at once; 0, the default, means
// GOMAXPROCS. It changes no bit of the result.
func (p Pipeline) Workers(n int) Pipeline { p.workers = n; return p }

// Record adds a Recorder, which is told of the progress of each stage.
func (p Pipeline) Record(r Recorder) Pipeline {
	switch {
	case r == nil:
	case p.rec == nil:
		p.rec = r
	default:
		p.rec = multiRecorder{p.rec, r}
	}
	return p
}

// Log adds a logger, to which stages are logged: their starts and ends at level
// Info, progress at Debug, warnings at Warn, and failures at Error. The message is
// "stage start", "stage progress", "stage end", "stage failed" or "stage
// warning"; the attributes are stage, done, total, the value under its own name,
// elapsed, message and error, each only where there is one. Nothing is logged by
// default; nil adds nothing.
func (p Pipeline) Log(l *slog.Logger) Pipeline {
	if l == nil {
		return p
	}
	return p.Record(&slogRecorder{l})
}

// Validate reports all settings that are out of range, joined into one error.
func (p Pipeline) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.k < 2 {
		bad("K = %d topics; want at least 2", p.k)
	}
	if p.minTokens < 0 {
		bad("MinTokens(%d); want 0 for the default, or at least 2", p.minTokens)
	}
	if p.workers < 0 {
		bad("Workers(%d); want 0 for GOMAXPROCS, or more", p.workers)
	}
	if p.memory < 0 {
		bad("MemoryLimit(%d); want 0 for none, or more", p.memory)
	}
	if p.rounds < 0 {
		bad("ReplaceAnchors(%d); want 0 for none, or more rounds", p.rounds)
	}
	if p.rectifier == nil {
		bad("no rectifier; rectify.None{} leaves the matrix as it is")
	}
	if p.weighting < cooc.Unbiased || p.weighting > cooc.TFIDF {
		bad("Weighting(%d): no such weighting", int(p.weighting))
	}
	if p.learner != nil {
		errs = append(errs, validate(p.rectifier, p.learner))
	} else {
		if p.finder == nil {
			bad("no anchor finder")
		}
		if p.recoverer == nil {
			bad("no recovery")
		}
		errs = append(errs, validate(p.rectifier, p.finder, p.recoverer))
	}
	errs = append(errs, validate(p.refiner))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("jsmf: %w", err)
	}
	return nil
}

// TopicsError says that K does not fit the data.
type TopicsError struct{ K, Words int }

func (e *TopicsError) Error() string {
	return fmt.Sprintf("jsmf: %d topics of %d words; K must lie in [2, N]", e.K, e.Words)
}

func (p Pipeline) warn(tr *tracker, st *Stats, message string) {
	st.Warnings = append(st.Warnings, message)
	tr.record(Event{Kind: EventWarning, Message: message})
}
