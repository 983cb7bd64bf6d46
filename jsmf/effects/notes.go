package effects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/jsmf"
)

// together is the least part Apart of columns that do not go together: half of what the column says
// follows from the others (a variance inflation of 2).
const together = 0.5

// most is how many topics a sentence names at most.
const most = 3

// Notes returns what a reader has to know before the numbers, a sentence or two each: which columns go
// together, so that adjusting for one leaves little of the other (TermEffects.Apart below 0.5); for which
// topics raw and adjusted numbers go in opposite directions, one of them for sure; and which topics are
// not told apart (Alike).
func (e *Effects) Notes() []string {
	var out, names, parts, others []string
	terms := slices.SortedStableFunc(slices.Values(e.Terms), func(x, y TermEffects) int { return cmp.Compare(x.Apart, y.Apart) })
	for _, t := range terms {
		switch {
		case t.AdjustedFor == nil || len(names) > 1 && t.Apart >= together:
		case t.Apart < together:
			names, others, parts = append(names, t.Name), t.AdjustedFor, append(parts, fmt.Sprintf("%s is as uncertain as from %.0f %% of the data", t.Name, 100*t.Apart))
		case len(names) == 1:
			names = append(names, t.Name)
		}
	}
	if len(names) == 1 {
		names = append(names, others...)
	}
	if parts != nil {
		out = append(out, fmt.Sprintf("%s go together. Adjusted for the other columns, %s. What is not adjusted does not suffer from this.", and(names), and(parts)))
	}
	for i, t := range e.Terms {
		if t.AdjustedFor == nil {
			continue
		}
		var list []string
		for q := range e.Quantities {
			if text := opposite(&e.Terms[i-1], &t, q); text != "" {
				list = append(list, e.called(q)+text)
			}
		}
		if n := len(list); n > 0 {
			out = append(out, fmt.Sprintf("By %s, %d of %d topics go one way as the data are and the other way adjusted for %s: %s. The first numbers say what there was, those adjusted compare only what is alike in %s.",
				t.Name, n, len(e.Quantities), and(t.AdjustedFor), strings.Join(list[:min(n, most)], "; "), and(t.AdjustedFor)))
		}
	}
	for _, group := range e.Alike {
		var list []string
		for _, k := range group {
			list = append(list, e.called(k))
		}
		out = append(out, fmt.Sprintf("%s have nearly the same words and are not told apart: each has its part, by share, of their sum.", and(list)))
	}
	return out
}

// and joins names.
func and(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// called returns the number of a topic and the name, or the name of a sum.
func (e *Effects) called(q int) string {
	if x := e.Quantities[q]; len(x.Topics) == 1 && x.Topics[0] == q {
		return fmt.Sprintf("“%d %s”", q, x.Name)
	}
	return "“" + e.Quantities[q].Name + "”"
}

// opposite says where a quantity goes most in opposite directions, if it does, one of them for sure: from
// the first to the last bin, per unit of a number, or from the average to a point.
func opposite(raw, adjusted *TermEffects, q int) (said string) {
	most := 0.0
	compare := func(x, y jsmf.Interval, text func() string) {
		sure := func(x jsmf.Interval) bool { return x.Low > 0 || x.High < 0 }
		if by := math.Abs(x.Value - y.Value); x.Value*y.Value < 0 && (sure(x) || sure(y)) && by > most {
			most, said = by, text()
		}
	}
	switch raw.Kind {
	case Numbers:
		x, y := raw.Slopes[q], adjusted.Slopes[q]
		compare(x, y, func() string {
			return fmt.Sprintf(" %+.2g points for each %s, adjusted %+.2g", 100*x.Value, cmp.Or(raw.Unit, "one more"), 100*y.Value)
		})
	case Times:
		text := func(t *TermEffects) string {
			first, last := t.Ends()
			return fmt.Sprintf("%.1f %% → %.1f %%", 100*t.Predictions[first][q].Value, 100*t.Predictions[last][q].Value)
		}
		compare(raw.Change(q), adjusted.Change(q), func() string { return fmt.Sprintf(" %s, adjusted %s", text(raw), text(adjusted)) })
	default:
		for p, at := range raw.Points {
			x, y := raw.Differences[p][q], adjusted.Differences[p][q]
			compare(x, y, func() string {
				return fmt.Sprintf(" at %s %+.1f points, adjusted %+.1f", at.Label, 100*x.Value, 100*y.Value)
			})
		}
	}
	return said
}

// Ends returns the numbers of the first and the last bin of time that are whole and have enough
// documents to tell; the same number twice if there are no two.
func (t *TermEffects) Ends() (first, last int) {
	var told []int
	for i, p := range t.Points {
		if !p.Incomplete && !p.Few() && !math.IsNaN(t.Predictions[i][0].Value) {
			told = append(told, i)
		}
	}
	if len(told) < 2 {
		return 0, 0
	}
	return told[0], told[len(told)-1]
}

// Change returns by how much a quantity changes between the Ends, 0 to 0 if they are the same. The
// interval is that of a difference of two independent numbers (Zou and Donner, Statistics in Medicine 27,
// 2008).
func (t *TermEffects) Change(quantity int) jsmf.Interval {
	first, last := t.Ends()
	if first == last {
		return jsmf.Interval{}
	}
	a, b := t.Predictions[first][quantity], t.Predictions[last][quantity]
	v := b.Value - a.Value
	return jsmf.Interval{Value: v, Low: v - math.Hypot(b.Value-b.Low, a.High-a.Value), High: v + math.Hypot(b.High-b.Value, a.Value-a.Low)}
}

// Recovery says in words which part of a difference is found in documents drawn from the model: the range
// over the quantities whose drawn differences are large enough to tell, and where it is least. documents is
// what these are called. "" without drawn replicates.
func (e *Effects) Recovery(documents string) string {
	if e.Drawn == 0 {
		return ""
	}
	var told []int
	for i, part := range e.Found {
		if !math.IsNaN(part) {
			told = append(told, i)
		}
	}
	if told == nil {
		return fmt.Sprintf("In %s drawn from this model, differences are too small to tell which part of them is found.", documents)
	}
	slices.SortStableFunc(told, func(i, j int) int { return cmp.Compare(e.Found[i], e.Found[j]) })
	least := told[0]
	return fmt.Sprintf("In %s drawn from this model, %.0f %% (%s) to %.0f %% of a difference is found, as far as it can be told (%d of %d).",
		documents, 100*e.Found[least], e.Quantities[least].Name, 100*e.Found[told[len(told)-1]], len(told), len(e.Found))
}
