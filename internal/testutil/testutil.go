// Package testutil reads the reference values that the tests of several
// packages compare with.
package testutil

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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
