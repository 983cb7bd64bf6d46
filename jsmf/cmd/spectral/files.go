package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/jsmf"
)

// outputs are the files that the options say to write, by flag.
func (o *options) outputs() map[string]string {
	out := map[string]string{}
	for flag, path := range map[string]string{
		"report": o.report, "save": o.save, "documents": o.documents, "effects": o.effects, "wording": o.wording,
		"table": o.table, "keep-settings": o.keepSettings, "out": o.out,
	} {
		if path != "" && path != none && path != "-" {
			out[flag] = path
		}
	}
	return out
}

// checkFiles says which files cannot be written, before minutes of work are lost: those in a folder
// that is missing or may not be written to, those that are there already, unless -force replaces
// them, and those that are read, or written twice.
func (o *options) checkFiles() error {
	var errs []error
	taken := map[string]string{}
	for name, path := range map[string]string{"the model": o.model, "the source": o.source, "-seeds": o.seeds, "-edits": o.edits, "-stop": o.stop, "-vocab": o.vocab} {
		if path != "" {
			taken[absolute(path)] = name
		}
	}
	out := o.outputs()
	for _, flag := range sortedKeys(out) {
		path := out[flag]
		if other, ok := taken[absolute(path)]; ok {
			errs = append(errs, fmt.Errorf("-%s %s: it is the file of %s, too", flag, path, other))
			continue
		}
		taken[absolute(path)] = "-" + flag
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			errs = append(errs, fmt.Errorf("-%s %s: it is a folder; name a file in it", flag, path))
		} else if err == nil && !o.force {
			errs = append(errs, fmt.Errorf("-%s %s: it is there already; name another file, or give -force to replace it", flag, path))
		} else if err := named(path, atomicfile.Check(path)); err != nil {
			errs = append(errs, fmt.Errorf("-%s %w", flag, err))
		}
	}
	return errors.Join(errs...)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// base returns the last part of a path.
func base(path string) string { return filepath.Base(absolute(path)) }

// writeFile writes a file that is there whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	return named(path, atomicfile.Write(path, write))
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

// writeOut writes to the file of -out, or to w.
func writeOut(path string, w io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(w)
	}
	return writeFile(path, func(f io.Writer) error {
		b := bufio.NewWriter(f)
		return errors.Join(write(b), b.Flush())
	})
}

// writeReport writes a report where -report says, and returns where it is, "" for none.
func writeReport(path string, write func(io.Writer) error) (where string, err error) {
	if path == none {
		return "", nil
	}
	if path == "" {
		f, err := os.CreateTemp("", "spectral-report-*.html")
		if err != nil {
			return "", err
		}
		path = f.Name()
		defer func() {
			if where == "" {
				os.Remove(path)
			}
		}()
		if err := f.Close(); err != nil {
			return "", err
		}
	}
	if err := writeFile(path, write); err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// fields are settings that messages of the library name, with the flags that set them.
var fields = strings.NewReplacer(
	"set Encoding", "give -encoding", "set Field.Layout", "give -layout", "set CSV.Comma", "give -comma",
)

// plainly returns the message of an error, in the words of the command line.
func plainly(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("%s: it may not be read: permission denied", pe.Path)
	}
	return fields.Replace(err.Error())
}

// progress returns a function that shows the progress on stderr, nil with -quiet.
func progress(quiet bool, stderr io.Writer) func(jsmf.Event) {
	if quiet {
		return func(jsmf.Event) {}
	}
	show := jsmf.NewPrinter(stderr)
	return func(e jsmf.Event) {
		e.Message = fields.Replace(e.Message)
		show(e)
	}
}

// stage runs f as a stage of the program's own, and reports it to rec. f returns its outcome in a
// few words. stage returns the time f took, and its error.
func stage(rec func(jsmf.Event), name string, f func() (outcome string, err error)) (time.Duration, error) {
	s, begun := jsmf.Stage(name), time.Now()
	rec(jsmf.Event{Stage: s, Kind: jsmf.EventStart})
	outcome, err := f()
	d := time.Since(begun)
	rec(jsmf.Event{Stage: s, Kind: jsmf.EventEnd, Elapsed: d, Message: outcome, Err: err})
	return d, err
}

// count says how many there are of something: 1 topic, 2 topics.
func count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprint(n, " ", many)
}

// readSeeds reads a file of seeds. A line is the name of a topic, a colon and its words, with
// blanks between. There are none without a file.
func readSeeds(path string) (seeds []jsmf.Seed, err error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(b), "\ufeff")) {
		n++
		name, words, found := strings.Cut(line, ":")
		switch x := (jsmf.Seed{Name: strings.TrimSpace(name), Words: strings.Fields(words)}); {
		case strings.TrimSpace(line) == "":
		case !found || len(x.Words) == 0:
			return nil, fmt.Errorf("-seeds %s:%d: want a name, a colon and words, as in \"courts: judge trial appeal\"", path, n)
		default:
			seeds = append(seeds, x)
		}
	}
	if seeds == nil {
		return nil, fmt.Errorf("-seeds %s: no topics", path)
	}
	return seeds, nil
}

// canceled reports whether an error is that of a context that has ended.
func canceled(err error) bool { return errors.Is(err, context.Canceled) }
