package cputime_test

import (
	"testing"

	"github.com/jsmf-go/spectral/internal/cputime"
)

func TestSeconds(t *testing.T) {
	if !cputime.Known {
		t.Skip("skipped: no processor time here")
	}
	begun := cputime.Seconds()
	if begun < 0 {
		t.Fatalf("%g s", begun)
	}
	for cputime.Seconds() <= begun { // asking takes time, too
	}
}
