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

	"golang.org/x/text/encoding/charmap"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

// temp has the program put its reports where the test's own files are.
func temp(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	return dir
}

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

func TestFolder(t *testing.T) {
	dir, rng, groups := t.TempDir(), rand.New(rand.NewPCG(1, 2)), words(4)
	for i := range 120 {
		write(t, dir, fmt.Sprintf("sub%d/%03d.txt", i%3, i), textOf(rng, groups, i%4))
	}
	write(t, dir, "ignored.md", strings.Repeat("otherwise ", 50))
	model, reports := filepath.Join(t.TempDir(), "model"), temp(t)
	out, errs := invoke(t, 0, "-dir", dir, "-ext", ".txt", "-k", "4", "-save", model)
	checkTopics(t, out, groups)
	for _, want := range []string{"4 topics", "120 documents", "STRONGEST CORRELATIONS", "recovery", "npmi", "TIME", "rectify", "refine", "total", "Saved to"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	for _, want := range []string{"read: ", "curate: ", "refine: ", "evaluate: "} {
		if !strings.Contains(errs, want) {
			t.Errorf("the progress lacks %q:\n%s", want, errs)
		}
	}
	m, err := jsmf.LoadModel(model)
	if err != nil {
		t.Fatal(err)
	}
	if m.K() != 4 || !strings.Contains(out, m.Name(3)) {
		t.Errorf("saved %v, called %v", m, m.Names())
	}

	// The report is where the program says, and shows topics with documents.
	found := regexp.MustCompile(`(?m)^The report, to open in a browser: (.+)$`).FindStringSubmatch(out)
	if found == nil || filepath.Dir(found[1]) != reports {
		t.Fatalf("no report in %s:\n%s", reports, out)
	}
	page, err := os.ReadFile(found[1])
	if err != nil {
		t.Fatal(err)
	}
	best := regexp.MustCompile(`"docs":\[\{"title":"(sub\d/\d+\.txt)","note":"[^"]+","snippet":"the [a-z]`).FindSubmatch(page)
	if best == nil {
		t.Errorf("the report has no documents:\n%.2000s", page)
	}
	for _, name := range m.Names() {
		if !bytes.Contains(page, []byte(`"`+name+`"`)) {
			t.Errorf("the report lacks the topic %q", name)
		}
	}

	// A stop word is gone, -top cuts the lists, -quiet says nothing.
	stop := m.TopWords(0, 1)[0].Word
	write(t, dir, "stops", stop+"\n")
	out, errs = invoke(t, 0, "-dir", dir, "-ext", ".txt", "-k", "4", "-top", "3", "-stop", filepath.Join(dir, "stops"), "-quiet", "-report", "none")
	if strings.Contains(out, "The report") {
		t.Errorf("a report that was not wanted:\n%s", out)
	}
	if strings.Contains(out, stop) {
		t.Errorf("stop word %q in:\n%s", stop, out)
	}
	for _, l := range topicLine.FindAllStringSubmatch(out, -1) {
		if n := len(strings.Fields(l[4])); n != 3 {
			t.Errorf("%d words in %q", n, l[0])
		}
	}
	if errs != "" {
		t.Errorf("-quiet wrote %q", errs)
	}
}

// The same texts as CSV and as JSON Lines, with columns, give the same topics and the same
// table of documents, and a saved model keeps the metadata.
// Results that took minutes are printed though the folder for the files has gone.
func TestUnwritable(t *testing.T) {
	dir, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o777); err != nil {
		t.Fatal(err)
	}
	rng, groups := rand.New(rand.NewPCG(1, 2)), words(4)
	for i := range 120 {
		write(t, dir, fmt.Sprintf("%03d.txt", i), textOf(rng, groups, i%4))
	}
	model, table, page := filepath.Join(gone, "m"), filepath.Join(gone, "d.csv"), filepath.Join(gone, "r.html")
	out, errs := clitest.Program(run).Sabotage(t, func() { os.Remove(gone) },
		"-dir", dir, "-k", "4", "-save", model, "-documents", table, "-report", page)
	checkTopics(t, out, groups)
	if strings.Contains(out, gone) {
		t.Errorf("a file is said to be there:\n%s", out)
	}
	for _, want := range []string{model, table, page} {
		if !strings.Contains(errs, want) {
			t.Errorf("the file %s that is not written is not named:\n%s", want, errs)
		}
	}
	for _, name := range []string{"-save", "-documents", "-report"} {
		if out, errs := invoke(t, 2, "-dir", dir, name, page); !strings.Contains(errs, name+" "+page+": cannot be written") || out != "" {
			t.Errorf("%s in a folder that is not there: %q and %q", name, out, errs)
		}
	}
}

