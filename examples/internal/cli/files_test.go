package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"sub", "closed"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("in.csv", []byte("text\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("in.csv", "link"); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod("closed", 0o500); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ args, want string }{
		"nothing":            {"", ""},
		"all can be written": {"-csv in.csv -save sub/model -page page.html", ""},
		"replaced":           {"-csv other.csv -save in.csv", ""},
		"no folder":          {"-save no/model", "-save no/model: cannot be written: its folder does not exist"},
		"a folder":           {"-page sub", "-page sub: cannot be written: is not a regular file (d---------)"},
		"a folder's name":    {"-save sub/", "-save sub/: cannot be written: is not a regular file (d---------)"},
		"a file as folder":   {"-save in.csv/x", "-save in.csv/x: cannot be written: not a directory"},
		"closed":             {"-save closed/x", "-save closed/x: cannot be written: permission denied"},
		"the input":          {"-csv in.csv -save ./in.csv", "-save ./in.csv: it is the file of -csv, too"},
		"a link to it":       {"-csv in.csv -page link", "-page link: it is the file of -csv, too"},
		"not there, twice":   {"-save x -page ./x", "-page ./x: it is the file of -save, too"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "closed" && os.Getuid() == 0 {
				t.Skip("root may write anywhere")
			}
			var files cli.Files
			var csv, save, page string
			f := flag.NewFlagSet("p", flag.ContinueOnError)
			files.In(f, &csv, "csv", "a `file`")
			files.Out(f, &save, "save", "a `file`")
			files.Out(f, &page, "page", "a `file`")
			if err := f.Parse(strings.Fields(c.args)); err != nil {
				t.Fatal(err)
			}
			var wrong cli.Wrong
			files.Check(&wrong, nil)
			if got := strings.Join(wrong, "\n"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			for _, dir := range []string{".", "sub"} { // nothing is left of the test
				got, err := filepath.Glob(filepath.Join(dir, ".jsmf-*"))
				if err != nil || len(got) > 0 {
					t.Errorf("left behind: %q, %v", got, err)
				}
			}
		})
	}
}

// Several files come of one flag.
func TestFilesNames(t *testing.T) {
	var files cli.Files
	var save string
	f := flag.NewFlagSet("p", flag.ContinueOnError)
	files.Out(f, &save, "save", "a `file`")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "m_2"), 0o777); err != nil {
		t.Fatal(err)
	}
	save = filepath.Join(dir, "m")
	var wrong cli.Wrong
	files.Check(&wrong, func(path string) []string { return []string{path + "_1", path + "_2"} })
	if len(wrong) != 1 || !strings.Contains(wrong[0], "m_2: cannot be written") {
		t.Errorf("%q, want that m_2 cannot be written", wrong)
	}
}
