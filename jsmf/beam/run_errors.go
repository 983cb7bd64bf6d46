package beam

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// panicked makes an error of a panic, where it is deferred: what was being done, and to what.
func panicked(what string, name *string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s %s: panic: %v\n%s", what, *name, r, debug.Stack())
	}
}

// jobError is the error of a job as a runner tells it, with its cause alone as text.
type jobError struct {
	cause string
	err   error // with pipeline and stack
}

func (e *jobError) Error() string { return "the job failed: " + e.cause }
func (e *jobError) Unwrap() error { return e.err }

// jobFailed finds the cause in the error of a job: behind what Beam says about the pipeline
// and before the stack of a panic.
func jobFailed(err error) error {
	text := err.Error()
	for _, before := range []string{"caused by:\n", "failed:\n"} {
		if i := strings.LastIndex(text, before); i >= 0 {
			text = text[i+len(before):]
		}
	}
	if i := strings.Index(text, "goroutine "); i > 0 && strings.Contains(text[i:], "[running]") {
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return err
	}
	return &jobError{text, err}
}
