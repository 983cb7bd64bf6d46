package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("STORE_TEST_FULL"); dir != "" {
		fillUp(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func mustOpen(t *testing.T, dir string, opt Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustAppend(t *testing.T, s *Store, data ...string) uint64 {
	t.Helper()
	var recs []Record
	for _, d := range data {
		recs = append(recs, Record{1, []byte(d)})
	}
	seq, err := s.Append(recs)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// records returns what a log holds after a number, and checks the numbers.
func records(s *Store, after uint64) (out []string, err error) {
	want := after + 1
	err = s.Replay(context.Background(), after, func(seq uint64, r Record) error {
		if seq != want || r.Op != 1 {
			return fmt.Errorf("record %d of kind %d, want %d of kind 1", seq, r.Op, want)
		}
		want++
		out = append(out, string(r.Data))
		return nil
	})
	return out, err
}

func closed(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLog(t *testing.T) {
	dir := t.TempDir()
	opt := Options{SegmentSize: 200}
	var all []string
	for round := range 4 {
		s := mustOpen(t, dir, opt)
		for i := range 5 {
			one, two := fmt.Sprintf("document %d of round %d", i, round), strings.Repeat("x", i*20)
			if got, want := mustAppend(t, s, one, two), uint64(len(all)+2); got != want {
				t.Fatalf("the last record is %d, want %d", got, want)
			}
			all = append(all, one, two)
		}
		if seq, err := s.Append(nil); err != nil || seq != uint64(len(all)) {
			t.Errorf("nothing appended: %d, %v", seq, err)
		}
		for _, after := range []int{0, 1, 7, len(all) - 1, len(all)} {
			got, err := records(s, uint64(after))
			if err != nil || !slices.Equal(got, all[after:]) {
				t.Errorf("after %d: %d records, %v; want %d", after, len(got), err, len(all)-after)
			}
		}
		var want int64
		files, err := filepath.Glob(filepath.Join(dir, logDir, "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			want += info.Size()
		}
		if size, n := s.LogSize(); size != want || n != len(files) || n < 2 {
			t.Errorf("%d bytes in %d segments, want %d in %d", size, n, want, len(files))
		}
		if _, err := Open(context.Background(), dir, opt); !errors.Is(err, ErrLocked) {
			t.Errorf("opened twice: %v", err)
		}
		closed(t, s)
	}
}

// small makes a log of three segments, the last with two frames, and returns its
// records and the files' contents.
func small(t *testing.T, dir string) (all []string, files map[string][]byte) {
	s := mustOpen(t, dir, Options{SegmentSize: 90})
	for i := range 6 {
		d := fmt.Sprintf("document %d", i)
		mustAppend(t, s, d)
		all = append(all, d)
	}
	closed(t, s)
	files = map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(dir, logDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if files[p], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 4 {
		t.Fatalf("%d files, want three segments and the mark", len(files))
	}
	return all, files
}

func restore(t *testing.T, files map[string][]byte) {
	t.Helper()
	for p, b := range files {
		if err := os.WriteFile(p, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Whichever byte is changed, and wherever the last segment is cut: all records
// come back, or the damage is told. Where the mark does not hold the last
// record, it may be gone.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	all, files := small(t, dir)
	var paths []string
	for p := range files {
		if strings.HasSuffix(p, ".seg") {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	mark := filepath.Join(dir, logDir, commitName)
	last := paths[len(paths)-1]
	lastFrame := len(files[last]) - frameHeader - 2 - len(all[0])
	try := func(what string, mayLose bool) {
		t.Helper()
		s, err := Open(context.Background(), dir, Options{})
		var bad *CorruptError
		switch {
		case errors.As(err, &bad):
			if mayLose {
				t.Errorf("%s: %v", what, err)
			}
		case err != nil:
			t.Errorf("%s: %v", what, err)
		default:
			want := all
			if mayLose {
				want = all[:len(all)-1]
			}
			got, err := records(s, 0)
			if errors.As(err, &bad) && !mayLose { // the first segment is missing
				closed(t, s)
				break
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v; want %q", what, got, err, want)
			}
			next := mustAppend(t, s, "another")
			closed(t, s)
			s = mustOpen(t, dir, Options{})
			if got, err := records(s, next-1); err != nil || !slices.Equal(got, []string{"another"}) {
				t.Errorf("%s: after it %q, %v", what, got, err)
			}
			closed(t, s)
		}
		if err := os.Remove(last); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		restore(t, files)
	}
	write := func(p string, b []byte) {
		if err := os.WriteFile(p, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	step := 3
	if testing.Short() {
		step = 11
	}
	for _, p := range paths {
		for i := 0; i < len(files[p]); i += step {
			b := slices.Clone(files[p])
			b[i] ^= 0x40
			write(p, b)
			try(fmt.Sprintf("%s, byte %d changed", filepath.Base(p), i), false)
			// Without the mark the last frame cannot be told from one that was
			// being written, all others can.
			write(p, b)
			write(mark, nil)
			try(fmt.Sprintf("%s, byte %d changed, no mark", filepath.Base(p), i), p == last && i >= lastFrame)
		}
	}
	for n := 0; n < len(files[last]); n += step {
		write(last, files[last][:n])
		try(fmt.Sprintf("cut at %d", n), false)
		if n >= lastFrame {
			write(last, files[last][:n])
			write(mark, nil)
			try(fmt.Sprintf("cut at %d, no mark", n), true)
		}
	}
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
		try(filepath.Base(p)+" missing", false)
	}
	b := slices.Clone(files[mark])
	b[3] ^= 1
	write(mark, b)
	try("mark damaged", false) // it opens: nothing is lost
}

// A frame that was being written when the process was killed is cut off, wherever
// it broke off, and so is the header of a new segment.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	all, files := small(t, dir)
	s := mustOpen(t, dir, Options{})
	mustAppend(t, s, "unfinished")
	closed(t, s)
	seg := filepath.Join(dir, logDir, fmt.Sprintf("%020d.seg", 5))
	whole, err := os.ReadFile(seg)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(files[seg]); n < len(whole); n++ {
		restore(t, files)
		if err := os.WriteFile(seg, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, Options{})
		if got, err := records(s, 0); err != nil || !slices.Equal(got, all) {
			t.Errorf("broken off at %d: %q, %v", n, got, err)
		}
		closed(t, s)
	}
	restore(t, files)
	for n := range segmentHeader + 1 {
		next := filepath.Join(dir, logDir, fmt.Sprintf("%020d.seg", 7))
		if err := os.WriteFile(next, []byte("JSMFLOG1 and something else")[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, dir, Options{SegmentSize: 1})
		if seq := mustAppend(t, s, "next"); seq != 7 {
			t.Errorf("record %d, want 7", seq)
		}
		if got, err := records(s, 0); err != nil || !slices.Equal(got, append(slices.Clone(all), "next")) {
			t.Errorf("header broken off at %d: %q, %v", n, got, err)
		}
		closed(t, s)
		if err := os.Remove(next); err != nil {
			t.Fatal(err)
		}
		restore(t, files)
	}
}

func model(t *testing.T, k int) *jsmf.Model {
	t.Helper()
	ctx := context.Background()
	c, err := corpus.ReadUCI(ctx, testutil.Path("synth", "docword.synth.txt.gz"), testutil.Path("synth", "vocab.synth.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{StopWords: testutil.Lines(t, "synth", "synth.stops"), Words: 200}); err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.Published(k).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func modelBytes(t *testing.T, m *jsmf.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestModels(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	opt := Options{KeepModels: 2}
	s := mustOpen(t, dir, opt)
	if _, ok, err := s.LoadModel(ctx); ok || err != nil {
		t.Fatalf("a model in an empty store: %v, %v", ok, err)
	}
	m := model(t, 3)
	for v := 1; v <= 3; v++ {
		saved, err := s.SaveModel(m)
		if err != nil || saved.Version != v {
			t.Fatalf("saved as version %d, %v; want %d", saved.Version, err, v)
		}
	}
	closed(t, s)
	paths := func() []string {
		p, err := filepath.Glob(filepath.Join(dir, modelDir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := paths(); len(p) != 2 || !strings.Contains(p[0], "00000002-") {
		t.Fatalf("two models are to be kept, there are %q", p)
	}
	// What a kill while saving leaves.
	if err := os.WriteFile(filepath.Join(dir, modelDir, ".123.tmp"), []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(paths()[1])
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string][]byte{
		"cut":     good[:len(good)/2],
		"empty":   {},
		"more":    append(slices.Clone(good), 0),
		"changed": append(append(slices.Clone(good[:100]), good[100]^1), good[101:]...),
	}
	version := 3
	for what, b := range damages {
		s = mustOpen(t, dir, opt)
		if p := paths(); slices.ContainsFunc(p, func(p string) bool { return strings.HasSuffix(p, ".tmp") }) {
			t.Errorf("unfinished files are left: %q", p)
		}
		p := filepath.Join(dir, modelDir)
		files, err := list(p, modelSuffix)
		if err != nil {
			t.Fatal(err)
		}
		newest := files[0]
		if err := os.WriteFile(newest.path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.LoadModel(ctx)
		if err != nil || !ok || got.Version >= version {
			t.Fatalf("%s: version %d, %v, %v; want one before %d", what, got.Version, ok, err, version)
		}
		if !bytes.Equal(modelBytes(t, got.Model), modelBytes(t, m)) {
			t.Errorf("%s: another model than was saved", what)
		}
		if b2, err := os.ReadFile(newest.path + asideSuffix); err != nil || !bytes.Equal(b2, b) {
			t.Errorf("%s: the damaged file is not kept: %v", what, err)
		}
		closed(t, s)
		s = mustOpen(t, dir, opt)
		saved, err := s.SaveModel(m)
		if err != nil || saved.Version != version+1 {
			t.Fatalf("%s: the next version is %d, %v; want %d", what, saved.Version, err, version+1)
		}
		version++
		closed(t, s)
	}
}

func TestSnapshots(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	opt := Options{SegmentSize: 90}
	s := mustOpen(t, dir, opt)
	var state []string
	save := func() {
		t.Helper()
		err := s.SaveSnapshot(s.Last(), func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(state, "\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	load := func() (seq uint64) {
		t.Helper()
		seq, err := s.LoadSnapshot(ctx, func(r io.Reader) error {
			b, err := io.ReadAll(r)
			state = strings.Split(string(b), "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		rest, err := records(s, seq)
		if err != nil {
			t.Fatal(err)
		}
		if seq == 0 {
			state = nil
		}
		state = append(state, rest...)
		return seq
	}
	var all []string
	for i := range 12 {
		d := fmt.Sprintf("document %d", i)
		mustAppend(t, s, d)
		all, state = append(all, d), append(state, d)
		if i%4 == 3 {
			save()
		}
	}
	if _, n := s.LogSize(); n != 2 {
		t.Errorf("%d segments, want those after record 8 only", n)
	}
	if _, err := records(s, 2); !errors.As(err, new(*CorruptError)) {
		t.Errorf("records that were deleted: %v", err)
	}
	mustAppend(t, s, "last")
	all = append(all, "last")
	for _, want := range []uint64{12, 8} {
		closed(t, s)
		s = mustOpen(t, dir, opt)
		if seq := load(); seq != want || !slices.Equal(state, all) {
			t.Fatalf("from snapshot %d, want %d: %q", seq, want, state)
		}
		files, err := list(filepath.Join(dir, snapshotDir), snapshotSuffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.number == want {
				if err := os.WriteFile(f.path, []byte("damaged"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// What is as it was written and cannot be read is an error, not damage.
	save()
	wrong := errors.New("of a later version")
	if _, err := s.LoadSnapshot(ctx, func(io.Reader) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("a snapshot that cannot be read: %v", err)
	}
	if seq := load(); seq != 13 {
		t.Errorf("it was set aside: the newest is %d", seq)
	}
	if err := os.WriteFile(newestSnapshot(t, dir), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	// All snapshots are damaged, and the log no longer has everything: that is
	// said.
	seq, err := s.LoadSnapshot(ctx, func(io.Reader) error { return nil })
	if seq != 0 || err != nil {
		t.Fatalf("snapshot %d, %v", seq, err)
	}
	if _, err := records(s, seq); !errors.As(err, new(*CorruptError)) {
		t.Errorf("lost records: %v", err)
	}
	closed(t, s)
}

func newestSnapshot(t *testing.T, dir string) string {
	t.Helper()
	files, err := list(filepath.Join(dir, snapshotDir), snapshotSuffix)
	if err != nil || len(files) == 0 || files[0].aside {
		t.Fatalf("no snapshot: %v", err)
	}
	return files[0].path
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{SegmentSize: -1}, {KeepModels: -1}, {KeepSnapshots: -1}} {
		if _, err := Open(context.Background(), t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "negative") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	small(t, dir)
	cancel()
	if _, err := Open(ctx, dir, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
