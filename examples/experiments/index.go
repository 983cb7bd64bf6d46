package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// paper is one of the papers, with all its figures and tables.
type paper struct {
	name, title string
	exhibits    []exhibit
}

// exhibit is a figure or a table of a paper.
type exhibit struct {
	name  string // without the paper's: "Figure 2.5"
	shows string // what the paper shows, in a sentence
	// like is the label of another exhibit that shows the same of other corpora or in
	// other measures. Where no experiment repeats this one, it refers to that.
	like string
	// still is a drawing, or numbers of the paper's own corpora: there is nothing to repeat.
	still bool
}

// label is the name by which claims and experiments refer to an exhibit.
func (p paper) label(x exhibit) string { return p.name + " " + x.name }

// entry is what the page says of an exhibit.
type entry struct {
	here     string // links to the sections, or why there are none
	repeated bool
	yes, of  int // cases of the claims with its label
	why      string
}

// holding counts the cases of all claims with a label.
func holding(label string, t *tables) (yes, of int) {
	for _, e := range experiments {
		for _, c := range e.claims {
			if c.source == label {
				y, o := c.holds(t)
				yes, of = yes+y, of+o
			}
		}
	}
	return yes, of
}

// lookUp finds what there is of an exhibit. The cause of cases that do not hold,
// or why it is not repeated, is the text of notes.md with its label.
func (p paper) lookUp(x exhibit, l *lab, t *tables, notes map[string]string) entry {
	label := p.label(x)
	out := entry{why: strings.Join(strings.Fields(notes[label]), " ")}
	planned := false
	var links []string
	for _, e := range experiments {
		if !slices.Contains(e.repeats, label) {
			continue
		}
		planned = true
		if slices.Contains(l.names, e.name) && slices.ContainsFunc(e.groups, func(g *group) bool { return len(t.rows[g.name]) > 0 }) {
			links = append(links, fmt.Sprintf("[%s](#%s)", e.name, e.name))
		}
	}
	switch {
	case len(links) > 0:
		out.here, out.repeated = strings.Join(links, ", "), true
		out.yes, out.of = holding(label, t)
		if out.yes < out.of && out.why == "" {
			out.why = "**not said**"
		}
	case planned:
		out.here = "not in this run"
	case x.still:
		out.here = "nothing to repeat"
	case x.like != "":
		out.here = "as " + strings.TrimPrefix(x.like, p.name+" ")
	default:
		out.here = "**not repeated**"
	}
	return out
}

// writeIndex writes what has become of every figure and table of the papers.
func writeIndex(page *bytes.Buffer, l *lab, t *tables, notes map[string]string) {
	sums := table{
		caption: "All figures and tables of the papers:",
		head:    []string{"paper", "figures and tables", "repeated", "as another", "nothing to repeat", "not repeated", "all cases hold", "cases that hold"},
	}
	var lists []table
	for _, p := range papers {
		list := table{caption: fmt.Sprintf("### %s: %s", p.name, p.title), head: []string{"", "what the paper shows", "here", "holds", "why not"}}
		var repeated, as, still, missing, all, yes, of int
		for _, x := range p.exhibits {
			e := p.lookUp(x, l, t, notes)
			holds := ""
			switch {
			case e.repeated:
				repeated++
				yes, of = yes+e.yes, of+e.of
				if e.of > 0 {
					holds = fmt.Sprintf("%d of %d", e.yes, e.of)
					if e.yes == e.of {
						all++
					}
				}
			case x.still:
				still++
			case x.like != "":
				as++
			default:
				missing++
			}
			list.rows = append(list.rows, []string{x.name, x.shows, e.here, holds, e.why})
		}
		row := []string{p.name}
		for _, n := range []int{len(p.exhibits), repeated, as, still, missing, all} {
			row = append(row, fmt.Sprint(n))
		}
		sums.rows = append(sums.rows, append(row, fmt.Sprintf("%d of %d", yes, of)))
		lists = append(lists, list)
	}
	fmt.Fprintf(page, "\n## The papers' figures and tables\n")
	sums.write(page)
	for _, x := range lists {
		x.write(page)
	}
}
