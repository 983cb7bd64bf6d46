package splitmix

import "testing"

// The first numbers of SplitMix64 for the seed 1234567, as its authors' program gives them.
func TestStep(t *testing.T) {
	const golden = 0x9e3779b97f4a7c15
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := Step(1234567 + uint64(i)*golden); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
	if Finish(0) != 0 {
		t.Errorf("0 becomes %d", Finish(0))
	}
}
