package jsmf

import (
	"bytes"
	"fmt"
)

// A model goes through any io.Writer and io.Reader; Save and LoadModel do the
// same with a file.
func ExampleModel_WriteTo() {
	m, err := tinyParts().model() // as Pipeline.Fit returns it
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
	// Output:
	// 1437 bytes
	// 2 topics over 5 words from 7 documents
	// topic   share  name              further words
	//     0   62.5%  apple · cider     ""
	//     1   37.5%  börse · dividend  ""
}

// Bytes that changed on their way are found, and the error says where.
func ExampleReadModel_corrupt() {
	m, err := tinyParts().model()
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
