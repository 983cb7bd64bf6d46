package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

//go:embed rivals.tsv
var committed string

// cell is a place in the panel.
type cell struct {
	corpus string
	k      int
}

// rival is what another program reaches in a cell.
type rival struct {
	Program string     `json:"program"`
	LL      cli.Number `json:"ll"`
	NPMI    cli.Number `json:"npmi"`
	CPU     cli.Number `json:"cpu_seconds"`
}

// readRivals reads the file of -rivals, or the committed one.
func (o options) readRivals() (map[cell][]rival, error) {
	if o.rivals == "" {
		return parseRivals("rivals.tsv", strings.NewReader(committed))
	}
	f, err := os.Open(o.rivals)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseRivals(o.rivals, f)
}

// parseRivals reads lines of corpus, K, program, ll, npmi and seconds, with tabs
// between them. Lines that are empty or begin with # are comments.
func parseRivals(name string, r io.Reader) (map[cell][]rival, error) {
	out := map[cell][]rival{}
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		c, x, err := parseRival(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		out[c] = append(out[c], x)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func parseRival(line string) (c cell, r rival, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		return c, r, fmt.Errorf("%d fields, want 6 with tabs between them", len(f))
	}
	c.corpus, r.Program = f[0], f[2]
	if c.k, err = strconv.Atoi(f[1]); err != nil {
		return c, r, fmt.Errorf("the number of topics is %q", f[1])
	}
	for i, to := range []*cli.Number{&r.LL, &r.NPMI, &r.CPU} {
		v, err := strconv.ParseFloat(f[3+i], 64)
		if err != nil {
			return c, r, fmt.Errorf("field %d: %q is not a number", 4+i, f[3+i])
		}
		*to = cli.Number(v)
	}
	return c, r, nil
}
