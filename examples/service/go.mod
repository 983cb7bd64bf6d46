module github.com/jsmf-go/spectral/examples/service

go 1.25.0

require (
	github.com/jsmf-go/spectral v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/jsmf-go/spectral => ../..