// latin writes texts in Latin-1, whose words all have a letter that is not ASCII.
func latin(t *testing.T, dir string, groups [][]string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		s, err := charmap.ISO8859_1.NewEncoder().String(strings.ReplaceAll(textOf(rng, groups, i%4), "a", "ä"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, fmt.Sprintf("%03d.txt", i), s)
	}
}

// Text in another encoding is read by the flag that names it, and never made other words:
// without, an error names file, line, byte and flag, or the files are left out and named.
func TestEncoding(t *testing.T) {
	dir, groups := t.TempDir(), words(4)
	latin(t, dir, groups)
	for _, g := range groups {
		for i := range g {
			g[i] = strings.ReplaceAll(g[i], "a", "ä")
		}
	}
	read := []string{"-dir", dir, "-k", "4", "-report", "none", "-quiet"}
	out, _ := invoke(t, 0, append(read, "-encoding", "latin1")...)
	checkTopics(t, out, groups)

	out, errs := invoke(t, 1, read...)
	if want := "none of 120 files can be read; the first, 000.txt:1: invalid UTF-8 at byte "; !strings.Contains(errs, want) || !strings.Contains(errs, "give -encoding if it has another") || out != "" {
		t.Errorf("not told: %q and %q, want %q", out, errs, want)
	}
	out, errs = invoke(t, 1, append(read, "-strict")...)
	if want := "000.txt:1: invalid UTF-8 at byte "; !strings.Contains(errs, want) || out != "" {
		t.Errorf("strict: %q and %q, want %q", out, errs, want)
	}
	for _, args := range [][]string{{"-csv", filepath.Join(dir, "000.txt"), "-text", "x"}, {"-jsonl", filepath.Join(dir, "000.txt")}} {
		if _, errs = invoke(t, 1, args...); !strings.Contains(errs, "000.txt:1: ") || !strings.Contains(errs, "give -encoding") {
			t.Errorf("%q: %q", args, errs)
		}
	}
	if _, errs = invoke(t, 2, "-dir", dir, "-encoding", "klingon"); !strings.Contains(errs, "-encoding") {
		t.Errorf("no such encoding: %q", errs)
	}

	// Texts among files of other kinds.
	mixed, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	groups = words(4)
	for i := range 120 {
		write(t, mixed, fmt.Sprintf("%03d.txt", i), textOf(rng, groups, i%4))
	}
	write(t, mixed, "a.pdf", "%PDF-1.7\n")
	write(t, mixed, "b.bin", "\x7fELF\x02\x01\x01\x00")
	write(t, mixed, "c.txt", "gr\xfcn")
	for _, quiet := range []bool{true, false} {
		args := []string{"-dir", mixed, "-k", "4", "-report", "none"}
		if quiet {
			args = append(args, "-quiet")
		}
		out, errs = invoke(t, 0, args...)
		checkTopics(t, out, groups)
		for _, want := range []string{"3 of 123 documents left out: cannot be read: a.pdf (", "it is a PDF", "b.bin (", "c.txt:1 (invalid UTF-8 at byte 3 of the line; give -encoding"} {
			if !strings.Contains(out, want) || !quiet && !strings.Contains(errs, want) {
				t.Errorf("quiet %v: not said: %q\n%s\n%s", quiet, want, out, errs)
			}
		}
	}
}

// Errors name flags, not settings of the library.
func TestFlagsInErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "t.csv", "text,day\nsome words,1.2.2024\n")
	write(t, dir, "semi.csv", "text;day\nsome words;1.2.2024\n")
	for want, args := range map[string][]string{
		`column "day": value "1.2.2024": is neither a date such as 2006-01-02 nor a time of RFC 3339; for other forms give -layout`: {"-csv", filepath.Join(dir, "t.csv"), "-times", "day"},
		`its fields seem to be separated by ";": give -comma`:                                                                       {"-csv", filepath.Join(dir, "semi.csv")},
	} {
		if _, errs := invoke(t, 1, append(args, "-quiet")...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q, want %q", args, errs, want)
		}
	}
}

