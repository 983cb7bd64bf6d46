package bag

import (
	"fmt"
	"math/bits"
	"testing"
)

// Keys depend on the id alone, where there is one, and are those of decimal numbers where
// there is none. They are part of what results depend on, and must not change.
func TestKey(t *testing.T) {
	if Key("a", 1) != Key("a", 2) || Key([]byte("a"), 3) != Key("a", 0) {
		t.Error("the key of an id depends on more than the id")
	}
	for _, n := range []int{1, 10, 123456789} {
		if Key("", n) != Key(fmt.Sprint(n), 0) || Key([]byte(nil), n) != Key("", n) {
			t.Errorf("the key of document %d is not that of its number", n)
		}
	}
	if got, want := Key("a", 0), uint64(0x2c0bdbf481420f8); got != want {
		t.Errorf("the key of \"a\" is %#x, want %#x", got, want)
	}
	if got, want := Key("", 12), uint64(0xdeda4d8152107906); got != want {
		t.Errorf("the key of document 12 is %#x, want %#x", got, want)
	}
}

// Bits are as good as random: each is set in half of the keys of 10,000 numbers, and each
// changes in half of them from one number to the next, within five deviations of 50.
func TestKeyBits(t *testing.T) {
	const n, most = 10000, 250
	var set, changed [64]int
	for i := range n {
		a, b := Key("", i+1), Key("", i+2)
		for j := range 64 {
			set[j] += int(a >> j & 1)
			changed[j] += int((a ^ b) >> j & 1)
		}
		if bits.OnesCount64(a^b) < 8 {
			t.Errorf("keys %#x and %#x of numbers %d and %d are alike", a, b, i+1, i+2)
		}
	}
	for j := range 64 {
		if abs(set[j]-n/2) > most || abs(changed[j]-n/2) > most {
			t.Errorf("bit %d is set in %d of %d keys and changes %d times", j, set[j], n, changed[j])
		}
	}
}

func abs(x int) int { return max(x, -x) }
