package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/arith"
)

// Score is the rule by which Curate ranks words: tf is a word's number of tokens, df the number
// of documents that have it, M the number of documents with a word that is no stop word.
type Score int

const (
	// TFIDFHalf is tf·ln(⌊M/df⌋), the default and the rule of the papers' experiments. Words in
	// more than half of the documents score 0.
	TFIDFHalf Score = iota
	// TFIDF is tf·ln(M/df). Frequent words in nearly all documents can score high; the papers
	// combine it with cut-offs such as MinDocShare 0.1 and MaxDocShare 0.9.
	TFIDF
	// TF is tf. It suits preferences, where what everyone chose is no stop word (lee-2018, §2.4).
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

// Curation says which words and documents Curate keeps. The zero value keeps words of positive
// score and documents with at least 3 distinct words. The usual setting for text is
//
//	Curation{StopWords: stopwords.English(), Words: 5000}
type Curation struct {
	// StopWords are removed first, by exact match. The corpus need not have them.
	StopWords []string

	// MinDocs and MaxDocs bound the number of documents that a word is in, MinDocShare and
	// MaxDocShare its share of the M documents, in [0, 1]. 0: no bound.
	MinDocs, MaxDocs         int
	MinDocShare, MaxDocShare float64

	// MinCount removes words with fewer tokens. 0: no limit.
	MinCount int64

	// Words is N, the number of words to keep: those of highest Score, of equal ones those that
	// come first in the corpus. If fewer are left, all stay, those of score 0 included. 0: all
	// words of positive score.
	Words int

	// Score ranks the words.
	Score Score

	// KeepVocabulary keeps all words in their order, even those that never occur, and removes
	// documents only. All fields above must be zero.
	KeepVocabulary bool

	// MinDistinct removes documents with fewer distinct words of those kept. 0: 3, as in the
	// papers' experiments. Negative: no limit.
	MinDistinct int

	// DropDuplicates first removes documents that repeat an earlier one: see
	// Inspection.Duplicates.
	DropDuplicates bool

	// MinTokens removes documents with fewer tokens of words kept. 0: no limit. (Package cooc
	// applies the papers' limit of 5 tokens.)
	MinTokens int64
}

// CurationStep says how much one step of Curate removed. Tokens of removed documents are those
// of words that were still kept.
type CurationStep struct {
	Name        string // what the step removes, with its setting
	Docs, Words int
	Tokens      int64
}

// CurationReport says what Curate did: Before less all Steps is After.
type CurationReport struct {
	Before, After CurationStep   // the whole corpus; Name is empty
	Steps         []CurationStep // in the order in which they were taken
	ScoredDocs    int            // M of Score; 0 with KeepVocabulary
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
		fmt.Fprintf(&b, "%-*s %11s %11s %13s\n", width, name, num(int64(s.Docs)), num(int64(s.Words)), num(s.Tokens))
	}
	fmt.Fprintf(&b, "%*s %11s %11s %13s\n", width, "", "documents", "words", "tokens")
	line("before", "", r.Before)
	for _, s := range r.Steps {
		line("  "+s.Name, "−", s)
	}
	line("after", "", r.After)
	return b.String()
}

// Curate chooses the vocabulary and the documents. It removes, in this order: duplicates, if
// asked for; stop words; words that never occur; words outside the bounds on documents; words
// of fewer than MinCount tokens; all but the best words by Score, which become the vocabulary
// in that order; documents with too few distinct words or tokens; words of which no document is
// left. c is not changed.
//
// An error about the settings names all that are wrong. If no word or no document is left the
// error wraps [ErrEmptyVocabulary] or [ErrNoDocuments], and the report comes with it.
// O(nnz + N log N).
func Curate(c *Corpus, o Curation) (*Corpus, *CurationReport, error) {
	if err := o.validate(); err != nil {
		return nil, nil, err
	}
	c, u, err := newCurator(c, o)
	if err != nil {
		return nil, nil, err
	}
	if !o.KeepVocabulary {
		u.words()
		if len(u.order) == 0 {
			return nil, u.rep.finish(), fmt.Errorf("corpus: curate: %w: no word is left", ErrEmptyVocabulary)
		}
	}
	docs := u.documents()
	if len(docs) == 0 {
		return nil, u.rep.finish(), fmt.Errorf("corpus: curate: %w: none is left", ErrNoDocuments)
	}
	if !o.KeepVocabulary {
		clear(u.tf) // tokens of these words have gone with their documents
		u.drop("words without a document left", func(i int) bool { return u.df[i] == 0 })
		u.order = slices.DeleteFunc(u.order, func(i int) bool { return !u.keep[i] })
		if len(u.order) == 0 {
			return nil, u.rep.finish(), fmt.Errorf("corpus: curate: %w: no word is left", ErrEmptyVocabulary)
		}
	}
	out, err := c.Select(docs, u.order)
	if err != nil {
		return nil, nil, err
	}
	return out, u.rep.finish(), nil
}

// curator is the state of a call of Curate.
type curator struct {
	c     *Corpus
	o     Curation
	rep   *CurationReport
	tf    []int64
	df    []int
	keep  []bool // of each word
	order []int  // the words kept, in their new order; nil: all, as they are
}

// newCurator begins a curation: it returns the corpus without duplicates, if these go.
func newCurator(c *Corpus, o Curation) (*Corpus, *curator, error) {
	rep := &CurationReport{Before: CurationStep{Docs: c.NumDocs(), Words: c.NumWords(), Tokens: c.tokens}}
	if o.DropDuplicates {
		var err error
		if c, err = c.distinct(rep); err != nil {
			return nil, nil, err
		}
	}
	u := &curator{c: c, o: o, rep: rep, tf: c.WordCounts(), df: c.DocFrequencies(), keep: make([]bool, c.NumWords())}
	for i := range u.keep {
		u.keep[i] = true
	}
	return c, u, nil
}

