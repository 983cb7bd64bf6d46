package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/internal/regular"
)

// The log. A segment file is
//
//	"JSMFLOG1"  first uint64  crc uint32      header; crc of the 16 bytes before
//	frame ...
//
// and a frame, which is what one call of Append wrote,
//
//	size uint32  crc uint32  first uint64  count uint32      header
//	count × (op byte, length uvarint, data)                  size bytes
//
// with little-endian numbers and CRC-32C; that of a frame covers all but itself.
// Records are numbered from 1 without gaps; first is the number of the first. The
// file "committed" holds the number of the last acknowledged record and its CRC; it
// is written, but not synced, after the frame's fsync, so that it is never ahead of
// what is on the disk, and behind only after a crash of the whole machine.

const (
	logDir        = "log"
	magic         = "JSMFLOG1"
	segmentHeader = 20
	frameHeader   = 20
	maxFrame      = 1 << 30
	commitName    = "committed"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Op says what a Record does. The store does not care.
type Op byte

// Record is an entry of the log.
type Record struct {
	Op   Op
	Data []byte
}

// segments is the log. It is not safe for concurrent use.
type segments struct {
	dir    string
	opt    Options
	firsts []uint64 // of each segment; the last one is open
	f      *os.File // nil: the next Append begins a segment
	commit *os.File
	size   int64  // of the open segment, up to its last good frame
	last   uint64 // number of the last record
	total  int64  // bytes of all segments
	broken error  // why nothing can be appended any more
}

func segmentName(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d.seg", first))
}

// openSegments checks all of the log and cuts off what was never acknowledged.
func openSegments(ctx context.Context, dir string, opt Options) (_ *segments, err error) {
	l := &segments{dir: dir, opt: opt}
	entries, err := os.ReadDir(dir) // sorted, and so by number
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".seg")
		if !ok {
			continue
		}
		first, err := strconv.ParseUint(name, 10, 64)
		if err != nil || len(name) != 20 || first == 0 {
			return nil, fmt.Errorf("store: %s is no segment of a log", filepath.Join(dir, e.Name()))
		}
		l.firsts = append(l.firsts, first)
	}
	committed, err := l.openCommit()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.commit.Close()
		}
	}()
	if err := l.check(ctx, committed); err != nil {
		return nil, err
	}
	if err := l.reopen(); err != nil {
		return nil, err
	}
	// Write the mark, so that later it only changes bytes that have their place.
	return l, l.mark()
}

// openCommit reads the number of the last acknowledged record, 0 if there is
// none.
func (l *segments) openCommit() (committed uint64, err error) {
	path := filepath.Join(l.dir, commitName)
	if l.commit, err = regular.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(l.commit, 13))
	switch {
	case err != nil:
		err = fmt.Errorf("store: %w", err)
	case len(b) == 0:
	case len(b) != 12 || crc32.Checksum(b[:8], castagnoli) != binary.LittleEndian.Uint32(b[8:]):
		// It was not synced, so a crash of the machine may leave it like that.
		l.opt.Log.Warn("the mark of the last acknowledged record is damaged; going by the log alone", "file", path)
	default:
		committed = binary.LittleEndian.Uint64(b)
	}
	if err != nil {
		l.commit.Close()
	}
	return committed, err
}

// check reads every frame. The end of the last segment may be a frame that was
// being written; everything else must be right.
func (l *segments) check(ctx context.Context, committed uint64) error {
	var next uint64 // 0: any number will do, older ones were deleted
	for i := 0; i < len(l.firsts); i++ {
		last := i == len(l.firsts)-1
		path := segmentName(l.dir, l.firsts[i])
		if next != 0 && l.firsts[i] != next {
			return &CorruptError{path, 0, fmt.Sprintf("it begins with record %d, but %d is the next: a segment is missing or was cut short", l.firsts[i], next)}
		}
		end, seq, err := readSegment(ctx, path, l.firsts[i], nil)
		var bad *CorruptError
		switch {
		case err == nil:
		case errors.As(err, &bad) && last && seq > committed && !goodFrameAfter(path, end, seq):
			if err := l.cut(path, end, bad); err != nil {
				return err
			}
			if end == 0 { // not even the header, and so no file any more
				l.firsts, next = l.firsts[:i], seq
				continue
			}
		default:
			return err
		}
		next = seq
		l.total += end
		l.size = end
	}
	if next == 0 {
		next = 1
		l.size = 0
	}
	l.last = next - 1
	if l.last < committed {
		path := l.dir
		if n := len(l.firsts); n > 0 {
			path = segmentName(l.dir, l.firsts[n-1])
		}
		return &CorruptError{path, l.size, fmt.Sprintf("records %d to %d, which were acknowledged, are gone", next, committed)}
	}
	return nil
}

