package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Score is the rule by which Curate ranks words. tf is the number of tokens of
// a word, df the number of documents that hold it, M the number of documents
// that hold any word at all once the stop words are gone.
type Score int

const (
	// TFIDFHalf is tf·ln(⌊M/df⌋), the rule of the papers' own experiments and
	// the default. The rounding down gives every word that occurs in more
	// than half of the documents the score 0.
	TFIDFHalf Score = iota
	// TFIDF is tf·ln(M/df). Words in nearly all documents can still score
	// high by their count; the papers' text pairs it with cut-offs such as
	// MinDocShare 0.1 and MaxDocShare 0.9.
	TFIDF
	// TF is tf alone, for preference data, where what everyone chose is not a
	// stop word (lee-2018, §2.4).
	TF
)

func (s Score) String() string {
	switch s {
	case TFIDFHalf:
		return "tf·ln⌊M/df⌋"
	case TFIDF:
		return "tf·ln(M/df)"
	case TF:
		return "tf"
	}
	return fmt.Sprintf("Score(%d)", int(s))
}

// Curation says which words and documents Curate keeps. The zero value keeps
// every word of positive tf-idf score, and the documents with at least 3
// distinct words. The usual setting for text is
//
//	Curation{StopWords: EnglishStopWords(), Words: 5000}
type Curation struct {
	// StopWords are removed first, by exact match. Words of the list that the
	// corpus lacks do not matter.
	StopWords []string

	// MinDocs and MaxDocs, MinDocShare and MaxDocShare are cut-offs of the
	// document frequency: words in fewer than MinDocs documents or than the
	// share MinDocShare of the M documents, or in more than MaxDocs or
	// MaxDocShare, are removed. Shares lie in [0, 1]. 0: no cut-off.
	MinDocs, MaxDocs         int
	MinDocShare, MaxDocShare float64

	// MinCount removes words with fewer tokens in all. 0: no limit.
	MinCount int64

	// Words is N, how many words to keep: those of highest Score, of equal
	// ones those that come first in the corpus. If fewer are left, all stay,
	// those of score 0 included. 0: all of positive score.
	Words int

	// Score ranks the words.
	Score Score

	// KeepVocabulary keeps all words, even those that never occur, in the
	// order they have: only documents are removed. All fields above must be
	// zero then.
	KeepVocabulary bool

	// MinDistinct removes documents with fewer distinct words, of those kept.
	// 0: 3, as in the papers' own experiments. Negative: no limit.
	MinDistinct int

	// MinTokens removes documents with fewer tokens, of words kept. 0: no
	// limit; the papers ask for 5, which building the co-occurrence matrix
	// does by itself.
	MinTokens int64
}

// CurationStep says how much one step of Curate removed. The tokens of removed
// documents are those of words that were still kept.
type CurationStep struct {
	Name        string // what the step removes, with its setting
	Docs, Words int
	Tokens      int64
}

// CurationReport says what Curate did: Before less all Steps is After.
type CurationReport struct {
	Before, After CurationStep   // the whole corpus; Name is empty
	Steps         []CurationStep // in the order in which they were taken
	ScoredDocs    int            // M of the score and of the shares; 0 with KeepVocabulary
}

// String returns the report as a table of several lines.
func (r *CurationReport) String() string {
	var b strings.Builder
	width := len("before")
	for _, s := range r.Steps {
		width = max(width, utf8.RuneCountInString(s.Name)+2)
	}
	line := func(name, sign string, s CurationStep) {
		num := func(n int64) string {
			if n == 0 {
				return "0"
			}
			return sign + strconv.FormatInt(n, 10)
		}
		fmt.Fprintf(&b, "%s%s %11s %11s %13s\n", name, strings.Repeat(" ", width-utf8.RuneCountInString(name)),
			num(int64(s.Docs)), num(int64(s.Words)), num(s.Tokens))
	}
	fmt.Fprintf(&b, "%*s %11s %11s %13s\n", width, "", "documents", "words", "tokens")
	line("before", "", r.Before)
	for _, s := range r.Steps {
		line("  "+s.Name, "−", s)
	}
	line("after", "", r.After)
	return b.String()
}

