package jsmf

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/internal/estep"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// Pipeline holds the settings of a fit. It is a value: every setter returns a changed copy, so that
// variants can share a common beginning. Setters never fail; Validate and Fit report all bad
// settings at once. A Pipeline is safe for concurrent use if its stages and the functions given to
// Record are.
type Pipeline struct {
	k          int
	allWords   bool // count all words as they are, not the best by tf-idf
	words      int  // how many of these; 0: chosen by K
	extra      int  // topics more than k that the start has; negative: chosen by K; extraUnset: by the stages
	rectifier  rectify.Rectifier
	finder     anchor.Finder
	ownAnchors bool // by Anchors
	recoverer  recovery.Recoverer
	learner    anchorfree.Learner // nil: by anchors
	refiner    refine.Refiner     // nil: none
	seed       uint64
	workers    int
	recorders  []func(Event)
	from       *Model      // nil: none
	parts      map[int]int // how many topics are made of a topic of from; nil: Fit is no Edit
	memory     int64       // bytes; 0: no limit
	seeds      []Seed
}

// extraUnset stands for the default of Extra.
const extraUnset = math.MinInt

// New returns the default Pipeline for k topics, 2 ≤ k ≤ N, or 0 for a Grid or Levels, which set
// the number. It begins with a spectral solution for the words that tell topics apart, and ends
// with passes over the documents that place all words:
//
//   - the co-occurrence matrix C holds the tf-idf second moments of the best words (Words);
//   - it is rectified by three iterations of alternating projection ([rectify.AP]);
//   - anchors are found by pivoted QR ([anchor.QR]) among all of these words, and topics by exact
//     least squares ([recovery.SCLS]);
//   - this start has a quarter more topics than k (Extra); [refine.Passes] merges them while it
//     improves the topics on all documents and words;
//   - many topics, from k = 80 on, are found by splitting few: the start has 24 topics, or 32 from
//     k = 200 on, and the passes split them.
//
// Up to k = 300 topics are not split where documents have fewer than 1000·k nonzero counts, or 1800·k
// from k = 200 on. [Model.Tree] says which topics were split from which.
//
// No stop list is needed: function words of the documents' languages, as package corpus/text/stopwords finds them,
// are in the topics, but take no part in the start, in reading words or in names. The Input must have documents, unless there are no passes (Refine(nil)):
// then only the best words are in topics; the others have rows of zeros.
func New(k int) Pipeline {
	return Pipeline{
		// Any word may be an anchor: C has the best words only, and the passes mend the topics. With
		// the words of many documents alone, models predict hidden words worse.
		k: k, extra: extraUnset, rectifier: rectify.AP{Iterations: 3, EigenTol: 0.01}, finder: anchor.QR{MinDocs: 1}, recoverer: recovery.SCLS{},
		refiner: refine.Passes{},
	}
}

// Published returns a Pipeline of the published method for k topics, 2 ≤ k ≤ N: JSMF with RAW of
// lee-2020. Documents of five tokens and more are counted, each with the same weight, and all their
// words. The matrix is rectified by alternating projection while that fits in a gigabyte, and by a
// low-rank method beyond ([rectify.Auto]), anchors are found by pivoted QR among the words of many
// documents ([anchor.QR]; QR{MinDocs: 1} takes any word, as the papers do), and topics recovered by
// exact least squares ([recovery.SCLS]). There are no passes. If the finder chooses the number of
// topics itself, as anchor.Hull{All: true} does, k is the rank of the rectification only.
func Published(k int) Pipeline {
	return Pipeline{k: k, allWords: true, rectifier: rectify.Auto{}, finder: anchor.QR{}, recoverer: recovery.SCLS{}}
}

// K sets the number of topics.
func (p Pipeline) K(k int) Pipeline { p.k = k; return p }

// Words makes C the matrix of the n words of the documents that tell topics apart best, counted by
// tf-idf ([cooc.TFIDF]). A word scores its mean share of a document times ln⌊M/df⌋, where df of the
// M documents hold it: words of more than half of the documents and rare words score low. The other
// words come in with the passes (Refine). C takes 8·n² bytes.
//
// 0, the default of New, is 1000 + 8·K, or 20·K if that is more, with the topics of the start
// (Extra) for K: the 24 or 32 that are split, where they are (New). Published counts all words, without weights. A matrix given to Fit keeps its own
// words.
func (p Pipeline) Words(n int) Pipeline { p.words, p.allWords = n, false; return p }

