package cli_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

func TestNotFinite(t *testing.T) {
	for x, want := range map[float64]string{math.Inf(1): "null", math.Inf(-1): "null", 1.5: "1.5"} {
		if b, err := json.Marshal(cli.Number(x)); err != nil || string(b) != want {
			t.Errorf("%g: %s, %v", x, b, err)
		}
	}
	if b, err := json.Marshal(cli.Number(math.NaN())); err != nil || string(b) != "null" {
		t.Errorf("NaN: %s, %v", b, err)
	}
}

func TestInts(t *testing.T) {
	var wrong cli.Wrong
	if got := wrong.Ints("k", "5, 10,25", 2); !slices.Equal(got, []int{5, 10, 25}) || wrong != nil {
		t.Errorf("%v, %q", got, wrong)
	}
	got := wrong.Ints("k", "1,x,3,", 2)
	want := cli.Wrong{"-k 1: want at least 2", `-k "1,x,3,": "x" is not a number`, `-k "1,x,3,": "" is not a number`}
	if !slices.Equal(got, []int{3}) || !slices.Equal(wrong, want) {
		t.Errorf("%v, %q; want %q", got, wrong, want)
	}
}
