//go:build windows

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ERROR_DISK_FULL and ERROR_HANDLE_DISK_FULL.
var fullErrors = []error{syscall.Errno(112), syscall.Errno(39)}

// lockFile makes sure that one process has the folder: while it is open the file
// cannot be deleted, and a file that can is what a killed process left.
func lockFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return f, nil
}
