package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/internal/sums"
)

// Files that a test gives the driver it starts, in its state folder.
const (
	driverPlan   = "plan"
	driverPieces = "pieces"
)

// driverMain is a program that adds up a plan over pieces and prints the sum's hash.
func driverMain() {
	ctx, folder := context.Background(), os.Getenv("JSMF_BEAM_TEST_FOLDER")
	err := func() error {
		body, err := os.ReadFile(filepath.Join(inside(folder), driverPlan))
		if err != nil {
			return err
		}
		plan, err := sums.ReadPlan(body)
		if err != nil {
			return err
		}
		list, err := os.ReadFile(filepath.Join(inside(folder), driverPieces))
		if err != nil {
			return err
		}
		var pieces []file
		if err := json.Unmarshal(list, &pieces); err != nil {
			return err
		}
		st, err := openState(ctx, folder)
		if err != nil {
			return err
		}
		sum, err := st.sum(ctx, Runner{Shares: 2}, "all", pieces, plan)
		if err != nil {
			return err
		}
		fmt.Println(hashOf(sum))
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func hashOf(sum []int64) string {
	return fmt.Sprintf("%08x of %d", crc32.Checksum(pack(nil, sum), castagnoli), len(sum))
}

// testFolder makes a state folder with pieces of documents and a plan for a driver.
func testFolder(t *testing.T, all docs, plan sums.Plan, n int) (folder string, pieces []file) {
	t.Helper()
	dir := t.TempDir()
	folder = faultScheme + "://" + dir
	pieces = testPieces(t, dir, all, n)
	list, err := json.Marshal(pieces)
	if err != nil {
		t.Fatal(err)
	}
	body, err := plan.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{driverPlan: body, driverPieces: list} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, pieces
}

// runDriver runs the driver as a process and returns what it prints.
func runDriver(t *testing.T, folder string, env ...string) (string, error) {
	t.Helper()
	return runProcess(t, "driver", folder, env...)
}

// runProcess runs the test binary in a role, with a state folder, and returns what it prints.
func runProcess(t *testing.T, role, folder string, env ...string) (string, error) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleVar+"="+role, "JSMF_BEAM_TEST_FOLDER="+folder), env...)
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, log.Bytes())
	}
	return strings.TrimSpace(out.String()), err
}

// TestKilledDriver kills the driver within and after each file that it or its workers write,
// and runs it again.
func TestKilledDriver(t *testing.T) {
	all := generate(500)
	plan, want := testPlan(t, all)
	for _, how := range []string{"torn", "kill"} {
		killed := 0
		for n := 1; ; n++ {
			folder, _ := testFolder(t, all, plan, 3)
			got, err := runDriver(t, folder, fmt.Sprintf("%s=write:%d:%s", faultVar, n, how))
			if err == nil { // it writes fewer files
				if got != hashOf(want) {
					t.Errorf("%s at file %d: sum %s, want %s", how, n, got, hashOf(want))
				}
				break
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != -1 {
				t.Fatalf("%s at file %d: %v, want a killed process", how, n, err)
			}
			killed++
			got, err = runDriver(t, folder)
			if err != nil || got != hashOf(want) {
				t.Fatalf("%s at file %d: the second run says %q, %v, want %s", how, n, got, err, hashOf(want))
			}
		}
		if killed < 6 { // manifest, plan, two stripes, index, manifest
			t.Errorf("%s: killed at %d files, want 6 or more", how, killed)
		}
	}
}

// TestPanic: a panic on a worker is an error that says where, in a DoFn's own goroutines and
// in those of Beam.
func TestPanic(t *testing.T) {
	all := generate(100)
	plan, _ := testPlan(t, all)
	for fault, want := range map[string][]string{
		"read:piece:panic": {"sum", "jsmf-piece-", "panic: the disk is on fire"},
		"write:3:panic":    {"sum", "panic: the disk is full"},
	} {
		folder, pieces := testFolder(t, all, plan, 3)
		setFault(t, fault)
		st := openedState(t, folder)
		_, err := st.sum(t.Context(), Runner{Tries: 1}, "all", pieces, plan)
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: error %v, want one with %q", fault, err, text)
			}
		}
		var full *jobError
		if strings.Contains(err.Error(), "\n") || !errors.As(err, &full) || !strings.Contains(full.err.Error(), "faultFS") {
			t.Errorf("%s: error %v, want one of a line with the stack in the error it wraps", fault, err)
		}
	}
	if len(cores) != 0 {
		t.Errorf("%d places of the gate are not given back", len(cores))
	}
}

