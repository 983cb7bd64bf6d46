package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/jsmf-go/spectral/jsmf"
)

const (
	modelDir       = "models"
	modelSuffix    = ".jsmf"
	snapshotDir    = "snapshots"
	snapshotSuffix = ".acc"
)

// Saved is a model with the name it has in the store.
type Saved struct {
	Model    *jsmf.Model
	Version  int    // counted from 1; no number is used twice
	Checksum string // SHA-256 of the model's file, in hexadecimal
}

// SaveModel writes a model as the next version and deletes old ones beyond
// Options.KeepModels.
func (s *Store) SaveModel(m *jsmf.Model) (Saved, error) {
	s.files.Lock()
	defer s.files.Unlock()
	dir := filepath.Join(s.dir, modelDir)
	version := s.next
	s.next++ // whatever comes: a file may be there even after an error
	f, err := s.writeNamed(dir, modelSuffix, uint64(version), 8, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	if err != nil {
		return Saved{}, err
	}
	if _, _, err := s.keepNewest(dir, modelSuffix, s.opt.KeepModels); err != nil {
		s.opt.Log.Warn("old models could not be deleted", "error", err)
	}
	return Saved{m, version, f.sum}, nil
}

// LoadModel reads the newest model that is whole; ok is false if there is none.
// Damaged ones are set aside. One that is as it was written and cannot be read,
// as of a later version of the library, is an error.
func (s *Store) LoadModel(ctx context.Context) (m Saved, ok bool, err error) {
	s.files.Lock()
	defer s.files.Unlock()
	_, err = s.loadNewest(ctx, filepath.Join(s.dir, modelDir), modelSuffix, func(f named, r io.Reader) error {
		got, err := jsmf.ReadModel(r)
		m, ok = Saved{got, int(f.number), f.sum}, err == nil
		return err
	})
	return m, ok, err
}

// nextVersion is one more than all there were, the damaged ones included.
func (s *Store) nextVersion() (int, error) {
	files, err := list(filepath.Join(s.dir, modelDir), modelSuffix)
	if err != nil || len(files) == 0 {
		return 1, err
	}
	return int(files[0].number) + 1, nil
}

// SaveSnapshot writes what the records up to number seq add up to. It keeps the
// newest Options.KeepSnapshots and deletes the segments of the log that all of
// these cover.
func (s *Store) SaveSnapshot(seq uint64, write func(io.Writer) error) error {
	s.files.Lock()
	defer s.files.Unlock()
	dir := filepath.Join(s.dir, snapshotDir)
	if _, err := s.writeNamed(dir, snapshotSuffix, seq, 20, write); err != nil {
		return err
	}
	oldest, n, err := s.keepNewest(dir, snapshotSuffix, s.opt.KeepSnapshots)
	if err != nil {
		return err
	}
	if n < s.opt.KeepSnapshots {
		return nil // should those be damaged, the log has all of it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.publish()
	return s.log.prune(oldest.number)
}

// LoadSnapshot has read read the newest snapshot that is whole and returns its
// record number, 0 if there is none. Damaged ones, of which read may have seen a
// part, are set aside; an error of read for one that is not is returned.
func (s *Store) LoadSnapshot(ctx context.Context, read func(io.Reader) error) (seq uint64, err error) {
	s.files.Lock()
	defer s.files.Unlock()
	f, err := s.loadNewest(ctx, filepath.Join(s.dir, snapshotDir), snapshotSuffix, func(_ named, r io.Reader) error { return read(r) })
	return f.number, err
}

func (s *Store) loadNewest(ctx context.Context, dir, suffix string, read func(named, io.Reader) error) (named, error) {
	files, err := list(dir, suffix)
	if err != nil {
		return named{}, err
	}
	for _, f := range files {
		if f.aside {
			continue
		}
		if err := ctx.Err(); err != nil {
			return named{}, err
		}
		var kind kindError
		switch err := readNamed(f, func(r io.Reader) error { return read(f, r) }); {
		case err == nil:
			return f, nil
		case err != errChecksum && !errors.As(err, &kind): // the disk, or a file of a later version
			return named{}, fmt.Errorf("store: %s: %w", f.path, err)
		default:
			if err := s.setAside(f, err); err != nil {
				return named{}, err
			}
		}
	}
	return named{}, nil
}