func TestTables(t *testing.T) {
	dir, rng, groups := t.TempDir(), rand.New(rand.NewPCG(1, 2)), words(4)
	table, lines := "number;body;when;stars;shop\n", ""
	for i := range 120 {
		body, when, stars := textOf(rng, groups, i%4), fmt.Sprintf("%d.%d.2024", 1+i%28, 1+i%12), "NA"
		if i%3 > 0 {
			stars = fmt.Sprint(i % 6)
		}
		table += fmt.Sprintf("n%d;%s;%s;%s;shop %d\n", i, body, when, stars, i%2)
		lines += fmt.Sprintf(`{"number": "n%d", "post": {"body": %q}, "when": %q, "stars": %q, "shop": "shop %d"}`+"\n", i, body, when, stars, i%2)
	}
	write(t, dir, "x.csv", table)
	write(t, dir, "x.jsonl", lines)
	path := func(name string) string { return filepath.Join(dir, name) }
	common := strings.Fields("-k 4 -quiet -report none -id number -times when -layout 2.1.2006 -numbers stars -categories shop -missing NA")
	read := func(name string) string {
		b, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	out, _ := invoke(t, 0, append(common, "-csv", path("x.csv"), "-comma", ";", "-text", "body", "-documents", path("a"), "-save", path("model"))...)
	checkTopics(t, out, groups)
	out, _ = invoke(t, 0, append(common, "-jsonl", path("x.jsonl"), "-text", "post.body", "-documents", path("b"))...)
	checkTopics(t, out, groups)
	if a, b := read("a"), read("b"); a != b || !strings.HasPrefix(a, "id,stars,when,shop,tokens,topic 0,topic 1,topic 2,topic 3\nn0,,2024-01-01,shop 0,") || strings.Count(a, "\n") != 121 {
		t.Errorf("documents of the table:\n%.500s\nof the lines:\n%.500s", a, b)
	}
	m, err := jsmf.LoadModel(path("model"))
	if err != nil {
		t.Fatal(err)
	}
	_, shops, err := m.Additions().Documents.Metadata.Categories("shop")
	if err != nil || !slices.Equal(shops, []string{"shop 0", "shop 1"}) {
		t.Errorf("the saved model knows the shops %q (%v)", shops, err)
	}

	write(t, dir, "x.pdf", "%PDF-1.4\n")
	for want, args := range map[string][]string{
		`column "text" is not in the header, which has ["number;body;when;stars;shop"]; its fields seem to be separated by ";"`: {"-csv", path("x.csv")},
		`looks like JSON Lines`:                         {"-csv", path("x.jsonl")},
		`looks like a table`:                            {"-jsonl", path("x.csv"), "-text", "body"},
		`the file is of another kind: it is a PDF`:      {"-csv", path("x.pdf")},
		`the file is of another kind: it is a model`:    {"-jsonl", path("model")},
		`x.csv:2: column "stars": value "NA": is not a`: {"-csv", path("x.csv"), "-comma", ";", "-text", "body", "-numbers", "stars"},
	} {
		if _, errs := invoke(t, 1, append(args, "-quiet")...); !strings.Contains(errs, want) {
			t.Errorf("%v: %q, want %q", args, errs, want)
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
	out, _, _ = strings.Cut(out, "STRONGEST")
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
	for _, c := range []struct{ args, want string }{
		{"-k 1", "at least 2"}, {"-top 0", "-top 0"}, {"-ext .txt", "-ext goes with -dir"},
		{"-dir x -goroot y", "exclude"}, {"-csv x -jsonl y", "exclude"},
		{"-comma ; -dir x", "-comma goes with -csv"}, {"-csv x -comma ab", "want one character"}, {"-dir x -id y", "go with -csv and -jsonl"},
		{"-csv x -layout 2006", "-layout goes with -times"}, {"texts", `unexpected argument "texts"`}, {"-nonsense", "-nonsense"},
	} {
		if out, errs := invoke(t, 2, strings.Fields(c.args)...); !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: %q and %q, want %q", c.args, out, errs, c.want)
		}
	}
	if _, errs := invoke(t, 0, "-help"); !strings.Contains(errs, "-dir") {
		t.Error("-help does not list the flags")
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if _, errs := invoke(t, 1, "-dir", dir, "-quiet"); !strings.Contains(errs, "no documents") {
		t.Errorf("an empty folder: %q", errs)
	}
	if _, errs := invoke(t, 1, "-dir", filepath.Join(dir, "none"), "-quiet"); !strings.Contains(errs, "none") {
		t.Errorf("no folder: %q", errs)
	}
	write(t, dir, "a.txt", "two words")
	if _, errs := invoke(t, 1, "-dir", dir, "-quiet"); !strings.Contains(errs, "no word is left") || !strings.Contains(errs, "fewer than 3 documents") {
		t.Errorf("a single file: %q", errs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if got := run(ctx, []string{"-dir", dir, "-quiet"}, &out, &errs); got != 130 || out.Len() > 0 || errs.String() != "quickstart: interrupted\n" {
		t.Errorf("cancelled: status %d, %q and %q", got, out.String(), errs.String())
	}
}
