package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
)

// effectsPage is what the template shows of the effects: what they rest on, and a table
// for each term.
type effectsPage struct {
	About string
	Notes []string // Effects.Notes
	Terms []effectTable
}

type effectTable struct {
	Term int // its number
	Name string
	// What says what the pictures show, and Caption what the table does.
	What, Caption string
	Time          bool // stands with the topics over time
	Heads         []string
	Rows          []effectRow
}

type effectRow struct {
	Name  string
	Cells []effectCell
}

type effectCell struct {
	Text  string
	Doubt bool // the interval includes zero
}

func (p *page) newEffectsPage(e *effects.Effects, about string) *effectsPage {
	out := &effectsPage{About: about, Notes: e.Notes()}
	for i, t := range e.Terms {
		table := effectTable{Term: i, Name: title(t), What: p.Say(what(t) + " " + basis(t)), Time: t.Kind == effects.Times}
		table.Caption = cmp.Or(p.Say(caption(t)), p.Say(what(t))) + " " + p.Say(basis(t))
		if t.Slopes != nil {
			table.Heads = append(table.Heads, "per "+unit(t))
		}
		for _, x := range t.Points {
			table.Heads = append(table.Heads, atMost(x.Label, nameLength))
		}
		for i, q := range e.Quantities {
			row := effectRow{Name: p.quantity(q, i)}
			if i < len(p.affected) {
				row.Name = fmt.Sprintf("%d %s", p.affected[i], row.Name)
			}
			if t.Slopes != nil {
				row.Cells = append(row.Cells, difference(t.Slopes[i], false))
			}
			for j, x := range t.Points {
				if table.Time {
					row.Cells = append(row.Cells, effectCell{Text: interval(t.Predictions[j][i], x.Few() && x.Documents > 0, "")})
				} else {
					row.Cells = append(row.Cells, difference(t.Differences[j][i], x.Few() && x.Documents > 0))
				}
			}
			table.Rows = append(table.Rows, row)
		}
		out.Terms = append(out.Terms, table)
	}
	return out
}

// quantity returns what quantity i is called.
func (p *page) quantity(q effects.Quantity, i int) string {
	if i < len(p.affected) {
		return p.names[p.affected[i]]
	}
	return atMost(q.Name, nameLength)
}

// resting says what effects rest on.
func resting(e *effects.Effects) string {
	s := fmt.Sprintf("From %s {documents}", count(int64(e.Documents)))
	if e.Missing > 0 {
		are := "are"
		if e.Missing == 1 {
			are = "is"
		}
		s += fmt.Sprintf("; %s more %s left out, for want of a value or of {a word} that the model knows", count(int64(e.Missing)), are)
	}
	s += fmt.Sprintf(". Intervals of %g\u00a0%% from %s replicates, in which the topics were fitted anew.", 100*e.Level, count(int64(e.Replicates)))
	s += recovered(e)
	most, some := 0, 0
	for _, n := range e.Unmatched {
		most = max(most, n)
		if n > 0 {
			some++
		}
	}
	if some > 0 {
		s += fmt.Sprintf(" A replicate without a match of a topic does not count for it: at most %s, for %d of %d topics.", count(int64(most)), some, len(e.Unmatched))
	}
	return s
}

// recovered says what is found of effects in documents drawn from the model.
func recovered(e *effects.Effects) string {
	if e.Drawn == 0 {
		return ""
	}
	s := fmt.Sprintf(" They have room for what fits to %s collections of {documents} drawn from the model were off by, and where that is sure it is taken off. ", count(int64(e.Drawn)))
	return s + strings.ReplaceAll(e.Recovery("{documents}"), " %", "\u00a0%")
}

// unit is one unit of the numbers of a term.
func unit(t effects.TermEffects) string {
	if t.Unit == "" {
		return "unit of " + t.Name
	}
	return t.Unit
}

// title is the name of a term, and what it is adjusted for.
func title(t effects.TermEffects) string {
	if t.AdjustedFor == nil {
		return t.Name
	}
	return t.Name + ", adjusted for " + strings.Join(t.AdjustedFor, " and ")
}

// what says in a sentence what the numbers of a term are.
func what(t effects.TermEffects) string {
	s := ""
	switch t.Kind {
	case effects.Numbers:
		s = fmt.Sprintf("By how many percentage points the share of a topic changes per %s, on average, and its share along %s.", unit(t), t.Name)
	case effects.Times:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} in each %s of %s, in percentage points.", cmp.Or(t.Unit, "bin"), t.Name)
	case effects.Interactions:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} at each pair of %s, in percentage points.", strings.Join(t.Columns, " and "))
	default:
		s = fmt.Sprintf("How far the share of a topic is from the average over all {documents} at each level of %s, in percentage points.", t.Name)
	}
	return s
}

// basis says what the numbers of a term are made of.
func basis(t effects.TermEffects) string {
	if t.AdjustedFor == nil {
		return "From the {documents} as they are, not adjusted for anything."
	}
	others := strings.Join(t.AdjustedFor, " and ")
	return fmt.Sprintf("Adjusted for %s: what would be left if the {documents} were alike in %s everywhere, by a linear regression.", others, others)
}

// caption says what the table of a term holds, where that is not what the pictures show.
func caption(t effects.TermEffects) string {
	switch t.Kind {
	case effects.Times:
		return fmt.Sprintf("The share of each topic in each %s of %s, in percent.", cmp.Or(t.Unit, "bin"), t.Name)
	case effects.Numbers:
		return fmt.Sprintf("By how many percentage points the share of a topic changes per %s, on average, and how far it is from the average over all {documents} along %s.", unit(t), t.Name)
	default:
		return ""
	}
}

// difference writes a difference in percentage points, with its interval.
func difference(x jsmf.Interval, few bool) effectCell {
	return effectCell{Text: interval(x, few, "+"), Doubt: !(x.Low > 0 || x.High < 0)}
}

// interval writes a number in percent.
func interval(x jsmf.Interval, few bool, sign string) string {
	if few {
		return "too few to tell"
	}
	return x.Text(func(v float64) string { return console.Number("%"+sign+".2f", 100*v) }, "")
}
