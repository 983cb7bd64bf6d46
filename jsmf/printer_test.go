package jsmf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/console"
)

const ms = time.Millisecond

// aFit is what a fit may report.
func aFit() []Event {
	return []Event{
		{Stage: StageRectify, Kind: EventStart, Message: "AP, 4 iterations", Total: 4},
		{Stage: StageRectify, Kind: EventProgress, Done: 1, Total: 4, Name: "change", Value: 0.01234, Elapsed: 500 * ms},
		{Stage: StageRectify, Kind: EventProgress, Done: 2, Total: 4, Name: "change", Value: 1.5e-5, Elapsed: 550 * ms},
		{Stage: StageRectify, Kind: EventWarning, Message: "slow\nprogress", Elapsed: 600 * ms},
		{Stage: StageRectify, Kind: EventProgress, Done: 3, Total: 4, Name: "change", Value: 1e-6, Elapsed: 900 * ms},
		{Stage: StageRectify, Kind: EventProgress, Done: 4, Total: 4, Name: "change", Value: 1e-7, Elapsed: 901 * ms},
		{Stage: StageRectify, Kind: EventEnd, Message: "iteration limit", Elapsed: 1234 * ms},
		{Stage: StageAnchors, Kind: EventStart},
		{Stage: StageAnchors, Kind: EventEnd, Elapsed: 2 * ms, Err: context.Canceled},
	}
}

func TestPlainPrinter(t *testing.T) {
	var b bytes.Buffer
	p := newPrinter(&b)
	for _, e := range aFit() {
		p.Record(e)
	}
	const want = `rectify: AP, 4 iterations
rectify: 1/4  change 0.0123  2/s  1.5s left
rectify: warning: slow progress
rectify: done in 1.23s: iteration limit
anchors: failed after 2ms: context canceled
`
	if b.String() != want || p.err != nil {
		t.Errorf("printed\n%s, want\n%s, error %v", b.String(), want, p.err)
	}
}

func TestLivePrinter(t *testing.T) {
	var b bytes.Buffer
	p := newPrinter(&b)
	p.live = true
	for _, e := range aFit() {
		p.Record(e)
	}
	// Each piece overwrites the one before: blanks follow where it is shorter.
	// Iteration 2 comes 50 ms after iteration 1 was drawn, too soon; the
	// warning then shows it. The last iteration is always drawn.
	pieces := []string{
		"rectify   [--------------------]   0%  0/4  AP, 4 iterations",
		"rectify   [#####---------------]  25%  1/4  change 0.0123  2/s  1.5s left",
		"rectify: warning: slow progress" + strings.Repeat(" ", 42) + "\n",
		"rectify   [##########----------]  50%  2/4  change 1.5e-05  3.64/s  550ms left",
		"rectify   [###############-----]  75%  3/4  change 1e-06  3.33/s  300ms left  ",
		"rectify   [####################] 100%  4/4  change 1e-07  4.44/s" + strings.Repeat(" ", 12),
		"rectify   done in 1.23s: iteration limit" + strings.Repeat(" ", 24) + "\n",
		"anchors ",
		"anchors   failed after 2ms: context canceled\n",
	}
	if want := "\r" + strings.Join(pieces, "\r"); b.String() != want {
		t.Errorf("printed\n%q, want\n%q", b.String(), want)
	}
	want := `rectify: warning: slow progress
rectify   done in 1.23s: iteration limit
anchors   failed after 2ms: context canceled
`
	if got := screen(b.String()); got != want {
		t.Errorf("the screen shows\n%s, want\n%s", got, want)
	}
}

// screen returns what a terminal shows in the end, without trailing blanks.
func screen(s string) string {
	var out strings.Builder
	var line []rune
	at := 0
	for _, r := range s {
		switch r {
		case '\r':
			at = 0
		case '\n':
			out.WriteString(strings.TrimRight(string(line), " ") + "\n")
			line, at = nil, 0
		default:
			if at == len(line) {
				line = append(line, 0)
			}
			line[at] = r
			at++
		}
	}
	return out.String() + strings.TrimRight(string(line), " ")
}

// Fits of one sweep warn of the same documents: that is said once. Lines are broken where
// COLUMNS says.
func TestPrinterWarnsOnce(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	var b bytes.Buffer
	show := NewPrinter(&b)
	for _, k := range []int{5, 10, 20} {
		show(Event{Stage: StageCooc, Kind: EventStart})
		show(Event{Stage: StageCooc, Kind: EventWarning, Message: "topics of short documents are less certain"})
		show(Event{Stage: StageCooc, Kind: EventWarning, Message: fmt.Sprint("of ", k)})
	}
	const want = "cooc: warning: topics of short documents\n   are less certain\ncooc: warning: of 5\ncooc: warning: of 10\ncooc: warning: of 20\n"
	if b.String() != want {
		t.Errorf("printed\n%s, want\n%s", b.String(), want)
	}
}

