package jsmf

import (
	"reflect"
	"time"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus"
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
	Refit      RefitStats       `json:"refit,omitempty"`  // zero without Pipeline.From

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
	// Joined are the words that the previous model did not have, and Left those that only it had,
	// in the order of the models.
	Joined []string `json:"joined"`
	Left   []string `json:"left"`
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