// distinct returns the corpus without duplicates, as one step of the report.
func (c *Corpus) distinct(rep *CurationReport) (*Corpus, error) {
	found, err := duplicates(context.Background(), c.Source(), c.NumDocs())
	if err != nil {
		return nil, err
	}
	step := CurationStep{Name: "documents that repeat an earlier one", Docs: len(found)}
	docs := make([]int, 0, c.NumDocs())
	for m := range c.NumDocs() {
		if len(found) > 0 && found[0].Doc == m {
			step.Tokens += c.DocLen(m)
			found = found[1:]
			continue
		}
		docs = append(docs, m)
	}
	rep.Steps = append(rep.Steps, step)
	return c.Select(docs, nil)
}

// drop removes the words for which cond holds, as one step of the report.
func (u *curator) drop(name string, cond func(i int) bool) {
	s := CurationStep{Name: name}
	for i := range u.keep {
		if u.keep[i] && cond(i) {
			u.keep[i] = false
			s.Words++
			s.Tokens += u.tf[i]
		}
	}
	u.rep.Steps = append(u.rep.Steps, s)
}

// words chooses the words.
func (u *curator) words() {
	c, o, tf, df := u.c, u.o, u.tf, u.df
	if len(o.StopWords) > 0 {
		stop := make(map[string]bool, len(o.StopWords))
		for _, w := range o.StopWords {
			stop[w] = true
		}
		u.drop(fmt.Sprintf("stop words, of %d", len(stop)), func(i int) bool { return stop[c.vocab[i]] })
	}
	for m := range c.NumDocs() {
		words, _ := c.Doc(m)
		if slices.ContainsFunc(words, func(w int32) bool { return u.keep[w] }) {
			u.rep.ScoredDocs++
		}
	}
	all := float64(u.rep.ScoredDocs)
	share := func(i int) float64 { return float64(df[i]) / all }
	u.drop("words that never occur", func(i int) bool { return df[i] == 0 })
	if o.MinDocs > 0 {
		u.drop(fmt.Sprintf("words in fewer than %d documents", o.MinDocs), func(i int) bool { return df[i] < o.MinDocs })
	}
	if o.MaxDocs > 0 {
		u.drop(fmt.Sprintf("words in more than %d documents", o.MaxDocs), func(i int) bool { return df[i] > o.MaxDocs })
	}
	// The quotient is rounded as the share was, so that 3 documents of 30 are no less than 0.1.
	if o.MinDocShare > 0 {
		u.drop(fmt.Sprintf("words in less than %.4g%% of documents", 100*o.MinDocShare), func(i int) bool { return share(i) < o.MinDocShare })
	}
	if o.MaxDocShare > 0 {
		u.drop(fmt.Sprintf("words in more than %.4g%% of documents", 100*o.MaxDocShare), func(i int) bool { return share(i) > o.MaxDocShare })
	}
	if o.MinCount > 0 {
		u.drop(fmt.Sprintf("words with fewer than %d tokens", o.MinCount), func(i int) bool { return tf[i] < o.MinCount })
	}
	u.best()
}

// best keeps the best words, in the order of their scores.
func (u *curator) best() {
	o := u.o
	score := make([]float64, len(u.keep))
	u.order = make([]int, 0, len(u.keep))
	for i, kept := range u.keep {
		if kept {
			score[i] = o.Score.of(u.tf[i], u.df[i], u.rep.ScoredDocs)
			u.order = append(u.order, i)
		}
	}
	slices.SortStableFunc(u.order, func(i, j int) int { return cmp.Compare(score[j], score[i]) })
	if o.Words > 0 {
		for rank, i := range u.order {
			if rank >= o.Words {
				score[i] = math.Inf(-1)
			}
		}
		u.drop(fmt.Sprintf("all but the best %d by %v", o.Words, o.Score), func(i int) bool { return math.IsInf(score[i], -1) })
	} else {
		u.drop(fmt.Sprintf("words of score 0 by %v", o.Score), func(i int) bool { return score[i] <= 0 })
	}
	u.order = slices.DeleteFunc(u.order, func(i int) bool { return !u.keep[i] })
}

// documents returns the documents to keep, and makes df their frequencies.
func (u *curator) documents() []int {
	minDistinct := u.o.MinDistinct
	if minDistinct == 0 {
		minDistinct = 3
	}
	few := CurationStep{Name: fmt.Sprintf("documents with fewer than %d distinct words", minDistinct)}
	short := CurationStep{Name: fmt.Sprintf("documents with fewer than %d tokens", u.o.MinTokens)}
	docs := make([]int, 0, u.c.NumDocs())
	clear(u.df)
	for m := range u.c.NumDocs() {
		words, counts := u.c.Doc(m)
		distinct, tokens := 0, int64(0)
		for i, w := range words {
			if u.keep[w] {
				distinct++
				tokens += int64(counts[i])
			}
		}
		switch {
		case distinct < minDistinct:
			few.Docs++
			few.Tokens += tokens
		case tokens < u.o.MinTokens:
			short.Docs++
			short.Tokens += tokens
		default:
			docs = append(docs, m)
			for _, w := range words {
				u.df[w]++
			}
		}
	}
	if minDistinct > 0 {
		u.rep.Steps = append(u.rep.Steps, few)
	}
	if u.o.MinTokens > 0 {
		u.rep.Steps = append(u.rep.Steps, short)
	}
	return docs
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
		return float64(tf) * arith.Log(float64(docs/df))
	case TFIDF:
		return float64(tf) * arith.Log(float64(docs)/float64(df))
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
