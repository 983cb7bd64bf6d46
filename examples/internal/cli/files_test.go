package cli_test

import (
	"errors"
	"flag"
	"io"
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
		"all can be written": {"-csv in.csv -save sub/model -report page.html -table t.csv", ""},
		"replaced":           {"-csv other.csv -save in.csv", ""},
		"no report":          {"-report none", ""},
		"no folder":          {"-save no/model", "-save no/model: cannot be written: its folder does not exist"},
		"a folder":           {"-report sub", "-report sub: cannot be written: is not a regular file (d---------)"},
		"a folder's name":    {"-save sub/", "-save sub/: cannot be written: is not a regular file (d---------)"},
		"a file as folder":   {"-save in.csv/x", "-save in.csv/x: cannot be written: not a directory"},
		"closed":             {"-save closed/x", "-save closed/x: cannot be written: permission denied"},
		"the input":          {"-csv in.csv -save ./in.csv", "-save ./in.csv: it is the file of -csv, too"},
		"a link to it":       {"-csv in.csv -report link", "-report link: it is the file of -csv, too"},
		"not there, twice":   {"-save x -report ./x", "-report ./x: it is the file of -save, too"},
		"there already":      {"-table in.csv", "-table in.csv: the file exists and is not replaced; name another, or remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "closed" && os.Getuid() == 0 {
				t.Skip("root may write anywhere")
			}
			var files cli.Files
			var csv, save, table, report string
			f := flag.NewFlagSet("p", flag.ContinueOnError)
			files.In(f, &csv, "csv", "a `file`")
			files.Out(f, &save, "save", "a `file`")
			files.New(f, &table, "table", "a `file`")
			files.Report(f, &report)
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

func TestWriteReport(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	broken := func(io.Writer) error { return errors.New("no") }
	page := filepath.Join(t.TempDir(), "page.html")
	for _, c := range []struct {
		name, path string
		write      func(io.Writer) error
		where      string // a pattern
		err        bool
	}{
		{"named", page, hello, page, false},
		{"fails", page, broken, "", true},
		{"none", "none", broken, "", false},
		{"by default", "", hello, filepath.Join(dir, "spectral-report-*.html"), false},
		{"by default, fails", "", broken, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			where, err := cli.WriteReport(c.path, c.write)
			if ok, _ := filepath.Match(c.where, where); !ok || (err != nil) != c.err {
				t.Fatalf("%q, %v; want %q and an error: %v", where, err, c.where, c.err)
			}
			if where == "" {
				return
			}
			if b, err := os.ReadFile(where); err != nil || string(b) != "hello" {
				t.Errorf("the file holds %q, %v", b, err)
			}
		})
	}
	if b, err := os.ReadFile(page); err != nil || string(b) != "hello" {
		t.Errorf("after an error the file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are left in the folder for temporary ones, want 1 (%v)", len(left), err)
	}
}
