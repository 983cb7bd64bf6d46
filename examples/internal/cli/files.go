package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/internal/npy"
)

// Files are the flags of a program that name files. A program defines each by In or Out
// and calls Check before it does anything: the result of minutes of
// work must not be lost because it cannot be written. The zero value has none.
type Files struct{ in, out []file }

type file struct {
	flag string
	path *string // "": none
}

// In defines a flag for a file to be read.
func (s *Files) In(f *flag.FlagSet, path *string, name, usage string) {
	f.StringVar(path, name, "", usage)
	s.in = append(s.in, file{name, path})
}

// Out defines a flag for a file to be written; an existing one is replaced.
func (s *Files) Out(f *flag.FlagSet, path *string, name, usage string) {
	f.StringVar(path, name, "", usage)
	s.out = append(s.out, file{name, path})
}

// Check reports the files that cannot be written: those in a folder that is missing or may
// not be written to, and those that another flag names, too.
// names returns the paths that the value of an Out flag stands for; nil: that path alone.
func (s *Files) Check(w *Wrong, names func(path string) []string) {
	for i, x := range s.out {
		if *x.path == "" {
			continue
		}
		for _, y := range append(s.in[:len(s.in):len(s.in)], s.out[:i]...) {
			if same(*x.path, *y.path) {
				w.If(true, "-%s %s: it is the file of -%s, too", x.flag, *x.path, y.flag)
			}
		}
		paths := []string{*x.path}
		if names != nil {
			paths = names(*x.path)
		}
		for _, p := range paths {
			if err := Writable(p); err != nil {
				w.If(true, "-%s %v", x.flag, err)
				break // the others are in the same folder
			}
		}
	}
}

// same reports whether two paths, if they are given, are those of one file.
func same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	absA, errX := filepath.Abs(a)
	absB, errY := filepath.Abs(b)
	return errX == nil && errY == nil && absA == absB
}

// Writable returns an error that names the file if WriteFile could not write it.
func Writable(path string) error { return named(path, atomicfile.Check(path)) }

// WriteFile writes a file that is there whole or not at all; see atomicfile.Write.
func WriteFile(path string, write func(io.Writer) error) error {
	return named(path, atomicfile.Write(path, write))
}

// WriteNPY writes an n×k matrix as a NumPy file, as WriteFile does; row returns a row.
func WriteNPY(path string, n, k int, row func(i int) []float64) error {
	return WriteFile(path, func(w io.Writer) error { return npy.Write(w, n, k, row) })
}

// named puts the path before an error, in place of the temporary one that the system names.
func named(path string, err error) error {
	switch pe := (*fs.PathError)(nil); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("its folder does not exist")
	case errors.As(err, &pe):
		err = pe.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, err)
}
