package browser

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
	"github.com/jsmf-go/spectral/jsmf/report/browser/visit"
)

// many makes documents of a model, of few topics each, with metadata and texts.
func many(t testing.TB, m *jsmf.Model, docs int) report.Options {
	t.Helper()
	c := &jsmf.Compositions{W: mat.NewDense(docs, m.K(), nil), Unknown: make([]int64, docs)}
	rng := rand.New(rand.NewPCG(3, uint64(docs)))
	columns := []corpus.Column{{Name: "paper", Kind: corpus.Category}, {Name: "length", Kind: corpus.Number, Unit: "words"}, {Name: "published", Kind: corpus.Time}}
	values := make([][]corpus.Value, docs)
	first := time.Date(2001, 2, 3, 0, 0, 0, 0, time.UTC)
	for d := range docs {
		row, sum := c.W.RawRowView(d), 0.0
		for k := range row {
			row[k] = math.Pow(rng.ExpFloat64(), 4)
			sum += row[k]
		}
		for k := range row {
			row[k] /= sum
		}
		c.IDs = append(c.IDs, fmt.Sprintf("id-%d", d))
		c.Docs = append(c.Docs, infer.Doc{Tokens: 50})
		values[d] = []corpus.Value{corpus.CategoryOf(fmt.Sprintf("paper %d", d%12)), corpus.NumberOf(float64(d % 500)), corpus.TimeOf(first.AddDate(0, 0, d%3000))}
		if d%20 == 7 {
			values[d] = nil
		}
	}
	words := make([]string, m.K()) // of each topic, as a text
	for k := range words {
		var text []string
		for i, w := range m.TopWords(k, 20) {
			text = append(text, "unrelated", strings.ToUpper(w.Word))
			if i == 9 {
				text = append(text, "\n\n")
			}
		}
		words[k] = strings.Join(text, " ")
	}
	var err error
	if c.Metadata, err = corpus.NewMetadata(columns, values); err != nil {
		t.Fatal(err)
	}
	return report.Options{Title: "Documents", Documents: c, Describe: func(d int) report.Document {
		best := 0
		for k := range m.K() {
			if c.W.At(d, k) > c.W.At(d, best) {
				best = k
			}
		}
		return report.Document{Title: fmt.Sprintf("The title of number %d", d), Text: words[best]}
	}}
}

const (
	chosenCount = `document.getElementById("documents-count").textContent`
	planeAt     = `document.getElementById("documents-plane").dataset.at`
	planeView   = `document.getElementById("documents-plane").dataset.view`
	planeDrawn  = `document.getElementById("documents-plane").dataset.drawn`
	reading     = `document.getElementById("documents-read").dataset.doc`
	legend      = `document.getElementById("documents-legend").textContent`
	allTexts    = `document.getElementById("documents").dataset.texts !== undefined`
)

// hover moves the mouse over the map until it is on a document.
func hover(v *visit.Visit) (x, y float64) {
	v.T.Helper()
	v.Run(visit.Into("#documents-plane"))
	var r struct{ X, Y, Width, Height float64 }
	v.Run(chromedp.Evaluate(`document.getElementById("documents-plane").getBoundingClientRect().toJSON()`, &r))
	for i := range 400 {
		x, y = r.X+r.Width*(0.1+0.8*math.Mod(0.618*float64(i), 1)), r.Y+r.Height*(0.1+0.8*float64(i)/400)
		v.Run(chromedp.MouseEvent(input.MouseMoved, x, y))
		if visit.Eval[string](v, planeAt) != "-1" {
			return x, y
		}
	}
	v.T.Fatal("there is no document below the mouse, wherever it goes")
	return 0, 0
}

// around draws around the upper left part of an element.
func around(selector string, modifiers input.Modifier) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		x, y, err := centre(ctx, selector)
		if err != nil {
			return err
		}
		with := func(p *input.DispatchMouseEventParams) *input.DispatchMouseEventParams {
			return p.WithModifiers(modifiers).WithButton(input.Left).WithButtons(1).WithClickCount(1)
		}
		if err := chromedp.MouseEvent(input.MousePressed, x, y, with).Do(ctx); err != nil {
			return err
		}
		for _, p := range [][2]float64{{-100, 0}, {-300, -10}, {-300, -240}, {-10, -240}} {
			if err := chromedp.MouseEvent(input.MouseMoved, x+p[0], y+p[1], with).Do(ctx); err != nil {
				return err
			}
		}
		return chromedp.MouseEvent(input.MouseReleased, x, y-30, with).Do(ctx)
	})
}

// pinch moves two fingers apart.
func pinch(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		x, y, err := centre(ctx, selector)
		if err != nil {
			return err
		}
		touch := func(kind input.TouchType, d float64) error {
			points := []*input.TouchPoint{{X: x - d, Y: y, ID: 1}, {X: x + d, Y: y, ID: 2}}
			if kind == input.TouchEnd {
				points = []*input.TouchPoint{}
			}
			return input.DispatchTouchEvent(kind, points).Do(ctx)
		}
		if err := emulation.SetTouchEmulationEnabled(true).Do(ctx); err != nil {
			return err
		}
		for _, d := range []float64{30, 45, 60, 80} {
			kind := input.TouchMove
			if d == 30 {
				kind = input.TouchStart
			}
			if err := touch(kind, d); err != nil {
				return err
			}
		}
		if err := touch(input.TouchEnd, 0); err != nil {
			return err
		}
		return emulation.SetTouchEmulationEnabled(false).Do(ctx)
	})
}
