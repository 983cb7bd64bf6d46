package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
)

const pageName = "README.md"

// tables are the rows of all cells that are done, by group, in the order in which
// cells are planned.
type tables struct {
	rows           map[string][]row
	cells, missing int
	seconds        float64
}

// claim is something that a paper says, and how often it holds here.
type claim struct {
	// source is the label of the figure or table it belongs to ("lee-2018 Figure 2.5"),
	// the section of the paper where it belongs to none ("lee-2018 §2.4"), or "here".
	source, text string
	// holds counts the cases in which it holds, of those that can be looked at.
	holds func(t *tables) (yes, of int)
}

// table is a table of the page.
type table struct {
	caption string
	head    []string
	rows    [][]string
}

// where returns the rows that have the given values: pairs of column and value.
func where(rows []row, pairs ...any) []row {
	var out []row
next:
	for _, r := range rows {
		for i := 0; i < len(pairs); i += 2 {
			if r[pairs[i].(string)] != fmt.Sprint(pairs[i+1]) {
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

// values returns the different values of a column, in the order of their first
// appearance.
func values(rows []row, column string) []string {
	var out []string
	for _, r := range rows {
		if !slices.Contains(out, r[column]) {
			out = append(out, r[column])
		}
	}
	return out
}

// heaviest returns the place of the first row with the largest number in a column.
func heaviest(rows []row, column string) int {
	at := 0
	for i, r := range rows {
		if r.num(column) > rows[at].num(column) {
			at = i
		}
	}
	return at
}

// meanOf returns the mean of the numbers of a column, NaN where there is none.
func meanOf(rows []row, column string) float64 {
	sum, n := 0.0, 0
	for _, r := range rows {
		if v := r.num(column); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}

// count counts the rows of which something is so.
func count(rows []row, so func(r row) bool) (yes, of int) {
	for _, r := range rows {
		of++
		if so(r) {
			yes++
		}
	}
	return yes, of
}

// series is a line of the rows with both numbers.
func series(name string, rows []row, x, y string) line {
	l := line{name: name}
	for _, r := range rows {
		if a, b := r.num(x), r.num(y); !math.IsNaN(a) && !math.IsNaN(b) {
			l.xy = append(l.xy, plotter.XY{X: a, Y: b})
		}
	}
	return l
}

// compareRows counts for how many values of key the measure of the rows a is
// better than that of b, as judged by better.
func compareRows(a, b []row, key []string, measure string, better func(a, b float64) bool) (yes, of int) {
	var pairs [][2]row
	for _, r := range a {
		same := make([]any, 0, 2*len(key))
		for _, k := range key {
			same = append(same, k, r[k])
		}
		for _, o := range where(b, same...) {
			pairs = append(pairs, [2]row{r, o})
		}
	}
	return tally(pairs, column(measure), better)
}

// tally counts the pairs of which better says yes, of those with both numbers.
func tally(pairs [][2]row, value func(r row) float64, better func(a, b float64) bool) (yes, of int) {
	for _, p := range pairs {
		x, y := value(p[0]), value(p[1])
		if math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		of++
		if better(x, y) {
			yes++
		}
	}
	return yes, of
}

// column is the value of tally that reads a column.
func column(name string) func(r row) float64 { return func(r row) float64 { return r.num(name) } }

// each adds up the counts of several cases.
func each[T any](of []T, count func(T) (yes, of int)) (yes, all int) {
	for _, x := range of {
		y, o := count(x)
		yes, all = yes+y, all+o
	}
	return yes, all
}

func less(a, b float64) bool    { return a < b }
func greater(a, b float64) bool { return a > b }

// closeTo reports whether a differs from b by at most a part of b.
func closeTo(part float64) func(a, b float64) bool {
	return func(a, b float64) bool { return math.Abs(a-b) <= part*math.Abs(b) }
}

// write makes the tables, the figures and the page of what there is.
func write(l *lab, t *tables) error {
	notes, err := readNotes(filepath.Join(l.out, "notes.md"))
	if err != nil {
		return err
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "# Experiments\n\n")
	if s := notes[""]; s != "" {
		fmt.Fprintf(&page, "%s\n\n", s)
	}
	fmt.Fprintf(&page, "Made by `examples/experiments` from %d cells, which took %.0f minutes (%s). Numbers are raw, as in the tables; the papers plot logarithms of some.\n"+
		"“Holds” counts the cases here, corpora × K and so on, in which what is said is so.\n", t.cells, t.seconds/60, cpuIs())
	if t.missing > 0 {
		fmt.Fprintf(&page, "\n**Cells that are missing: %d.** The run was stopped; the same command goes on with them.\n", t.missing)
	}
	if slices.ContainsFunc(experiments, func(e experiment) bool { return e.repeats != nil && slices.Contains(l.names, e.name) }) {
		writeIndex(&page, l, t, notes)
	}
	written := make(map[string]bool)
	for _, e := range experiments {
		if slices.Contains(l.names, e.name) {
			if err := section(&page, l, t, e, notes[e.name], written); err != nil {
				return err
			}
		}
	}
	return writeFile(filepath.Join(l.out, pageName), func(w io.Writer) error {
		_, err := w.Write(page.Bytes())
		return err
	})
}

// section writes the part of the page about an experiment, its figures, and its
// tables except those that were written before.
func section(page *bytes.Buffer, l *lab, t *tables, e experiment, note string, written map[string]bool) error {
	fmt.Fprintf(page, "\n<a name=%q></a>\n\n## %s\n\n*%s*\n\n%s\n", e.name, e.title, strings.Join(append([]string{"-run " + e.name}, e.repeats...), ", "), e.what)
	files, err := numbers(l, t, e, written)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		fmt.Fprintf(page, "\nNothing yet.\n")
		return nil
	}
	if note != "" {
		fmt.Fprintf(page, "\n%s\n", note)
	}
	if len(e.claims) > 0 {
		fmt.Fprintf(page, "\n| what is said | source | holds |\n|---|---|---|\n")
		for _, c := range e.claims {
			if yes, of := c.holds(t); of > 0 {
				fmt.Fprintf(page, "| %s | %s | %d of %d |\n", c.text, c.source, yes, of)
			}
		}
	}
	if e.figures != nil {
		for _, f := range e.figures(l, t) {
			if len(f.panels) == 0 {
				continue
			}
			names, err := drawFigure(l.out, f, l.formats)
			if err != nil {
				return err
			}
			fmt.Fprintf(page, "\n![%s](%s)\n\n*%s*\n", f.caption, names[0], f.caption)
		}
	}
	if e.tables != nil {
		for _, x := range e.tables(l, t) {
			x.write(page)
		}
	}
	fmt.Fprintf(page, "\nNumbers: %s\n", strings.Join(files, ", "))
	return nil
}

// numbers writes the tables of an experiment's groups that have rows, and returns
// links to them.
func numbers(l *lab, t *tables, e experiment, written map[string]bool) (files []string, err error) {
	for _, g := range e.groups {
		rows := t.rows[g.name]
		if len(rows) == 0 {
			continue
		}
		for _, x := range []struct {
			name    string
			columns []string
		}{{g.name + ".csv", append(slices.Concat(g.labels, g.measures), "error")}, {g.name + "-seconds.csv", slices.Concat(g.labels, g.seconds)}} {
			if len(x.columns) == len(g.labels) {
				continue
			}
			files = append(files, fmt.Sprintf("[%s](%s)", x.name, x.name))
			if written[x.name] {
				continue
			}
			written[x.name] = true
			if err := writeCSV(filepath.Join(l.out, x.name), x.columns, rows); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// write writes a table that has rows.
func (x table) write(page *bytes.Buffer) {
	if len(x.rows) == 0 {
		return
	}
	fmt.Fprintf(page, "\n%s\n\n| %s |\n|%s\n", x.caption, strings.Join(x.head, " | "), strings.Repeat("---|", len(x.head)))
	for _, r := range x.rows {
		page.WriteString("|")
		for _, v := range r {
			fmt.Fprintf(page, " %s |", strings.ReplaceAll(v, "|", `\|`))
		}
		page.WriteString("\n")
	}
}

// readNotes returns the texts of a file by the name after "## "; the text before the first
// name has the name "".
func readNotes(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	name := ""
	var text []string
	flush := func() { out[name] = strings.TrimSpace(strings.Join(text, "\n")) }
	for s := range strings.Lines(string(b)) {
		s = strings.TrimRight(s, "\r\n")
		if head, ok := strings.CutPrefix(s, "## "); ok {
			flush()
			name, text = strings.TrimSpace(head), nil
			if _, ok := out[name]; ok {
				return nil, fmt.Errorf("%s: %q is there twice", path, name)
			}
			continue
		}
		text = append(text, s)
	}
	flush()
	return out, nil
}