// cut takes the bytes from end on off the last segment.
func (l *segments) cut(path string, end int64, bad *CorruptError) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	l.opt.Log.Warn("cutting off the end of the log, which was never acknowledged", "file", path, "at", end, "bytes", info.Size()-end, "reason", bad.Detail)
	if end == 0 {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	} else if err := truncate(path, end); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := atomicfile.SyncDir(l.dir); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func truncate(path string, size int64) error {
	f, err := regular.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// reopen opens the last segment to append to it.
func (l *segments) reopen() error {
	if len(l.firsts) == 0 {
		return nil
	}
	f, err := regular.OpenFile(segmentName(l.dir, l.firsts[len(l.firsts)-1]), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	l.f = f
	return nil
}

// append writes records in one frame and returns once they are on the disk, with
// the number of the last one. After an error none of them is in the log.
func (l *segments) append(recs []Record) (last uint64, err error) {
	if l.broken != nil {
		return 0, fmt.Errorf("store: the log takes no more records: %w", l.broken)
	}
	if len(recs) == 0 {
		return l.last, nil
	}
	head, size, err := frameHead(recs, l.last+1)
	if err != nil {
		return 0, err
	}
	if l.f != nil && l.size > segmentHeader && l.size+size > l.opt.SegmentSize {
		f := l.f
		l.f = nil
		if err := f.Close(); err != nil {
			return 0, fmt.Errorf("store: %w", err)
		}
	}
	if l.f == nil {
		if err := l.begin(); err != nil {
			return 0, fmt.Errorf("store: %w", err)
		}
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(l.f, l.size), 64<<10)
	w.Write(head) // Flush has the error
	eachRecord(recs, func(b []byte) { w.Write(b) })
	if err := w.Flush(); err != nil {
		l.takeBack(err)
		return 0, fmt.Errorf("store: %w", err)
	}
	l.opt.Step("log written")
	if err := l.f.Sync(); err != nil {
		// What a failed fsync has left behind is not known, and a second one may
		// succeed without having written anything.
		l.broken = err
		return 0, fmt.Errorf("store: %w", err)
	}
	l.opt.Step("log synced")
	l.size += size
	l.total += size
	l.last += uint64(len(recs))
	if err := l.mark(); err != nil {
		// The records are on the disk. Without the mark damage at the very end
		// would look like a frame that was being written.
		l.opt.Log.Warn("the mark of the last acknowledged record could not be written", "error", err)
	}
	l.opt.Step("log marked")
	return l.last, nil
}

// takeBack removes what a failed write has left.
func (l *segments) takeBack(cause error) {
	if err := errors.Join(l.f.Truncate(l.size), l.f.Sync()); err != nil {
		l.broken = fmt.Errorf("%w; then, while it was taken back: %w", cause, err)
	}
}

// begin makes the next segment. Its name is that of its first record, so that an
// attempt that failed leaves a file that the next one replaces.
func (l *segments) begin() error {
	first := l.last + 1
	head := make([]byte, 16, segmentHeader)
	copy(head, magic)
	binary.LittleEndian.PutUint64(head[8:], first)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	path := segmentName(l.dir, first)
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.Write(head); err == nil {
		l.opt.Step("segment written")
		if err = f.Sync(); err == nil {
			err = atomicfile.SyncDir(l.dir)
		}
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(path))
	}
	l.opt.Step("segment begun")
	l.f, l.size = f, segmentHeader
	l.total += segmentHeader
	if n := len(l.firsts); n == 0 || l.firsts[n-1] != first {
		l.firsts = append(l.firsts, first)
	}
	return nil
}

func (l *segments) mark() error {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], l.last)
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	_, err := l.commit.WriteAt(b[:], 0)
	return err
}

// replay calls f with every record after number after.
func (l *segments) replay(ctx context.Context, after uint64, f func(seq uint64, r Record) error) error {
	if len(l.firsts) > 0 && after < l.last && l.firsts[0] > after+1 {
		return &CorruptError{l.dir, 0, fmt.Sprintf("records %d to %d are needed and are gone", after+1, l.firsts[0]-1)}
	}
	if after > l.last {
		return &CorruptError{l.dir, 0, fmt.Sprintf("the log ends with record %d, before a snapshot of record %d", l.last, after)}
	}
	for i, first := range l.firsts {
		if i+1 < len(l.firsts) && l.firsts[i+1] <= after+1 {
			continue
		}
		_, _, err := readSegment(ctx, segmentName(l.dir, first), first, func(seq uint64, r Record) error {
			if seq <= after {
				return nil
			}
			return f(seq, r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prune deletes the segments whose records all have numbers up to seq, but never
// the open one.
func (l *segments) prune(seq uint64) error {
	for len(l.firsts) > 1 && l.firsts[1] <= seq+1 {
		path := segmentName(l.dir, l.firsts[0])
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: %w", err)
		}
		l.opt.Step("segment removed")
		l.opt.Log.Info("deleted a segment of the log that snapshots cover", "file", path)
		l.firsts = l.firsts[1:]
		l.total -= info.Size()
	}
	return nil
}

func (l *segments) close() error {
	var err error
	if l.f != nil {
		err = l.f.Close()
	}
	l.broken = errors.New("it is closed")
	return errors.Join(err, l.commit.Sync(), l.commit.Close())
}
