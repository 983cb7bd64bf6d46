//go:build unix && !solaris && !aix

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// unlockable are the errors of file systems, such as NFS, that lock files and not
// folders.
var unlockable = []error{syscall.EBADF, syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.ENOLCK, syscall.EISDIR}

// lockFolder makes sure that one process has the folder. It locks the folder itself,
// so that the lock holds when somebody deletes the file LOCK, and that file for the
// file systems that cannot lock folders. The kernel lets go of both when the process
// ends, however it does.
func lockFolder(dir string) (locks, error) {
	d, err := flock(dir, os.O_RDONLY)
	if err != nil && !slices.ContainsFunc(unlockable, func(e error) bool { return errors.Is(err, e) }) {
		return nil, err
	}
	var held locks
	if err == nil {
		held = locks{d}
	}
	f, err := flock(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return append(held, f), nil
}

func flock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, path)
		}
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	return f, nil
}
