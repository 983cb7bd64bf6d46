package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labels are those of all figures and tables of the papers.
func labels() []string {
	var out []string
	for _, p := range papers {
		for _, x := range p.exhibits {
			out = append(out, p.label(x))
		}
	}
	return out
}

func TestLabels(t *testing.T) {
	all := labels()
	for i, s := range all {
		if slices.Contains(all[:i], s) {
			t.Errorf("%s is there twice", s)
		}
	}
	for _, p := range papers {
		for _, x := range p.exhibits {
			if x.shows == "" || x.like != "" && (x.still || x.like == p.label(x) || !slices.Contains(all, x.like)) {
				t.Errorf("%s: %+v", p.label(x), x)
			}
		}
	}
	for _, e := range experiments {
		for _, s := range e.repeats {
			if !slices.Contains(all, s) {
				t.Errorf("%s repeats %q, which is no figure or table of the papers", e.name, s)
			}
		}
		for _, c := range e.claims {
			name, rest, _ := strings.Cut(c.source, " ")
			section := strings.HasPrefix(rest, "§") && slices.ContainsFunc(papers, func(p paper) bool { return p.name == name })
			if c.source != "here" && !section && !slices.Contains(e.repeats, c.source) {
				t.Errorf("%s: the claim %q is of %q, which the experiment does not repeat", e.name, c.text, c.source)
			}
		}
	}
}

// The list in the documentation is that of the program.
func TestDocumentedExperiments(t *testing.T) {
	b, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(b), "// The experiments (-run)")
	list, _, _ = strings.Cut(list, "// Without -run")
	var documented, names []string
	for line := range strings.Lines(list) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok && text[0] != ' ' {
			documented = append(documented, strings.Fields(text)[0])
		}
	}
	for _, e := range experiments {
		names = append(names, e.name)
	}
	slices.Sort(documented)
	slices.Sort(names)
	if !slices.Equal(documented, names) {
		t.Errorf("documented are %v; there are %v", documented, names)
	}
}

// notesOfPage returns the texts of the page in the repository. The tables are in the
// same folder.
func notesOfPage(t *testing.T) map[string]string {
	t.Helper()
	notes, err := readNotes(filepath.Join("results", "notes.md"))
	if err != nil || len(notes) == 0 {
		t.Fatalf("%d notes, %v", len(notes), err)
	}
	return notes
}

func TestNotesHavePlaces(t *testing.T) {
	places := append(labels(), "")
	for _, e := range experiments {
		places = append(places, e.name)
	}
	for name := range notesOfPage(t) {
		if !slices.Contains(places, name) {
			t.Errorf("notes.md: %q is no experiment and no figure or table of the papers", name)
		}
	}
}

func TestNotesTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(path, []byte("## one\ntext\n## two\n## one\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readNotes(path); err == nil || !strings.Contains(err.Error(), `"one" is there twice`) {
		t.Errorf("%v", err)
	}
}

// Wherever a paper's words do not hold in all cases of the page in the repository,
// notes.md says why.
func TestEveryDepartureHasACause(t *testing.T) {
	notes := notesOfPage(t)
	l, made := committed(t)
	for _, p := range papers {
		for _, x := range p.exhibits {
			if e := p.lookUp(x, l, made, notes); e.yes < e.of && notes[p.label(x)] == "" {
				t.Errorf("%s: %d of %d, and notes.md does not say why", p.label(x), e.yes, e.of)
			}
		}
	}
}

// committed returns the tables in the repository.
func committed(t *testing.T) (*lab, *tables) {
	t.Helper()
	l, out := new(lab), &tables{rows: make(map[string][]row)}
	for _, e := range experiments {
		l.names = append(l.names, e.name)
		for _, g := range e.groups {
			path := filepath.Join("results", g.name)
			if _, err := os.Stat(path + ".csv"); err != nil || out.rows[g.name] != nil {
				continue
			}
			rows := readTable(t, path+".csv")
			if len(g.seconds) > 0 {
				for i, r := range readTable(t, path+"-seconds.csv") {
					for _, s := range g.seconds {
						rows[i][s] = r[s]
					}
				}
			}
			out.rows[g.name] = rows
		}
	}
	if len(out.rows) == 0 {
		t.Fatal("there are no tables")
	}
	return l, out
}

func TestIndex(t *testing.T) {
	l := new(lab)
	l.names = []string{"convergence"}
	made := &tables{rows: map[string][]row{"convergence": nil}}
	for i := range 12 { // all changes get smaller but that of the last iteration
		r := row{"corpus": "synth", "k": "5"}
		change := 1 / float64(i+1)
		if i == 11 {
			change = 1
		}
		made.rows["convergence"] = append(made.rows["convergence"], r.set("iteration", i+1).set("change", change))
	}
	for why, notes := range map[string]map[string]string{"**not said**": nil, "The last one is large.": {"lee-2018 Figure A.4": "The last one\nis large.\n"}} {
		var page bytes.Buffer
		writeIndex(&page, l, made, notes)
		for _, want := range []string{
			"### lee-2018: Joint-Stochastic",
			"| Figure A.4 | AP converges locally at a linear rate. | [convergence](#convergence) | 1 of 2 | " + why + " |",
			"| Figure 4.1 | A drawing of the model LDA. | nothing to repeat |  |  |",
			"| not in this run |",
			"| as Table 1 |",
			"| lee-2018 | 33 | 1 |",
		} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("the index lacks %q", want)
			}
		}
	}
}