// However many events there are, the number of lines is bounded, and the first is there.
func TestPlainPrinterIsBrief(t *testing.T) {
	for _, total := range []int{1, 2, 3, 9, 10, 11, 15, 99, 1000, 12345} {
		var b bytes.Buffer
		p := newPrinter(&b)
		p.Record(Event{Stage: "s", Kind: EventStart})
		for i := 0; i <= total; i++ {
			p.Record(Event{Stage: "s", Kind: EventProgress, Done: i, Total: total, Elapsed: time.Duration(i) * time.Second})
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != 1+int(math.Log2(float64(total))) { // after 1, 2, 4, 8, … seconds
			t.Errorf("%d events gave %d lines", total, len(lines))
		}
		if first := fmt.Sprintf("s: 1/%d ", total); !strings.HasPrefix(lines[0], first) {
			t.Errorf("%d events: from %q", total, lines[0])
		}
		if slices.Sort(lines); len(slices.Compact(lines)) != len(lines) {
			t.Errorf("%d events: a line comes twice", total)
		}
	}

	var b bytes.Buffer
	p := newPrinter(&b)
	p.Record(Event{Stage: "read", Kind: EventStart})
	for i := range 1001 {
		p.Record(Event{Stage: "read", Kind: EventProgress, Done: i, Elapsed: time.Duration(i) * time.Second})
	}
	want := ""
	for i := 1; i <= 1000; i *= 2 {
		want += fmt.Sprintf("read: %d  1/s\n", i)
	}
	if b.String() != want {
		t.Errorf("without a total: %q", b.String())
	}
}

// A live line never grows wider than a terminal, nor longer than what blanks
// hide, and nothing a message holds can steer the terminal.
func TestLiveLineIsSafe(t *testing.T) {
	var b bytes.Buffer
	p := newPrinter(&b)
	p.live = true
	evil := "\x1b[2J\a" + strings.Repeat("ö", 200) + "\r\n\u0085x\xff"
	p.Record(Event{Stage: "a-stage-with-a-long-name", Kind: EventStart, Message: evil})
	p.Record(Event{Stage: "x", Kind: EventProgress, Done: 3, Message: evil, Elapsed: time.Second})
	p.Record(Event{Stage: "x", Kind: EventProgress, Done: 7, Total: 5, Elapsed: 2 * time.Second})
	p.Record(Event{Stage: "x", Kind: EventProgress, Done: -7, Total: 5, Elapsed: 3 * time.Second})
	for i, s := range strings.Split(b.String(), "\r")[1:] {
		if n := utf8.RuneCountInString(s); n > liveWidth {
			t.Errorf("drawing %d is %d wide", i, n)
		}
		if strings.ContainsAny(s, "\x1b\a\n\u0085") {
			t.Errorf("drawing %d holds control characters: %q", i, s)
		}
	}
	b.Reset()
	p.Record(Event{Stage: "x", Kind: EventWarning, Message: evil})
	p.Record(Event{Stage: "x", Kind: EventEnd, Err: errors.New(evil)})
	if strings.ContainsAny(b.String(), "\x1b\a\u0085") || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("lines hold control characters: %q", b.String())
	}
}

// A thousand events in a tenth of a second draw two lines.
func TestLiveLineIsNotDrawnTooOften(t *testing.T) {
	var b bytes.Buffer
	p := newPrinter(&b)
	p.live = true
	p.Record(Event{Stage: "s", Kind: EventStart})
	for i := range 1000 {
		p.Record(Event{Stage: "s", Kind: EventProgress, Done: i, Total: 5000, Elapsed: time.Duration(i+1) * ms / 10})
	}
	if n := strings.Count(b.String(), "\r"); n != 2 {
		t.Errorf("%d drawings", n)
	}
}

func TestPrinterKeepsWriteErrors(t *testing.T) {
	w := &limitedWriter{n: 40}
	p := newPrinter(w)
	for _, e := range aFit() {
		p.Record(e)
	}
	if !errors.Is(p.err, errDisk) {
		t.Errorf("error %v", p.err)
	}
	w.n = 1000
	p.Record(aFit()[0])
	if w.n != 1000 || !errors.Is(p.err, errDisk) {
		t.Error("it writes on after an error")
	}
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var none *os.File
	for i, w := range []interface{ Write([]byte) (int, error) }{f, w, none, new(bytes.Buffer)} {
		if console.Terminal(w) {
			t.Errorf("writer %d is taken for a terminal", i)
		}
	}
	// The null device is a character device: as near to a terminal as a test
	// gets.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if info, err := null.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Skipf("skipped: the null device is no character device here: %v", err)
	}
	t.Setenv("TERM", "xterm")
	if !newPrinter(null).live {
		t.Error("a character device is not taken for a terminal")
	}
	t.Setenv("TERM", "dumb")
	if newPrinter(null).live {
		t.Error("a dumb terminal gets live lines")
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 1234: "1µs", 1234567: "1ms", 999600 * time.Microsecond: "1s", 12345 * ms: "12.35s",
		83*time.Second + 600*ms: "1m24s", 3 * time.Hour: "3h0m0s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestPrinterConcurrently(t *testing.T) {
	var b bytes.Buffer
	p := newPrinter(&b)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, e := range aFit() {
				p.Record(e)
			}
		}()
	}
	wg.Wait()
	if n := strings.Count(b.String(), "rectify: done in 1.23s: iteration limit\n"); n != 4 || p.err != nil {
		t.Errorf("%d ends, %v, in\n%s", n, p.err, b.String())
	}
}

func TestEventKindString(t *testing.T) {
	for k, want := range map[EventKind]string{
		EventStart: "start", EventProgress: "progress", EventEnd: "end", EventWarning: "warning", 0: "unknown", 9: "unknown",
	} {
		if k.String() != want {
			t.Errorf("%d: %q, want %q", k, k, want)
		}
	}
}

func TestEventLeft(t *testing.T) {
	for e, want := range map[Event]time.Duration{
		{Done: 2, Total: 6, Elapsed: 4 * time.Second}: 8 * time.Second,
		{Done: 6, Total: 6, Elapsed: 4 * time.Second}: 0,
		{Total: 6, Elapsed: 4 * time.Second}:          0,
		{Done: 2, Elapsed: 4 * time.Second}:           0,
	} {
		if got := e.Left(); got != want {
			t.Errorf("%+v: %v left, want %v", e, got, want)
		}
	}
}
