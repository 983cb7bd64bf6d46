module github.com/jsmf-go/spectral/corpus/text/segment

go 1.26.0

require (
	github.com/go-ego/gse v0.80.3
	github.com/ikawaha/kagome-dict/ipa v1.2.6
	github.com/ikawaha/kagome/v2 v2.10.3
	github.com/jsmf-go/spectral v0.0.0
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/ikawaha/kagome-dict v1.1.7 // indirect
	github.com/vcaesar/cedar v0.20.2 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/jsmf-go/spectral => ../../..
