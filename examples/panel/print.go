package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// printer shows results, one after the other.
type printer interface {
	print(r result) error
	end() error
}

// lines prints JSON Lines.
type lines struct{ w io.Writer }

func (l lines) print(r result) error { return json.NewEncoder(l.w).Encode(r) }
func (l lines) end() error           { return nil }

// table prints a table for people.
type table struct {
	w       io.Writer
	results []result
}

// Columns: of text, of numbers, and those that other programs lack.
const (
	headFormat  = "%-14s%5s  %-18s%9s%8s%8s%8s%6s%6s%9s  %s\n"
	ownFormat   = "%-14s%5d  %-18s%9.4f%8.4f%8.4f%8.2f%6d%6d%9.2f  %s\n"
	rivalFormat = "%-14s%5s  %-18s%9.4f%8.4f%8s%8s%6s%6s%9.2f\n"
)

func (t *table) print(r result) error {
	if t.results == nil {
		if _, err := fmt.Fprintf(t.w, headFormat, "corpus", "K", "program", "ll", "npmi", "read", "unique", "dead", "back", "CPU s", "by stage"); err != nil {
			return err
		}
	}
	t.results = append(t.results, r)
	stages := make([]string, len(r.Stages))
	for i, s := range r.Stages {
		stages[i] = fmt.Sprintf("%s %.2f", s.Name, s.CPU)
	}
	_, err := fmt.Fprintf(t.w, ownFormat, r.Corpus, r.K, r.Program, r.LL, r.NPMI, r.Reading, r.Uniqueness, len(r.Dead), len(r.Background), r.CPU, strings.Join(stages, ", "))
	for _, x := range r.Rivals {
		if err == nil {
			_, err = fmt.Fprintf(t.w, rivalFormat, "", "", x.Program, x.LL, x.NPMI, "", "", "", "", x.CPU)
		}
	}
	return err
}

// end prints how the results compare with each other program.
func (t *table) end() error {
	for i, c := range compare(t.results) {
		if i == 0 {
			fmt.Fprintln(t.w)
		}
		if _, err := fmt.Fprintln(t.w, c); err != nil {
			return err
		}
	}
	return nil
}

// comparison says how a program compares with ours, over the cells that both have.
type comparison struct {
	program         string
	cells, ll, npmi int // all, and those in which ours is at least as good
	logRatio        float64
}

func (c comparison) String() string {
	return fmt.Sprintf("%s: our ll is at least its own in %d of %d cells, our read its npmi in %d; its CPU seconds are %.3g times ours (geometric mean)",
		c.program, c.ll, c.cells, c.npmi, math.Exp(c.logRatio/float64(c.cells)))
}

// compare returns a comparison for each rival, in the order in which they first come.
func compare(results []result) []*comparison {
	var out []*comparison
	of := map[string]*comparison{}
	for _, r := range results {
		for _, x := range r.Rivals {
			c := of[x.Program]
			if c == nil {
				c = &comparison{program: x.Program}
				of[x.Program], out = c, append(out, c)
			}
			c.cells++
			if r.LL >= x.LL {
				c.ll++
			}
			if r.Reading >= x.NPMI {
				c.npmi++
			}
			c.logRatio += math.Log(float64(x.CPU) / r.CPU)
		}
	}
	return out
}
