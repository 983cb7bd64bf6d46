package sums

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A plan is encoded as a magic number, its kind, the version, two bytes that are 0, the
// length of its body as a u64, the body, and CRC-32C of all that. Integers are
// little-endian.
const (
	planMagic   = "JSUM"
	planVersion = 4
	planHeader  = len(planMagic) + 4 + 8

	kindCensus byte = 1
	kindMoment byte = 2
	kindPass   byte = 3

	kindCorrelated byte = 4
	kindParts      byte = 5
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
	case kindCorrelated:
		p, err = readCorrelated(body)
	case kindParts:
		p, err = readParts(body)
	default:
		return nil, fmt.Errorf("a plan of the unknown kind %d", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("a plan of kind %d: %w", kind, err)
	}
	return p, nil
}
