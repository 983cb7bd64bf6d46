// Package regular opens regular files, and nothing else: to open or to read a named pipe or
// a device can take for ever, and no context ends it.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a regular file to read it.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile opens a regular file, as os.OpenFile does. Symbolic links are followed. Anything
// else is an error at once, an *fs.PathError that says what the path is.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonblock, perm)
	if err != nil {
		if info, serr := os.Stat(path); serr == nil && !errors.Is(err, fs.ErrPermission) {
			if kerr := Check(path, info); kerr != nil {
				err = kerr // a pipe that nobody reads, a socket, a folder to write to
			}
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check returns the error of OpenFile if info is not of a regular file.
func Check(path string, info fs.FileInfo) error {
	kind := "something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("is " + kind + ", not a regular file")}
}
