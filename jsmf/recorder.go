package jsmf

import (
	"context"
	"log/slog"
	"time"
)

// Stage names a step on the way from documents to a model. The constants are
// the stages of a Pipeline; a program that reports work of its own in the same way
// may use any other short name.
type Stage string

// The stages of a Pipeline, in their order.
const (
	StageCooc    Stage = "cooc"    // the co-occurrence matrix C
	StageRectify Stage = "rectify" // C made positive semi-definite, non-negative and joint-stochastic
	StageAnchors Stage = "anchors" // one anchor word per topic
	StageRecover Stage = "recover" // B̆, B and A
	StageTopics  Stage = "topics"  // B, A and B̆ without anchors, in place of the last two
	StageRefine  Stage = "refine"  // B and A refined on the documents; with Pipeline.Refine only

	// StageHeldOut is the score of documents held out, for all K of Pipeline.Sweep. It
	// comes before the fits to all documents.
	StageHeldOut Stage = "held-out"

	// StageSweep is a whole fit of Pipeline.Sweep. It starts before the stages of
	// the fit and ends after them.
	StageSweep Stage = "sweep"

	// StageBootstrap makes the replicates of a Bootstrap. The stages of their fits are
	// not reported.
	StageBootstrap Stage = "bootstrap"
)

// EventKind is what an Event reports.
type EventKind uint8

// The kinds of events. A stage gives one EventStart, any number of
// EventProgress and EventWarning, and one EventEnd, also when it fails.
const (
	EventStart    EventKind = iota + 1 // a stage begins
	EventProgress                      // part of its work is done
	EventEnd                           // it has ended; Err tells whether it failed
	EventWarning                       // Message says what the caller should know
)

// String returns "start", "progress", "end" or "warning".
func (k EventKind) String() string {
	switch k {
	case EventStart:
		return "start"
	case EventProgress:
		return "progress"
	case EventEnd:
		return "end"
	case EventWarning:
		return "warning"
	}
	return "unknown"
}

// Event is one report of a running Pipeline.
type Event struct {
	Stage Stage
	Kind  EventKind

	// Done of Total units of work are finished: iterations of the rectification,
	// anchors found, words solved, passes made. Total is 0 if it is not known.
	Done, Total int

	// Name says what Value is, for example "change" for ‖C_t − C_{t−1}‖_F. If it
	// is empty there is no value.
	Name  string
	Value float64

	// Elapsed is the time since the stage began: 0 in EventStart, the time of
	// the whole stage in EventEnd.
	Elapsed time.Duration

	// Message is a short text without a line break: the method in EventStart,
	// the outcome in EventEnd, the warning itself in EventWarning. Only that of
	// a warning is never empty.
	Message string

	// Err is the error with which a stage ended, or nil.
	Err error
}

// Left estimates the time that the stage will go on, as if the rest took as long for each unit
// as what is done; 0 if the total is not known or nothing is done.
func (e Event) Left() time.Duration {
	if e.Done <= 0 || e.Total <= e.Done {
		return 0
	}
	return time.Duration(float64(e.Elapsed) / float64(e.Done) * float64(e.Total-e.Done))
}

// slogRecorder writes events as structured log records: see Pipeline.Log.
type slogRecorder struct{ log *slog.Logger }

func (r slogRecorder) Record(e Event) {
	level, msg := slog.LevelInfo, "stage "+e.Kind.String()
	switch {
	case e.Kind == EventProgress:
		level = slog.LevelDebug
	case e.Kind == EventWarning:
		level = slog.LevelWarn
	case e.Kind == EventEnd && e.Err != nil:
		level, msg = slog.LevelError, "stage failed"
	}
	ctx := context.Background() // an Event has no context
	if !r.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 7)
	attrs = append(attrs, slog.String("stage", string(e.Stage)))
	if e.Done > 0 {
		attrs = append(attrs, slog.Int("done", e.Done))
	}
	if e.Total > 0 {
		attrs = append(attrs, slog.Int("total", e.Total))
	}
	if e.Name != "" {
		attrs = append(attrs, slog.Float64(e.Name, e.Value))
	}
	if e.Kind != EventStart {
		attrs = append(attrs, slog.Duration("elapsed", e.Elapsed))
	}
	if e.Message != "" {
		attrs = append(attrs, slog.String("message", e.Message))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	r.log.LogAttrs(ctx, level, msg, attrs...)
}
