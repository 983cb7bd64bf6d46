package modelfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/jsmf-go/spectral/internal/fields"
	"github.com/jsmf-go/spectral/internal/nanjson"
)

// Floats is count numbers; the section is left out where *dst is nil.
func Floats(dst *[]float64, count int) Content {
	return Content{
		there:     func() (bool, error) { return lengthError(*dst != nil, len(*dst), count, "value") },
		floats:    func() [][]float64 { return [][]float64{*dst} },
		setFloats: func(xs []float64) error { *dst = xs; return nil },
		least:     count, exactly: true,
	}
}

// FloatParts is any number of numbers, least or more, in several parts; the section is left out
// where get returns nil. set is given all of them in one slice, which it may keep.
func FloatParts(least int, get func() [][]float64, set func(xs []float64) error) Content {
	return Content{
		there:  func() (bool, error) { return get() != nil, nil },
		floats: get, setFloats: set, least: least,
	}
}

// Bytes is whatever marshal returns; the section is left out where that is nil.
func Bytes(marshal func() ([]byte, error), unmarshal func(b []byte) error) Content {
	return Content{
		there:   func() (bool, error) { return true, nil },
		marshal: marshal, unmarshal: unmarshal,
	}
}

// JSON is what dst points to, as package nanjson writes it; the section is left out where that is a
// nil pointer or slice.
func JSON(dst any) Content {
	v := reflect.ValueOf(dst).Elem()
	return Bytes(func() ([]byte, error) {
		if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice) && v.IsNil() {
			return nil, nil
		}
		return nanjson.Marshal(v.Interface())
	}, func(b []byte) error {
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			return nanjson.Unmarshal(b, v.Interface())
		}
		return nanjson.Unmarshal(b, dst)
	})
}

// List is JSON of a list of count entries, called one in errors.
func List[T any](dst *[]T, count int, one string) Content {
	c := JSON(dst)
	c.there = func() (bool, error) { return lengthError(*dst != nil, len(*dst), count, one) }
	return c
}

// Texts is count texts, called by the name of one in errors; the section is left out where *dst is
// nil.
func Texts(dst *[]string, count int, one string) Content {
	return Content{
		there: func() (bool, error) { return lengthError(*dst != nil, len(*dst), count, one) },
		marshal: func() ([]byte, error) {
			var size int
			for i, s := range *dst {
				if len(s) > math.MaxInt32 {
					return nil, fmt.Errorf("%s %d has %d bytes", one, i, len(s))
				}
				size += 4 + len(s)
			}
			b := make([]byte, 0, size)
			for _, s := range *dst {
				b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
			}
			return b, nil
		},
		unmarshal: func(b []byte) error {
			if len(b)/4 < count { // each text takes at least its length
				return placed(0, "%d bytes are too few for %d %ss", len(b), count, one)
			}
			r, list := fields.Reader{B: b}, make([]string, count)
			for i := range list {
				list[i] = string(r.Take(uint64(r.U32())))
			}
			if err := r.End(); err != nil {
				return err
			}
			*dst = list
			return nil
		},
	}
}

// Table is n rows of k numbers; the section is left out where *dst is nil. Its compact form has the
// smallest number of each column, and of each row the numbers that are others. It is filled up with
// zeros to a byte for each numbersOfByte numbers, so that a short file cannot claim a large matrix.
func Table(dst *[]float64, n, k int) Content {
	c := Floats(dst, n*k)
	c.compact = func() []byte { return compactTable(*dst, n, k) }
	c.expand = func(b []byte) (err error) { *dst, err = expandTable(b, n, k); return err }
	return c
}

// numbersOfByte is of how many numbers a byte of a compact table is, at most.
const numbersOfByte = 16

func compactTable(a []float64, n, k int) []byte {
	least := slices.Repeat([]float64{math.Inf(1)}, k)
	for i := range n {
		for j, x := range a[i*k : (i+1)*k] {
			least[j] = min(least[j], x)
		}
	}
	differs := func(j int, x float64) bool { return math.Float64bits(x) != math.Float64bits(least[j]) }
	size := 8*k + n
	for i := range n {
		for j, x := range a[i*k : (i+1)*k] {
			if differs(j, x) {
				size += 8 + 1
			}
		}
	}
	most := int(compactPart * float64(8*n*k))
	if size > most { // at least
		return nil
	}
	le := binary.LittleEndian
	b := make([]byte, 0, max(size, n*k/numbersOfByte))
	for _, x := range least {
		b = le.AppendUint64(b, math.Float64bits(x))
	}
	for i := range n {
		last := -1
		for j, x := range a[i*k : (i+1)*k] {
			if differs(j, x) {
				b = le.AppendUint64(binary.AppendUvarint(b, uint64(j-last)), math.Float64bits(x))
				last = j
			}
		}
		b = append(b, 0)
	}
	if len(b) > most {
		return nil
	}
	return append(b, make([]byte, max(0, n*k/numbersOfByte-len(b)))...)
}

func expandTable(b []byte, n, k int) ([]float64, error) {
	if len(b) < n*k/numbersOfByte || len(b)/8 < k {
		return nil, placed(0, "%d bytes are too few for %d×%d numbers", len(b), n, k)
	}
	le, least := binary.LittleEndian, make([]float64, k)
	for j := range least {
		least[j] = math.Float64frombits(le.Uint64(b[8*j:]))
	}
	a, at := make([]float64, n*k), 8*k
	for i := range n {
		row, j := a[i*k:(i+1)*k], -1
		copy(row, least)
		for {
			gap, size := binary.Uvarint(b[at:])
			if size <= 0 {
				return nil, placed(at, "ends before row %d of %d", i, n)
			}
			if gap == 0 {
				at += size
				break
			}
			if gap > uint64(k-1-j) || len(b)-at-size < 8 {
				return nil, placed(at, "row %d has a number %d columns after column %d of %d, %d bytes are left", i, gap, j, k, len(b)-at)
			}
			j += int(gap)
			row[j] = math.Float64frombits(le.Uint64(b[at+size:]))
			at += size + 8
		}
	}
	for i, x := range b[at:] {
		if x != 0 {
			return nil, placed(at+i, "%d bytes after the last row, which are not 0", len(b)-at)
		}
	}
	return a, nil
}

// Symmetric is k rows of k numbers; the section is left out where *dst is nil. Its compact form has
// of each row the numbers from the diagonal on.
func Symmetric(dst *[]float64, k int) Content {
	c := Floats(dst, k*k)
	size := 4 * k * (k + 1)
	c.compact = func() []byte {
		a := *dst
		if float64(size) > compactPart*float64(8*k*k) {
			return nil
		}
		b := make([]byte, 0, size)
		for i := range k {
			for j := i; j < k; j++ {
				x := math.Float64bits(a[i*k+j])
				if x != math.Float64bits(a[j*k+i]) { // 0 and −0
					return nil
				}
				b = binary.LittleEndian.AppendUint64(b, x)
			}
		}
		return b
	}
	c.expand = func(b []byte) error {
		if len(b) != size {
			return placed(0, "has %d bytes, want %d", len(b), size)
		}
		a := make([]float64, k*k)
		for i := range k {
			for j := i; j < k; j++ {
				a[i*k+j] = math.Float64frombits(binary.LittleEndian.Uint64(b))
				a[j*k+i] = a[i*k+j]
				b = b[8:]
			}
		}
		*dst = a
		return nil
	}
	return c
}
