module github.com/jsmf-go/spectral/corpus/text/stopwords

go 1.26.0

require github.com/jsmf-go/spectral v0.0.0

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/jsmf-go/spectral => ../../..
