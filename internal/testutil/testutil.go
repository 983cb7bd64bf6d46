// Package testutil reads the reference values that the tests of several
// packages compare with.
package testutil

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Path returns the path of a file below this package's testdata folder.
func Path(elem ...string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(file), "testdata"}, elem...)...)
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
	r := open(t, elem...)
	defer r.Close()
	if err := json.NewDecoder(r).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// JSONLines decodes every line of a (gzipped) JSON Lines file of testdata.
func JSONLines[T any](t testing.TB, elem ...string) []T {
	t.Helper()
	r := open(t, elem...)
	defer r.Close()
	var out []T
	for d := json.NewDecoder(r); d.More(); {
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
	r := open(t, elem...)
	defer r.Close()
	var out []string
	s := bufio.NewScanner(r)
	for s.Scan() {
		out = append(out, s.Text())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

type readCloser struct {
	io.Reader
	f *os.File
}

func (r readCloser) Close() error { return r.f.Close() }

func open(t testing.TB, elem ...string) io.ReadCloser {
	t.Helper()
	f, err := os.Open(Path(elem...))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(f.Name(), ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return readCloser{z, f}
}
