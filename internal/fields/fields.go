// Package fields takes values from the front of bytes that may be damaged or cut.
package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Reader takes little-endian values from the front of B. Once B is too short for one, Short
// is true, B is empty, and all values are zero.
type Reader struct {
	B     []byte
	Short bool
}

// Take returns the next n bytes. They are not copied.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.B)) {
		r.B, r.Short = nil, true
		return nil
	}
	x := r.B[:n]
	r.B = r.B[n:]
	return x
}

// U8 returns the next byte.
func (r *Reader) U8() byte { return byte(r.integer(1)) }

// U32 returns the next four bytes as an integer.
func (r *Reader) U32() uint32 { return uint32(r.integer(4)) }

// U64 returns the next eight bytes as an integer.
func (r *Reader) U64() uint64 { return r.integer(8) }

func (r *Reader) integer(size uint64) (x uint64) {
	for i, b := range r.Take(size) {
		x |= uint64(b) << (8 * i)
	}
	return x
}

// F64 returns the next eight bytes as a float64, which may be NaN.
func (r *Reader) F64() float64 { return math.Float64frombits(r.U64()) }

// Uvarint returns the next integer as binary.AppendUvarint writes it.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.B, r.Short = nil, true
		return 0
	}
	r.B = r.B[n:]
	return v
}

// End returns an error unless all bytes were taken, and no more.
func (r *Reader) End() error {
	if r.Short {
		return errors.New("it ends early")
	}
	if len(r.B) > 0 {
		return fmt.Errorf("%d bytes are left over", len(r.B))
	}
	return nil
}
