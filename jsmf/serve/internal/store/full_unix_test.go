//go:build unix

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fillUp runs in a process of its own, whose files may have 20 kB each. It prints
// the records that were acknowledged.
func fillUp(dir string) {
	fail := func(err error) {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
	limit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 40}); err != nil {
			fail(err)
		}
	}
	limit(20_000)
	s, err := Open(context.Background(), dir, Options{SegmentSize: 1 << 30})
	if err != nil {
		fail(err)
	}
	full := 0
	for i := 0; full < 5; i++ {
		d := fmt.Sprintf("document %d %s", i, strings.Repeat("x", 300+i%1000))
		switch _, err := s.Append([]Record{{1, []byte(d)}}); {
		case err == nil:
			fmt.Println(d)
		case !IsFull(err):
			fail(fmt.Errorf("not told as a full disk: %w", err))
		default:
			full++
		}
	}
	// Neither does a snapshot fit; it leaves nothing.
	err = s.SaveSnapshot(s.Last(), func(w io.Writer) error {
		_, err := w.Write(make([]byte, 30_000))
		return err
	})
	if !IsFull(err) {
		fail(fmt.Errorf("snapshot: %w", err))
	}
	limit(1 << 30)
	if _, err := s.Append([]Record{{1, []byte("room again")}}); err != nil {
		fail(err)
	}
	fmt.Println("room again")
	os.Exit(0) // without closing
}

func TestFull(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_FULL="+dir)
	out, err := cmd.Output()
	if err != nil || bytes.Contains(out, []byte("FAIL")) {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	s := mustOpen(t, dir, Options{})
	defer closed(t, s)
	got, err := records(s, 0)
	if err != nil || !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("%d records, %v; %d were acknowledged", len(got), err, len(want))
	}
	names, err := os.ReadDir(dir + "/" + snapshotDir)
	if err != nil || len(names) != 0 {
		t.Errorf("left of a snapshot: %v, %v", names, err)
	}
	if IsFull(nil) || IsFull(errors.New("x")) {
		t.Error("any error is taken for a full disk")
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-1000):] }
