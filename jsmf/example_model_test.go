package jsmf

import (
	"bytes"
	"fmt"
)

// A model goes through any io.Writer and io.Reader; Save and LoadModel do the
// same with a file.
func ExampleModel_WriteTo() {
	m, err := newModel(tinyParts()) // as Pipeline.Fit returns it
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	n, err := m.WriteTo(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(n, "bytes")

	again, err := ReadModel(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(again)
	for k, anchor := range again.AnchorWords() {
		fmt.Printf("topic %d (%.3f), anchor %q:", k, again.TopicShares()[k], anchor)
		for _, w := range again.TopWords(k, 2) {
			fmt.Printf(" %q %.2f", w.Word, w.Prob)
		}
		fmt.Println()
	}
	// Output:
	// 1488 bytes
	// jsmf.Model: 2 topics over 5 words from 7 documents (AP(T=15); QR; active set)
	// topic 0 (0.625), anchor "apple": "apple" 0.50 "cider" 0.25
	// topic 1 (0.375), anchor "dividend": "" 0.50 "börse" 0.25
}

// Bytes that changed on their way are found, and the error says where.
func ExampleReadModel_corrupt() {
	m, err := newModel(tinyParts())
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		panic(err)
	}
	file.Bytes()[150] ^= 1
	_, err = ReadModel(&file)
	fmt.Println(err)
	// Output:
	// jsmf: read model: checksum mismatch: section "BMAT", byte 128: CRC-32C is 6fc2064e, the file says dab7d8ba
}