// bestWords returns how many of all words C is to have.
func (p Pipeline) bestWords(all int, nnz int64) int {
	if p.words > 0 {
		return p.words
	}
	k := p.startTopics(all, nnz)
	return max(1000+8*k, 20*k)
}

// Rectify sets how the co-occurrence matrix is rectified. Default: three iterations of
// [rectify.AP]; of Published rectify.Auto{}. Stats.Rectify says which method Auto chose and why.
func (p Pipeline) Rectify(r rectify.Rectifier) Pipeline { p.rectifier = r; return p }

// Anchors sets how anchor words are found. Default: anchor.QR{MinDocs: 1}, which admits any word;
// of Published anchor.QR{}, which admits words of many documents (anchor.QR.MinDocs).
// [anchor.Fixed] and [anchor.Tandem] take words from the user, by the names or numbers that the
// Model has for them. Tandem needs a rectifier that keeps explicit rows, such as [rectify.AP], and
// [recovery.SCLS]. The topics of these anchors are neither split nor, unless Extra asks for more,
// merged. A model whose topics were split has no anchors (Model.Anchors).
func (p Pipeline) Anchors(f anchor.Finder) Pipeline { p.finder, p.ownAnchors = f, true; return p }

// Extra sets how many topics more than K the spectral solution has. The refiner merges them to K
// (refine.Options.K): two anchors of one subject then share a topic, and the topics saved go to
// others. If the data has fewer topics, so has the start.
//
// A negative number, the default of New, stands for a quarter of K, rounded up so that the start has
// a multiple of 16 topics, at most a fourth of the words of C; or for the few topics that are split
// where New splits them, which [refine.Passes] and [refine.Batch] can. Any other number splits none. Default of
// Published, and with Anchors or AnchorFree: 0. Without a refiner there are none.
func (p Pipeline) Extra(topics int) Pipeline { p.extra = max(topics, -1); return p }

const (
	// From treeFrom topics on, New finds fewRoots by anchors, or manyRoots from manyFrom on, and splits
	// them (package refine): that is faster, and the topics are as good or better. Of corpora with
	// fewer nonzero counts for each topic than fewNonzeros, manyNonzeros from manyFrom on, up to
	// flatUpTo topics are found flat.
	treeFrom, fewRoots, fewNonzeros   = 80, 24, 1000
	manyFrom, manyRoots, manyNonzeros = 200, 32, 1800
	flatUpTo                          = 300
)

// startTopics returns how many topics the spectral solution has for numbers of words and of nonzero
// counts.
func (p Pipeline) startTopics(words int, nnz int64) int {
	switch {
	case p.refiner == nil, p.extra == extraUnset && (p.ownAnchors || p.learner != nil):
		return p.k
	case p.extra >= 0:
		return p.k + max(0, min(p.extra, words-p.k))
	}
	roots, nonzeros := fewRoots, fewNonzeros
	if p.k >= manyFrom {
		roots, nonzeros = manyRoots, manyNonzeros
	}
	if p.k > flatUpTo || p.k >= treeFrom && nnz >= int64(nonzeros)*int64(p.k) {
		if words >= 4*roots && refine.Splits(p.refiner) {
			return roots
		}
	}
	// The passes pad topics to the width of vectors: more of them up to there cost nothing.
	return max(p.k, min(estep.Padded(p.k+p.k/4), words/4))
}

// Recover sets how topics and correlations are recovered from the anchors. Default:
// recovery.SCLS{}, exact least squares.
func (p Pipeline) Recover(r recovery.Recoverer) Pipeline { p.recoverer = r; return p }

// AnchorFree learns topics and correlations by l, in place of the stages set by Anchors and
// Recover. The model has no anchor words. The matrix is rectified first; fu-2018 does not do that:
// Rectify(rectify.None{}). nil, the default, uses anchors.
func (p Pipeline) AnchorFree(l anchorfree.Learner) Pipeline { p.learner = l; return p }

// Refine sets the last stage, which improves topics and correlations by passes over the documents.
// The Input must have documents (Info().Source), which count by their weights, if they have any;
// documents on other machines (package jsmf/beam) need [refine.Batch]. Half of the tokens of one
// document in twenty stay out of the spectral solution, so that passes can decide by them when to
// stop. Default: refine.Passes{}; of Published nil, which leaves the stage out.
func (p Pipeline) Refine(r refine.Refiner) Pipeline { p.refiner = r; return p }

