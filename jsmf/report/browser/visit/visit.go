// Package visit drives a real browser over a page: it opens it, uses it as people do,
// and collects all that the browser complains of and asks the network for. It is
// for tests.
package visit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Patience is how long to wait for what must happen: long, for a machine may be busy.
const Patience = time.Minute

// ErrNone is the error of Launch where no Chromium or Chrome is in PATH.
var ErrNone = errors.New("skipped: no chromium, chromium-browser or google-chrome in PATH")

// Launch starts a browser with its profile in a folder. stop closes it and waits for it.
func Launch(profile string) (ctx context.Context, stop func() error, err error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		return nil, nil, ErrNone
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("mute-audio", true),
	}
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium's sandbox refuses root
	}
	ctx, late := context.WithTimeout(context.Background(), 10*time.Minute)
	ctx, endAll := chromedp.NewExecAllocator(ctx, opts...)
	ctx, end := chromedp.NewContext(ctx)
	stop = func() error {
		err := chromedp.Cancel(ctx)
		end()
		endAll()
		late()
		return err
	}
	if err := chromedp.Run(ctx); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return ctx, stop, nil
}

// Main runs tests with one browser for all of them, and returns the exit status. *browser is for Tab; it
// is nil where no Chromium or Chrome is in PATH.
func Main(m *testing.M, browser *context.Context) (code int) {
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(profile)
	ctx, stop, err := Launch(profile)
	if errors.Is(err, ErrNone) {
		return m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	*browser = ctx
	return m.Run()
}

// Tab opens a tab with storage of its own, which ends with the test. The test is skipped where there is
// no browser.
func Tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	if browser == nil {
		t.Skip(ErrNone)
	}
	var id target.ID
	var storage cdp.BrowserContextID
	err := chromedp.Run(browser, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		if storage, err = target.CreateBrowserContext().WithDisposeOnDetach(true).Do(ctx); err != nil {
			return err
		}
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(storage).WithNewWindow(true).Do(ctx)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(end)
	return ctx
}

// Visit is a page in the browser, with all that it complained of and asked for.
type Visit struct {
	T   *testing.T
	Ctx context.Context // of its tab

	mu                sync.Mutex
	complaints, asked []string
	dialogs           int
}

// Open opens a page in the tab of ctx, in a light or dark scheme, and waits until its
// script has set data-ready of the document to true.
func Open(t *testing.T, ctx context.Context, address, scheme string) *Visit {
	t.Helper()
	v := &Visit{T: t, Ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		v.mu.Lock()
		defer v.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			v.complaints = append(v.complaints, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeAssert {
				v.complaints = append(v.complaints, fmt.Sprintf("console: %v", ev.Args))
			}
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError || ev.Entry.Level == log.LevelWarning {
				v.complaints = append(v.complaints, "log: "+ev.Entry.Text)
			}
		case *network.EventRequestWillBeSent:
			v.asked = append(v.asked, ev.Request.URL)
		case *page.EventJavascriptDialogOpening:
			v.dialogs++
			go func() { _ = chromedp.Run(ctx, page.HandleJavaScriptDialog(false)) }()
		}
	})
	v.Run(network.Enable(), log.Enable(), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, // no waiting for scrolling
	}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address))
	v.Wait(`document.documentElement.dataset.ready === "true"`)
	return v
}

// Run does what people do, or fails the test at once.
func (v *Visit) Run(actions ...chromedp.Action) {
	v.T.Helper()
	if err := chromedp.Run(v.Ctx, actions...); err != nil {
		v.T.Fatal(err)
	}
}

// Eval evaluates an expression into a value.
func Eval[T any](v *Visit, expression string) T {
	v.T.Helper()
	var out T
	v.Run(chromedp.Evaluate(expression, &out))
	return out
}

// Wait waits until a condition holds.
func (v *Visit) Wait(condition string) {
	v.T.Helper()
	if err := chromedp.Run(v.Ctx, chromedp.Poll(condition, nil, chromedp.WithPollingTimeout(Patience))); err != nil {
		v.T.Fatalf("waiting for %s: %v\ncomplaints: %q", condition, err, v.complaints)
	}
}

