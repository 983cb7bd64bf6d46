package jsmf

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// printer shows the progress of a fit to a person: see NewPrinter.
type printer struct {
	mu   sync.Mutex
	w    io.Writer
	live bool
	err  error

	shown int           // columns of the live line on the screen, 0: none
	last  Event         // what the live line shows
	drawn time.Duration // last.Elapsed when it was drawn
	next  int           // plain lines: the Done at which the next is due
}

// Layout of the live line. It stays below 80 columns because a line that the
// terminal breaks in two cannot be redrawn.
const (
	liveWidth = 79
	barWidth  = 20
	nameWidth = 8
	// redraw is the least time between two drawings of a live line.
	redraw = 100 * time.Millisecond
	// pause is the least time between two plain lines of a stage's progress.
	pause = 500 * time.Millisecond
)

// NewPrinter returns a function for Pipeline.Record that shows the progress of a fit
// to a person. It is safe for concurrent use, but the lines of fits that run at the
// same time mix.
//
// On a terminal each stage has one line with a bar, the current value, the rate and
// the time left. It is redrawn as work is done, and replaced by the outcome and the
// time of the stage. Elsewhere plain lines are written: one when a stage starts, one
// when it ends, and in between, at least half a second apart, one for each tenth of
// the work, or, if the total is not known, one each time the work done doubles. A
// terminal is an *os.File that is a character device, unless the environment variable
// TERM is "dumb". After the first error of w nothing is written any more.
func NewPrinter(w io.Writer) func(Event) { return newPrinter(w).Record }

func newPrinter(w io.Writer) *printer { return &printer{w: w, live: isTerminal(w)} }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || f == nil || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Record shows e.
func (p *printer) Record(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.Message = oneLine(e.Message)
	switch e.Kind {
	case EventStart:
		p.next, p.drawn = 1, 0
		if p.live {
			p.last = e
			p.draw(e)
		} else if e.Message != "" {
			p.line("%s: %s", e.Stage, e.Message)
		} else {
			p.line("%s", e.Stage)
		}
	case EventProgress:
		if p.live {
			due := p.shown == 0 || p.last.Stage != e.Stage || e.Elapsed-p.drawn >= redraw ||
				e.Total > 0 && e.Done >= e.Total
			if e.Message == "" && p.last.Stage == e.Stage {
				e.Message = p.last.Message // the method, shown until there is more to say
			}
			p.last = e
			if due {
				p.draw(e)
			}
		} else if p.due(e) {
			p.line("%s: %s", e.Stage, strings.Join(progress(e), "  "))
		}
	case EventWarning:
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

// due tells whether to write a plain line for e, and sets when the next is due.
func (p *printer) due(e Event) bool {
	if e.Done < p.next && (e.Total <= 0 || e.Done < e.Total) || e.Done <= 0 || e.Elapsed-p.drawn < pause {
		return false
	}
	p.drawn = e.Elapsed
	if e.Total > 0 {
		if e.Done >= e.Total && p.next > e.Total {
			return false // said already
		}
		// The least Done of the tenth after that of e. 10·Total may overflow an
		// int of 32 bits.
		tenth := int64(e.Done)*10/int64(e.Total) + 1
		p.next = int((tenth*int64(e.Total) + 9) / 10)
	} else {
		p.next = 2 * e.Done
	}
	return true
}

// progress returns the parts of a line that tell how far e is.
func progress(e Event) []string {
	var parts []string
	switch {
	case e.Total > 0:
		parts = append(parts, fmt.Sprintf("%d/%d", e.Done, e.Total))
	case e.Done > 0:
		parts = append(parts, fmt.Sprint(e.Done))
	}
	if e.Name != "" {
		parts = append(parts, fmt.Sprintf("%s %.3g", e.Name, e.Value))
	}
	if e.Done > 0 && e.Elapsed > 0 {
		rate := float64(e.Done) / e.Elapsed.Seconds()
		parts = append(parts, fmt.Sprintf("%.3g/s", rate))
		if left := e.Left(); left > 0 {
			parts = append(parts, short(left)+" left")
		}
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
	// Blanks hide the rest of a longer line. Old Windows consoles would print
	// escape sequences as they are.
	p.write("\r" + s + strings.Repeat(" ", max(0, p.shown-n)))
	p.shown, p.drawn = n, e.Elapsed
}

// line writes a line, in place of the live line if one is shown.
func (p *printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.shown > 0 {
		s = "\r" + s + strings.Repeat(" ", max(0, p.shown-utf8.RuneCountInString(s)))
		p.shown = 0
	}
	p.write(s + "\n")
}

func (p *printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// oneLine makes s, which may quote words of any document, safe for a line of a
// terminal: white space becomes a blank and control characters "?".
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
