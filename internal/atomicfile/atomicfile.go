// Package atomicfile writes files that are there whole or not at all.
package atomicfile

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

// Write writes a file with what write writes. The bytes go to a new file in the same
// folder, which takes the name only once they are on the disk: whoever opens path sees the
// old content or the whole new one, and after an error, or a panic of write, the old
// content is still there and the new file is gone. (If only the last step fails, which
// makes the new name durable, the error says that the file has been replaced.)
//
// A file that is replaced keeps its permission bits; a new one gets 0666 less
// the umask. A symbolic link is followed and stays; one that leads nowhere is refused, and so is
// what is neither missing nor a regular file. Errors do not name the path.
func Write(path string, write func(io.Writer) error) error {
	dir, target, info, err := place(path)
	if err != nil {
		return err
	}
	return create(dir, info, write, func() string { return target })
}

// Check returns the error that Write would meet before it writes the first byte: the folder
// is missing or may not be written to, or the path is no file's. It makes a file in the
// folder and removes it.
func Check(path string) error {
	dir, _, _, err := place(path)
	if err != nil {
		return err
	}
	f, err := createIn(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// place returns the folder in which the new file is made, empty or with a separator at its
// end, and the file that it is to replace: its path, and what is there, if anything.
func place(path string) (dir, target string, info fs.FileInfo, err error) {
	if target, info, err = resolve(path); err != nil {
		return "", "", nil, err
	}
	if info != nil && !info.Mode().IsRegular() {
		return "", "", nil, fmt.Errorf("is not a regular file (%v)", info.Mode().Type())
	}
	dir, base := filepath.Split(target)
	if base == "" {
		return "", "", nil, errors.New("the path has no file name")
	}
	return dir, target, info, nil
}

// WriteNamed writes a file in a folder with what write writes, under the name that
// name returns, as Write does. It asks for the name when all bytes are on the disk, so
// that it may depend on them.
func WriteNamed(dir string, write func(io.Writer) error, name func() string) error {
	return create(filepath.Clean(dir)+string(os.PathSeparator), nil, write, func() string { return filepath.Join(dir, name()) })
}

// create writes a new file in dir, which is empty or ends in a separator, and then
// gives it the path that target returns. It gets the permissions of old, if not nil.
func create(dir string, old fs.FileInfo, write func(io.Writer) error, target func() string) (err error) {
	f, err := createIn(dir)
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			f.Close()
			if rerr := os.Remove(f.Name()); rerr != nil {
				err = errors.Join(err, rerr)
			}
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if old != nil {
		if err := keepMode(f, old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target()); err != nil {
		return err
	}
	renamed = true
	if dir == "" {
		dir = "."
	}
	if err := SyncDir(dir); err != nil {
		return fmt.Errorf("the file has been replaced, but its folder could not be synced: %w", err)
	}
	return nil
}

// resolve follows symbolic links from path to the name that is to be replaced, so that a
// link survives. info is nil if there is no file.
func resolve(path string) (target string, info fs.FileInfo, err error) {
	if _, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if target, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil, errors.New("is a link to a file that is not there")
	}
	if err == nil {
		info, err = os.Stat(target)
	}
	return target, info, err
}

// createIn makes a new file in dir, which is empty or ends in a separator.
// os.CreateTemp would make it with mode 0600, whatever the umask.
func createIn(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		// A short name, for that of the target may have the greatest length there is.
		name := dir + ".jsmf-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}
