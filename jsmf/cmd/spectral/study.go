package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// columns are what the topics may depend on: the time, the classes and the numbers.
func (a *answers) columns() []effects.Term {
	var out []effects.Term
	t, d := a.table, a.documents
	if by := bins(d); by != 0 {
		out = append(out, effects.Time(t.time.Name, by))
	}
	for _, f := range t.classes {
		out = append(out, effects.Category(f.Name))
	}
	for _, f := range t.numbers {
		out = append(out, effects.Number(f.Name))
	}
	return out
}

// groups are the terms that put documents into groups: the time and the classes.
func (a *answers) groups() (out []effects.Term) {
	for _, t := range a.terms {
		if !slices.ContainsFunc(a.table.numbers, func(f corpus.Field) bool { return f.Name == t.String() }) {
			out = append(out, t)
		}
	}
	return out
}

const (
	fewestBins  = 6
	documentsIn = 20 // of a bin on average, and of a level that is not lumped with others, at least
)

// bins returns the longest bins of the calendar of which the documents fill six or more, or
// bins of equal counts where these would be too small; 0 if all documents are of one time.
func bins(d *documents) effects.Bins {
	if len(d.times) < 2 || d.first.Equal(d.last) {
		return 0
	}
	days := d.last.Sub(d.first).Hours() / 24
	for _, x := range []struct {
		by   effects.Bins
		days float64
	}{{effects.Year, 365.25}, {effects.Quarter, 91.31}, {effects.Month, 30.44}, {effects.Week, 7}, {effects.Day, 1}} {
		if n := days / x.days; n >= fewestBins-1 {
			if float64(len(d.times)) >= documentsIn*n {
				return x.by
			}
			break
		}
	}
	return effects.Equal(max(2, min(12, len(d.times)/documentsIn)))
}

// printEffects prints what changed over time and how the classes differ.
func (a *answers) printEffects(w io.Writer) {
	e := a.effects
	if e == nil {
		return
	}
	fmt.Fprintf(w, "\n%d %s tell how topics depend on %s", e.Documents, a.documents.called, strings.Join(columnsOf(e), " and "))
	if e.Missing > 0 {
		fmt.Fprintf(w, "; %d are left out, without a value or a topic that explains them", e.Missing)
	}
	fmt.Fprintln(w, ".\nA number in brackets is the interval of that number alone: of a hundred that are zero, some five leave out zero. The findings above allow for that.")
	if len(columnsOf(e)) > 1 {
		fmt.Fprintf(w, "First come the %s as they are. What is adjusted for another column says what would be left if that column were alike everywhere, by a linear regression.\n", a.documents.called)
	}
	if s := e.Recovery(a.documents.called); s != "" {
		fmt.Fprintln(w, s)
	}
	for _, s := range e.Notes() {
		fmt.Fprintf(w, "Note: %s\n", s)
	}
	for i := range e.Terms {
		switch t := &e.Terms[i]; t.Kind {
		case effects.Times:
			a.printTrend(w, t)
		case effects.Categories:
			a.printClasses(w, t)
		case effects.Numbers:
			a.printSlopes(w, t)
		}
	}
}

// columnsOf are the columns that topics may depend on.
func columnsOf(e *effects.Effects) []string {
	var out []string
	for _, t := range e.Terms {
		if t.AdjustedFor == nil {
			out = append(out, t.Name)
		}
	}
	return out
}

// adjusted says what a term is adjusted for, or that it is not, if others are.
func (a *answers) adjusted(t *effects.TermEffects) string {
	switch {
	case t.AdjustedFor != nil:
		return ", adjusted for " + strings.Join(t.AdjustedFor, " and ")
	case len(columnsOf(a.effects)) > 1:
		return ", " + a.documents.called + " as they are"
	}
	return ""
}

// How many topics are printed: of those that rose or fell, of those that are more common in a
// class, and of those that are less common, which says less, for many are rare in most classes.
const (
	maxLines = 5
	maxUp    = 3
	maxDown  = 2
)

// change is how a topic differs from bin to bin, or from the average.
type change struct {
	topic int
	by    float64
	text  string
}

