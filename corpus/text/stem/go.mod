module github.com/jsmf-go/spectral/corpus/text/stem

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/jsmf-go/spectral v0.0.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35 // indirect
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/jsmf-go/spectral => ../../..
