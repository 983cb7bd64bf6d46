package jsmf

// AnchorWords returns the anchor word of each topic, nil for a model without anchors.
func AnchorWords(m *Model) (words []string) {
	for _, w := range m.Anchors() {
		words = append(words, m.Word(w))
	}
	return words
}
