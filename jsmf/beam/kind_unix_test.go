//go:build unix

package beam

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
)

// TestPipes: a pipe among the shards or in the state folder is an error with its name, and
// nothing waits for it.
func TestPipes(t *testing.T) {
	const want = "is a pipe, not a regular file"
	pipe := func(t *testing.T, path string) {
		t.Helper()
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("shard", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		pipe(t, path)
		for _, pattern := range []string{path, filepath.Join(filepath.Dir(path), "*.jsonl")} {
			_, err := Fit(t.Context(), jsmf.New(2).Refine(nil), []string{pattern}, options(t, Format{}))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: error %v; want %s and %q", pattern, err, path, want)
			}
		}
		// One that has become a pipe since it was listed.
		if _, err := shardFile(t.Context(), path).Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("opening: error %v; want %q", err, want)
		}
	})
	t.Run("manifest", func(t *testing.T) {
		folder := t.TempDir()
		path := filepath.Join(folder, manifestPrefix+"00000002-x")
		pipe(t, path)
		if _, err := openState(t.Context(), folder); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v; want %s and %q", err, path, want)
		}
	})
	t.Run("sum", func(t *testing.T) {
		st := openedState(t, t.TempDir())
		path := joinPath(st.folder, filePrefix+"sum-x")
		pipe(t, path)
		if err := st.publish(t.Context(), "sum", []file{{Name: filepath.Base(path)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := readPath(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reading: error %v; want %q", err, want)
		}
		if _, _, err := writePath(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("writing: error %v; want %q", err, want)
		}
	})
}
