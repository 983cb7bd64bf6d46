module github.com/jsmf-go/spectral

go 1.26.0

require (
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35
	go.uber.org/goleak v1.3.0
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.43.0
	gonum.org/v1/gonum v0.17.0
)