// Seed sets the seed of the stages that draw random numbers. The default stages draw none. Default:
// 0.
func (p Pipeline) Seed(seed uint64) Pipeline { p.seed = seed; return p }

// Workers bounds the number of goroutines. 0, the default, means GOMAXPROCS. The result does not
// depend on it.
func (p Pipeline) Workers(n int) Pipeline { p.workers = n; return p }

// Record adds a function, such as [NewPrinter]'s, that receives the events of each stage. A fit calls
// it from one goroutine at a time, in order, and waits for it to return; concurrent fits call it
// concurrently. nil adds nothing.
//
// The stages of a fit are [StageCooc], [StageRectify], then [StageAnchors] and [StageRecover], or
// [StageTopics] with AnchorFree, then [StageRefine].
func (p Pipeline) Record(f func(Event)) Pipeline {
	if f != nil {
		p.recorders = append(p.recorders[:len(p.recorders):len(p.recorders)], f)
	}
	return p
}

// Validate reports all bad settings, joined into one error: those of the Pipeline, and those of the
// stages that have a method Validate (Validator). If there is none and in is not nil, it reports
// whether they cannot be used with that input, of which it reads no documents. It is what Fit does
// first.
func (p Pipeline) Validate(in Input) error {
	if err := p.validate(); err != nil || missing(in) {
		return err
	}
	return wrap(p.suits(in))
}

func (p Pipeline) validate() error {
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
	if p.words < 0 {
		bad("Words(%d); want 0 for the default, or more", p.words)
	}
	if missing(p.rectifier) {
		bad("no rectifier; rectify.None{} leaves the matrix as it is")
	}
	if p.learner != nil && missing(p.learner) {
		bad("the learner of topics is a nil pointer")
	}
	if p.learner == nil && missing(p.finder) {
		bad("no anchor finder")
	}
	if p.learner == nil && missing(p.recoverer) {
		bad("no recovery")
	}
	if p.refiner != nil && missing(p.refiner) {
		bad("the refiner is a nil pointer")
	}
	names := make([]string, len(p.seeds))
	for t, s := range p.seeds {
		names[t] = s.Name
		errs = append(errs, s.check(t))
	}
	if err := checkNames(names); err != nil {
		bad("names of seeds: %w", err)
	}
	if len(p.seeds) > p.k {
		bad("seeds of %d topics for K = %d", len(p.seeds), p.k)
	}
	if len(p.seeds) > 0 && p.refiner == nil {
		bad("seeds take part in passes over documents, and there are none; use New, or anchor.Tandem")
	}
	stages := []any{p.rectifier, p.learner, p.refiner}
	if p.learner == nil {
		stages = []any{p.rectifier, p.finder, p.recoverer, p.refiner}
	}
	for _, s := range stages {
		if v, ok := s.(Validator); ok && !missing(s) {
			errs = append(errs, v.Validate())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("jsmf: %w", err)
	}
	return nil
}

// Validator is a stage whose settings can be checked before it runs. A stage need not be one;
// [Pipeline.Validate] asks those that are.
type Validator interface{ Validate() error }

// missing reports whether an interface holds nothing, or a nil pointer.
func missing(x any) bool {
	v := reflect.ValueOf(x)
	return x == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// tooMany says that there are fewer words than topics.
func tooMany(k, words int) error {
	return errorf("%d topics of %d words; K must lie in [2, N]", k, words)
}

// carried checks K against the documents, where their number M is known. Their co-occurrence is of
// the form HHᵀ − D with M columns of H and D ≥ 0 diagonal: it has at most M positive eigenvalues,
// and K are needed.
func carried(k, docs int) error {
	if docs == 0 || k <= docs {
		return nil
	}
	return errorf("%d topics of %d documents; there can be no more topics than documents%s", k, docs, advice(docs))
}

// wellCarried is how many documents a topic should have.
const wellCarried = 10

// advice says how many topics the documents carry well, if that is two or more.
func advice(docs int) string {
	if docs < 2*wellCarried {
		return ""
	}
	return fmt.Sprintf(", and topics of fewer than %d documents are seldom sound: try %d", wellCarried, docs/wellCarried)
}
