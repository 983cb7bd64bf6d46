package jsmf

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/jsmf-go/spectral/anchor"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Pipeline says how a model is fitted. It is a value: every setter returns a
// changed copy and leaves its receiver alone, so that variants can branch off
// a common beginning. Setters never fail; Validate and Fit report everything
// that is wrong at once. A Pipeline may be used by many goroutines, if its
// stages and the functions given to Record may.
type Pipeline struct {
	k         int
	rounds    int // of ReplaceAnchors
	rectifier rectify.Rectifier
	finder    anchor.Finder
	recoverer recovery.Recoverer
	learner   anchorfree.Learner // nil: by anchors
	refiner   refine.Refiner     // nil: none
	seed      uint64
	workers   int
	recorders []func(Event)
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

// Refine adds a last step: topics and correlations are improved by passes over
// the documents, as by refine.Passes{N: 10}. The Model then holds the refined
// ones, and Model.Spectral those before. It needs an Input with documents
// (Info().Source). Default: nil, no such step.
func (p Pipeline) Refine(r refine.Refiner) Pipeline { p.refiner = r; return p }

// Seed sets the seed of every stage that draws random numbers. Each derives a
// stream of its own from it. The default stages draw none. Default: 0.
func (p Pipeline) Seed(seed uint64) Pipeline { p.seed = seed; return p }

// Workers bounds how many goroutines work at once; 0, the default, means
// GOMAXPROCS. It changes no bit of the result.
func (p Pipeline) Workers(n int) Pipeline { p.workers = n; return p }

// Record adds a function, such as one made by NewPrinter, which is told of the
// progress of each stage. One Fit calls it from one goroutine at a time, in order, and
// waits for it to return. Fits that run at the same time may call it at the same time.
// nil adds nothing.
func (p Pipeline) Record(f func(Event)) Pipeline {
	if f != nil {
		p.recorders = append(p.recorders[:len(p.recorders):len(p.recorders)], f)
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
	return p.Record(slogRecorder{l}.Record)
}

// Validate reports all settings that are out of range, joined into one error.
func (p Pipeline) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.k < 2 {
		bad("K = %d topics; want at least 2", p.k)
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
	if missing(p.rectifier) {
		bad("no rectifier; rectify.None{} leaves the matrix as it is")
	}
	if p.learner != nil {
		if missing(p.learner) {
			bad("the learner of topics is a nil pointer")
		}
		errs = append(errs, validate(p.rectifier, p.learner))
	} else {
		if missing(p.finder) {
			bad("no anchor finder")
		}
		if missing(p.recoverer) {
			bad("no recovery")
		}
		errs = append(errs, validate(p.rectifier, p.finder, p.recoverer))
	}
	if p.refiner != nil && missing(p.refiner) {
		bad("the refiner is a nil pointer")
	}
	errs = append(errs, validate(p.refiner))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("jsmf: %w", err)
	}
	return nil
}

// tooMany says that there are fewer words than topics.
func tooMany(k, words int) error {
	return errorf("%d topics of %d words; K must lie in [2, N]", k, words)
}
