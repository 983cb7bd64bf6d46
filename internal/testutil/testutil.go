// Package testutil reads the reference values that the tests of several
// packages compare with.
package testutil

import (
	"compress/gzip"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// Path returns the path of a file below this package's testdata folder, which it finds
// from the working folder of the test: a binary built with -trimpath does not know it.
func Path(elem ...string) string {
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		data := filepath.Join(dir, "internal", "testutil", "testdata")
		_, missing := os.Stat(data)
		if abs, err := filepath.Abs(dir); err != nil || abs == filepath.Dir(abs) || missing == nil {
			return filepath.Join(append([]string{data}, elem...)...)
		}
	}
}

// Data returns the path of a file below the folder of real corpora, and skips
// the test, saying so, where there is none: the folder is named by the
// environment variable JSMF_DATA.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("JSMF_DATA")
	if dir == "" {
		t.Skip("skipped: needs the real corpora; set JSMF_DATA to their folder")
	}
	p := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("skipped: JSMF_DATA is set but holds no %s: %v", filepath.Join(elem...), err)
	}
	return p
}

// JSON decodes a (gzipped) JSON file of testdata into v.
func JSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	if err := json.NewDecoder(open(t, elem...)).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// JSONLines decodes every line of a (gzipped) JSON Lines file of testdata.
func JSONLines[T any](t testing.TB, elem ...string) []T {
	t.Helper()
	var out []T
	for d := json.NewDecoder(open(t, elem...)); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// Lines returns the lines of a text file of testdata.
func Lines(t testing.TB, elem ...string) []string {
	t.Helper()
	all, err := io.ReadAll(open(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
}

// open opens a file of testdata, which is closed at the end of the test.
func open(t testing.TB, elem ...string) io.Reader {
	t.Helper()
	f, err := os.Open(Path(elem...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(f.Name(), ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Allocated returns how many bytes f allocates in all. The collector is off meanwhile and one
// processor runs, so that what is in a sync.Pool is found there. Under the race detector,
// which takes memory of its own and empties pools at random, the test is skipped.
func Allocated(t testing.TB, f func()) int64 {
	t.Helper()
	if Race {
		t.Skip("the race detector allocates, too")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// NotWithRace skips a test that is about numbers, and long, under the race detector.
func NotWithRace(t *testing.T) {
	t.Helper()
	if Race {
		t.Skip("skipped: long, and about numbers alone")
	}
}

// TypesWith returns the exported types that have a method of this name in the Go files of a
// folder: what a suite must not leave out.
func TypesWith(t testing.TB, folder, method string) (types []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", folder, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != method {
				continue
			}
			recv := f.Recv.List[0].Type
			if p, ok := recv.(*ast.StarExpr); ok {
				recv = p.X
			}
			if x, ok := recv.(*ast.Ident); ok && x.IsExported() {
				types = append(types, x.Name)
			}
		}
	}
	return types
}
