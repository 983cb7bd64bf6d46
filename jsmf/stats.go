package jsmf

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/modelfile"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Stats describes what each stage of a fit did, in the stage's own words.
type Stats struct {
	Corpus  CorpusStats    `json:"corpus"`
	Cooc    CoocStats      `json:"cooc"`
	Rectify rectify.Stats  `json:"rectify"`
	Anchors anchor.Stats   `json:"anchors"`
	Recover recovery.Stats `json:"recover"` // the means are over all words of the model
	// AnchorFree replaces Anchors and Recover if topics were learned without anchors
	// (Pipeline.AnchorFree); it is zero otherwise.
	AnchorFree anchorfree.Stats `json:"anchor_free,omitempty"`
	Refine     refine.Stats     `json:"refine,omitempty"` // zero without Pipeline.Refine
	Seeds      []SeedStats      `json:"seeds,omitempty"`  // of each of Pipeline.Seeds
	Refit      RefitStats       `json:"refit,omitempty"`  // zero without Pipeline.From
	Edited     EditStats        `json:"edited,omitempty"` // what a refit keeps of Edits, besides names

	// Sum is ΣA of the spectral solution, before Refine. It is near 1 if the model fits the matrix.
	Sum float64 `json:"sum"`

	// Durations are the wall-clock times of the stages, and Total is that of the whole fit. A model
	// file does not hold them, so that its bytes do not depend on the speed of the machine: they
	// are nil and 0 in a model that was read from a file.
	Durations map[Stage]time.Duration `json:"-"`
	Total     time.Duration           `json:"-"`

	// Warnings are what the caller should know about the result, a sentence each, in the order in
	// which they arose.
	Warnings []string `json:"warnings"`
}

// CorpusStats describes the documents of the fit. It is zero if the fit began with a co-occurrence
// matrix.
type CorpusStats struct {
	Documents        int              `json:"documents"`         // M, the documents used
	Words            int              `json:"words"`             // N, the words used
	Tokens           int64            `json:"tokens"`            // sum of the counts used
	NNZ              int              `json:"nnz"`               // pairs of a document and a word in it
	DroppedDocuments []corpus.Dropped `json:"dropped_documents"` // left out, by reason
	DroppedWords     []corpus.Dropped `json:"dropped_words"`     // left out, by reason, with their names
}

// CoocStats describes the co-occurrence matrix C.
type CoocStats struct {
	Form string `json:"form"` // "dense (tf-idf)", "moments", "moments (tf-idf)", "dense", "low-rank + sparse", …
	N    int    `json:"n"`    // C is N×N; under New the words chosen of CorpusStats.Words
	NNZ  int    `json:"nnz"`  // numbers stored: nonzeros of Ĥ or E, N² when dense; 0 if unknown
}

// RefitStats compares a model with the previous one, that of [Pipeline.From].
type RefitStats struct {
	// Drift holds for each topic the total variation distance to the previous topic of the same
	// number (see Alignment), or NaN if there is none.
	Drift []float64 `json:"drift"`
	// New are the topics without a previous one, and Vanished the previous topics without a next
	// one, because the numbers of topics differ or because they are too far apart to be called the
	// same: see Alignment.
	New      []int `json:"new"`
	Vanished []int `json:"vanished"`
	// Moves holds for each topic how far refits to resampled documents move it, 0 or NaN where that is not known:
	// TopicUncertainty.Moves where passes began with the topics of the previous model, MovesAnew where these were
	// found again. nil: the previous model has no such replicates. Moved are the topics that are not new and
	// have drifted farther.
	Moves []float64 `json:"moves,omitempty"`
	Moved []int     `json:"moved,omitempty"`
	// Joined are the words that the previous model did not have, and Left those that only it had,
	// in the order of the models.
	Joined []string `json:"joined"`
	Left   []string `json:"left"`
}

// Movement says in a sentence which topics moved farther than by chance; "" where nothing was refitted.
func (s RefitStats) Movement() string {
	switch {
	case s.Drift == nil:
		return ""
	case s.Moves == nil:
		return "Whether topics moved farther than by chance is not known: the previous model has no bootstrap of this kind."
	case len(s.Moved) == 0:
		return "No topic moved farther than a refit to resampled documents moves it."
	}
	return "Moved farther than refits to resampled documents move them: topics " + strings.Trim(fmt.Sprint(s.Moved), "[]") + "."
}

