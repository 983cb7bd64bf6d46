package fields

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestReader(t *testing.T) {
	le := binary.LittleEndian
	b := []byte{7}
	b = le.AppendUint32(b, 1<<31)
	b = le.AppendUint64(b, math.Float64bits(-0.5))
	b = binary.AppendUvarint(b, 300)
	b = append(b, "rest"...)
	for cut := range len(b) + 1 {
		r := Reader{B: b[:cut]}
		u8, u32, f64, v, rest := r.U8(), r.U32(), r.F64(), r.Uvarint(), string(r.Take(4))
		if cut == len(b) {
			if u8 != 7 || u32 != 1<<31 || f64 != -0.5 || v != 300 || rest != "rest" || r.End() != nil {
				t.Errorf("%d %d %g %d %q, %v", u8, u32, f64, v, rest, r.End())
			}
			continue
		}
		if !r.Short || r.End() == nil || rest != "" || r.U64() != 0 {
			t.Errorf("cut to %d bytes: Short = %t, End: %v, rest %q", cut, r.Short, r.End(), rest)
		}
	}
	if r := (Reader{B: []byte{1}}); r.End() == nil {
		t.Error("a byte left over is no error")
	}
	if r := (Reader{B: make([]byte, 3)}); r.Take(math.MaxUint64) != nil || !r.Short {
		t.Error("more bytes than there are")
	}
}
