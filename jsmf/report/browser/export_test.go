package browser

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

// downloads are the files that a page saves, in a folder of the test's own.
type downloads struct {
	dir  string
	done chan string // names in dir of files that are whole
}

func takeDownloads(v *visit.Visit) *downloads {
	d := &downloads{v.T.TempDir(), make(chan string, 100)}
	chromedp.ListenTarget(v.Ctx, func(ev any) {
		if ev, ok := ev.(*cdpbrowser.EventDownloadProgress); ok && ev.State == cdpbrowser.DownloadProgressStateCompleted {
			d.done <- ev.GUID
		}
	})
	v.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		tab, err := target.GetTargetInfo().Do(ctx)
		if err != nil {
			return err
		}
		return cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllowAndName).WithBrowserContextID(tab.BrowserContextID).WithDownloadPath(d.dir).WithEventsEnabled(true).Do(ctx)
	}))
	return d
}

// press presses a button that saves something, by keyboard, and returns the file that comes
// of it.
func (d *downloads) press(v *visit.Visit, selector string) string {
	v.T.Helper()
	time.Sleep(150 * time.Millisecond) // Chromium drops an eleventh file within a second
	v.Run(visit.Focus(selector), visit.Key(kb.Enter))
	select {
	case name := <-d.done:
		b, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil {
			v.T.Fatal(err)
		}
		return string(b)
	case <-time.After(visit.Patience):
		v.T.Fatalf("%s saved nothing", selector)
		return ""
	}
}

// wellFormed checks that a drawing is XML of the size that it says, without anything from
// elsewhere, and returns its texts.
func wellFormed(t *testing.T, drawing string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(drawing))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.CharData:
			if s := strings.TrimSpace(string(e)); s != "" {
				texts = append(texts, s)
			}
		case xml.StartElement:
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "var(") || a.Name.Local == "href" || a.Name.Local == "class" || a.Name.Local == "style" {
					t.Errorf("<%s %s=%q> needs what the file does not have", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func saveButton(name string) string { return fmt.Sprintf("button[data-save=%q]", name) }

// keep saves a file for people to look at, where that is asked for.
func keep(t *testing.T, name, content string) {
	t.Helper()
	if dir := os.Getenv("REPORT_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExport saves every picture and table, in every form that is offered.
func TestExport(t *testing.T) {
	m, o := planted(t, 1500, 20)
	file := save(t, m, o)
	v := visit.Open(t, tab(t), address(file), "light")
	d := takeDownloads(v)

	// Every table, drawing and canvas of some size can be saved.
	if got := visit.Eval[[]string](v, `[...document.querySelectorAll("main table, main canvas, main svg")].filter(e => e.getClientRects().length && !e.ariaHidden && e.getAttribute("aria-hidden") !== "true" &&
		!e.closest("section, figure, [role=tabpanel]").querySelector(".save")).map(e => e.outerHTML.slice(0, 80))`); len(got) > 0 {
		t.Errorf("cannot be saved: %q", got)
	}
	names := visit.Eval[[]string](v, `[...document.querySelectorAll("button[data-save]")].map(b => b.dataset.save)`)
	if len(names) < 12 {
		t.Fatalf("only %q can be saved", names)
	}
	seen := make(map[string]bool)
	for _, name := range names {
		if seen[name] {
			t.Errorf("two buttons save %q", name)
		}
		seen[name] = true
		v.Run(chromedp.Evaluate(`(() => { const p = document.querySelector('button[data-save="`+name+`"]').closest("[role=tabpanel]"); if (p) document.getElementById(p.getAttribute("aria-labelledby")).click(); })()`, nil))
		content := d.press(v, saveButton(name))
		keep(t, name, content)
		switch {
		case strings.HasSuffix(name, ".png"):
			picture, err := png.Decode(strings.NewReader(content))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			colours := make(map[[3]uint32]bool)
			for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x += 3 {
				for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y += 3 {
					r, g, b, a := picture.At(x, y).RGBA()
					if a == 0xffff {
						colours[[3]uint32{r, g, b}] = true
					}
				}
			}
			if len(colours) < 3 {
				t.Errorf("%s: a picture of %v in %d colours", name, picture.Bounds(), len(colours))
			}
		case strings.HasSuffix(name, ".svg"):
			if texts := strings.Join(wellFormed(t, content), "\n"); !strings.Contains(strings.ToLower(texts), strings.ToLower(strings.TrimSuffix(name, ".svg"))) || !strings.Contains(texts, o.Title+". Saved on ") {
				t.Errorf("%s: a drawing without title, source and date: %.300q", name, texts)
			}
		default:
			rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Errorf("%s: %d rows, %v", name, len(rows), err)
			}
		}
	}

	// Tables are saved whole, and with all digits.
	v.Run(visit.Into("#tab-pairs"), visit.Click("#tab-pairs"))
	rows, err := csv.NewReader(strings.NewReader(d.press(v, saveButton("pairs of topics.csv")))).ReadAll()
	if err != nil || len(rows) != 1+20*19/2 {
		t.Fatalf("%d rows of pairs, %v", len(rows), err)
	}
	want := make(map[[2]string]float64)
	for _, p := range m.CorrelatedPairs(-1) {
		want[[2]string{strconv.Itoa(p.K), strconv.Itoa(p.L)}] = p.Joint
	}
	for _, r := range rows[1:] {
		got, err := strconv.ParseFloat(r[6], 64)
		if w, ok := want[[2]string{r[0], r[2]}]; err != nil || !ok || got < .994*w || got > 1.006*w { // three digits
			t.Errorf("row %v, want joint %v", r, w)
		}
	}
	v.Leave(func(u *url.URL) bool { return u.Scheme == "blob" || only(file)(u) })
}

// TestExportText: no word starts a formula in a spreadsheet, as in report.WriteTopicsCSV.
func TestExportText(t *testing.T) {
	starts := []string{"=1+2", "+a", "-b", "@c", "\td", "e,\"f"}
	m, err := sample.Model(300, 6, func(i int) string { return fmt.Sprint(starts[i%len(starts)], i) })
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, m, report.Options{})
	v := visit.Open(t, tab(t), address(file), "light")
	rows, err := csv.NewReader(strings.NewReader(takeDownloads(v).press(v, saveButton("words of the topic.csv")))).ReadAll()
	if err != nil || len(rows) != 21 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	defused := 0
	for _, r := range rows[1:] {
		word := strings.TrimPrefix(r[3], "'")
		if _, ok := m.Index(word); !ok {
			t.Errorf("%q is no word", word)
		}
		if strings.ContainsAny(word[:1], "=+-@\t") != (word != r[3]) {
			t.Errorf("the cell is %q", r[3])
		}
		if word != r[3] {
			defused++
		}
	}
	if defused == 0 || defused == 20 {
		t.Errorf("%d of 20 words begin with an apostrophe", defused)
	}
	v.Leave(func(u *url.URL) bool { return u.Scheme == "blob" || only(file)(u) })
}
