//go:build unix

package regular

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whatever is no regular file is refused at once, to read and to write, with its path and
// its kind; links to regular files are followed.
func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink(at("file"), at("link")),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink(at("pipe"), at("link to a pipe")), os.Mkdir(at("folder"), 0o700), os.Symlink(os.DevNull, at("device"))); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"file": "", "link": "", "pipe": "a pipe", "link to a pipe": "a pipe", "folder": "a folder", "device": "a device", "socket": "a socket"} {
		for what, flag := range map[string]int{"to read": os.O_RDONLY, "to write": os.O_WRONLY, "for both": os.O_RDWR | os.O_CREATE} {
			t.Run(name+" "+what, func(t *testing.T) {
				f, err := OpenFile(at(name), flag, 0o600)
				if kind != "" {
					var pe *fs.PathError
					if !errors.As(err, &pe) || pe.Path != at(name) || !strings.Contains(err.Error(), kind+", not a regular file") {
						t.Fatalf("%v; want the path and %q", err, kind)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if flag != os.O_WRONLY {
					if b, err := io.ReadAll(f); string(b) != "text" || err != nil {
						t.Errorf("%q, %v; want the text", b, err)
					}
				}
			})
		}
	}
	if _, err := Open(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v; want fs.ErrNotExist", err)
	}
}
