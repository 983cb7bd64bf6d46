package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/internal/atomicfile"
	"github.com/jsmf-go/spectral/internal/regular"
)

// IsFull reports whether an error means that there is no room on the disk for
// more: the disk, the user's quota or the size allowed of a file is used up.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullErrors, func(e error) bool { return errors.Is(err, e) })
}

// named is a file whose name holds a number and the checksum of its bytes.
type named struct {
	path   string
	number uint64
	sum    string      // SHA-256 in hexadecimal
	aside  bool        // damaged, and so set aside
	kind   fs.FileMode // of something else than a file, 0 for a file
}

const asideSuffix = ".damaged"

// list returns the files of a folder whose name ends in suffix, or that were set
// aside, the newest first.
func list(dir, suffix string) ([]named, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var out []named
	for _, e := range entries {
		f := named{path: filepath.Join(dir, e.Name()), kind: e.Type()}
		name, ok := strings.CutSuffix(e.Name(), asideSuffix)
		f.aside = ok
		if name, ok = strings.CutSuffix(name, suffix); !ok {
			continue
		}
		number, sum, ok := strings.Cut(name, "-")
		if f.number, err = strconv.ParseUint(number, 10, 63); !ok || err != nil || len(sum) != 2*sha256.Size {
			continue
		}
		f.sum = sum
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b named) int {
		switch {
		case a.number > b.number:
			return -1
		case a.number < b.number:
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	return out, nil
}

// setAside gives a damaged file another name, under which it stays.
func (s *Store) setAside(f named, why error) error {
	s.opt.Log.Error("setting a damaged file aside", "file", f.path, "reason", why)
	if err := os.Rename(f.path, f.path+asideSuffix); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// errChecksum says that bytes have changed since they were written.
var errChecksum = errors.New("checksum mismatch")

// kindError says that there is a folder, a link or a device in place of a file.
type kindError fs.FileMode

func (e kindError) Error() string { return fmt.Sprintf("is not a regular file (%v)", fs.FileMode(e)) }

// readNamed has read read a file, and compares the checksum of all its bytes:
// errChecksum if they are not those that were written, kindError if it is no file,
// which it does not open.
func readNamed(f named, read func(io.Reader) error) error {
	if f.kind != 0 {
		return kindError(f.kind)
	}
	file, err := regular.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := &hashReader{r: file, h: sha256.New()}
	err = read(r)
	_, _ = io.Copy(io.Discard, r) // all bytes count; r keeps the error
	switch {
	case r.err != nil:
		return r.err
	case r.sum() != f.sum:
		return errChecksum // whatever read made of it
	}
	return err
}

// hashReader sums what is read, and keeps the error of the file system.
type hashReader struct {
	r   io.Reader
	h   hash.Hash
	err error
}

func (r *hashReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.h.Write(p[:n])
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (r *hashReader) sum() string { return hex.EncodeToString(r.h.Sum(nil)) }

// writeNamed writes a file with what write writes, under a name made of number
// and checksum, atomically.
func (s *Store) writeNamed(dir, suffix string, number uint64, digits int, write func(io.Writer) error) (named, error) {
	h := sha256.New()
	out := named{number: number}
	err := atomicfile.WriteNamed(dir, func(w io.Writer) error {
		if err := write(io.MultiWriter(w, h)); err != nil {
			return err
		}
		s.opt.Step(suffix + " written")
		return nil
	}, func() string {
		s.opt.Step(suffix + " synced")
		out.sum = hex.EncodeToString(h.Sum(nil))
		name := fmt.Sprintf("%0*d-%s%s", digits, number, out.sum, suffix)
		out.path = filepath.Join(dir, name)
		return name
	})
	if err != nil {
		return named{}, fmt.Errorf("store: %w", err)
	}
	s.opt.Step(suffix + " in place")
	return out, nil
}

// keepNewest deletes all but the newest files of a folder; those that were set
// aside, and what is no file, stay. It returns the oldest that is left, and how many.
func (s *Store) keepNewest(dir, suffix string, keep int) (oldest named, n int, err error) {
	files, err := list(dir, suffix)
	if err != nil {
		return named{}, 0, err
	}
	for _, f := range files {
		switch {
		case f.aside || f.kind != 0:
		case n < keep:
			oldest = f
			n++
		default:
			if err := os.Remove(f.path); err != nil {
				return oldest, n, fmt.Errorf("store: %w", err)
			}
			s.opt.Step(suffix + " removed")
		}
	}
	return oldest, n, nil
}
