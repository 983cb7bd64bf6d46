package anchor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Fixed takes anchors from the user: topic k is that of the k-th word given.
// Where fewer are given than topics are asked for, Complete finds the others.
//
// The rows of the anchors must not depend on each other: words with the same
// row cannot be anchors of two topics. The Norms of the result are those of
// QR (those of Complete, where it is set).
type Fixed struct {
	// Words are the anchors by name, which are looked up in
	// Options.Vocabulary; without one a word's name is its number.
	Words []string
	// Numbers are the anchors by number, as Options.Numbers has it. In a
	// jsmf.Pipeline these are the numbers of the Model's words. Words or Numbers
	// may be given, not both.
	Numbers []int
	// Complete finds the anchors that are not given: QR, Projected, SPA, SNPA or
	// XRAY. nil: as many must be given as topics are asked for.
	Complete Finder
}

func (f Fixed) String() string {
	names := slices.Clone(f.Words)
	for _, w := range f.Numbers {
		names = append(names, strconv.Itoa(w))
	}
	return "Fixed(" + strings.Join(names, ", ") + completed(f.Complete) + ")"
}

func completed(f Finder) string {
	if f == nil {
		return ""
	}
	return "; then " + f.String()
}

// Validate reports settings out of range, those of Complete too.
func (f Fixed) Validate() error {
	switch {
	case len(f.Words) > 0 && len(f.Numbers) > 0:
		return errors.New("anchor: Fixed: anchors are given both by word and by number")
	case len(f.Words) == 0 && len(f.Numbers) == 0:
		return errors.New("anchor: Fixed: no anchor is given")
	}
	seen := make(map[string]int)
	for i, w := range f.Words {
		if j, ok := seen[w]; ok {
			return fmt.Errorf("anchor: Fixed: %q is given as anchors %d and %d", w, j, i)
		}
		seen[w] = i
	}
	for i, w := range f.Numbers {
		if j := slices.Index(f.Numbers, w); j < i {
			return fmt.Errorf("anchor: Fixed: word %d is given as anchors %d and %d", w, j, i)
		}
	}
	return validateFinder(f.Complete)
}

func validateFinder(f Finder) error {
	if v, ok := f.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Find implements Finder. Errors: settings out of range, *UnknownWordError,
// *NumberError, more or fewer anchors than k, *PartialError, and those of
// Complete.
func (f Fixed) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	l, err := newLookup(rows, opt)
	if err != nil {
		return nil, err
	}
	var anchors []int
	if len(f.Words) > 0 {
		if anchors, err = l.words(f.Words); err != nil {
			return nil, err
		}
	} else {
		for _, w := range f.Numbers {
			i, err := l.number(w)
			if err != nil {
				return nil, err
			}
			anchors = append(anchors, i)
		}
	}
	res, err := complete(ctx, "Fixed", f.Complete, rows, k, opt, &Partial{Anchors: anchors})
	return res, l.named(err)
}

// Tandem makes an anchor of several words at once, a facet: the harmonic mean
// of their rows of C̄, scaled to sum 1. It is small wherever one of them is, so
// that what is left is what the words share, and a word of many senses is
// pinned down by its company. This is interactive topic modelling: the user
// names the topics that matter, or splits and joins those of the last model, and
// Complete finds the rest.
//
// A facet of one word is that word's row, as with Fixed, and no group. A word may be in
// several facets. Result.Groups holds the facets, Result.Points the combined
// rows, and Result.Anchors one word of each: the first that is in no other
// facet, or else the first that does not stand for an earlier one. No word of a
// facet becomes the anchor of another topic. Recovery needs the points:
// recovery.Options.Points; a jsmf.Pipeline passes them on.
//
// The rows must hold the entries of C̄: a low-rank picture (cooc.LAW, of ENN,
// LR, PALM and TruncatedEig) is refused. Negative entries count as zero. Cost:
// that of Complete, and one row a word.
type Tandem struct {
	// Facets are the words of each facet, by name; without Options.Vocabulary a
	// word's name is its number.
	Facets [][]string
	// Complete finds the anchors of the other topics: QR, Projected, SPA, SNPA
	// or XRAY. nil: there must be as many facets as topics.
	Complete Finder
}

func (t Tandem) String() string {
	names := make([]string, len(t.Facets))
	for i, f := range t.Facets {
		names[i] = strings.Join(f, "+")
	}
	return "Tandem(" + strings.Join(names, ", ") + completed(t.Complete) + ")"
}

// Validate reports settings out of range, those of Complete too.
func (t Tandem) Validate() error {
	if len(t.Facets) == 0 {
		return errors.New("anchor: Tandem: no facet is given")
	}
	seen := make(map[string]int)
	for i, f := range t.Facets {
		if len(f) == 0 {
			return fmt.Errorf("anchor: Tandem: facet %d has no words", i)
		}
		sorted := slices.Sorted(slices.Values(f))
		for j, w := range sorted {
			if j > 0 && w == sorted[j-1] {
				return fmt.Errorf("anchor: Tandem: facet %d holds %q twice", i, w)
			}
		}
		key := fmt.Sprintf("%q", sorted)
		if j, ok := seen[key]; ok {
			return fmt.Errorf("anchor: Tandem: facets %d and %d hold the same words", j, i)
		}
		seen[key] = i
	}
	return validateFinder(t.Complete)
}

