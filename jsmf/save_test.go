package jsmf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// onlyFiles fails unless dir holds just the named files: no temporary one.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, want %q", got, names)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsmf")
	p, _ := randomParts(40, 3, 1)
	for i, m := range []*Model{mustModel(t, tinyParts()), mustModel(t, p)} { // the second replaces the first
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		onlyFiles(t, dir, "a.jsmf")
		got, err := LoadModel(path)
		if err != nil {
			t.Fatal(err)
		}
		if file := encoded(t, m); !bytes.Equal(encoded(t, got), file) || content(t, path) != string(file) {
			t.Errorf("model %d: the file differs", i)
		}
	}
}

func TestSaveInWorkingFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := mustModel(t, tinyParts()).Save("b.jsmf"); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, "b.jsmf")
	if _, err := LoadModel("b.jsmf"); err != nil {
		t.Fatal(err)
	}
}

func TestSaveKeepsPermissionBits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := t.TempDir()
	m := mustModel(t, tinyParts())
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	// The umask, as the system itself applies it.
	plain := filepath.Join(dir, "plain")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	fresh := filepath.Join(dir, "fresh")
	if err := m.Save(fresh); err != nil {
		t.Fatal(err)
	}
	if mode(fresh) != mode(plain) {
		t.Errorf("a new file has %v, want %v", mode(fresh), mode(plain))
	}
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o444} {
		if err := os.Chmod(fresh, want); err != nil {
			t.Fatal(err)
		}
		if err := m.Save(fresh); err != nil {
			t.Fatal(err)
		}
		if mode(fresh) != want {
			t.Errorf("a file with %v has %v after saving", want, mode(fresh))
		}
	}
}

func symlink(t *testing.T, old, name string) {
	t.Helper()
	if err := os.Symlink(old, name); err != nil {
		t.Skipf("skipped: no symbolic links here: %v", err)
	}
}

func TestSaveFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(sub, "real"), "old")
	symlink(t, filepath.Join("sub", "real"), filepath.Join(dir, "relative"))
	symlink(t, filepath.Join(sub, "real"), filepath.Join(dir, "absolute"))
	symlink(t, "relative", filepath.Join(dir, "twice"))
	symlink(t, filepath.Join("sub", "missing"), filepath.Join(dir, "dangling"))
	symlink(t, "loop", filepath.Join(dir, "loop"))
	m := mustModel(t, tinyParts())
	for _, c := range []struct{ link, target string }{
		{"relative", "real"}, {"absolute", "real"}, {"twice", "real"},
	} {
		put(t, filepath.Join(sub, "real"), "old")
		link := filepath.Join(dir, c.link)
		if err := m.Save(link); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is a link no more: %v, %v", c.link, info, err)
		}
		if content(t, filepath.Join(sub, c.target)) != string(encoded(t, m)) {
			t.Errorf("%s: the target was not written", c.link)
		}
	}
	for link, want := range map[string]string{"loop": "too many links", "dangling": "is a link to a file that is not there"} {
		if err := m.Save(filepath.Join(dir, link)); err == nil || !strings.Contains(err.Error(), link+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", link, err)
		}
	}
	onlyFiles(t, dir, "absolute", "dangling", "loop", "relative", "sub", "twice")
	onlyFiles(t, sub, "real")
}

func TestFailedSaveChangesNothing(t *testing.T) {
	for _, existing := range []bool{true, false} {
		for name, write := range map[string]func(w io.Writer) error{
			"at once": func(io.Writer) error { return errDisk },
			"in the middle": func(w io.Writer) error {
				if _, err := w.Write(make([]byte, 100000)); err != nil {
					return err
				}
				return errDisk
			},
			"by a panic": func(io.Writer) error { panic(errDisk) },
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "m")
			if existing {
				put(t, path, "old")
			}
			func() {
				defer func() {
					if v := recover(); v != nil && v != error(errDisk) {
						panic(v)
					}
				}()
				err := saveFile(path, write)
				if !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "jsmf: save "+path+": ") {
					t.Errorf("%s: error %v", name, err)
				}
			}()
			if existing {
				onlyFiles(t, dir, "m")
				if content(t, path) != "old" {
					t.Errorf("%s: the old content is gone", name)
				}
			} else {
				onlyFiles(t, dir)
			}
		}
	}
}

// The file cannot take its name because a folder took it meanwhile.
func TestFailedRename(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	err := saveFile(path, func(w io.Writer) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "x"), nil, 0o644)
	})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	onlyFiles(t, dir, "m")
	onlyFiles(t, path, "x")
}

