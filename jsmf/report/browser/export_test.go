package browser

import (
	"encoding/csv"
	"encoding/xml"
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
	"github.com/chromedp/chromedp"

	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

// saved presses the button that saves name, and returns the file that comes of it.
func saved(v *visit.Visit, dir, name string) string {
	v.T.Helper()
	selector := `button[data-save="` + name + `"]`
	v.Run(chromedp.Evaluate(`document.querySelector('`+selector+`').scrollIntoView({block: "center", behavior: "instant"})`, nil), visit.Click(selector))
	var found string
	for range 400 { // the file appears when it is whole, and Chromium names it by itself
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			v.T.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, ".crdownload") && !strings.HasPrefix(filepath.Base(f), ".") {
				found = f
			}
		}
		if found != "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if found == "" {
		v.T.Fatalf("%s saved nothing", name)
	}
	b, err := os.ReadFile(found)
	if err != nil {
		v.T.Fatal(err)
	}
	if shots := os.Getenv("REPORT_SHOTS"); shots != "" { // for people to look at
		if err := os.WriteFile(filepath.Join(shots, filepath.Base(found)), b, 0o666); err != nil {
			v.T.Fatal(err)
		}
	}
	if err := os.Remove(found); err != nil {
		v.T.Fatal(err)
	}
	return string(b)
}

// downloads lets the page save files into a folder of the test's own.
func downloads(v *visit.Visit) string {
	dir := v.T.TempDir()
	v.Run(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	return dir
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

// TestExport saves every picture and table, in every form that is offered.
func TestExport(t *testing.T) {
	ctx := visit.Start(t)
	m, o := planted(t, 1500, 20)
	file := save(t, m, o)
	tab, end := chromedp.NewContext(ctx)
	defer end()
	v := visit.Open(t, tab, address(file), "light")
	dir := downloads(v)

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
		content := saved(v, dir, name)
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
			if texts := wellFormed(t, content); len(texts) == 0 {
				t.Errorf("%s: a drawing without a text", name)
			}
		default:
			rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Errorf("%s: %d rows, %v", name, len(rows), err)
			}
		}
	}

	// Tables are saved whole, and with all digits.
	rows, err := csv.NewReader(strings.NewReader(saved(v, dir, "pairs of topics.csv"))).ReadAll()
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
