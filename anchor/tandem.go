package anchor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// Tandem makes an anchor of a group of words: the harmonic mean of their rows of C̄,
// scaled to sum 1. It is small wherever one of them is, so that it keeps what the words
// share, and the company of a word of many senses tells which is meant. So the user names
// the topics that matter, or splits and joins those of the last model, and Complete finds
// the rest.
//
// A group of one word is that word's row, as with Fixed, and no group. A word may be in
// several groups. Result.Groups holds the groups, Result.Points the combined rows, and
// Result.Anchors one word of each: the first that is in no other group, or else the first
// that is not the anchor of an earlier one. No word of a group becomes the anchor of
// another topic. Recovery needs the points (recovery.Options.Points); a jsmf.Pipeline
// passes them on.
//
// The rows must hold the entries of C̄: those of a low-rank representation ([cooc.LowRankSparse.LAW],
// after ENN, LR, PALM and TruncatedEig) are refused. Negative entries count as zero. Cost:
// that of Complete, and one row a word.
type Tandem struct {
	// Groups are the words of each group, by name, as Options.Vocabulary has it.
	Groups [][]string
	// Complete finds the anchors of the other topics: QR, Projected, SPA, SNPA, XRAY, or a
	// finder of one's own that begins with Options.Given. nil: each topic must have a group.
	Complete Finder
}

func (t Tandem) String() string {
	names := make([]string, len(t.Groups))
	for i, f := range t.Groups {
		names[i] = strings.Join(f, "+")
	}
	return "Tandem(" + strings.Join(names, ", ") + completed(t.Complete) + ")"
}

// Validate reports settings out of range, those of Complete too.
func (t Tandem) Validate() error {
	if len(t.Groups) == 0 {
		return errors.New("anchor: Tandem: no group is given")
	}
	seen := make(map[string]int)
	for i, f := range t.Groups {
		if len(f) == 0 {
			return fmt.Errorf("anchor: Tandem: group %d has no words", i)
		}
		sorted := slices.Sorted(slices.Values(f))
		for j, w := range sorted {
			if j > 0 && w == sorted[j-1] {
				return fmt.Errorf("anchor: Tandem: group %d holds %q twice", i, w)
			}
		}
		key := fmt.Sprintf("%q", sorted)
		if j, ok := seen[key]; ok {
			return fmt.Errorf("anchor: Tandem: groups %d and %d hold the same words", j, i)
		}
		seen[key] = i
	}
	return validateFinder(t.Complete)
}

// Find implements Finder. Errors: settings out of range, rows without entries,
// [*UnknownWordError], a group that cannot be an anchor, more or fewer groups than k,
// words to exclude, and those of Complete.
func (t Tandem) Find(ctx context.Context, rows cooc.Rows, k int, opt Options) (*Result, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if !rows.Explicit() {
		return nil, fmt.Errorf("anchor: Tandem takes harmonic means of the entries of C̄, which low-rank rows do not have; use a rectification that keeps them, such as rectify.AP")
	}
	l, err := newLookup(rows, opt)
	if err != nil {
		return nil, err
	}
	groups, err := l.groups(t.Groups)
	if err != nil {
		return nil, err
	}
	g := &Given{Points: make([][]float64, len(groups))}
	if g.Anchors, err = t.leaders(groups); err != nil {
		return nil, err
	}
	for i, words := range groups {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("anchor: %w", err)
		}
		if len(words) == 1 {
			continue
		}
		if g.Points[i], err = harmonic(rows, words); err != nil {
			return nil, t.groupError(i, err.Error())
		}
	}
	res, err := complete(ctx, "Tandem", t.Complete, rows, k, opt, g, slices.Concat(groups...))
	if err != nil {
		var ge *givenError
		if errors.As(err, &ge) && ge.anchor < len(t.Groups) {
			return nil, t.groupError(ge.anchor, ge.reason)
		}
		return nil, err
	}
	for i, words := range groups {
		if len(words) == 1 {
			continue
		}
		if res.Groups == nil {
			res.Groups, res.Points = make([][]int, len(res.Anchors)), make([][]float64, len(res.Anchors))
		}
		res.Groups[i], res.Points[i] = words, g.Points[i]
	}
	return res, nil
}

// groupError says why a group cannot be an anchor.
func (t Tandem) groupError(i int, reason string) error {
	return fmt.Errorf("anchor: Tandem: group %d (%s): %s", i, strings.Join(t.Groups[i], " "), reason)
}

// leaders chooses the word that stands for each group.
func (t Tandem) leaders(groups [][]int) ([]int, error) {
	count := make(map[int]int)
	for _, f := range groups {
		for _, w := range f {
			count[w]++
		}
	}
	taken := make(map[int]bool)
	leaders := make([]int, len(groups))
	for pass := range 2 {
		for i, f := range groups {
			at := slices.IndexFunc(f, func(w int) bool { return count[w] == 1 })
			if pass == 1 && at < 0 {
				if at = slices.IndexFunc(f, func(w int) bool { return !taken[w] }); at < 0 {
					return nil, t.groupError(i, "each of its words stands for another group already")
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
			return nil, fmt.Errorf("the row of word %d sums to %.9g, not 1", w, sum)
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
