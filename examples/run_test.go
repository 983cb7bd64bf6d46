package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// short are the short examples: programs over the public API, each about one thing. They are built
// and run on the book that comes with Go.
var short = []string{"phrases", "effects", "find", "refit", "seeds", "stages", "outofcore"}

func TestShort(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("skipped: go env GOROOT, where the book is: %v", err)
	}
	book := filepath.Join(strings.TrimSpace(string(root)), "src", "testdata", "Isaac.Newton-Opticks.txt")
	if _, err := os.Stat(book); err != nil {
		t.Skipf("skipped: this installation of Go lacks its test data: %v", err)
	}
	dir := t.TempDir()
	build := []string{"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}
	for _, name := range short {
		build = append(build, "./"+name)
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, name := range short {
		t.Run(name, func(t *testing.T) {
			got, err := exec.Command(filepath.Join(dir, name), book).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil || string(want) != string(got) {
				t.Errorf("it prints\n%s\nwant\n%s%v", got, want, err)
			}
			source, err := os.ReadFile(filepath.Join(name, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), "\n"); n >= 150 || strings.Contains(string(source), "/internal/") {
				t.Errorf("%d lines, or internal packages: a short example has fewer than 150 and none of these", n)
			}
		})
	}
}