// TestWorkerExits: a worker process that ends is an error, and the next run is whole.
func TestWorkerExits(t *testing.T) {
	all := generate(100)
	plan, want := testPlan(t, all)
	folder, pieces := testFolder(t, all, plan, 3)
	st := openedState(t, folder)
	for i := range 5 { // Prism notices in different ways
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			workerProcesses(t, map[string]string{faultVar: "read:piece:exit"})
			_, err := st.sum(t.Context(), Runner{Timeout: patience, Tries: 1}, "all", pieces, plan)
			if err == nil || !strings.Contains(err.Error(), "worker") || errors.Is(err, errDeadline) {
				t.Errorf("error %v, want one about the worker", err)
			}
		})
	}
	workerProcesses(t, nil)
	got, err := st.sum(t.Context(), Runner{}, "all", pieces, plan)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestDeadline: a job whose worker does nothing ends at its deadline.
func TestDeadline(t *testing.T) {
	all := generate(100)
	plan, _ := testPlan(t, all)
	folder, pieces := testFolder(t, all, plan, 3)
	st := openedState(t, folder)
	workerProcesses(t, map[string]string{roleVar: "idle"}) // which does not connect
	_, err := st.sum(t.Context(), Runner{Timeout: time.Second, Tries: 1}, "all", pieces, plan)
	if !errors.Is(err, errDeadline) {
		t.Errorf("error %v, want %v", err, errDeadline)
	}
}

// TestCancel: the end of ctx ends a job at once.
func TestCancel(t *testing.T) {
	all := generate(100)
	plan, _ := testPlan(t, all)
	folder, pieces := testFolder(t, all, plan, 3)
	st := openedState(t, folder)
	stuck := setFault(t, "read:piece:hang")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		<-stuck.happened
		cancel(enough)
	}()
	if _, err := st.sum(ctx, Runner{}, "all", pieces, plan); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
}

// TestDamage: a piece that is cut off, changed or gone is an error that names it. A stripe of
// a result is computed again, and a manifest that is not whole does not count.
func TestDamage(t *testing.T) {
	all := generate(100)
	plan, want := testPlan(t, all)
	damages := map[string]func(path string) error{
		"cut off": func(path string) error { return os.Truncate(path, 50) },
		"gone":    os.Remove,
		"changed": func(path string) error {
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)/2] ^= 4
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		},
	}
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			folder, pieces := testFolder(t, all, plan, 3)
			open := func() *state {
				st := openedState(t, folder)
				return st
			}
			sum := func() {
				t.Helper()
				got, err := open().sum(t.Context(), Runner{}, "all", pieces, plan)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("sum: %v", err)
				}
			}
			hit := func(pattern string) {
				t.Helper()
				paths, err := filepath.Glob(filepath.Join(inside(folder), pattern))
				if err != nil || len(paths) == 0 {
					t.Fatalf("%s: %v", pattern, err)
				}
				if err := damage(paths[len(paths)-1]); err != nil {
					t.Fatal(err)
				}
			}
			sum()
			hit("jsmf-sum-*")
			sum()
			hit("manifest-*")
			sum()
			piece := filepath.Base(pieces[1].Name)
			hit(piece)
			sum() // which is known
			st := open()
			st.forget(slices.Collect(func(yield func(string) bool) {
				for key := range st.done {
					if !yield(key) {
						return
					}
				}
			})[0])
			_, err := st.sum(t.Context(), Runner{Tries: 1}, "all", pieces, plan)
			if err == nil || !strings.Contains(err.Error(), piece) {
				t.Errorf("error %v, want one that names %s", err, piece)
			}
		})
	}
}

// TestTwoDrivers: of two drivers in one folder one gets an error, and none a wrong sum.
func TestTwoDrivers(t *testing.T) {
	all := generate(100)
	plan, want := testPlan(t, all)
	folder, pieces := testFolder(t, all, plan, 3)
	first := openedState(t, folder)
	second := openedState(t, folder)
	got, err := second.sum(t.Context(), Runner{}, "all", pieces, plan)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the second driver: %v", err)
	}
	if _, err := first.sum(t.Context(), Runner{}, "all", pieces, plan); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("the first driver: %v, want an error about the other", err)
	}
}

// TestClean: what is not kept is removed, and nothing else.
func TestClean(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	st := openedState(t, dir)
	write := func(text string) file {
		f, err := writeFile(ctx, dir, "test", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	kept, dropped := write("kept"), write("dropped")
	write("of no key")
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, f := range map[string]file{"kept": kept, "dropped": dropped} {
		if err := st.publish(ctx, key, []file{f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.clean(ctx, "kept"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	left = slices.DeleteFunc(left, func(p string) bool { return strings.Contains(p, manifestPrefix) })
	if want := []string{joinPath(dir, kept.Name), joinPath(dir, "mine")}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	again := openedState(t, dir)
	if files, ok, err := again.lookup(ctx, "kept"); err != nil || !ok || len(files) != 1 {
		t.Errorf("kept: %v, %v, %v", files, ok, err)
	}
	if _, ok, _ := again.lookup(ctx, "dropped"); ok {
		t.Error("dropped is there")
	}
}
