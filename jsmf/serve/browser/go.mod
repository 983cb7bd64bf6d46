module github.com/jsmf-go/spectral/jsmf/serve/browser

go 1.26.0

require (
	github.com/chromedp/chromedp v0.14.2
	github.com/jsmf-go/spectral v0.0.0
	github.com/jsmf-go/spectral/jsmf/report/browser v0.0.0
	github.com/jsmf-go/spectral/jsmf/serve v0.0.0
)

require (
	github.com/chromedp/cdproto v0.0.0-20250724212937-08a3db8b4327 // indirect
	github.com/chromedp/sysutil v1.1.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20250725192818-e39067aee2d2 // indirect
	github.com/gobwas/httphead v0.1.0 // indirect
	github.com/gobwas/pool v0.2.1 // indirect
	github.com/gobwas/ws v1.4.0 // indirect
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35 // indirect
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace (
	github.com/jsmf-go/spectral => ../../..
	github.com/jsmf-go/spectral/jsmf/report/browser => ../../report/browser
	github.com/jsmf-go/spectral/jsmf/serve => ..
)
