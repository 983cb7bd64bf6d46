module github.com/jsmf-go/spectral/corpus/text/stem

go 1.26.0

require (
	github.com/blevesearch/snowballstem v0.9.0
	github.com/jsmf-go/spectral v0.0.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/jsmf-go/spectral => ../../..
