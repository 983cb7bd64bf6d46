package jsmf

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/console"
)

// printer shows the progress of a fit to a person: see NewPrinter.
type printer struct {
	mu   sync.Mutex
	w    io.Writer
	live bool            // on a terminal
	said map[string]bool // warnings
	err  error           // of w

	shown int           // columns of the live line on the screen, 0: none
	last  Event         // what the live line shows
	drawn time.Duration // last.Elapsed when it was drawn
}

// Layout of the live line, which a terminal of 80 columns must not break in two: it could not be
// redrawn then.
const (
	liveWidth = 79
	barWidth  = 20
	nameWidth = 8
	redraw    = 100 * time.Millisecond // at least, between two drawings
	pause     = 500 * time.Millisecond // before the first plain line of a stage's progress
)

// NewPrinter returns a function for [Pipeline.Record] that shows the progress of a fit to a person.
// It is safe for concurrent use, but the lines of fits that run at the same time mix.
//
// On a terminal each stage has one line with a bar, the current value, the rate and the time left,
// which the outcome and the time of the stage replace. Elsewhere plain lines are written: one when
// a stage starts, one when it ends, and in between one after half a second and each time the stage
// has taken twice as long. A warning
// is shown once, however many fits repeat it. Lines are broken at the width that the environment
// variable COLUMNS gives, or at 80 characters on a terminal. A terminal is an *os.File that is a
// character device, unless the environment variable TERM is "dumb". After the first error of w
// nothing is written any more.
func NewPrinter(w io.Writer) func(Event) { return newPrinter(w).Record }

func newPrinter(w io.Writer) *printer {
	return &printer{w: w, live: console.Terminal(w), said: make(map[string]bool)}
}

// Record shows e.
func (p *printer) Record(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.Message = oneLine(e.Message)
	switch e.Kind {
	case EventStart:
		p.drawn = 0
		if p.live {
			p.last = e
			p.draw(e)
		} else if e.Message != "" {
			p.line("%s: %s", e.Stage, e.Message)
		}
	case EventProgress:
		switch same := p.last.Stage == e.Stage; {
		case p.live:
			if e.Message == "" && same {
				e.Message = p.last.Message // the method, shown until there is more to say
			}
			p.last = e
			if p.shown == 0 || !same || e.Elapsed-p.drawn >= redraw || e.Total > 0 && e.Done >= e.Total {
				p.draw(e)
			}
		case p.due(e):
			p.line("%s: %s", e.Stage, strings.Join(progress(e), "  "))
		}
	case EventWarning:
		if p.said[e.Message] {
			return
		}
		p.said[e.Message] = true
		p.line("%s: warning: %s", e.Stage, e.Message)
		if p.live && p.last.Stage == e.Stage {
			p.draw(p.last)
		}
	case EventEnd:
		verb, what := "done in", e.Message
		if e.Err != nil {
			verb, what = "failed after", oneLine(e.Err.Error())
		}
		if what != "" {
			what = ": " + what
		}
		if p.live {
			p.line("%-*s  %s %s%s", nameWidth, e.Stage, verb, short(e.Elapsed), what)
		} else {
			p.line("%s: %s %s%s", e.Stage, verb, short(e.Elapsed), what)
		}
		p.last = Event{}
	}
}

// due reports whether to write a plain line for e: half a second after a stage began, and whenever it has
// taken twice as long.
func (p *printer) due(e Event) bool {
	if e.Elapsed < pause || e.Elapsed < 2*p.drawn {
		return false
	}
	p.drawn = e.Elapsed
	return true
}

// progress returns the parts of a line that say how far e is.
func progress(e Event) []string {
	var parts []string
	switch {
	case e.Total > 0:
		parts = append(parts, fmt.Sprintf("%d/%d", e.Done, e.Total))
	case e.Done > 0:
		parts = append(parts, fmt.Sprint(e.Done))
	}
	if e.Name != "" {
		parts = append(parts, e.Name+console.Number(" %.3g", e.Value))
	}
	if e.Done > 0 && e.Elapsed > 0 {
		parts = append(parts, fmt.Sprintf("%.3g/s", float64(e.Done)/e.Elapsed.Seconds()))
	}
	if left := e.Left(); left > 0 {
		parts = append(parts, short(left)+" left")
	}
	return parts
}

// draw shows e on the live line.
func (p *printer) draw(e Event) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s", nameWidth, e.Stage)
	if e.Total > 0 {
		frac := min(1, max(0, float64(e.Done)/float64(e.Total)))
		full := int(frac * barWidth)
		fmt.Fprintf(&b, "  [%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), int(frac*100))
	}
	parts := progress(e)
	if e.Message != "" && (e.Kind == EventStart || e.Total <= 0) {
		parts = append(parts, e.Message)
	}
	for _, s := range parts {
		b.WriteString("  " + s)
	}
	s := cut(b.String(), liveWidth)
	n := utf8.RuneCountInString(s)
	// Blanks hide the rest of a longer line. Old Windows consoles would print escape sequences as
	// they are.
	p.write("\r" + s + strings.Repeat(" ", max(0, p.shown-n)))
	p.shown, p.drawn = n, e.Elapsed
}

// line writes a line, in place of the live line if one is shown.
func (p *printer) line(format string, args ...any) {
	lines := console.Wrap(fmt.Sprintf(format, args...), console.Width(p.w))
	if p.shown > 0 {
		lines[0] = "\r" + lines[0] + strings.Repeat(" ", max(0, p.shown-utf8.RuneCountInString(lines[0])))
		p.shown = 0
	}
	p.write(strings.Join(lines, "\n") + "\n")
}

func (p *printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// oneLine makes s, which may quote words of any document, safe for a line of a terminal: white
// space becomes a blank and control characters "?".
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// short formats a duration with a few digits.
func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
