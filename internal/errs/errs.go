// Package errs puts the name of a package in front of its errors, once.
//
// The rule: a package names itself where an error leaves an exported function.
// An error that comes back from a callback, or from an exported function of the
// same package, has the name already and is not given it again.
package errs

import (
	"fmt"
	"strings"
)

// Wrap returns err with "pkg: " in front, or err itself if its text begins so.
// nil stays nil.
func Wrap(pkg string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), pkg+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", pkg, err)
}

// Errorf is fmt.Errorf with "pkg: " in front. Errors among the arguments whose
// text begins with it lose it there; errors.Is and errors.As find them as usual.
func Errorf(pkg, format string, args ...any) error {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = bare(pkg, err)
		}
	}
	return fmt.Errorf("%s: %w", pkg, fmt.Errorf(format, args...))
}

// bare returns err without the name of the package at the beginning of a line.
func bare(pkg string, err error) error {
	prefix := pkg + ": "
	text := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n"+prefix, "\n"), prefix)
	if text == err.Error() {
		return err
	}
	return &unnamed{text, err}
}

// unnamed is an error with another text.
type unnamed struct {
	text string
	err  error
}

func (e *unnamed) Error() string { return e.text }
func (e *unnamed) Unwrap() error { return e.err }
