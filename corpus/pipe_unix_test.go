//go:build unix

package corpus_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// TestPipe: a pipe or a device is an error with its name, wherever a file is expected, and
// nothing waits for what comes out of it.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "device"))); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"pipe", "device"} {
		path := filepath.Join(dir, kind)
		for name, in := range map[string]corpus.File{"path": {Name: path}, "file system": {Name: kind, FS: os.DirFS(dir)}} {
			t.Run(kind+" by "+name, func(t *testing.T) {
				_, err := corpus.Read(t.Context(), corpus.Lines{In: in})
				if err == nil || !strings.Contains(err.Error(), in.Name) || !strings.Contains(err.Error(), "is a "+kind+", not a regular file") {
					t.Errorf("error %v; want %s and its kind", err, in.Name)
				}
			})
		}
		if _, err := corpus.ReadStopWords(t.Context(), corpus.File{Name: path}); err == nil || !strings.Contains(err.Error(), "is a "+kind) {
			t.Errorf("stop words from a %s: error %v; want one that says so", kind, err)
		}
	}
}
