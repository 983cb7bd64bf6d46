package jsmf

import (
	"reflect"
	"time"
)

// Stats tells what each stage of a fit did. It is plain data; Model.Stats
// returns a copy of the caller's own.
//
// Durations are measured by the wall clock. They are not part of a model file,
// which has the same bytes however fast the machine was: all durations of a
// model that was read are 0.
type Stats struct {
	Corpus  CorpusStats  `json:"corpus"`
	Cooc    CoocStats    `json:"cooc"`
	Rectify RectifyStats `json:"rectify"`
	Anchors AnchorStats  `json:"anchors"`
	Recover RecoverStats `json:"recover"`
	// AnchorFree is filled in where topics were learnt without anchors; Anchors
	// and Recover are zero then.
	AnchorFree AnchorFreeStats `json:"anchor_free,omitempty"`
	Refine     RefineStats     `json:"refine,omitempty"` // zero without Pipeline.Refine
	Refit      RefitStats      `json:"refit,omitempty"`  // zero without Pipeline.From

	// Total is the time of the whole fit.
	Total time.Duration `json:"-"`

	// Warnings holds what the caller should know about the result, one
	// sentence each, in the order in which it was noticed.
	Warnings []string `json:"warnings"`
}

// Dropped counts the documents or words that were left out for one reason.
type Dropped struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Names lists what was dropped: words, or ids of documents. It may be nil
	// where there are too many to list, or where they have no names.
	Names []string `json:"names"`
}

// CorpusStats describes the documents a model was fitted to. All of it is zero
// when the fit began with a co-occurrence matrix.
type CorpusStats struct {
	Documents        int           `json:"documents"`         // M, the documents used
	Words            int           `json:"words"`             // N, the words used
	Tokens           int64         `json:"tokens"`            // sum of the counts used
	NNZ              int           `json:"nnz"`               // pairs of a document and a word in it that were used
	DroppedDocuments []Dropped     `json:"dropped_documents"` // left out, by reason
	DroppedWords     []Dropped     `json:"dropped_words"`     // left out, by reason, with their names
	Duration         time.Duration `json:"-"`
}

// CoocStats describes the co-occurrence matrix C as the fit began with it.
type CoocStats struct {
	Form     string        `json:"form"` // "moments", "moments (tf-idf)", "dense", "low-rank + sparse", …
	N        int           `json:"n"`    // C is N×N
	NNZ      int           `json:"nnz"`  // numbers the form holds: nonzeros of Ĥ or E, N² when dense; 0 if unknown
	Duration time.Duration `json:"-"`
}

// RectifyStats describes how C was rectified.
type RectifyStats struct {
	Method      string        `json:"method"`
	Reason      string        `json:"reason,omitempty"`  // why this method, where the rectifier chose
	Iterations  int           `json:"iterations"`        // done
	Status      string        `json:"status"`            // why it stopped
	Changes     []float64     `json:"changes"`           // ‖C_t − C_{t−1}‖_F, one an iteration; the first of a warm start without E
	Eigenvalues []float64     `json:"eigenvalues"`       // the K largest of the last eigenproblem, descending
	NNZ         []int         `json:"nnz"`               // stored nonzeros of E after each iteration; nil for dense forms
	Shift       float64       `json:"shift"`             // the final r of YYᵀ + r·eeᵀ + E; 0 for dense forms
	Products    int           `json:"products"`          // products of the operator with one vector
	Passes      int           `json:"passes,omitempty"`  // passes over the documents, of methods that count them
	Clipped     int           `json:"clipped,omitempty"` // eigenpairs of those that had to be left out, not being positive
	Duration    time.Duration `json:"-"`
}

// AnchorStats describes how the anchors were found.
type AnchorStats struct {
	Method     string    `json:"method"`
	Requested  int       `json:"requested"`  // topics asked for
	K          int       `json:"k"`          // anchors found
	Candidates int       `json:"candidates"` // words that were allowed to be anchors
	Norms      []float64 `json:"norms"`      // pivot norms r_k in the order of the anchors; nil where the method has none
	// Replaced are words that were found as anchors and given up, because the model
	// did not fit with them: see Pipeline.ReplaceAnchors.
	Replaced []string      `json:"replaced,omitempty"`
	Duration time.Duration `json:"-"`
}