// Find implements Finder. Errors: settings out of range, rows without entries,
// *UnknownWordError, *FacetError, more or fewer facets than k, *PartialError,
// and those of Complete.
func (t Tandem) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	n, d := rows.Dims()
	if _, law := rows.(cooc.AnchorRows); law || n != d {
		return nil, fmt.Errorf("anchor: Tandem: the rows are a picture in %d dimensions without the entries of C̄, of which a harmonic mean could be taken; use a rectification that keeps them, such as rectify.AP", d)
	}
	l, err := newLookup(rows, opt)
	if err != nil {
		return nil, err
	}
	facets, err := l.facets(t.Facets)
	if err != nil {
		return nil, err
	}
	p := &Partial{Points: make([][]float64, len(facets))}
	if p.Anchors, err = t.leaders(facets); err != nil {
		return nil, err
	}
	for i, f := range facets {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		p.Exclude = append(p.Exclude, f...)
		if len(f) == 1 {
			continue
		}
		if p.Points[i], err = harmonic(rows, f); err != nil {
			return nil, &FacetError{i, t.Facets[i], err.Error()}
		}
	}
	res, err := complete(ctx, "Tandem", t.Complete, rows, k, opt, p)
	if err != nil {
		var pe *PartialError
		if errors.As(err, &pe) && pe.Anchor < len(t.Facets) {
			return nil, &FacetError{pe.Anchor, t.Facets[pe.Anchor], pe.Reason}
		}
		return nil, err
	}
	for i, f := range facets {
		if len(f) == 1 {
			continue
		}
		if res.Groups == nil {
			res.Groups, res.Points = make([][]int, len(res.Anchors)), make([][]float64, len(res.Anchors))
		}
		res.Groups[i], res.Points[i] = f, p.Points[i]
	}
	return res, nil
}

// leaders chooses the word that stands for each facet.
func (t Tandem) leaders(facets [][]int) ([]int, error) {
	count := make(map[int]int)
	for _, f := range facets {
		for _, w := range f {
			count[w]++
		}
	}
	taken := make(map[int]bool)
	leaders := make([]int, len(facets))
	for pass := range 2 {
		for i, f := range facets {
			at := slices.IndexFunc(f, func(w int) bool { return count[w] == 1 })
			if pass == 1 && at < 0 {
				if at = slices.IndexFunc(f, func(w int) bool { return !taken[w] }); at < 0 {
					return nil, &FacetError{i, t.Facets[i], "each of its words stands for another facet already"}
				}
			} else if at < 0 || pass == 1 {
				continue
			}
			leaders[i], taken[f[at]] = f[at], true
		}
	}
	return leaders, nil
}

// harmonic is the harmonic mean of rows, scaled to sum 1.
func harmonic(rows cooc.Rows, words []int) ([]float64, error) {
	_, d := rows.Dims()
	inverse, row := make([]float64, d), make([]float64, d)
	for _, w := range words {
		rows.RowTo(row, w)
		sum := 0.0
		for j, v := range row {
			sum += v
			inverse[j] += 1 / max(v, 0) // +Inf from the first zero on
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			return nil, fmt.Errorf("the row of word %d sums to %g, not 1", w, sum)
		}
	}
	sum := 0.0
	for j, v := range inverse {
		inverse[j] = 1 / v
		sum += inverse[j]
	}
	if !(sum > 0) {
		return nil, errors.New("its words share nothing: there is no word that all of them occur with")
	}
	for j := range inverse {
		inverse[j] /= sum
	}
	return inverse, nil
}

// complete has a finder complete the given anchors, and sees that it has.
func complete(ctx context.Context, name string, f Finder, rows cooc.Rows, k int, opt Options, p *Partial) (*Result, error) {
	given := len(p.Anchors)
	switch {
	case opt.Partial != nil:
		return nil, fmt.Errorf("anchor: %s: %w", name, ErrPartial)
	case given > k:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics", name, given, k)
	case given < k && f == nil:
		return nil, fmt.Errorf("anchor: %s: %d anchors are given for %d topics, and nothing to complete them by", name, given, k)
	case f == nil:
		f = QR{}
	}
	opt.Partial = p
	res, err := f.Find(ctx, rows, k, opt)
	if err != nil {
		return nil, err
	}
	if res == nil || len(res.Anchors) < given || !slices.Equal(res.Anchors[:given], p.Anchors) {
		return nil, fmt.Errorf("anchor: %s: %v does not keep the given anchors: %w", name, f, ErrPartial)
	}
	return res, nil
}

// FacetError says why a facet of Tandem cannot be an anchor.
type FacetError struct {
	Facet  int
	Words  []string
	Reason string
}

func (e *FacetError) Error() string {
	return fmt.Sprintf("anchor: Tandem: facet %d (%s): %s", e.Facet, strings.Join(e.Words, " "), e.Reason)
}

// UnknownWordError names words that are not in the vocabulary.
type UnknownWordError struct{ Words []UnknownWord }

