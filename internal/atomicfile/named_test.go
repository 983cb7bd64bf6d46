package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteNamed(t *testing.T) {
	dir := t.TempDir()
	var seen bytes.Buffer
	name := func() string { return "of-" + seen.String() }
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(io.MultiWriter(w, &seen), s)
			return err
		}
	}
	if err := WriteNamed(dir, text("abc"), name); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	if err := WriteNamed(dir, func(io.Writer) error { return wrong }, name); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
	if err := WriteNamed(dir, text("d"), func() string { return filepath.Join("none", "x") }); err == nil {
		t.Error("a folder that is not there")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "of-abc" {
		t.Fatalf("%v, %v", entries, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "of-abc")); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
}
