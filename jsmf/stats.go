package jsmf

import (
	"reflect"
	"time"

	"github.com/jsmf-go/spectral/corpus"
)

// Stats describes what each stage of a fit did.
//
// Durations are wall-clock times. A model file does not hold them, so that its
// bytes do not depend on the speed of the machine: they are 0 in a model that was
// read from a file.
type Stats struct {
	Corpus  CorpusStats  `json:"corpus"`
	Cooc    CoocStats    `json:"cooc"`
	Rectify RectifyStats `json:"rectify"`
	Anchors AnchorStats  `json:"anchors"`
	Recover RecoverStats `json:"recover"`
	// AnchorFree replaces Anchors and Recover if topics were learned without
	// anchors (Pipeline.AnchorFree); it is zero otherwise.
	AnchorFree AnchorFreeStats `json:"anchor_free,omitempty"`
	Refine     RefineStats     `json:"refine,omitempty"` // zero without Pipeline.Refine
	Refit      RefitStats      `json:"refit,omitempty"`  // zero without Pipeline.From

	// Sum is ΣA of the spectral solution, before Refine. It is near 1 if the model fits
	// the matrix.
	Sum float64 `json:"sum"`

	// Total is the time of the whole fit.
	Total time.Duration `json:"-"`

	// Warnings are what the caller should know about the result, a sentence each,
	// in the order in which they arose.
	Warnings []string `json:"warnings"`
}

// CorpusStats describes the documents of the fit. It is zero if the fit began with
// a co-occurrence matrix.
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
	Form     string        `json:"form"` // "dense (tf-idf)", "moments", "moments (tf-idf)", "dense", "low-rank + sparse", …
	N        int           `json:"n"`    // C is N×N; under New the words chosen of CorpusStats.Words
	NNZ      int           `json:"nnz"`  // numbers stored: nonzeros of Ĥ or E, N² when dense; 0 if unknown
	Duration time.Duration `json:"-"`
}

// RectifyStats describes how C was rectified.
type RectifyStats struct {
	Method      string        `json:"method"`
	Reason      string        `json:"reason,omitempty"`  // why this method, if the rectifier chose
	Iterations  int           `json:"iterations"`        // done
	Status      string        `json:"status"`            // why it stopped
	Changes     []float64     `json:"changes"`           // ‖C_t − C_{t−1}‖_F, one per iteration; that of a warm start's first iteration without E
	Eigenvalues []float64     `json:"eigenvalues"`       // the K largest of the last eigenproblem, descending
	NNZ         []int         `json:"nnz"`               // stored nonzeros of E after each iteration; nil for dense forms
	Shift       float64       `json:"shift"`             // the final r of YYᵀ + r·eeᵀ + E; 0 for dense forms
	Products    int           `json:"products"`          // products of the operator with one vector
	Passes      int           `json:"passes,omitempty"`  // over the documents, of methods that make passes
	Clipped     int           `json:"clipped,omitempty"` // eigenpairs left out because they were not positive
	Duration    time.Duration `json:"-"`
}

// AnchorStats describes how the anchors were found.
type AnchorStats struct {
	Method     string    `json:"method"`
	Requested  int       `json:"requested"`  // topics asked for
	K          int       `json:"k"`          // anchors found
	Candidates int       `json:"candidates"` // words that were allowed to be anchors
	Norms      []float64 `json:"norms"`      // pivot norms r_k in the order of the anchors; nil if the method has none
	// Replaced are anchors that were replaced because the model did not fit with
	// them (Pipeline.ReplaceAnchors).
	Replaced []string      `json:"replaced,omitempty"`
	Duration time.Duration `json:"-"`
}

// RecoverStats describes the least-squares problems over the simplex that give B̆,
// one for each word that is no anchor. Objectives are ½‖v − Uy‖², where v is a row
// of C̄ and U the rows of the anchors; residuals are ‖v − Uy‖₂. Anchors count as 0
// in the means.
type RecoverStats struct {
	Method         string        `json:"method"`
	Solved         int           `json:"solved"`          // words solved for
	MeanObjective  float64       `json:"mean_objective"`  // over all N words
	MeanIterations float64       `json:"mean_iterations"` // over the solved words
	MaxIterations  int           `json:"max_iterations"`
	MaxGap         float64       `json:"max_gap"`       // largest KKT gap of a word
	MeanResidual   float64       `json:"mean_residual"` // over all N words
	MaxResidual    float64       `json:"max_residual"`
	Converged      int           `json:"converged"` // words whose solver converged
	Limited        int           `json:"limited"`   // words whose solver hit its iteration limit
	Stalled        int           `json:"stalled"`   // words whose solver made no more progress
	Duration       time.Duration `json:"-"`
}

