//go:build windows

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ERROR_DISK_FULL and ERROR_HANDLE_DISK_FULL.
var fullErrors = []error{syscall.Errno(112), syscall.Errno(39)}

// lockFolder makes sure that one process has the folder: while the file LOCK is open
// nobody can delete it, and one that can be deleted is what a killed process left.
func lockFolder(dir string) (locks, error) {
	path := filepath.Join(dir, lockName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return locks{f}, nil
}
