package jsmf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Save writes the model to the file path, atomically: the bytes go to a new
// file in the same folder, which takes the name only once they are on the disk.
// Whoever opens path sees the old content or the whole new one, and after an
// error the old content is still there and the new file is gone. (One failure
// comes too late for that: when only the last step, making the new name in the
// folder durable, fails, Save says that the file has been replaced.)
//
// A file that is replaced keeps its permission bits; a new one gets 0666 less
// the umask. A symbolic link is followed and stays. What is neither missing nor
// a regular file (a folder, a device, a pipe) is refused. On Windows a file
// that is open elsewhere, or read-only, cannot be replaced: that is an error.
// Errors name the path.
func (m *Model) Save(path string) error {
	return SaveTo(path, m)
}

// SaveTo writes what w writes to the file path, such as a cooc.Accumulator,
// atomically, as Model.Save does.
func SaveTo(path string, w io.WriterTo) error {
	if w == nil {
		return fmt.Errorf("jsmf: save %s: nothing to write", path)
	}
	return saveFile(path, func(f io.Writer) error {
		_, err := w.WriteTo(f)
		return err
	})
}

// saveFile writes a file atomically with what write writes.
func saveFile(path string, write func(io.Writer) error) (err error) {
	wrap := func(err error) error { return fmt.Errorf("jsmf: save %s: %w", path, err) }
	target, info, err := resolve(path)
	if err != nil {
		return wrap(err)
	}
	if info != nil && !info.Mode().IsRegular() {
		return wrap(fmt.Errorf("is not a regular file (%v)", info.Mode().Type()))
	}
	f, err := createBeside(target)
	if err != nil {
		return wrap(err)
	}
	open, renamed := true, false
	defer func() { // also when write panics
		if open {
			f.Close()
		}
		if !renamed {
			if rerr := os.Remove(f.Name()); rerr != nil {
				err = errors.Join(err, wrap(rerr))
			}
		}
	}()
	if err := write(f); err != nil {
		return wrap(err)
	}
	if info != nil {
		if err := keepMode(f, info.Mode().Perm()); err != nil {
			return wrap(err)
		}
	}
	if err := f.Sync(); err != nil {
		return wrap(err)
	}
	open = false // also if closing fails: there is nothing left to close
	if err := f.Close(); err != nil {
		return wrap(err)
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return wrap(err)
	}
	renamed = true
	dir, _ := filepath.Split(target)
	if dir == "" {
		dir = "."
	}
	if err := syncDir(dir); err != nil {
		return wrap(fmt.Errorf("the file has been replaced, but its folder could not be synced: %w", err))
	}
	return nil
}

// resolve follows symbolic links from path to the name that is to be replaced,
// so that a link survives, and a dangling one gets its target made. info is nil
// if there is no such file.
func resolve(path string) (target string, info fs.FileInfo, err error) {
	for range 64 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil, nil
		} else if err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, info, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", nil, err
		}
		if !filepath.IsAbs(link) {
			if link != "" && os.IsPathSeparator(link[0]) { // Windows: absolute but for the drive
				link = filepath.VolumeName(path) + link
			} else {
				// Not filepath.Join: it would take "a/.." away, which is another
				// folder where a is a link itself.
				dir, _ := filepath.Split(path)
				link = dir + link
			}
		}
		path = link
	}
	return "", nil, errors.New("too many symbolic links")
}

// createBeside makes a new file in the folder of target. os.CreateTemp would
// make it with mode 0600, whatever the umask.
func createBeside(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	if base == "" {
		return nil, errors.New("the path has no file name")
	}
	for try := 0; ; try++ {
		// A short name, for base may have the greatest length there is.
		name := dir + ".jsmf-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// LoadModel reads a model from the file path; see ReadModel. Bytes after the
// model are an error. Errors name the path, and are those of ReadModel below
// that.
func LoadModel(path string) (*Model, error) {
	wrap := func(err error) error { return fmt.Errorf("jsmf: load %s: %w", path, err) }
	f, err := os.Open(path)
	if err != nil {
		return nil, wrap(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, wrap(err)
	}
	if info.IsDir() {
		return nil, wrap(errors.New("is a folder"))
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	d := &decoder{r: f, size: size}
	m, err := d.model()
	if err != nil {
		return nil, wrap(err)
	}
	if n, err := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return nil, wrap(&FormatError{Kind: ErrInvalid, Section: "trailer", Offset: d.off, Detail: "more bytes after the end of the model"})
	} else if err != io.EOF {
		return nil, wrap(err)
	}
	return m, nil
}
