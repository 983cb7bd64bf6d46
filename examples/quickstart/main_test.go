package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// words has one group for each planted topic; a text takes its words from one
// group, and one text in five some from another.
func words(topics int) [][]string {
	syllables := strings.Fields("ba de fi go lu ma ne pi ro su ta ve")
	groups := make([][]string, topics)
	for k := range groups {
		for i := range 12 {
			groups[k] = append(groups[k], syllables[k%12]+syllables[i]+syllables[(k+i)%12]+syllables[k/12])
		}
	}
	return groups
}

func textOf(rng *rand.Rand, groups [][]string, topic int) string {
	var b strings.Builder
	other := groups[topic]
	if rng.IntN(5) == 0 {
		other = groups[rng.IntN(len(groups))]
	}
	for i := range 40 {
		g := groups[topic]
		if i%5 == 4 {
			g = other
		}
		// As in any text some words are more common than others.
		fmt.Fprintf(&b, "the %s ", g[min(rng.IntN(12), rng.IntN(12))])
	}
	return b.String()
}

// topicLine is a line of the table of topics: number, share, name, words.
var topicLine = regexp.MustCompile(`(?m)^ +(\d+) +(-?[\d.]+)% +(\S+(?: · \S+)+)  +(.+)$`)

// checkTopics reports whether each printed topic is one planted group.
func checkTopics(t *testing.T, out string, groups [][]string) {
	t.Helper()
	lines := topicLine.FindAllStringSubmatch(out, -1)
	if len(lines) != len(groups) {
		t.Fatalf("%d topics, want %d:\n%s", len(lines), len(groups), out)
	}
	found := make(map[int]bool)
	for i, l := range lines {
		if l[1] != fmt.Sprint(i) {
			t.Errorf("topic %d is numbered %s", i, l[1])
		}
		top := strings.Fields(l[4])
		if len(top) != 10 {
			t.Errorf("topic %s has %d words", l[1], len(top))
		}
		name := strings.Split(l[3], " · ")
		k := slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, name[0]) })
		if k < 0 || found[k] || !slices.Contains(groups[k], name[1]) {
			t.Fatalf("the name %q of topic %s belongs to no group or one found before:\n%s", l[3], l[1], out)
		}
		found[k] = true
		for _, w := range top[:5] {
			if !slices.Contains(groups[k], w) {
				t.Errorf("topic %s, %q, has %q", l[1], l[3], w)
			}
		}
	}
}

func TestGoroot(t *testing.T) {
	root, rng, groups := t.TempDir(), rand.New(rand.NewPCG(3, 4)), words(15)
	for i := range 450 {
		p := fmt.Sprintf("p%d", i%15)
		write(t, root, fmt.Sprintf("src/%s/f%d.go", p, i), "// Copyright 2026 somebody.\n\npackage "+p+"\n\n// "+textOf(rng, groups, i%15)+"\n")
	}
	file := filepath.Join(t.TempDir(), "r.html")
	out, _ := invoke(t, 0, "-goroot", root, "-k", "15", "-quiet", "-report", file)
	if page, err := os.ReadFile(file); err != nil || !bytes.Contains(page, []byte("<title>Topics of Go’s standard library</title>")) || !strings.Contains(out, file) {
		t.Errorf("report of %d bytes (%v):\n%s", len(page), err, out)
	}
	checkTopics(t, out, groups)
	if strings.Contains(out, "copyright") || strings.Contains(out, "somebody") {
		t.Errorf("the licence is among the topics:\n%s", out)
	}
}

// None of the topics of the comments of Go itself is listed by a function word.
func TestGoComments(t *testing.T) {
	testutil.Data(t) // by JSMF_DATA, as what takes long
	out, _ := invoke(t, 0, "-quiet", "-k", "40", "-report", filepath.Join(t.TempDir(), "r.html"))
	_, out, _ = strings.Cut(out, "share  name")
	out, _, _ = strings.Cut(out, "FINDINGS")
	listed := strings.Fields(regexp.MustCompile(`\(.*\)`).ReplaceAllString(out, "")) // without reasons
	for w := range strings.FieldsSeq("the of and or to in is are was be been it its this that these those for with from by on at as an if then when not no we you they which can will must may should has have do does only so but than because") {
		if slices.Contains(listed, w) {
			t.Errorf("%q is a word of a topic:\n%s", w, out)
		}
	}
	if len(listed) < 400 {
		t.Errorf("%d words of topics", len(listed))
	}
}

