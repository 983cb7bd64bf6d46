//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepMode gives f the permission bits of the file it replaces.
func keepMode(f *os.File, perm fs.FileMode) error { return f.Chmod(perm) }

// SyncDir makes a new name in a folder durable. File systems that cannot sync a
// folder, and folders that may be written to but not read, are left as they
// are: the file itself is on the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	err = d.Sync()
	for _, unable := range []error{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.ENOTTY} {
		if errors.Is(err, unable) {
			err = nil
			break
		}
	}
	return errors.Join(err, d.Close())
}
