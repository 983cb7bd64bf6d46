package bag

import (
	"strconv"
	"testing"
)

// A thousand names are listed; of more there are none.
func TestLeave(t *testing.T) {
	var d struct {
		Count int
		Names []string
	}
	for i := range 1002 {
		Leave(&d.Count, &d.Names, strconv.Itoa(i))
		n := i + 1
		if d.Count != n || n <= 1000 && (len(d.Names) != n || d.Names[i] != strconv.Itoa(i)) || n > 1000 && d.Names != nil {
			t.Fatalf("after %d: %d, %d names", n, d.Count, len(d.Names))
		}
	}
}
