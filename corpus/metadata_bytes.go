package corpus

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/internal/fields"
)

var (
	_ encoding.BinaryAppender    = (*Metadata)(nil)
	_ encoding.BinaryUnmarshaler = (*Metadata)(nil)
)

// AppendBinary appends the values in the form of FORMAT.md. It returns no error.
func (t *Metadata) AppendBinary(b []byte) ([]byte, error) {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(t.Columns())))
	b = le.AppendUint64(b, uint64(t.NumDocs()))
	if t == nil {
		return b, nil
	}
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for i, c := range t.columns {
		b = append(b, byte(c.Kind))
		text(c.Name)
		text(c.Unit)
		x := t.cells[i]
		switch c.Kind {
		case Number:
			for _, v := range x.numbers {
				if math.IsNaN(v) {
					v = math.NaN()
				}
				b = le.AppendUint64(b, math.Float64bits(v))
			}
		case Time:
			fractions := slices.ContainsFunc(x.nanos, func(v int32) bool { return v != 0 })
			if b = append(b, 0); fractions {
				b[len(b)-1] = 1
			}
			for _, v := range x.seconds {
				b = le.AppendUint64(b, uint64(v))
			}
			if fractions {
				for _, v := range x.nanos {
					b = le.AppendUint32(b, uint32(v))
				}
			}
		case Category:
			b = binary.AppendUvarint(b, uint64(len(c.Levels)))
			for _, l := range c.Levels {
				text(l)
			}
			for _, v := range x.codes {
				b = le.AppendUint32(b, uint32(v+1))
			}
		}
	}
	return b, nil
}

// UnmarshalBinary replaces the values by those that AppendBinary wrote, unless there is an
// error. Memory is at most a small multiple of len(b).
func (t *Metadata) UnmarshalBinary(b []byte) error {
	out, err := readMetadata(&fields.Reader{B: b})
	if err != nil {
		return fmt.Errorf("corpus: metadata: %w: %w", ErrDamaged, err)
	}
	*t = *out
	return nil
}

// readMetadata reads all of r.
func readMetadata(r *fields.Reader) (*Metadata, error) {
	columns, docs := r.U32(), r.U64()
	if uint64(columns) > uint64(len(r.B)) || columns > 0 && docs > uint64(len(r.B))/4 || docs > math.MaxInt {
		return nil, fmt.Errorf("%d columns of %d documents in %d bytes", columns, docs, len(r.B))
	}
	t := &Metadata{docs: int(docs)}
	for i := range columns {
		c, x, err := readColumn(r, docs)
		if err == nil && r.Short {
			err = errors.New("it ends early")
		}
		if err != nil {
			return nil, fmt.Errorf("column %d, %q: %w", i+1, c.Name, err)
		}
		t.columns, t.cells = append(t.columns, c), append(t.cells, x)
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return t, checkColumns(t.columns)
}

func readColumn(r *fields.Reader, docs uint64) (c Column, x cells, err error) {
	le := binary.LittleEndian
	c.Kind = Kind(r.U8())
	c.Name, c.Unit = string(r.Take(r.Uvarint())), string(r.Take(r.Uvarint()))
	switch c.Kind {
	case Number:
		raw := r.Take(8 * docs)
		x.numbers = make([]float64, len(raw)/8)
		for m := range x.numbers {
			bits := le.Uint64(raw[8*m:])
			v := math.Float64frombits(bits)
			if math.IsInf(v, 0) || math.IsNaN(v) && bits != math.Float64bits(math.NaN()) {
				return c, x, fmt.Errorf("document %d has the number %#x", m+1, bits)
			}
			x.numbers[m] = v
		}
	case Time:
		fractions := r.U8()
		raw := r.Take(8 * docs)
		x.seconds = make([]int64, len(raw)/8)
		for m := range x.seconds {
			x.seconds[m] = int64(le.Uint64(raw[8*m:]))
			if s := x.seconds[m]; s != noTime && !inYears(s) {
				return c, x, fmt.Errorf("document %d has the time %d, which %w", m+1, s, errYears)
			}
		}
		if fractions > 1 {
			return c, x, fmt.Errorf("times of the form %d", fractions)
		}
		if fractions == 1 {
			raw = r.Take(4 * docs)
			x.nanos = make([]int32, len(raw)/4)
			for m := range x.nanos {
				v := le.Uint32(raw[4*m:])
				if v >= 1e9 || v > 0 && x.seconds[m] == noTime {
					return c, x, fmt.Errorf("document %d has %d nanoseconds", m+1, v)
				}
				x.nanos[m] = int32(v)
			}
		}
	case Category:
		return c, x, readLevels(r, docs, &c, &x)
	default:
		err = fmt.Errorf("its kind is %d", int(c.Kind))
	}
	return c, x, err
}

func readLevels(r *fields.Reader, docs uint64, c *Column, x *cells) error {
	n := r.Uvarint()
	if n > uint64(len(r.B)) || n > math.MaxInt32 {
		return fmt.Errorf("%d levels in %d bytes", n, len(r.B))
	}
	c.Levels = slices.Grow([]string{}, int(n))
	for range n {
		c.Levels = append(c.Levels, string(r.Take(r.Uvarint())))
	}
	raw := r.Take(4 * docs)
	x.codes = make([]int32, len(raw)/4)
	for m := range x.codes {
		code := binary.LittleEndian.Uint32(raw[4*m:])
		if uint64(code) > n {
			return fmt.Errorf("document %d has level %d of %d", m+1, code, n)
		}
		x.codes[m] = int32(code) - 1
	}
	return nil
}
