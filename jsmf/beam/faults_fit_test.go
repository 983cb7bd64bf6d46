package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// killedFit is the fit of these tests.
func killedFit() jsmf.Pipeline { return jsmf.New(6).Words(150).Refine(refine.Batch{N: 4}) }

// fitterMain is a program that fits to the shards of a folder and prints the model's hash.
func fitterMain() {
	folder := os.Getenv("JSMF_BEAM_TEST_FOLDER")
	err := func() error {
		shards, err := filepath.Glob(filepath.Join(inside(folder), "part-*"))
		if err != nil {
			return err
		}
		o := Options{Format: Format{Lines: UCILines, Vocabulary: filepath.Join(inside(folder), "vocab")}, State: folder}
		m, err := Fit(context.Background(), killedFit(), shards, o)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			return err
		}
		fmt.Println(hashOfModel(b.Bytes()))
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func hashOfModel(b []byte) string {
	return fmt.Sprintf("%08x of %d", crc32.Checksum(b, castagnoli), len(b))
}

// fitFolder makes a state folder with shards of documents, and returns the hash of their
// model.
func fitFolder(t *testing.T, shards int) (folder, want string) {
	t.Helper()
	paths, f := uciShards(t, drawn(800), shards)
	m, err := Fit(t.Context(), killedFit(), paths, options(t, f))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, path := range append(slices.Clone(paths), f.Vocabulary) {
		name := filepath.Base(path)
		if path == f.Vocabulary {
			name = "vocab"
		}
		write(t, dir, name, readText(t, path))
	}
	return faultScheme + "://" + dir, hashOfModel(bytesOf(t, m))
}

// TestKilledFit kills a fit within or after the n-th file that it writes, for every ninth n, and
// runs it again: killed are encoding, numbering, census, second moments and passes.
func TestKilledFit(t *testing.T) {
	from, want := fitFolder(t, 3)
	killed := make(map[string]int) // by what was done before
	for n := 1; ; n += 9 {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(inside(from))); err != nil {
			t.Fatal(err)
		}
		folder, how := faultScheme+"://"+dir, []string{"torn", "kill"}[n%2]
		got, err := runProcess(t, "fitter", folder, fmt.Sprintf("%s=write:%d:%s", faultVar, n, how))
		if err == nil { // it writes fewer files
			if got != want {
				t.Errorf("model %s, want %s", got, want)
			}
			break
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != -1 {
			t.Fatalf("%s at file %d: %v, want a killed process", how, n, err)
		}
		st := openedState(t, dir)
		done := make(map[string]int)
		for key := range st.done {
			kind, _, _ := strings.Cut(key, "-")
			done[kind]++
		}
		killed[fmt.Sprint(done)]++
		if got, err = runProcess(t, "fitter", folder); err != nil || got != want {
			t.Fatalf("%s at file %d: the second run says %q, %v, want %s", how, n, got, err, want)
		}
	}
	sums := 0
	for done := range killed {
		if strings.HasPrefix(done, "map[number:1 sum:") {
			sums++
		}
	}
	if killed["map[]"] == 0 || killed["map[encode:1]"] == 0 || sums < 5 {
		t.Errorf("runs were killed with %v done; want some in encoding, after it, and with five numbers of sums or more", killed)
	}
}

// TestFitPlaces: a model is the same with Prism as a process, and with processes as workers.
func TestFitPlaces(t *testing.T) {
	paths, f := uciShards(t, drawn(800), 4)
	m, err := Fit(t.Context(), killedFit(), paths, options(t, f))
	if err != nil {
		t.Fatal(err)
	}
	want := bytesOf(t, m)
	t.Run("loopback", func(t *testing.T) {
		setFlag(t, "endpoint", startPrism(t))
		setFlag(t, "environment_type", "LOOPBACK")
		sameModel(t, killedFit(), paths, f, want)
	})
	t.Run("processes", func(t *testing.T) {
		setFlag(t, "endpoint", startPrism(t))
		workerProcesses(t, nil)
		sameModel(t, killedFit(), paths, f, want)
	})
}

// TestShardVanishes: a shard that is gone once its name is known is an error that names it. When
// it is back the same call goes on.
func TestShardVanishes(t *testing.T) {
	folder, want := fitFolder(t, 3)
	shards, err := filepath.Glob(filepath.Join(inside(folder), "part-*"))
	if err != nil || len(shards) != 3 {
		t.Fatal(shards, err)
	}
	o := Options{Format: Format{Lines: UCILines, Vocabulary: filepath.Join(inside(folder), "vocab")}, State: folder, Runner: Runner{Tries: 1}}
	o.Record = func(e jsmf.Event) {
		if e.Stage == StageEncode && e.Kind == jsmf.EventStart {
			if err := os.Rename(shards[1], shards[1]+".gone"); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := Fit(t.Context(), killedFit(), shards, o); err == nil || !strings.Contains(err.Error(), shards[1]) {
		t.Fatalf("error %v, want one that names %s", err, shards[1])
	}
	if err := os.Rename(shards[1]+".gone", shards[1]); err != nil {
		t.Fatal(err)
	}
	o.Record = nil
	m, err := Fit(t.Context(), killedFit(), shards, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := hashOfModel(bytesOf(t, m)); got != want {
		t.Errorf("model %s, want %s", got, want)
	}
}
