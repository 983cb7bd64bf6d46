package beam

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // paths without a scheme

	"github.com/jsmf-go/spectral/internal/regular"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// file is a file of the state folder, as the manifest and the results of jobs name it.
type file struct {
	Name string          `json:",omitempty"` // in the folder; empty: a note alone
	Size int64           `json:",omitempty"` // bytes
	CRC  uint32          `json:",omitempty"` // CRC-32C
	Note json.RawMessage `json:",omitempty"` // what the job says about it
}

// filePrefix begins the name of every file of a state folder but the manifests.
const filePrefix = "jsmf-"

// uniqueName returns a name that no other file of any state folder has. Nothing that a job
// writes is written twice under one name, so that what a failed or repeated piece of work
// leaves behind is never taken for a result.
func uniqueName(kind string) string { return filePrefix + kind + "-" + randomHex() }

func randomHex() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// joinPath returns the path of a file of a folder, local or on an object store.
func joinPath(folder, name string) string { return strings.TrimRight(folder, "/") + "/" + name }

// openFS returns the file system of a path.
func openFS(ctx context.Context, path string) (fs filesystem.Interface, err error) {
	defer func() {
		if r := recover(); r != nil { // some clients panic when there are no credentials
			err = fmt.Errorf("%s: %v", path, r)
		}
	}()
	if fs, err = filesystem.New(ctx, path); err == nil && !strings.Contains(path, "://") {
		fs = localFS{fs}
	}
	return fs, err
}

// localFS is Beam's file system of local files, for regular files only: to open a pipe waits
// for ever. Beam's own Size leaves files open.
type localFS struct{ filesystem.Interface }

func (localFS) OpenRead(_ context.Context, path string) (io.ReadCloser, error) {
	return regular.Open(path)
}

func (localFS) OpenWrite(_ context.Context, path string) (io.WriteCloser, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	return regular.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (localFS) Size(_ context.Context, path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), regular.Check(path, info)
}

func (localFS) Remove(_ context.Context, path string) error { return os.Remove(path) }

// withFS calls f with the file system of a path.
func withFS(ctx context.Context, path string, f func(fs filesystem.Interface) error) error {
	fs, err := openFS(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	return f(fs)
}

// readPath returns the content of a file.
func readPath(ctx context.Context, path string) (data []byte, err error) {
	err = withFS(ctx, path, func(fs filesystem.Interface) error {
		data, err = filesystem.Read(ctx, fs, path)
		return named(path, err)
	})
	return data, err
}

// writePath writes a file with the bytes that write writes, and returns errors of write as they
// are. A file system that publishes a file when it is closed publishes nothing if write fails.
func writePath(ctx context.Context, path string, write func(w io.Writer) error) (size int64, crc uint32, err error) {
	err = withFS(ctx, path, func(fs filesystem.Interface) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w, err := fs.OpenWrite(ctx, path)
		if err != nil {
			return named(path, err)
		}
		sum := &summed{path: path, w: w}
		if err := write(sum); err != nil {
			cancel() // before Close: an object store then drops what was sent
			w.Close()
			return err
		}
		size, crc = sum.size, sum.crc
		return named(path, w.Close())
	})
	return size, crc, err
}

// summed counts and sums what is written.
type summed struct {
	path string
	w    io.Writer
	size int64
	crc  uint32
}

func (s *summed) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.size += int64(n)
	s.crc = crc32.Update(s.crc, castagnoli, p[:n])
	return n, named(s.path, err)
}

// named puts a path before an error that does not name it.
func named(path string, err error) error {
	if err == nil || strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// writeFile writes a new file of a folder.
func writeFile(ctx context.Context, folder, kind string, write func(w io.Writer) error) (file, error) {
	f := file{Name: uniqueName(kind)}
	var err error
	f.Size, f.CRC, err = writePath(ctx, joinPath(folder, f.Name), write)
	return f, err
}

// errDamaged is wrapped by errors about files that are not what was written.
var errDamaged = errors.New("the file is not what was written")

// read returns the content of a file of a folder, after a look at its length and checksum.
func (f file) read(ctx context.Context, folder string) ([]byte, error) {
	path := joinPath(folder, f.Name)
	data, err := readPath(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) != f.Size:
		return nil, fmt.Errorf("%s: %w: %d bytes where %d were written", path, errDamaged, len(data), f.Size)
	case crc32.Checksum(data, castagnoli) != f.CRC:
		return nil, fmt.Errorf("%s: %w: checksum", path, errDamaged)
	}
	return data, nil
}

// with returns the file with a note about it.
func (f file) with(note any) (file, error) {
	b, err := json.Marshal(note)
	f.Note = b
	return f, err
}

// line returns a file as an element of a pipeline.
func (f file) line() (string, error) {
	b, err := json.Marshal(f)
	return string(b), err
}
