package jsmf

import (
	"fmt"
	"time"
)

// Stage names a step on the way from documents to a model. A program that reports work of its own in
// the same way may use any other short name.
type Stage string

// The stages of a Pipeline, in their order.
const (
	StageCooc    Stage = "cooc"    // the co-occurrence matrix C
	StageRectify Stage = "rectify" // C made positive semi-definite, non-negative and joint-stochastic
	StageAnchors Stage = "anchors" // one anchor word per topic
	StageRecover Stage = "recover" // B̆, B and A
	StageTopics  Stage = "topics"  // B, A and B̆ without anchors, in place of the last two
	StageRefine  Stage = "refine"  // B and A refined on the documents; with Pipeline.Refine only

	StageSweep     Stage = "sweep"     // of Grid.Run: the fits to two thirds of the documents, of which no stage is reported
	StageBootstrap Stage = "bootstrap" // the replicates of a Bootstrap, of whose fits no stage is reported
)

// EventKind is what an Event reports.
type EventKind uint8

// The kinds of events. A stage gives one EventStart, any number of EventProgress and EventWarning,
// and one EventEnd, also when it fails.
const (
	EventStart    EventKind = iota + 1 // a stage begins
	EventProgress                      // part of its work is done
	EventEnd                           // it has ended; Err reports whether it failed
	EventWarning                       // Message says what the caller should know
)

// String returns "start", "progress", "end" or "warning".
func (k EventKind) String() string {
	if names := [...]string{"unknown", "start", "progress", "end", "warning"}; int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Event is one report of a running Pipeline.
type Event struct {
	Stage Stage
	Kind  EventKind

	// Done of Total units of work are finished: iterations of the rectification, anchors found,
	// words solved, passes made. Total is 0 if it is not known.
	Done, Total int

	// Name says what Value is, for example "change" for ‖C_t − C_{t−1}‖_F; "": there is no value.
	Name  string
	Value float64

	// Elapsed is the time since the stage began: 0 in EventStart, that of the stage in EventEnd.
	Elapsed time.Duration

	// Message is a short text without a line break: the method in EventStart, the outcome in
	// EventEnd, the warning in EventWarning. Only that of a warning is never empty.
	Message string

	// Err is the error with which a stage ended, or nil.
	Err error
}

// Left estimates the time that the stage will go on, as if the rest took as long for each unit as
// what is done; 0 if the total is not known or nothing is done.
func (e Event) Left() time.Duration {
	if e.Done <= 0 || e.Total <= e.Done {
		return 0
	}
	return time.Duration(float64(e.Elapsed) / float64(e.Done) * float64(e.Total-e.Done))
}

// tracker reports the stages of one fit and times them.
type tracker struct {
	recorders []func(Event)
	stage     Stage
	begun     time.Time
}

func (t *tracker) record(e Event) {
	e.Stage = t.stage
	if e.Kind != EventStart {
		e.Elapsed = time.Since(t.begun)
	}
	for _, f := range t.recorders {
		f(e)
	}
}

// run performs one stage, the time of which goes to st, if that is not nil; f returns its outcome
// in words.
func (t *tracker) run(st *Stats, s Stage, message string, f func() (string, error)) error {
	t.stage, t.begun = s, time.Now()
	t.record(Event{Kind: EventStart, Message: message})
	outcome, err := f()
	if st != nil {
		st.took(s, time.Since(t.begun))
	}
	t.record(Event{Kind: EventEnd, Message: outcome, Err: err})
	return err
}

func (t *tracker) progress(done, total int, name string, v float64) {
	t.record(Event{Kind: EventProgress, Done: done, Total: total, Name: name, Value: v})
}

// warn adds a warning to the statistics and reports it.
func (t *tracker) warn(st *Stats, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	st.Warnings = append(st.Warnings, message)
	t.record(Event{Kind: EventWarning, Message: message})
}