// Changes checks that what an action does changes the value of an expression.
func (v *Visit) Changes(what, expression string, actions ...chromedp.Action) {
	v.T.Helper()
	before := Eval[string](v, "String("+expression+")")
	v.Run(actions...)
	quoted, _ := json.Marshal(before)
	if err := chromedp.Run(v.Ctx, chromedp.Poll("String("+expression+") !== "+string(quoted), nil, chromedp.WithPollingTimeout(Patience))); err != nil {
		v.T.Errorf("%s changed nothing of %s, which is still %.200q (%v)", what, expression, before, err)
	}
}

// Leave checks that all went in silence: no complaint, no dialog, and no request
// but those that may be.
func (v *Visit) Leave(mayAsk func(*url.URL) bool) {
	v.T.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		v.T.Errorf("the browser complains: %q", v.complaints)
	}
	if v.dialogs > 0 {
		v.T.Errorf("%d dialogs", v.dialogs)
	}
	for _, a := range v.asked {
		if u, err := url.Parse(a); err != nil || u.Scheme != "data" && !mayAsk(u) {
			v.T.Errorf("the page asked for %s", a)
		}
	}
	if len(v.asked) == 0 {
		v.T.Error("no request was seen, not even that of the page")
	}
}

// Set gives a field a value as a user does.
func Set(selector, value string) chromedp.Action {
	return chromedp.Tasks{
		chromedp.Focus(selector, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).select?.()`, selector), nil),
		chromedp.SendKeys(selector, value, chromedp.ByQuery),
	}
}

// Focus, Click and Key do so by selector, and to what has the focus.
func Focus(selector string) chromedp.Action { return chromedp.Focus(selector, chromedp.ByQuery) }
func Click(selector string) chromedp.Action { return chromedp.Click(selector, chromedp.ByQuery) }
func Key(k string) chromedp.Action          { return chromedp.KeyEvent(k) }

// Into waits for an element, and scrolls it into the middle of the window.
func Into(selector string) chromedp.Action {
	return chromedp.Tasks{
		chromedp.WaitReady(selector, chromedp.ByQuery),
		chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center", behavior: "instant"})`, selector), nil),
	}
}

// ClickAt clicks into an element at a part of its width and height.
func ClickAt(selector string, x, y float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var r struct{ X, Y, Width, Height float64 }
		if err := chromedp.Run(ctx, Into(selector), chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).getBoundingClientRect().toJSON()`, selector), &r)); err != nil {
			return err
		}
		return chromedp.MouseClickXY(r.X+x*r.Width, r.Y+y*r.Height).Do(ctx)
	})
}

// Press presses several keys, one after the other.
func Press(keys ...string) chromedp.Tasks {
	var t chromedp.Tasks
	for _, k := range keys {
		t = append(t, Key(k))
	}
	return t
}

// Contrast lists texts whose colour has less than 4.5:1 against their ground
// (WCAG 2.1). Grounds that are partly transparent are laid over what is below.
const Contrast = `(() => {
	const rgba = (c) => { const m = c.match(/[\d.]+/g).map(Number); if (c.startsWith("color(srgb")) { m[0] *= 255; m[1] *= 255; m[2] *= 255; } return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const f = c.slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
	const grounds = new Map();
	const ground = (e) => {
		if (!e) return [255, 255, 255, 1];
		if (!grounds.has(e)) { const c = rgba(getComputedStyle(e).backgroundColor); grounds.set(e, c[3] === 1 ? c : over(c, ground(e.parentElement))); }
		return grounds.get(e);
	};
	const bad = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let t; t = walk.nextNode();) {
		const e = t.parentElement;
		if (!t.data.trim() || !e.getClientRects().length || ["SCRIPT", "STYLE", "TITLE"].includes(e.tagName.toUpperCase())) continue;
		const s = getComputedStyle(e), isSVG = e instanceof SVGElement;
		let below = ground(isSVG ? e.ownerSVGElement.parentElement : e);
		const disc = isSVG && e.classList.contains("no") && e.parentElement.querySelector("circle, rect");
		if (disc) { const d = getComputedStyle(disc), c = rgba(d.fill); c[3] *= Number(d.fillOpacity); below = over(c, below); }
		const ink = over(rgba(isSVG ? s.fill : s.color), below), a = light(ink), b = light(below);
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.set(e.tagName + "." + e.getAttribute("class") + " " + t.data.trim().slice(0, 30), ratio.toFixed(2));
	}
	return [...bad].slice(0, 8).map(([k, r]) => k + ": " + r);
})()`