// StatusCount tells for how many words a solver stopped with a status.
type StatusCount struct {
	Status string `json:"status"`
	Count  int    `json:"count"`
}

// RecoverStats describes the N least-squares problems over the simplex that
// give B̆. Objectives are ½‖v − Uy‖² with v a row of C̄ and U those of the
// anchors, residuals ‖v − Uy‖₂; the anchors, which are not solved, count as 0
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
	Statuses       []StatusCount `json:"statuses"` // by decreasing count, then by name
	Duration       time.Duration `json:"-"`
}

// AnchorFreeStats describes how topics were learnt without anchors. See
// anchorfree.Result for what the numbers mean.
type AnchorFreeStats struct {
	Method         string        `json:"method"`
	Iterations     int           `json:"iterations"` // sweeps, or inner steps
	Rounds         int           `json:"rounds"`     // of penalty methods
	Programs       int           `json:"programs"`   // linear programs solved
	Pivots         int           `json:"pivots"`     // their simplex steps
	Status         string        `json:"status"`     // why it stopped
	LogDet         float64       `json:"log_det"`    // ln|det M|, which was to be large
	Eigenvalues    []float64     `json:"eigenvalues"`
	Products       int           `json:"products"`        // of the matrix with one vector
	Clipped        int           `json:"clipped"`         // entries of B that were below zero and set to 0
	Negative       float64       `json:"negative"`        // their sum in the worst topic
	NegativeShares int           `json:"negative_shares"` // topics with a share below zero
	Empty          int           `json:"empty"`           // words the eigenvectors say nothing of
	Duration       time.Duration `json:"-"`
}

// RefineStats describes how topics were refined on the documents. The lists have
// an entry for the state before each pass and one for the final state; means are
// over tokens and natural logarithms.
type RefineStats struct {
	Method    string        `json:"method"`
	Passes    int           `json:"passes"`              // made
	Swaps     int           `json:"swaps,omitempty"`     // how often two topics were merged and a third split
	Status    string        `json:"status"`              // why it was not more
	Docs      int           `json:"docs"`                // documents learned from, which are not empty
	Held      int           `json:"held"`                // documents held out
	Tokens    int64         `json:"tokens"`              // of the documents learned from
	Beta      float64       `json:"beta"`                // the prior count of a word in a topic
	LogLik    []float64     `json:"loglik"`              // mean ln p(token) of the documents learned from
	Objective []float64     `json:"objective,omitempty"` // what the passes climb, a token, of methods that climb something
	HeldOut   []float64     `json:"held_out,omitempty"`  // mean ln p(token) of the hidden halves of those held out
	Duration  time.Duration `json:"-"`
}

// RefitStats says how a model follows the one that Pipeline.From named.
type RefitStats struct {
	// Start is "warm", or "cold: " and why the rectification began from nothing.
	Start string `json:"start"`
	// ColdSum is, after a warm start, the sum of A of the last model before that
	// was fitted from nothing; 0 otherwise.
	ColdSum float64 `json:"cold_sum,omitempty"`
	// Drift holds for each topic the total variation distance of its words to those of
	// the topic of the same number before: see Alignment. NaN where there is none.
	Drift []float64 `json:"drift"`
	// New are the topics that follow none, and Vanished those of the model before
	// that none follows: there were more topics, or fewer, or they are too far
	// apart to be called the same (NewTopicDistance).
	New      []int `json:"new"`
	Vanished []int `json:"vanished"`
	// Joined and Left are the words that the model before did not have, and
	// those that only it had, in the order of the models.
	Joined []string `json:"joined"`
	Left   []string `json:"left"`
}

// clone returns a copy that shares no memory with s.
func (s Stats) clone() Stats {
	deepCopy(reflect.ValueOf(&s).Elem())
	return s
}

// deepCopy gives every slice below v, a tree of structs and slices, memory of
// its own.
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
	s.Total, s.Corpus.Duration, s.Cooc.Duration = 0, 0, 0
	s.Rectify.Duration, s.Anchors.Duration, s.Recover.Duration = 0, 0, 0
	s.AnchorFree.Duration, s.Refine.Duration = 0, 0
}
