package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	data := [][]float64{{1, -2.5, math.Inf(1)}, {0, math.SmallestNonzeroFloat64, 3}}
	var b bytes.Buffer
	if err := Write(&b, 2, 3, func(i int) []float64 { return data[i] }); err != nil {
		t.Fatal(err)
	}
	got := b.Bytes()
	if !bytes.HasPrefix(got, []byte("\x93NUMPY\x01\x00")) {
		t.Fatalf("begins with %q", got[:8])
	}
	n := 10 + int(binary.LittleEndian.Uint16(got[8:]))
	head := strings.TrimRight(string(got[10:n]), " \n")
	if n%64 != 0 || got[n-1] != '\n' || head != "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" {
		t.Errorf("head of %d bytes: %q", n, got[10:n])
	}
	if len(got) != n+6*8 {
		t.Fatalf("%d bytes of numbers", len(got)-n)
	}
	for i := range 6 {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(got[n+8*i:])); x != data[i/3][i%3] {
			t.Errorf("number %d is %v", i, x)
		}
	}
	if err := Write(&b, 1, 2, func(int) []float64 { return []float64{1} }); err == nil || !strings.Contains(err.Error(), "row 0 has 1") {
		t.Errorf("a short row: %v", err)
	}
	broken := errors.New("broken")
	if err := Write(failing{broken}, 2, 3, func(i int) []float64 { return data[i] }); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