func TestGoSource(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/b/x.go", `// Copyright 2026 The Authors. All rights reserved.
// Use of this source code is governed by a licence.

//go:build linux

// Package b is for the apples. See https://example.com/pears.
//
// # The heading of plums
//
// A paragraph of quinces:
//
//	the code is of lemons
//
// The list:
//
//   - an item of cherries
package b

// #include <the_header_of_figs.h>
import "C"

//sys	the stub of dates(fd int) (err error)
//the.code := of(limes)

/* The melons of mixedCaps, TLS1, snake_case, os.File and TLS. */
var x int // trailing the grapes

// shared of the kiwis
func f() {
	// XADD kumquat, MOV kumquat, SUB kumquat, RET
}
`)
	write(t, root, "a/b/y.go", "package b\n\n// shared   of\n// the kiwis\n\n// the mangoes\n")
	write(t, root, "a/b/z.go", "package b\n\n// shared of the kiwis\n") // nothing new: no document
	for _, name := range []string{"a/b/x_test.go", "a/testdata/t.go", "vendor/v.go", "cmd/vendor/v.go", ".git/g.go", "_x/readme.txt"} {
		write(t, root, name, "// the peaches\npackage skipped\n")
	}
	write(t, root, "a/gen.go", "// Code generated by something; DO NOT EDIT.\n\n// the peaches\npackage a\n")
	tok, err := proseTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d, err := range (goSource{root: root, tokenizer: tok}).Docs(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.ID+": "+strings.Join(d.Tokens, " "))
	}
	want := []string{
		"a/b/x.go: package is for the apples see the heading of plums paragraph of quinces the list an item of cherries " +
			"the melons of and tls trailing the grapes shared of the kiwis",
		"a/b/y.go: the mangoes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("documents\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	write(t, root, "a/bad.go", "package a\n\nfunc {")
	_, errs := invoke(t, 1, "-goroot", filepath.Dir(root), "-quiet") // no src there
	if !strings.HasPrefix(errs, "quickstart: ") {
		t.Errorf("without src: %q", errs)
	}
	err = nil
	for _, e := range (goSource{root: root, tokenizer: tok}).Docs(context.Background()) {
		err = e
	}
	if err == nil || !strings.Contains(err.Error(), "bad.go:3") {
		t.Errorf("a file that is not Go: error %v", err)
	}
}

// What the report shows of a file is what a reader would see on a page.
func TestGoFile(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/x.go", `// TODO(somebody): not this, which says what is to be done about a file and not what is in it at all.

// The original code is from elsewhere and came with this notice, which says nothing of what is in the file.

// Package a implements [io.Reader], [color.Model], [Thing.Do] and [*Thing] for
// usage [flags] and x[i], as in [the notes] and https://example.com/pears.
//
// [the notes]: https://example.com/notes
package a

import "image/color"

var _ color.Model
`)
	want := "Package a implements io.Reader, color.Model, Thing.Do and *Thing for usage [flags] and x[i], as in the notes and https://example.com/pears."
	file, err := parse(filepath.Join(root, "a", "x.go"))
	if err != nil {
		t.Fatal(err)
	}
	if d := goFile("a/x.go", file); d.Snippet != want || d.Title != "a/x.go" {
		t.Errorf("%q shows %q, want %q", d.Title, d.Snippet, want)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "r.html", "there")
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{"-k", "1"}, "-k 1: want at least 2 topics"},
		{2, []string{"texts"}, "spectral topics texts"},
		{2, []string{"-nonsense"}, "-nonsense"},
		{1, []string{"-goroot", dir, "-quiet"}, "quickstart: "},
		{1, []string{"-goroot", dir, "-quiet", "-report", filepath.Join(dir, "r.html")}, "exists"},
		{1, []string{"-goroot", dir, "-quiet", "-report", filepath.Join(dir, "none", "r.html")}, "none"},
	} {
		if out, errs := invoke(t, c.status, c.args...); !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%q: %q and %q, want %q", c.args, out, errs, c.want)
		}
	}
	write(t, dir, "src/a/a.go", "package a\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if got := run(ctx, []string{"-goroot", dir, "-quiet"}, &out, &errs); got != 130 || out.Len() > 0 || errs.String() != "quickstart: interrupted\n" {
		t.Errorf("cancelled: status %d, %q and %q", got, out.String(), errs.String())
	}
}