// printTrend prints which topics rose and fell from the first to the last bin that the
// documents fill, where the interval of the change leaves out zero, and which had their height
// between, where intervals do not meet.
func (a *answers) printTrend(w io.Writer, t *effects.TermEffects) {
	var full []int
	for i, p := range t.Points {
		if !p.Incomplete && !math.IsNaN(t.Predictions[i][0].Value) {
			full = append(full, i)
		}
	}
	first, last := t.Ends()
	fmt.Fprintf(w, "\nOVER TIME, by %s%s: ", t.Name, a.adjusted(t))
	if first == last {
		fmt.Fprintf(w, "too few %s to tell.\n", a.documents.called)
		return
	}
	fmt.Fprintf(w, "%s against %s\n", t.Points[last].Label, t.Points[first].Label)
	for _, l := range a.listed() {
		a.printTrendOf(w, t, full, l)
	}
}

// listed are the families of topics, if there are any, or the topics: some of the quantities.
type listed struct {
	one, many string
	from, to  int
}

// listed returns what is printed one after the other: families first.
func (a *answers) listed() []listed {
	k, all := a.model.K(), len(a.effects.Quantities)
	topics := listed{"topic", "topics", 0, k}
	if all == k {
		return []listed{topics}
	}
	return []listed{{"family", "families", k, all}, topics}
}

// printTrendOf prints those of a list that rose and fell.
func (a *answers) printTrendOf(w io.Writer, t *effects.TermEffects, full []int, l listed) {
	first, last := full[0], full[len(full)-1]
	var rose, fell, peaked []change
	for k := l.from; k < l.to; k++ {
		from, to := t.Predictions[first][k], t.Predictions[last][k]
		high := slices.MaxFunc(full, func(i, j int) int { return cmp.Compare(t.Predictions[i][k].Low, t.Predictions[j][k].Low) })
		peak := t.Predictions[high][k]
		c := change{k, to.Value - from.Value, fmt.Sprintf("from %s\tto %s", interval(from), interval(to))}
		switch {
		case t.Change(k).Low > 0:
			rose = append(rose, c)
		case t.Change(k).High < 0:
			fell = append(fell, c)
		case peak.Low > max(from.High, to.High):
			between := fmt.Sprintf("%s in %s\tbetween %s and %s", interval(peak), t.Points[high].Label, short(from.Value), short(to.Value))
			peaked = append(peaked, change{k, peak.Value, between})
		}
	}
	a.printChanges(w, l, "rose", rose)
	a.printChanges(w, l, "fell", fell)
	if len(peaked) > 0 {
		a.printChanges(w, l, "came and went, with their height between", peaked)
	}
}

// printChanges prints the largest changes of a kind.
func (a *answers) printChanges(w io.Writer, l listed, kind string, all []change) {
	fmt.Fprintf(w, "%d of %d %s %s", len(all), l.to-l.from, l.many, kind)
	switch {
	case len(all) == 0:
		fmt.Fprintln(w, ".")
	case len(all) > maxLines:
		fmt.Fprintf(w, "; the %d that did most:\n", maxLines)
	default:
		fmt.Fprintln(w, ":")
	}
	slices.SortStableFunc(all, bySize)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range all[:min(len(all), maxLines)] {
		fmt.Fprintf(tw, "  %s\t%s\n", a.called(c.topic), c.text)
	}
	tw.Flush()
}

// bySize is the order of changes, largest first.
func bySize(x, y change) int { return cmp.Compare(math.Abs(y.by), math.Abs(x.by)) }

// printClasses prints for each class the topics that are more and less common there than in
// all texts, where the interval leaves out zero.
func (a *answers) printClasses(w io.Writer, t *effects.TermEffects) {
	fmt.Fprintf(w, "\nBY %s%s, against the average of all %s, in percentage points\n", strings.ToUpper(t.Name), a.adjusted(t), a.documents.called)
	certain, of, told := 0, 0, map[int]bool{}
	for i, p := range t.Points {
		fmt.Fprintf(w, "%s (%s", p.Label, count(p.Documents, a.table.nouns.Document, a.table.nouns.Documents))
		if p.Units != p.Documents {
			fmt.Fprintf(w, ", %d %s", p.Units, a.table.cluster.From)
		}
		if fmt.Fprint(w, "): "); p.Few() {
			fmt.Fprintln(w, "too few to tell.")
			continue
		}
		of += len(t.Differences[i])
		certain += a.printMoved(w, t.Differences[i], told, "more common", "more common", "less")
	}
	fmt.Fprintf(w, "The intervals of %d of these %d differences leave out zero; by chance, some %.0f would.\n", certain, of, (1-a.effects.Level)*float64(of))
}

