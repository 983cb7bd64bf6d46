package rectify

import "testing"

// The border of Auto is where its documentation says.
func TestAutoBorder(t *testing.T) {
	for n, want := range map[int]Rectifier{10000: AP{}, 14000: AP{}, 15000: LR{}} {
		if r, _, _ := (Auto{}).choose(n, 50, Options{}); r != want {
			t.Errorf("N = %d: %v", n, r)
		}
	}
}
