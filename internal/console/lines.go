package console

import (
	"io"
	"strings"
)

// Lines returns a writer to w that wraps lines at its Width, and a function
// that writes what follows the last end of a line. Without a width it is w.
func Lines(w io.Writer) (out io.Writer, flush func() error) { return linesOf(w, Width(w)) }

func linesOf(w io.Writer, width int) (out io.Writer, flush func() error) {
	if width <= 0 {
		return w, func() error { return nil }
	}
	x := &wrapper{w: w, width: width}
	return x, x.flush
}

type wrapper struct {
	w     io.Writer
	width int
	line  []byte
}

func (x *wrapper) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := strings.Cut(string(p), "\n")
		x.line = append(x.line, line...)
		if !ended {
			return n, nil
		}
		if err := x.end("\n"); err != nil {
			return 0, err
		}
		p = []byte(rest)
	}
}

func (x *wrapper) end(with string) error {
	line := strings.Join(Wrap(string(x.line), x.width), "\n") + with
	x.line = x.line[:0]
	_, err := io.WriteString(x.w, line)
	return err
}

func (x *wrapper) flush() error {
	if len(x.line) == 0 {
		return nil
	}
	return x.end("")
}