// printSlopes prints which topics grow and shrink with a number.
func (a *answers) printSlopes(w io.Writer, t *effects.TermEffects) {
	fmt.Fprintf(w, "\nBY %s%s, in percentage points for each %s more\n", strings.ToUpper(t.Name), a.adjusted(t), cmp.Or(t.Unit, "unit"))
	a.printMoved(w, t.Slopes, map[int]bool{}, "grows", "grow", "shrink")
}

// printMoved prints the topics whose numbers are above zero and those below, as far as the
// intervals tell, and returns how many these are. A topic of a single class is rare in all others: those below
// zero are printed once, and are told from then on.
func (a *answers) printMoved(w io.Writer, all []jsmf.Interval, told map[int]bool, one, above, below string) (moved int) {
	for _, l := range a.listed() {
		moved += a.printMovedOf(w, all, l, told, one, above, below)
	}
	return moved
}

func (a *answers) printMovedOf(w io.Writer, all []jsmf.Interval, l listed, told map[int]bool, one, above, below string) int {
	var up, down []change
	for k := l.from; k < l.to; k++ {
		switch x := all[k]; {
		case x.Low > 0:
			up = append(up, change{k, x.Value, points(x)})
		case x.High < 0:
			down = append(down, change{k, x.Value, points(x)})
		}
	}
	slices.SortStableFunc(up, bySize)
	slices.SortStableFunc(down, bySize)
	fmt.Fprintf(w, "%s, %d %s\n", count(len(up), l.one+" "+one, l.many+" "+above), len(down), below)
	moved := len(up) + len(down)
	down = slices.DeleteFunc(down, func(c change) bool { return told[c.topic] })
	down = down[:min(len(down), maxDown)]
	for _, c := range down {
		told[c.topic] = true
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range append(up[:min(len(up), maxUp)], down...) {
		fmt.Fprintf(tw, "  %s\t%s\n", c.text, a.called(c.topic))
	}
	tw.Flush()
	return moved
}

// called returns the number and the name of a topic, or the name of a family.
func (a *answers) called(q int) string {
	if q >= a.model.K() {
		return a.effects.Quantities[q].Name
	}
	return fmt.Sprintf("%d %s", q, a.model.Name(q))
}

// points writes a difference of shares with its interval.
func points(x jsmf.Interval) string {
	return console.Number("%+.1f (%+.1f to %+.1f)", 100*x.Value, 100*x.Low, 100*x.High)
}

// maxWorded is how many words a term prints.
const maxWorded = 10

// printWording prints the words that each class or bin uses more within a topic, the surest first.
func (a *answers) printWording(w io.Writer) {
	if a.wording == nil {
		return
	}
	fmt.Fprintln(w, "\nWORDING: words that are used more within the same topic, how many times as often as elsewhere, and in brackets the interval")
	for _, s := range a.wording.Notes() {
		fmt.Fprintln(w, "Note:", s)
	}
	for _, t := range a.wording.Terms {
		type line struct {
			topic int
			effects.WordUse
		}
		var all []line
		for k, topic := range t.Topics {
			for _, u := range topic.Words {
				all = append(all, line{k, u})
			}
		}
		slices.SortStableFunc(all, func(x, y line) int { return cmp.Compare(y.Ratio.Low, x.Ratio.Low) })
		fmt.Fprintf(w, "By %s: %s\n", t.Name, count(len(all), "word", "words"))
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, u := range all[:min(len(all), maxWorded)] {
			fmt.Fprintf(tw, "  %s\t%s\t×%s\t%d uses, %.0f expected\tin %s\n", t.Points[u.Point].Label, u.Word, u.Ratio.Text(times, ""), int(math.Round(u.Uses)), u.Expected, a.called(u.topic))
		}
		tw.Flush()
	}
}

// times writes a ratio.
func times(x float64) string { return fmt.Sprintf("%.1f", x) }
