package corpus_test

import (
	"math"
	"testing"

	"github.com/james-bowman/sparse"

	"github.com/jsmf-go/spectral/corpus"
)

func TestIDF(t *testing.T) {
	// Word 0 is in all three documents, 1 in one, 2 in two, 3 in none.
	c, err := corpus.FromCSR(sparse.NewCSR(3, 4, []int{0, 2, 4, 6}, []int{0, 1, 0, 2, 0, 2}, []float64{1, 5, 2, 1, 1, 1}), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0, math.Log(3), math.Log(1.5), 0}
	for i, v := range c.IDF() {
		if v != want[i] {
			t.Errorf("word %d: %g, want %g", i, v, want[i])
		}
	}
}
