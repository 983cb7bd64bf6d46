package sums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// A plan is encoded as a magic number, its kind, the version, two bytes that are 0, the
// length of its body as a u64, the body, and CRC-32C of all that. Integers are
// little-endian.
const (
	planMagic   = "JSUM"
	planVersion = 1
	planHeader  = len(planMagic) + 4 + 8

	kindCensus byte = 1
	kindMoment byte = 2
	kindPass   byte = 3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns an encoded plan.
func seal(kind byte, body []byte) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, planHeader+len(body)+4)
	b = append(append(b, planMagic...), kind, planVersion, 0, 0)
	b = append(le.AppendUint64(b, uint64(len(body))), body...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// ReadPlan decodes a plan. It takes memory in proportion to the bytes, and returns an
// error if they are not those of a plan.
func ReadPlan(b []byte) (Plan, error) {
	le := binary.LittleEndian
	switch {
	case len(b) < planHeader+4:
		return nil, fmt.Errorf("a plan of %d bytes is too short", len(b))
	case string(b[:4]) != planMagic:
		return nil, fmt.Errorf("a plan begins with %q; want %q", b[:4], planMagic)
	case b[5] != planVersion:
		return nil, fmt.Errorf("a plan of version %d; this library reads version %d", b[5], planVersion)
	case b[6] != 0 || b[7] != 0:
		return nil, fmt.Errorf("the header of a plan holds the bytes %d and %d; want 0", b[6], b[7])
	case le.Uint64(b[8:]) != uint64(len(b)-planHeader-4):
		return nil, fmt.Errorf("a plan of %d bytes has a body of %d", len(b), le.Uint64(b[8:]))
	}
	body, kind := b[planHeader:len(b)-4], b[4]
	if crc32.Checksum(b[:len(b)-4], castagnoli) != le.Uint32(b[len(b)-4:]) {
		return nil, errors.New("a plan is damaged: checksum")
	}
	var p Plan
	var err error
	switch kind {
	case kindCensus:
		p, err = readCensus(body)
	case kindMoment:
		p, err = readMoment(body)
	case kindPass:
		p, err = readPass(body)
	default:
		return nil, fmt.Errorf("a plan of the unknown kind %d", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("a plan of kind %d: %w", kind, err)
	}
	return p, nil
}

// reader takes values from the front of b. They are zero once b is too short.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.short = nil, true
		return nil
	}
	x := r.b[:n]
	r.b = r.b[n:]
	return x
}

func (r *reader) u8() byte {
	if x := r.take(1); x != nil {
		return x[0]
	}
	return 0
}

func (r *reader) u64() uint64 {
	if x := r.take(8); x != nil {
		return binary.LittleEndian.Uint64(x)
	}
	return 0
}

func (r *reader) f64() float64 { return math.Float64frombits(r.u64()) }

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.short = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// end returns an error unless all bytes were taken, and no more.
func (r *reader) end() error {
	if r.short {
		return errors.New("it ends early")
	}
	if len(r.b) > 0 {
		return fmt.Errorf("%d bytes are left over", len(r.b))
	}
	return nil
}
