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
	}
}