// Curate chooses the vocabulary and the documents, in this order: stop words
// and words that never occur go; document-frequency cut-offs; MinCount; the N
// best words by Score, which are numbered in that order; then documents with
// too few distinct words or tokens; then words that no document is left for.
// c is not changed.
//
// An error about what was asked for names every contradiction. If no word or no
// document is left the error wraps ErrEmptyVocabulary or ErrNoDocuments, and
// the report is returned with it to show where they went. O(nnz + N log N).
func Curate(c *Corpus, o Curation) (*Corpus, *CurationReport, error) {
	if err := o.validate(); err != nil {
		return nil, nil, err
	}
	M, N := c.NumDocs(), c.NumWords()
	rep := &CurationReport{Before: CurationStep{Docs: M, Words: N, Tokens: c.tokens}}
	tf, df := c.WordCounts(), c.DocFrequencies()
	keep := make([]bool, N)
	for i := range keep {
		keep[i] = true
	}
	// drop removes the words for which cond holds, as one step of the report.
	drop := func(name string, cond func(i int) bool) {
		s := CurationStep{Name: name}
		for i := range keep {
			if keep[i] && cond(i) {
				keep[i] = false
				s.Words++
				s.Tokens += tf[i]
			}
		}
		rep.Steps = append(rep.Steps, s)
	}
	var order []int // the words kept, in their new order; nil: all, as they are
	if !o.KeepVocabulary {
		if len(o.StopWords) > 0 {
			stop := make(map[string]bool, len(o.StopWords))
			for _, w := range o.StopWords {
				stop[w] = true
			}
			drop(fmt.Sprintf("stop words, of %d", len(stop)), func(i int) bool { return stop[c.vocab[i]] })
		}
		for m := range M {
			words, _ := c.Doc(m)
			if slices.ContainsFunc(words, func(w int32) bool { return keep[w] }) {
				rep.ScoredDocs++
			}
		}
		all := float64(rep.ScoredDocs)
		drop("words that never occur", func(i int) bool { return df[i] == 0 })
		if o.MinDocs > 0 {
			drop(fmt.Sprintf("words in fewer than %d documents", o.MinDocs), func(i int) bool { return df[i] < o.MinDocs })
		}
		if o.MaxDocs > 0 {
			drop(fmt.Sprintf("words in more than %d documents", o.MaxDocs), func(i int) bool { return df[i] > o.MaxDocs })
		}
		// The quotient is rounded as the literal of the share was, so that 3
		// documents of 30 are not "fewer than 0.1".
		if o.MinDocShare > 0 {
			drop(fmt.Sprintf("words in less than %.4g%% of documents", 100*o.MinDocShare), func(i int) bool { return float64(df[i])/all < o.MinDocShare })
		}
		if o.MaxDocShare > 0 {
			drop(fmt.Sprintf("words in more than %.4g%% of documents", 100*o.MaxDocShare), func(i int) bool { return float64(df[i])/all > o.MaxDocShare })
		}
		if o.MinCount > 0 {
			drop(fmt.Sprintf("words with fewer than %d tokens", o.MinCount), func(i int) bool { return tf[i] < o.MinCount })
		}
		score := make([]float64, N)
		order = make([]int, 0, N)
		for i := range keep {
			if keep[i] {
				score[i] = o.Score.of(tf[i], df[i], rep.ScoredDocs)
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
		if o.Words > 0 {
			for rank, i := range order {
				if rank >= o.Words {
					score[i] = math.Inf(-1)
				}
			}
			drop(fmt.Sprintf("all but the best %d by %v", o.Words, o.Score), func(i int) bool { return math.IsInf(score[i], -1) })
		} else {
			drop(fmt.Sprintf("words of score 0 by %v", o.Score), func(i int) bool { return score[i] <= 0 })
		}
		order = slices.DeleteFunc(order, func(i int) bool { return !keep[i] })
		if len(order) == 0 {
			return nil, rep.finish(), fmt.Errorf("corpus: curate: %w: no word is left", ErrEmptyVocabulary)
		}
	}

	minDistinct := o.MinDistinct
	if minDistinct == 0 {
		minDistinct = 3
	}
	few := CurationStep{Name: fmt.Sprintf("documents with fewer than %d distinct words", minDistinct)}
	short := CurationStep{Name: fmt.Sprintf("documents with fewer than %d tokens", o.MinTokens)}
	docs := make([]int, 0, M)
	clear(df)
	for m := range M {
		words, counts := c.Doc(m)
		distinct, tokens := 0, int64(0)
		for i, w := range words {
			if keep[w] {
				distinct++
				tokens += int64(counts[i])
			}
		}
		switch {
		case distinct < minDistinct:
			few.Docs++
			few.Tokens += tokens
		case tokens < o.MinTokens:
			short.Docs++
			short.Tokens += tokens
		default:
			docs = append(docs, m)
			for _, w := range words {
				df[w]++
			}
		}
	}
	if minDistinct > 0 {
		rep.Steps = append(rep.Steps, few)
	}
	if o.MinTokens > 0 {
		rep.Steps = append(rep.Steps, short)
	}
	if len(docs) == 0 {
		return nil, rep.finish(), fmt.Errorf("corpus: curate: %w: none is left", ErrNoDocuments)
	}
	if !o.KeepVocabulary {
		clear(tf) // tokens of these words have gone with their documents
		drop("words without a document left", func(i int) bool { return df[i] == 0 })
		order = slices.DeleteFunc(order, func(i int) bool { return !keep[i] })
		if len(order) == 0 {
			return nil, rep.finish(), fmt.Errorf("corpus: curate: %w: no word is left", ErrEmptyVocabulary)
		}
	}
	out, err := c.Select(docs, order)
	if err != nil {
		return nil, nil, err
	}
	rep.finish()
	return out, rep, nil
}

// finish computes After.
func (r *CurationReport) finish() *CurationReport {
	r.After = r.Before
	for _, s := range r.Steps {
		r.After.Docs -= s.Docs
		r.After.Words -= s.Words
		r.After.Tokens -= s.Tokens
	}
	return r
}

func (s Score) of(tf int64, df, docs int) float64 {
	switch s {
	case TFIDFHalf:
		return float64(tf) * math.Log(float64(docs/df))
	case TFIDF:
		return float64(tf) * math.Log(float64(docs)/float64(df))
	default:
		return float64(tf)
	}
}

func (o Curation) validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("corpus: curation: "+format, args...))
		}
	}
	bad(o.Words < 0, "Words is %d", o.Words)
	bad(o.MinDocs < 0, "MinDocs is %d", o.MinDocs)
	bad(o.MaxDocs < 0, "MaxDocs is %d", o.MaxDocs)
	bad(o.MaxDocs > 0 && o.MinDocs > o.MaxDocs, "MinDocs %d exceeds MaxDocs %d", o.MinDocs, o.MaxDocs)
	bad(!(o.MinDocShare >= 0 && o.MinDocShare <= 1), "MinDocShare %v is not in [0, 1]", o.MinDocShare)
	bad(!(o.MaxDocShare >= 0 && o.MaxDocShare <= 1), "MaxDocShare %v is not in [0, 1]", o.MaxDocShare)
	bad(o.MaxDocShare > 0 && o.MinDocShare > o.MaxDocShare, "MinDocShare %v exceeds MaxDocShare %v", o.MinDocShare, o.MaxDocShare)
	bad(o.MinCount < 0, "MinCount is %d", o.MinCount)
	bad(o.MinTokens < 0, "MinTokens is %d", o.MinTokens)
	bad(o.Score < TFIDFHalf || o.Score > TF, "Score %d is unknown", int(o.Score))
	bad(o.KeepVocabulary && (len(o.StopWords) > 0 || o.Words != 0 || o.MinDocs != 0 || o.MaxDocs != 0 || o.MinDocShare != 0 ||
		o.MaxDocShare != 0 || o.MinCount != 0 || o.Score != 0), "KeepVocabulary leaves no room for rules about words")
	return errors.Join(errs...)
}
