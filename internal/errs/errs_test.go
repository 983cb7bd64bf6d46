package errs

import (
	"errors"
	"io"
	"testing"
)

func TestNamesStandOnce(t *testing.T) {
	inner := Errorf("p", "read %s: %w", "x", io.EOF)
	for want, err := range map[string]error{
		"p: read x: EOF":             inner,
		"p: EOF":                     Wrap("p", io.EOF),
		"p: fit 3: read x: EOF":      Errorf("p", "fit %d: %w", 3, inner),
		"q: p: read x: EOF":          Wrap("q", inner),
		"p: both: read x: EOF\nEOF":  Errorf("p", "both: %w", errors.Join(inner, Wrap("p", io.EOF))),
		"p: q: p: read x: EOF":       Wrap("p", Wrap("q", inner)),
		"p: twice: fit: read x: EOF": Errorf("p", "twice: %w", Errorf("p", "fit: %w", inner)),
		"p: none: pq: not the name":  Errorf("p", "none: %w", errors.New("pq: not the name")),
	} {
		if again := Wrap("p", err); err.Error()[:2] == "p:" && again != err {
			t.Errorf("wrapped again: %v", again)
		}
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if want != "p: none: pq: not the name" && !errors.Is(err, io.EOF) {
			t.Errorf("%v is no io.EOF", err)
		}
	}
	if Wrap("p", nil) != nil {
		t.Error("nil is an error")
	}
}
