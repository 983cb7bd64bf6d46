package beam

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A stripe of a sum is packed in groups of packGroup numbers, each a byte with the width w
// in bytes of the group's largest number, and the numbers in w bytes each: zigzag, little-
// endian. A group of zeros is one byte.
const packGroup = 64

func zigzag(x int64) uint64   { return uint64(x<<1) ^ uint64(x>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// pack appends packed numbers to b.
func pack(b []byte, x []int64) []byte {
	for len(x) > 0 {
		group := x[:min(len(x), packGroup)]
		x = x[len(group):]
		var all uint64
		for _, v := range group {
			all |= zigzag(v)
		}
		w := (bits.Len64(all) + 7) / 8
		b = append(b, byte(w))
		if w == 0 {
			continue
		}
		for _, v := range group { // eight bytes, of which the next number keeps w
			b = binary.LittleEndian.AppendUint64(b, zigzag(v))
			b = b[:len(b)-8+w]
		}
	}
	return b
}

// addPacked adds packed numbers to as many in sum.
func addPacked(sum []int64, b []byte) error {
	for len(sum) > 0 {
		group := sum[:min(len(sum), packGroup)]
		sum = sum[len(group):]
		if len(b) == 0 || b[0] > 8 || len(b)-1 < int(b[0])*len(group) {
			return fmt.Errorf("%w: a stripe of a sum", errDamaged)
		}
		w := int(b[0])
		b = b[1:]
		if w == 0 {
			continue
		}
		mask := ^uint64(0) >> (64 - 8*w)
		for i := range group {
			var u uint64
			if len(b) >= 8 {
				u = binary.LittleEndian.Uint64(b) & mask
			} else {
				for j := range w {
					u |= uint64(b[j]) << (8 * j)
				}
			}
			group[i] += unzigzag(u)
			b = b[w:]
		}
	}
	if len(b) != 0 {
		return fmt.Errorf("%w: a stripe of a sum is %d bytes too long", errDamaged, len(b))
	}
	return nil
}
