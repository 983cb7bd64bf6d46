package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// carrying is a fit that keeps numbers of the documents. It merges topics after pass 6.
func carrying() jsmf.Pipeline {
	return jsmf.New(6).Words(150).Refine(refine.Batch{N: 8, Carry: true, Correlated: 3})
}

// fitInput is what a driver fits to.
type fitInput struct {
	Paths  []string
	Format Format
}

// carried makes documents for carrying, and the file of the model that one machine fits to
// them.
func carried(t *testing.T, shards int) (in fitInput, want []byte) {
	t.Helper()
	c := drawn(400)
	in.Paths, in.Format = uciShards(t, c, shards)
	m, err := Fit(context.Background(), carrying(), in.Paths, options(t, in.Format))
	if err != nil {
		t.Fatal(err)
	}
	return in, bytesOf(t, m)
}

// leftIn lists what plans have left of documents in a state folder.
func leftIn(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, filePrefix+"left-*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func fitAsDriver(ctx context.Context, folder string, input []byte) error {
	var in fitInput
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	m, err := Fit(ctx, carrying(), in.Paths, Options{Format: in.Format, State: folder, Runner: Runner{Shares: 2}})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return err
	}
	fmt.Println(hashOfFile(b.Bytes()))
	return nil
}

func hashOfFile(b []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(b, castagnoli)) }

// Where a try of a job fails, the next one goes on from what the plan before has left, and leaves
// the same. So does a fit that failed, when it is run again.
func TestLeftRetried(t *testing.T) {
	in, want := carried(t, 3)
	for _, tries := range []int{1, 3} {
		failed := 0
		for n := 25; n < 75; n += 13 {
			f := setFault(t, fmt.Sprintf("write:%d:panic", n))
			o := Options{Format: in.Format, State: faultScheme + "://" + t.TempDir(), Runner: Runner{Tries: tries}}
			m, err := fitWhole(o, in)
			if err != nil {
				failed++
				m, err = fitWhole(o, in)
			}
			if err != nil || !bytes.Equal(bytesOf(t, m), want) {
				t.Errorf("%d tries, file %d: another model: %v", tries, n, err)
			}
			if f.writes.Load() < int64(n) {
				t.Errorf("%d files were written, none failed", f.writes.Load())
			}
		}
		if tries == 1 && failed < 2 {
			t.Errorf("%d fits failed, want more", failed)
		}
	}
}

// fitWhole fits, and makes an error of a panic of the driver.
func fitWhole(o Options, in fitInput) (m *jsmf.Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return Fit(context.Background(), carrying(), in.Paths, o)
}

// What passes leave is removed when the next has its sum. Where it is gone too early, the
// passes are made again.
func TestLeftLost(t *testing.T) {
	in, want := carried(t, 3)
	lost := 0
	const none = 99
	for _, after := range []int{2, 6, 9, none} { // passes
		o := options(t, in.Format)
		ctx, cancel := context.WithCancel(context.Background())
		p := carrying().Record(func(e jsmf.Event) {
			if e.Stage == jsmf.StageRefine && e.Kind == jsmf.EventProgress && e.Done == after {
				cancel()
			}
		})
		_, err := Fit(ctx, p, in.Paths, o)
		if after != none && !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d passes: %v", after, err)
		}
		cancel()
		left := leftIn(t, o.State)
		if after == none && len(left) > 0 {
			t.Errorf("%d files are left of the documents", len(left))
		}
		for _, path := range left {
			lost++
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		m, err := Fit(context.Background(), carrying(), in.Paths, o)
		if err != nil || !bytes.Equal(bytesOf(t, m), want) {
			t.Errorf("after %d passes: another model: %v", after, err)
		}
		if left := leftIn(t, o.State); len(left) > 0 {
			t.Errorf("after %d passes: %d files are left of the documents", after, len(left))
		}
	}
	if lost < 3 {
		t.Errorf("%d files were lost, want more", lost)
	}
}

// A driver that is killed in the middle of passes goes on with what they have left.
func TestLeftKilled(t *testing.T) {
	in, want := carried(t, 2)
	list, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for i, n := range []int{33, 41, 54, 62} {
		dir := t.TempDir()
		write(t, dir, driverFit, string(list))
		folder, how := faultScheme+"://"+dir, []string{"torn", "kill"}[i%2]
		_, err := runDriver(t, folder, fmt.Sprintf("%s=write:%d:%s", faultVar, n, how))
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == -1 {
			killed++
		} else if err != nil {
			t.Fatalf("%s at file %d: %v, want a killed process", how, n, err)
		}
		got, err := runDriver(t, folder)
		if err != nil || got != hashOfFile(want) {
			t.Errorf("%s at file %d: the second run says %q, %v", how, n, got, err)
		}
	}
	if killed < 3 {
		t.Errorf("%d drivers were killed, want more", killed)
	}
}
