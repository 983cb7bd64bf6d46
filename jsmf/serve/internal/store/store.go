// Package store keeps on disk what a topic service must not lose: the documents
// it has acknowledged, in an append-only log; the models it has served, one file
// a version; and snapshots of what the log adds up to, so that a start need not
// replay all of it.
//
// A folder of it looks so:
//
//	LOCK                                  locked, as is the folder itself on Unix, while a process has it open
//	log/00000000000000000001.seg          records from number 1 on, in checksummed frames
//	log/committed                         the last record that was acknowledged
//	models/00000003-<sha256>.jsmf         model version 3
//	snapshots/00000000000000000250-<sha256>.acc   the state after record 250
//
// Files other than the log's are written to a temporary name, synced and renamed, so
// that a process killed at any moment leaves either none or the whole. Their names
// hold the checksum of their bytes. What does not match its checksum is set aside
// under another name and reported, never used and never deleted.
//
// The log is different: it grows in place. A frame is acknowledged after fsync
// only. Bytes after the last acknowledged frame that make no frame are what a kill
// left of one that was being written, and are cut off. Damage before that is a
// *CorruptError, and the store does not open.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// Options sets what a Store keeps. The zero value has good defaults.
type Options struct {
	// SegmentSize is the size in bytes beyond which a new segment of the log is
	// begun. 0 means 64 MiB.
	SegmentSize int64

	// KeepModels and KeepSnapshots are how many of the newest are kept, at least
	// 1. 0 means 5 and 2. Log segments that end before the oldest snapshot that
	// is kept are deleted.
	KeepModels, KeepSnapshots int

	// Log is told what was found at Open and what is deleted; nil: no one is.
	Log *slog.Logger

	// Step, if not nil, is called at each point between two changes on disk, with
	// its name. It is there for tests of what a kill at that point leaves.
	Step func(name string)
}

func (o Options) withDefaults() (Options, error) {
	if o.SegmentSize < 0 || o.KeepModels < 0 || o.KeepSnapshots < 0 {
		return o, fmt.Errorf("store: SegmentSize %d, KeepModels %d, KeepSnapshots %d: none may be negative", o.SegmentSize, o.KeepModels, o.KeepSnapshots)
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = 64 << 20
	}
	if o.KeepModels == 0 {
		o.KeepModels = 5
	}
	if o.KeepSnapshots == 0 {
		o.KeepSnapshots = 2
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	return o, nil
}

// Store is an open folder. It is safe for concurrent use.
type Store struct {
	dir  string
	opt  Options
	lock locks

	mu    sync.Mutex // guards log
	log   *segments
	state atomic.Pointer[logState]
	next  int // version of the next model; guarded by files

	files sync.Mutex // one writer of models and snapshots at a time
}

const lockName = "LOCK"

// locks are the open files that hold a folder for this process.
type locks []*os.File

func (l locks) Close() error {
	var errs []error
	for _, f := range l {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// ErrLocked says that another process has the folder open.
var ErrLocked = errors.New("store: the folder is in use by another process")

// CorruptError says that bytes which were acknowledged have changed or are gone.
type CorruptError struct {
	File   string // path of the file
	Offset int64  // where in it
	Detail string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("store: %s is damaged at byte %d: %s", e.File, e.Offset, e.Detail)
}

// Open opens the folder dir, which is made if it is missing, and brings it in
// order: files that were being written when a process was killed are deleted, and
// so is the unacknowledged end of the log. It does not read models and snapshots.
// Errors: ErrLocked, *CorruptError for a damaged log, those of the file system.
func Open(ctx context.Context, dir string, opt Options) (_ *Store, err error) {
	opt, err = opt.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, opt: opt}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if s.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.lock.Close()
		}
	}()
	for _, sub := range []string{logDir, modelDir, snapshotDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		if err := s.removeTemporary(filepath.Join(dir, sub)); err != nil {
			return nil, err
		}
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if s.next, err = s.nextVersion(); err != nil {
		return nil, err
	}
	if s.log, err = openSegments(ctx, filepath.Join(dir, logDir), opt); err != nil {
		return nil, err
	}
	s.publish()
	return s, nil
}

// Close ends the use of the folder. All that was acknowledged is on the disk
// already.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files.Lock()
	defer s.files.Unlock()
	defer s.publish()
	return errors.Join(s.log.close(), s.lock.Close())
}

// removeTemporary deletes the files that were being written when a process was
// killed. No other process is using the folder.
func (s *Store) removeTemporary(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, name := range names {
		s.opt.Log.Warn("deleting a file that was not finished", "file", name)
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}