// EditStats are what a person has decided about topics by Edits, besides their names.
type EditStats struct {
	// Topics says that some were merged, split or dropped: a refit begins with those that there are.
	Topics bool `json:"topics,omitempty"`
	// Hidden, Stopped and Excluded are the words of Edits.Hide, Stop and Exclude.
	Hidden   []string    `json:"hidden,omitempty"`
	Stopped  []string    `json:"stopped,omitempty"`
	Excluded []Exclusion `json:"excluded,omitempty"`
	// Splits says of each topic that was split whether the documents bear it out.
	Splits []SplitStats `json:"splits,omitempty"`
}

// Exclusion are words that are kept out of a topic.
type Exclusion struct {
	Topic int      `json:"topic"`
	Words []string `json:"words"`
}

// took adds to the time of a stage.
func (s *Stats) took(stage Stage, d time.Duration) {
	if s.Durations == nil {
		s.Durations = make(map[Stage]time.Duration)
	}
	s.Durations[stage] += d
}

// clone returns a copy that shares no memory with s.
func (s Stats) clone() Stats {
	deepCopy(reflect.ValueOf(&s).Elem())
	return s
}

// deepCopy replaces every slice, map and pointer below v, a tree of structs and slices, by a copy.
func deepCopy(v reflect.Value) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for i := range v.NumField() {
			deepCopy(v.Field(i))
		}
	case kind == reflect.Pointer && !v.IsNil():
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(v.Elem())
		deepCopy(c.Elem())
		v.Set(c)
	case kind == reflect.Map && !v.IsNil():
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, x := range v.Seq2() {
			c.SetMapIndex(key, x)
		}
		v.Set(c)
	case kind == reflect.Slice && !v.IsNil():
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		if k := c.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Slice {
			for i := range c.Len() {
				deepCopy(c.Index(i))
			}
		}
		v.Set(c)
	}
}

// Provenance records how a model was made. The same input, settings and version give the same
// model to the last bit, on every CPU (Model.Hash); a model that follows another ([Pipeline.From]) also needs that one.
type Provenance struct {
	Version       string   `json:"version"`        // of this library; "(devel)" in a checkout, "unknown" without build information
	FormatVersion int      `json:"format_version"` // of the file a model was read from, or else of the file it would be written to
	Go            string   `json:"go"`             // release of Go, as runtime.Version
	OS            string   `json:"os"`             // as runtime.GOOS
	Arch          string   `json:"arch"`           // as runtime.GOARCH
	Arithmetic    string   `json:"arithmetic"`     // the version of how numbers are computed: with the same one a fit has the same bits on every CPU; "" in files of before
	Seed          uint64   `json:"seed"`
	Stages        []string `json:"stages"` // a description of each stage with all its settings, in their order

	// Text says how the texts of the fit were split into words ([corpus.Info].Text); nil where that
	// is not known, as for documents that were not text.
	Text *text.Setting `json:"-"`
}

const modulePath = "github.com/jsmf-go/spectral"

// newProvenance describes the running program.
func newProvenance(seed uint64, stages []string, set *text.Setting) Provenance {
	return Provenance{
		Version: moduleVersion(), FormatVersion: modelfile.Version,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Arithmetic: arith.Version, Seed: seed, Stages: stages, Text: set,
	}
}

// clone returns a copy that shares no memory with p, except within Text.
func (p Provenance) clone() Provenance {
	p.Stages = slices.Clone(p.Stages)
	if p.Text != nil {
		set := *p.Text
		p.Text = &set
	}
	return p
}

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)") // a replacement by a folder has none
	}
	return "unknown"
}

// Provenance returns how the model was made.
func (m *Model) Provenance() Provenance { return m.prov.clone() }

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

// errorf and wrap put "jsmf: " in front of an error, once.
func errorf(format string, args ...any) error { return errs.Errorf("jsmf", format, args...) }

func wrap(err error) error { return errs.Wrap("jsmf", err) }

// while puts "jsmf: " and what was done in front of the error that a function returns, by defer.
func while(doing string, err *error) {
	if *err != nil {
		*err = errorf("%s: %w", doing, *err)
	}
}
