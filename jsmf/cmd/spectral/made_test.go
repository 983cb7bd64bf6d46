package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// readTable reads a CSV file that was made.
func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2024-03-01T10:00:00+01:00", "GIT_COMMITTER_DATE=2024-03-01T10:00:00+01:00", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("readme")
	git("add", ".")
	git("commit", "-q", "-m", "Begin")
	write("parser/a b.go")
	write("parser/ünder.go")
	write("docs/c.txt")
	git("add", ".")
	git("commit", "-q", "-m", "parser: quotes, \"and\" commas\n\nA record may have both.\n\nChange-Id: I123\nSigned-off-by: Ann <ann@example.com>")
	git("commit", "-q", "--allow-empty", "-m", "Nothing\n\nNote: this is text")
	path := filepath.Join(t.TempDir(), "commits.csv")
	tab, done, err := open(context.Background(), &options{source: dir, table: path}, nil)
	defer done()
	if err != nil || tab.time.Name != "date" || tab.body != "text" || tab.title != "title" {
		t.Fatalf("%+v, %v", tab, err)
	}
	got := readTable(t, path)
	want := [][]string{
		{"date", "author", "folder", "title", "text"},
		{"2024-03-01T10:00:00+01:00", "Ann", "", "Nothing", "Nothing"},
		{"2024-03-01T10:00:00+01:00", "Ann", "parser", `parser: quotes, "and" commas`, "parser: quotes, \"and\" commas\n\nA record may have both."},
		{"2024-03-01T10:00:00+01:00", "Ann", "(top)", "Begin", "Begin"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d records: %q", len(got), got)
	}
	for i := range want {
		if !slices.Equal(got[i][1:], want[i]) {
			t.Errorf("record %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestChangelogs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name, "changelog.Debian.gz")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(text))
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = os.WriteFile(path, b.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text := `pear (2.0-1) unstable; urgency=medium

  [ Ann Other ]
  * Mend the stalk. (Closes: #12345, #23456)
  * Say more in the manual (LP: #99).

 -- Bob Example <bob@example.com>  Mon, 01 Jan 2024 10:00:00 +0100

pear (1.0-1) unstable; urgency=HIGH

  * First fruit.

 -- Ann Other <ann@example.com>  Sun,  5 Mar 2023 09:00:00 +0000

pear (0.1) unstable; urgency=low

  * Before there were dates.

 -- Ann Other <ann@example.com>  once upon a time
`
	write("libpear1", text)
	write("pear", text) // the same source
	path := filepath.Join(t.TempDir(), "changelogs.csv")
	tab, done, err := open(context.Background(), &options{source: dir, table: path}, nil)
	defer done()
	if err != nil || tab.classes[0].Name != "urgency" {
		t.Fatalf("%+v, %v", tab, err)
	}
	want := [][]string{
		changelogColumns,
		{"pear 2.0-1", "2024-01-01T10:00:00+01:00", "pear", "Bob Example", "medium", "* Mend the stalk. \n  * Say more in the manual"},
		{"pear 1.0-1", "2023-03-05T09:00:00Z", "pear", "Ann Other", "high", "* First fruit."},
	}
	if got := readTable(t, path); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, want %q", got, want)
	}
	write("plum", "not gzip")
	if err := os.WriteFile(filepath.Join(dir, "plum", "changelog.Debian.gz"), []byte("no gzip at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	write("quince", strings.NewReplacer("pear", "quince", "First fruit", "Fr\xfcchte").Replace(text))
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		records  int
		notes    []string
	}{
		"not told": {nil, 4, []string{"1 left out: files cannot be read: " + filepath.Join(dir, "plum", "changelog.Debian.gz") + ": gzip: invalid header",
			"1 left out: records are not UTF-8; give -encoding if they have another: \"quince 1.0-1\""}},
		"Latin-1": {charmap.ISO8859_1, 5, []string{"1 left out: files cannot be read: " + filepath.Join(dir, "plum", "changelog.Debian.gz") + ": gzip: invalid header"}},
	} {
		path := filepath.Join(t.TempDir(), "changelogs.csv")
		tab, done, err := open(context.Background(), &options{source: dir, table: path, encoding: c.encoding}, nil)
		defer done()
		if err != nil {
			t.Fatal(err)
		}
		got := readTable(t, path)
		if len(got) != c.records || !slices.Equal(tab.notes, c.notes) {
			t.Errorf("%s: %d records, want %d; %q, want %q", name, len(got), c.records, tab.notes, c.notes)
		}
		if last := got[len(got)-1]; c.encoding != nil && last[5] != "* Früchte." {
			t.Errorf("%s: %q", name, last)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "pear")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"libpear1", "quince"} {
		if err := os.WriteFile(filepath.Join(dir, name, "changelog.Debian.gz"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs := invoke(t, 1, "topics", dir, "-quiet"); !strings.Contains(errs, "none of 3 files can be read; the first: "+filepath.Join(dir, "libpear1", "changelog.Debian.gz")) {
		t.Errorf("no file can be read: %q", errs)
	}
}