// UnknownWord is a word that is not in the vocabulary.
type UnknownWord struct {
	Word string
	// Near are up to three words of the vocabulary that are spelt like it, the
	// nearest first.
	Near []string
}

func (e *UnknownWordError) Error() string {
	var b strings.Builder
	b.WriteString("anchor: not in the vocabulary: ")
	for i, u := range e.Words {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.60q", u.Word)
		if len(u.Near) == 0 {
			continue
		}
		for j, w := range u.Near {
			b.WriteString([]string{" (near: ", ", "}[min(j, 1)])
			fmt.Fprintf(&b, "%.60q", w)
		}
		b.WriteString(")")
	}
	return b.String()
}

// NumberError says that there is no row for a word given by number.
type NumberError struct {
	Number int
	Empty  bool // the word's row is empty and has been left out; else there is no such word
	Max    int  // numbers go up to this
}

func (e *NumberError) Error() string {
	if e.Empty {
		return fmt.Sprintf("anchor: word %d has an empty co-occurrence row and cannot be an anchor", e.Number)
	}
	return fmt.Sprintf("anchor: there is no word %d; numbers go from 0 to %d", e.Number, e.Max)
}

// lookup finds rows by word.
type lookup struct {
	n       int
	vocab   []string
	numbers []int
}

func newLookup(rows cooc.Rows, opt Options) (*lookup, error) {
	n, _ := rows.Dims()
	if opt.Vocabulary != nil && len(opt.Vocabulary) != n {
		return nil, fmt.Errorf("anchor: a vocabulary of %d words for %d rows", len(opt.Vocabulary), n)
	}
	if opt.Numbers != nil && (len(opt.Numbers) != n || !slices.IsSorted(opt.Numbers)) {
		return nil, fmt.Errorf("anchor: %d numbers of words, ascending or not, for %d rows; want as many, ascending", len(opt.Numbers), n)
	}
	return &lookup{n, opt.Vocabulary, opt.Numbers}, nil
}

// number returns the row of the word the caller knows by that number.
func (l *lookup) number(w int) (int, error) {
	largest := l.n - 1
	if l.numbers != nil {
		largest = l.numbers[l.n-1]
		if i, ok := slices.BinarySearch(l.numbers, w); ok {
			return i, nil
		}
	} else if w >= 0 && w < l.n {
		return w, nil
	}
	return 0, &NumberError{Number: w, Empty: w >= 0 && w < largest, Max: largest}
}

// words returns the rows of words; the lowest where the vocabulary repeats one.
func (l *lookup) words(names []string) ([]int, error) {
	index := make(map[string]int, len(names))
	for _, w := range names {
		index[w] = -1
	}
	if l.vocab == nil {
		for w := range index {
			if v, err := strconv.Atoi(w); err == nil && strconv.Itoa(v) == w {
				if i, err := l.number(v); err == nil {
					index[w] = i
				}
			}
		}
	}
	for i, w := range l.vocab {
		if at, ok := index[w]; ok && at < 0 {
			index[w] = i
		}
	}
	rows := make([]int, len(names))
	var unknown []UnknownWord
	for i, w := range names {
		if rows[i] = index[w]; rows[i] < 0 {
			unknown = append(unknown, UnknownWord{w, near(w, l.vocab)})
		}
	}
	if unknown != nil {
		return nil, &UnknownWordError{unknown}
	}
	return rows, nil
}

// facets looks up all words at once, so that the error names all unknown ones.
func (l *lookup) facets(names [][]string) ([][]int, error) {
	all, err := l.words(slices.Concat(names...))
	if err != nil {
		return nil, err
	}
	facets := make([][]int, len(names))
	for i, f := range names {
		facets[i], all = all[:len(f):len(f)], all[len(f):]
	}
	return facets, nil
}

// named adds the word to the error of a given anchor.
func (l *lookup) named(err error) error {
	var pe *PartialError
	if errors.As(err, &pe) && l.vocab != nil && pe.Word >= 0 && pe.Word < l.n {
		return fmt.Errorf("%w (%.60q)", err, l.vocab[pe.Word])
	}
	return err
}

// near returns up to three words of the vocabulary that can be made of word by
// few changes, a third of its letters at most: the nearest first, ties in the
// order of the vocabulary. Case does not count.
func near(word string, vocab []string) []string {
	type match struct {
		word string
		dist int
	}
	a := []rune(strings.ToLower(word))
	most := max(1, min(len(a)/3, 3))
	var found []match
	for _, w := range vocab {
		if d := edits(a, []rune(strings.ToLower(w)), most); d <= most {
			found = append(found, match{w, d})
		}
	}
	slices.SortStableFunc(found, func(x, y match) int { return cmp.Compare(x.dist, y.dist) })
	var words []string
	for _, m := range found {
		if !slices.Contains(words, m.word) && len(words) < 3 {
			words = append(words, m.word)
		}
	}
	return words
}

// edits is the number of letters that must be inserted, deleted, replaced, or
// exchanged with their neighbour to make b of a, or more than most where it is
// more than most.
func edits(a, b []rune, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
