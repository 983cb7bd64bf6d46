//go:build unix && !solaris && !aix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

var fullErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// lockFile makes sure that one process has the folder. The kernel lets go of the
// lock when the process ends, however it does.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
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