func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	m := mustModel(t, tinyParts())
	put(t, filepath.Join(dir, "file"), "x")
	for _, c := range []struct{ path, want string }{
		{dir, "is not a regular file"},
		{filepath.Join(dir, "none", "m"), "none"},
		{filepath.Join(dir, "file", "m"), "file"},
		{"", "no file name"},
		{filepath.Join(dir, "none") + string(filepath.Separator), "no file name"},
		{os.DevNull, "is not a regular file"},
	} {
		if c.path == os.DevNull && runtime.GOOS == "windows" {
			continue
		}
		if err := m.Save(c.path); err == nil || !strings.Contains(err.Error(), "jsmf: save "+c.path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Save(%q): %v, want %q", c.path, err, c.want)
		}
	}
	onlyFiles(t, dir, "file")
	if content(t, filepath.Join(dir, "file")) != "x" {
		t.Error("a file that was taken for a folder has changed")
	}
}

func TestSaveIntoReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "m"), "old")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		os.Remove(f.Name())
		t.Skip("skipped: this user, or system, may write into any folder")
	}
	if err := mustModel(t, tinyParts()).Save(filepath.Join(dir, "m")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
	onlyFiles(t, dir, "m")
	if content(t, filepath.Join(dir, "m")) != "old" {
		t.Error("the old content is gone")
	}
}

// The longest name a folder takes leaves no room for a longer temporary one.
func TestSaveLongName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("n", 255)
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("skipped: this file system takes no such name: %v", err)
	}
	f.Close()
	if err := mustModel(t, tinyParts()).Save(filepath.Join(dir, name)); err != nil {
		t.Error(err)
	}
	onlyFiles(t, dir, name)
}

// Whoever reads while others write sees one whole model.
func TestSaveIsAtomic(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced on Windows")
	}
	path := filepath.Join(t.TempDir(), "m")
	const writers, rounds = 3, 8
	var models [writers]*Model
	whole := map[string]bool{}
	for i := range models {
		p, _ := randomParts(500*(i+1), 3, uint64(i))
		models[i] = mustModel(t, p)
		whole[string(encoded(t, models[i]))] = true
	}
	if err := models[0].Save(path); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, m := range models {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for range rounds {
				if err := m.Save(path); err != nil {
					t.Error(err)
				}
			}
		}()
		go func() {
			defer wg.Done()
			for range rounds {
				if b, err := os.ReadFile(path); err != nil || !whole[string(b)] {
					t.Errorf("%d bytes that no one wrote, %v", len(b), err)
				}
			}
		}()
	}
	wg.Wait()
	onlyFiles(t, filepath.Dir(path), "m")
}

func TestLoadModelRefuses(t *testing.T) {
	dir := t.TempDir()
	file := encoded(t, mustModel(t, tinyParts()))
	for _, c := range []struct {
		name string
		put  []byte // nil: no file
		want error
	}{
		{"missing", nil, fs.ErrNotExist},
		{"empty", []byte{}, ErrTruncated},
		{"short", file[:len(file)-1], ErrTruncated},
		{"text", []byte("hello"), ErrNotModel},
		{"one byte more", append(bytes.Clone(file), 0), ErrInvalid},
		{"two models", append(bytes.Clone(file), file...), ErrInvalid},
	} {
		path := filepath.Join(dir, c.name)
		if c.put != nil {
			if err := os.WriteFile(path, c.put, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		m, err := LoadModel(path)
		if m != nil || !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("jsmf: load %s: ", path)) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := LoadModel(dir); err == nil || !strings.Contains(err.Error(), dir+": is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

// Topics without reading weights are ranked by their probabilities, in one copy of the weights.
func TestReadingWeightsCopyOnce(t *testing.T) {
	const n, k = 200, 50
	p, _ := randomParts(n, k, 1)
	refinedParts(&p)
	for i := range n {
		for j := 0; j < k; j += 2 {
			p.Reading.Set(i, j, 0)
		}
	}
	m := mustModel(t, p)
	var got *mat.Dense
	if bytes := testutil.Allocated(t, func() { got = m.readingWeights() }); bytes > 2*8*n*k {
		t.Errorf("%d bytes for %d numbers", bytes, n*k)
	}
	for i := range n {
		for j := range k {
			want := p.Reading.At(i, j)
			if j%2 == 0 {
				want = p.Topics.At(i, j)
			}
			if got.At(i, j) != want {
				t.Fatalf("word %d of topic %d has %v, want %v", i, j, got.At(i, j), want)
			}
		}
	}
}
