package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/jsmf-go/spectral/internal/regular"
)

// readSegment calls f, unless it is nil, with every record of a segment. It
// returns the size up to the end of the last good frame and the number of the
// record to come after it. A bad frame is a *CorruptError.
func readSegment(ctx context.Context, path string, first uint64, f func(seq uint64, r Record) error) (end int64, next uint64, err error) {
	next = first
	file, err := regular.Open(path)
	if err != nil {
		return 0, next, fmt.Errorf("store: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, next, fmt.Errorf("store: %w", err)
	}
	size := info.Size()
	bad := func(format string, args ...any) error { return &CorruptError{path, end, fmt.Sprintf(format, args...)} }
	head := make([]byte, segmentHeader)
	if size < segmentHeader {
		return 0, next, bad("%d bytes, less than the header", size)
	}
	if _, err := file.ReadAt(head, 0); err != nil {
		return 0, next, fmt.Errorf("store: %w", err)
	}
	if string(head[:8]) != magic || binary.LittleEndian.Uint64(head[8:]) != first || crc32.Checksum(head[:16], castagnoli) != binary.LittleEndian.Uint32(head[16:]) {
		return 0, next, bad("the header is not that of segment %d", first)
	}
	end = segmentHeader
	for end < size {
		if err := ctx.Err(); err != nil {
			return end, next, err
		}
		body, count, err := readFrame(file, end, size, next)
		if err != nil {
			var why frameError
			if errors.As(err, &why) {
				return end, next, bad("%s", string(why))
			}
			return end, next, fmt.Errorf("store: %s: %w", path, err)
		}
		if f != nil {
			rest := body
			for i := range uint64(count) {
				var r Record
				r, rest, err = cutRecord(rest)
				if err != nil {
					return end, next, bad("record %d: %v", next+i, err)
				}
				if err := f(next+i, r); err != nil {
					return end, next, err
				}
			}
		}
		end += frameHeader + int64(len(body))
		next += uint64(count)
	}
	return end, next, nil
}

// frameError says why bytes are no frame.
type frameError string

func (e frameError) Error() string { return string(e) }

// readFrame reads the frame at off of a file of the given size, whose first
// record must be number next.
func readFrame(file io.ReaderAt, off, size int64, next uint64) (body []byte, count uint32, err error) {
	var head [frameHeader]byte
	if size-off < frameHeader {
		return nil, 0, frameError(fmt.Sprintf("%d bytes, less than the header of a frame", size-off))
	}
	if _, err := file.ReadAt(head[:], off); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	count = binary.LittleEndian.Uint32(head[16:])
	switch first := binary.LittleEndian.Uint64(head[8:]); {
	case n > size-off-frameHeader:
		return nil, 0, frameError(fmt.Sprintf("a frame of %d bytes, but the file ends after %d", n, size-off-frameHeader))
	case n > maxFrame || count == 0 || int64(count) > n:
		return nil, 0, frameError(fmt.Sprintf("a frame of %d records in %d bytes", count, n))
	case first != next:
		return nil, 0, frameError(fmt.Sprintf("record %d, but %d is the next", first, next))
	}
	body = make([]byte, n)
	if _, err := file.ReadAt(body, off+frameHeader); err != nil {
		return nil, 0, err
	}
	if frameSum(head[:], body) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, 0, frameError("checksum mismatch")
	}
	return body, count, nil
}

func frameSum(head, body []byte) uint32 { return crc32.Update(headSum(head), castagnoli, body) }

func headSum(head []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, head[8:frameHeader])
}

// frameHead returns the header of a frame of records, the first of which has number
// first, and the size of the frame with it.
func frameHead(recs []Record, first uint64) (head []byte, size int64, err error) {
	eachRecord(recs, func(b []byte) { size += int64(len(b)) })
	if size > maxFrame || len(recs) > math.MaxInt32 {
		return nil, 0, fmt.Errorf("store: %d records of %d bytes at once are too many", len(recs), size)
	}
	head = make([]byte, frameHeader)
	binary.LittleEndian.PutUint32(head, uint32(size))
	binary.LittleEndian.PutUint64(head[8:], first)
	binary.LittleEndian.PutUint32(head[16:], uint32(len(recs)))
	sum := headSum(head)
	eachRecord(recs, func(b []byte) { sum = crc32.Update(sum, castagnoli, b) })
	binary.LittleEndian.PutUint32(head[4:], sum)
	return head, frameHeader + size, nil
}

// eachRecord calls f with the pieces of which records are made in a frame, so that
// they need not be copied together. A piece is good during the call only.
func eachRecord(recs []Record, f func(piece []byte)) {
	var b [1 + binary.MaxVarintLen64]byte
	for _, r := range recs {
		f(binary.AppendUvarint(append(b[:0], byte(r.Op)), uint64(len(r.Data))))
		f(r.Data)
	}
}

func cutRecord(b []byte) (Record, []byte, error) {
	if len(b) == 0 {
		return Record{}, nil, errors.New("is missing")
	}
	n, w := binary.Uvarint(b[1:])
	if w <= 0 || n > uint64(len(b)-1-w) {
		return Record{}, nil, errors.New("its length is wrong")
	}
	rest := b[1+w:]
	return Record{Op(b[0]), rest[:n:n]}, rest[n:], nil
}

// goodFrameAfter reports whether there is a frame of a later record anywhere after
// off. If so the bad bytes at off are damage: a frame is written only when the one
// before is on the disk.
func goodFrameAfter(path string, off int64, next uint64) bool {
	file, err := regular.Open(path)
	if err != nil {
		return true // nothing is cut off that could not be read
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return true
	}
	size := info.Size()
	const window = 1 << 16
	buf := make([]byte, window+frameHeader)
	for lo := off; lo+frameHeader <= size; lo += window {
		n, err := file.ReadAt(buf, lo)
		if err != nil && err != io.EOF {
			return true
		}
		for i := 0; i < window && i+frameHeader <= n; i++ {
			first := binary.LittleEndian.Uint64(buf[i+8:])
			if first < next || first-next > math.MaxUint32 {
				continue
			}
			if _, _, err := readFrame(file, lo+int64(i), size, first); err == nil {
				return true
			}
		}
	}
	return false
}
