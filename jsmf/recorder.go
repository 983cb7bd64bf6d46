package jsmf

import (
	"context"
	"log/slog"
	"time"
)

// Stage names a step on the way from documents to a model. The constants are
// the stages of a Pipeline; a caller that reports work of its own through the
// same Recorder (reading, measuring) may use any other short name.
type Stage string

// The stages of a Pipeline, in their order.
const (
	StageCorpus  Stage = "corpus"  // documents and words checked, unusable ones dropped
	StageCooc    Stage = "cooc"    // the co-occurrence matrix C
	StageRectify Stage = "rectify" // C made positive semi-definite, non-negative and joint-stochastic
	StageAnchors Stage = "anchors" // one anchor word a topic
	StageRecover Stage = "recover" // B̆, B and A
	StageTopics  Stage = "topics"  // B, A and B̆ without anchors, in place of the last two
	StageRefine  Stage = "refine"  // B and A once more, from the documents; with Pipeline.Refine only

	// StageSweep is not a step but a whole fit of Pipeline.Sweep: it starts before
	// the stages of the fit and ends after them.
	StageSweep Stage = "sweep"
)

// EventKind tells what an Event reports.
type EventKind uint8

// The kinds of events. A stage gives one EventStart, any number of
// EventProgress and EventWarning, and one EventEnd, also when it fails.
const (
	EventStart    EventKind = iota + 1 // a stage begins
	EventProgress                      // some of its work is done
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

	// Done of Total units of work are finished: iterations when rectifying,
	// anchors found, words solved, passes made. Total is 0 where it is not known.
	Done, Total int

	// Name says what Value is, for example "change" for ‖C_t − C_{t−1}‖_F. An
	// empty Name means that there is no value.
	Name  string
	Value float64

	// Elapsed is the time since the stage began: 0 in EventStart, the time of
	// the whole stage in EventEnd. It is the only clock the recorders of this
	// package know.
	Elapsed time.Duration

	// Message is a short text without a line break: the method in EventStart,
	// the outcome in EventEnd, the warning itself in EventWarning. It may be
	// empty but for warnings.
	Message string

	// Err is the error or cancellation with which a stage ended, nil
	// otherwise.
	Err error
}

// Recorder receives the events of a Pipeline. One Fit calls Record from one
// goroutine at a time and in order, and waits for it to return: a Recorder
// that blocks holds up the fit. A Recorder shared by fits that run at the same
// time must be safe for concurrent use; those of this package are, as far as
// the recorders, loggers and functions they pass events on to are.
type Recorder interface {
	Record(Event)
}

// RecorderFunc makes a Recorder of a function.
type RecorderFunc func(Event)

// Record calls f.
func (f RecorderFunc) Record(e Event) { f(e) }

type multiRecorder []Recorder

func (m multiRecorder) Record(e Event) {
	for _, r := range m {
		r.Record(e)
	}
}

// MultiRecorder returns a Recorder that hands every event to each of the given
// ones, in their order. Nil recorders are left out.
func MultiRecorder(rs ...Recorder) Recorder {
	m := make(multiRecorder, 0, len(rs))
	for _, r := range rs {
		if r != nil {
			m = append(m, r)
		}
	}
	return m
}

// SlogRecorder writes events as structured log records. See NewSlogRecorder.
type SlogRecorder struct{ log *slog.Logger }

// NewSlogRecorder returns a Recorder that logs to l (nil: slog.Default()):
// starts and ends of stages at level Info, progress at Debug, warnings at
// Warn, and the end of a stage that failed at Error. The message is one of
// "stage start", "stage progress", "stage end", "stage failed" and "stage
// warning"; the attributes are stage, done and total (when above 0), the value
// under its own name, elapsed (but for starts), message and error, each only
// when present.
func NewSlogRecorder(l *slog.Logger) *SlogRecorder {
	if l == nil {
		l = slog.Default()
	}
	return &SlogRecorder{l}
}

// Record logs e.
func (r *SlogRecorder) Record(e Event) {
	level, msg := slog.LevelInfo, "stage "+e.Kind.String()
	switch {
	case e.Kind == EventProgress:
		level = slog.LevelDebug
	case e.Kind == EventWarning:
		level = slog.LevelWarn
	case e.Kind == EventEnd && e.Err != nil:
		level, msg = slog.LevelError, "stage failed"
	}
	ctx := context.Background() // a Recorder gets no context
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