// AnchorFreeStats describes how topics were learned without anchors. See
// anchorfree.Result for what the numbers mean.
type AnchorFreeStats struct {
	Method         string        `json:"method"`
	Iterations     int           `json:"iterations"` // sweeps, or inner steps
	Rounds         int           `json:"rounds"`     // of penalty methods
	Programs       int           `json:"programs"`   // linear programs solved
	Pivots         int           `json:"pivots"`     // their simplex steps
	Status         string        `json:"status"`     // why it stopped
	LogDet         float64       `json:"log_det"`    // ln|det M|, the objective
	Eigenvalues    []float64     `json:"eigenvalues"`
	Products       int           `json:"products"`        // of the matrix with one vector
	Clipped        int           `json:"clipped"`         // entries of B that were below zero and set to 0
	Negative       float64       `json:"negative"`        // their sum in the worst topic
	NegativeShares int           `json:"negative_shares"` // topics with a share below zero
	Empty          int           `json:"empty"`           // words without a part in the eigenvectors
	Duration       time.Duration `json:"-"`
}

// RefineStats describes how topics were refined on the documents. The lists have an
// entry before each pass and one for the result. They are means per token, of
// natural logarithms.
type RefineStats struct {
	Method    string        `json:"method"`
	Passes    int           `json:"passes"`              // made
	Status    string        `json:"status"`              // why it stopped
	Docs      int           `json:"docs"`                // documents learned from, without empty ones
	Watched   int           `json:"watched"`             // of these, with half of their tokens hidden until the last passes
	Tokens    int64         `json:"tokens"`              // in the documents learned from
	Beta      float64       `json:"beta"`                // the prior count of a word in a topic
	LogLik    []float64     `json:"loglik"`              // ln p(token) of the tokens learned from
	Objective []float64     `json:"objective,omitempty"` // what the passes maximise, of methods that maximise something
	HeldOut   []float64     `json:"held_out,omitempty"`  // ln p(token) of the hidden tokens, while some are
	Duration  time.Duration `json:"-"`
	Reading   time.Duration `json:"-"` // the part of Duration after the last pass, for A, the reading weights and background topics
}

// RefitStats compares a model with the previous one, that of Pipeline.From.
type RefitStats struct {
	// Start is "warm" if the rectification went on from that of the previous
	// model, or "cold: " and why not.
	Start string `json:"start"`
	// ColdSum is, after a warm start, Stats.Sum of the last previous model with a cold
	// start; 0 otherwise.
	ColdSum float64 `json:"cold_sum,omitempty"`
	// Drift holds for each topic the total variation distance to the previous topic
	// of the same number (see Alignment), or NaN if there is none.
	Drift []float64 `json:"drift"`
	// New are the topics without a previous one, and Vanished the previous topics
	// without a next one, because the numbers of topics differ or because they are
	// too far apart to be called the same: see Alignment.
	New      []int `json:"new"`
	Vanished []int `json:"vanished"`
	// Joined are the words that the previous model did not have, and Left those
	// that only it had, in the order of the models.
	Joined []string `json:"joined"`
	Left   []string `json:"left"`
}

// clone returns a copy that shares no memory with s.
func (s Stats) clone() Stats {
	deepCopy(reflect.ValueOf(&s).Elem())
	return s
}

// deepCopy replaces every slice below v, a tree of structs and slices, by a copy.
func deepCopy(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			deepCopy(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v.Set(c)
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Slice:
			for i := range c.Len() {
				deepCopy(c.Index(i))
			}
		}
	}
}

// clearDurations zeroes what a model file does not keep.
func (s *Stats) clearDurations() {
	s.Total, s.Cooc.Duration = 0, 0
	s.Rectify.Duration, s.Anchors.Duration, s.Recover.Duration = 0, 0, 0
	s.AnchorFree.Duration, s.Refine.Duration, s.Refine.Reading = 0, 0, 0
}
