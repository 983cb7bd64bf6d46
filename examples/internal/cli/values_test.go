package cli_test

import (
	"encoding/json"
	"math"
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
