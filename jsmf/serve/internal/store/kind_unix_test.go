//go:build unix

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A folder, a link or a device where the newest model or snapshot was is set aside,
// unopened, and the one before it is used, as after other damage.
func TestOtherKinds(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	m := model(t, 3)
	kinds := map[string]func(path string) error{
		"a folder":      func(p string) error { return errors.Join(os.Mkdir(p, 0o777), os.WriteFile(p+"/in", nil, 0o666)) },
		"a link":        func(p string) error { return os.Symlink(elsewhere, p) },
		"a loose link":  func(p string) error { return os.Symlink(elsewhere+"-none", p) },
		"a named pipe":  func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"a link to dev": func(p string) error { return os.Symlink("/dev/zero", p) },
	}
	seq := 0
	for what, put := range kinds {
		var log bytes.Buffer
		s := mustOpen(t, dir, Options{KeepModels: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 2 {
			if _, err := s.SaveModel(m); err != nil {
				t.Fatal(err)
			}
			seq = int(mustAppend(t, s, what))
			err := s.SaveSnapshot(uint64(seq), func(w io.Writer) error { _, err := fmt.Fprint(w, seq); return err })
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, of := range [][2]string{{modelDir, modelSuffix}, {snapshotDir, snapshotSuffix}} {
			files, err := list(filepath.Join(dir, of[0]), of[1])
			if err != nil {
				t.Fatal(err)
			}
			// What a link names has the right bytes, and is not used all the same.
			b, err := os.ReadFile(files[0].path)
			if err == nil {
				err = errors.Join(os.WriteFile(elsewhere, b, 0o666), os.Remove(files[0].path), put(files[0].path))
			}
			if err != nil {
				t.Fatal(err)
			}
			if oldest, n, err := s.keepNewest(filepath.Join(dir, of[0]), of[1], 2); n != 1 || oldest.number != files[1].number || err != nil {
				t.Errorf("%s: %d files are kept, %v", what, n, err)
			}
		}
		next := s.next
		got, ok, err := s.LoadModel(ctx)
		if err != nil || !ok || got.Version != next-2 {
			t.Errorf("%s: model %d, %v; want %d", what, got.Version, err, next-2)
		}
		var held string
		at, err := s.LoadSnapshot(ctx, func(r io.Reader) error { b, err := io.ReadAll(r); held = string(b); return err })
		if err != nil || at != uint64(seq-1) || held != fmt.Sprint(seq-1) {
			t.Errorf("%s: snapshot %d, %q, %v; want %d", what, at, held, err, seq-1)
		}
		if strings.Count(log.String(), "is not a regular file") != 2 {
			t.Errorf("%s: %s", what, log.String())
		}
		closed(t, s)
	}
}

// The lock of an open folder does not go with the file LOCK.
func TestLockDeleted(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	if second, err := Open(context.Background(), dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("the folder is opened twice: %v", err)
		if err == nil {
			closed(t, second)
		}
	}
	mustAppend(t, s, "x")
	closed(t, s)
	closed(t, mustOpen(t, dir, Options{}))
}

// A named pipe or a device in the log stops the start with its name. Nothing waits for what
// comes out of it.
func TestLogKinds(t *testing.T) {
	for kind, put := range map[string]func(path string) error{
		"a pipe":   func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"a device": func(p string) error { return os.Symlink("/dev/zero", p) },
		"a folder": func(p string) error { return os.Mkdir(p, 0o777) },
	} {
		for _, name := range []string{commitName, filepath.Base(segmentName("", 1))} {
			t.Run(kind+" for "+name, func(t *testing.T) {
				dir := t.TempDir()
				s := mustOpen(t, dir, Options{})
				mustAppend(t, s, "x")
				closed(t, s)
				path := filepath.Join(dir, logDir, name)
				if err := errors.Join(os.Remove(path), put(path)); err != nil {
					t.Fatal(err)
				}
				s, err := Open(context.Background(), dir, Options{})
				if err == nil {
					closed(t, s)
				}
				if err == nil || !strings.Contains(err.Error(), path+": is "+kind+", not a regular file") {
					t.Errorf("%v; want %s and its kind", err, path)
				}
			})
		}
	}
}
