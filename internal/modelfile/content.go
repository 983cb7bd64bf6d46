package modelfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

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
		marshal: marshal, unmarshal: unmarshal, length: -1,
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
			all := string(b) // one string, which all share
			list := make([]string, 0, count)
			off := 0
			for i := range count {
				if len(b)-off < 4 {
					return placed(off, "ends before %s %d of %d", one, i, count)
				}
				size := binary.LittleEndian.Uint32(b[off:])
				off += 4
				if uint64(size) > uint64(len(b)-off) {
					return placed(off, "%s %d has %d bytes, %d are left", one, i, size, len(b)-off)
				}
				list = append(list, all[off:off+int(size)])
				off += int(size)
			}
			if off != len(b) {
				return placed(off, "%d bytes after the last %s", len(b)-off, one)
			}
			*dst = list
			return nil
		},
		length: -1,
	}
}

// Words is a word number below n for each of k topics; the section is left out where *dst is nil.
func Words(dst *[]int, k, n int) Content {
	le := binary.LittleEndian
	return array(dst, k, 8, "word", func(b []byte, w int) []byte { return le.AppendUint64(b, uint64(w)) }, func(b []byte, j int) (int, error) {
		w := le.Uint64(b)
		if w >= uint64(n) {
			return 0, fmt.Errorf("word %d of topic %d is not in [0, %d)", w, j, n)
		}
		return int(w), nil
	})
}

// Flags is a byte, 0 or 1, for each of k topics; the section is left out where *dst is nil.
func Flags(dst *[]bool, k int) Content {
	return array(dst, k, 1, "flag", func(b []byte, on bool) []byte {
		if on {
			return append(b, 1)
		}
		return append(b, 0)
	}, func(b []byte, j int) (bool, error) {
		if b[0] > 1 {
			return false, fmt.Errorf("the flag of topic %d is %d, not 0 or 1", j, b[0])
		}
		return b[0] == 1, nil
	})
}

// array is count values, called one, of size bytes each; the section is left out where *dst is nil.
func array[T any](dst *[]T, count, size int, one string, put func([]byte, T) []byte, get func(b []byte, i int) (T, error)) Content {
	return Content{
		there: func() (bool, error) { return lengthError(*dst != nil, len(*dst), count, one) },
		marshal: func() (b []byte, err error) {
			for _, x := range *dst {
				b = put(b, x)
			}
			return b, nil
		},
		unmarshal: func(b []byte) (err error) {
			*dst = make([]T, count)
			for i := range *dst {
				if (*dst)[i], err = get(b[size*i:], i); err != nil {
					return placed(size*i, "%v", err)
				}
			}
			return nil
		},
		length: size * count,
	}
}

// Groups is a list of word numbers below n for each of k topics; the section is left out where *dst
// is nil.
func Groups(dst *[][]int, k, n int) Content {
	le := binary.LittleEndian
	return Content{
		there: func() (bool, error) { return lengthError(*dst != nil, len(*dst), k, "group") },
		marshal: func() (b []byte, err error) {
			for _, g := range *dst {
				b = le.AppendUint32(b, uint32(len(g)))
				for _, w := range g {
					b = le.AppendUint64(b, uint64(w))
				}
			}
			return b, nil
		},
		unmarshal: func(b []byte) error {
			if len(b)/4 < k { // each topic takes at least its count
				return placed(0, "%d bytes are too few for %d topics", len(b), k)
			}
			groups := make([][]int, k)
			off := 0
			for j := range groups {
				if len(b)-off < 4 {
					return placed(off, "end before topic %d of %d", j, k)
				}
				count := le.Uint32(b[off:])
				off += 4
				if uint64(count) > uint64(len(b)-off)/8 {
					return placed(off, "topic %d has %d words, %d bytes are left", j, count, len(b)-off)
				}
				for range count {
					w := le.Uint64(b[off:])
					if w >= uint64(n) {
						return placed(off, "word %d of topic %d is not in [0, %d)", w, j, n)
					}
					groups[j] = append(groups[j], int(w))
					off += 8
				}
			}
			if off != len(b) {
				return placed(off, "%d bytes after the last topic", len(b)-off)
			}
			*dst = groups
			return nil
		},
		length: -1,
	}
}
