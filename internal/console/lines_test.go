package console

import (
	"bytes"
	"io"
	"testing"
)

func TestLines(t *testing.T) {
	var b bytes.Buffer
	w, flush := linesOf(&b, 10)
	for _, s := range []string{"one tw", "o three four\nfi", "ve\n\nsix"} {
		if n, err := io.WriteString(w, s); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	if want := "one two\n   three\n   four\nfive\n\nsix"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
