package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"golang.org/x/sync/errgroup"
)

// state is a folder of the results of jobs, and the manifest that says which they are. The
// manifest is a new file whenever a job is done, since object stores rename nothing:
//
//	manifest-00000017-9f1c33a26b7d0e54   number and driver, JSON after a line with its CRC
//
// The newest whole one counts, and the one before it is kept, so that a driver can be killed
// at any moment. A driver writes one when it opens the folder. Of two that work in one
// folder, the first to find a manifest of the other that is as new as its own stops with an
// error. Only work is lost by that: names are unique, and a key stands for what was
// computed, so that an entry of either driver is valid.
type state struct {
	folder string
	driver string
	mu     sync.Mutex
	number int // of the newest manifest, which is this driver's
	done   map[string][]file
	watch  func(jobReport) // nil: nobody
}

// jobReport is progress. A job is reported when it begins, and when it has ended or failed.
type jobReport struct {
	stage string
	try   int           // from 1
	took  time.Duration // 0: it has not ended well
	err   error         // nil: it has not failed
}

// manifest is what a manifest holds.
type manifest struct {
	Done map[string][]file
}

const (
	manifestPrefix = "manifest-"
	manifestMagic  = "jsmf-beam-state 1 "
)

// openState opens a folder, or makes it.
func openState(ctx context.Context, folder string) (*state, error) {
	if folder == "" || strings.ContainsAny(folder, "*?[]\\\n") {
		return nil, fmt.Errorf("beam: state folder %q: want a path without any of * ? [ ] \\", folder)
	}
	s := &state{folder: folder, driver: randomHex(), done: map[string][]file{}}
	all, err := s.manifests(ctx)
	if err != nil {
		return nil, err
	}
	var damage error
	for _, name := range slices.Backward(all) {
		s.number = max(s.number, name.number)
		var m manifest
		if m, damage = s.readManifest(ctx, name); damage == nil {
			s.done = m.Done
			break
		}
	}
	if damage != nil && all[0].number > 1 { // the first one says that nothing is done
		return nil, fmt.Errorf("beam: no manifest of the state folder can be read (to begin anew, remove the folder): %w", damage)
	}
	return s, s.write(ctx)
}

// manifestName is the name of a manifest, taken apart.
type manifestName struct {
	number       int
	driver, path string
}

// manifests lists the manifests of the folder, the newest last.
func (s *state) manifests(ctx context.Context) ([]manifestName, error) {
	paths, err := listPaths(ctx, joinPath(s.folder, manifestPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("beam: state folder: %w", err)
	}
	var all []manifestName
	for _, p := range paths {
		_, rest, _ := strings.Cut(baseName(p), manifestPrefix)
		digits, driver, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(digits); err == nil && n > 0 {
			all = append(all, manifestName{n, driver, p})
		}
	}
	slices.SortFunc(all, func(a, b manifestName) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.driver, b.driver)
	})
	return all, nil
}

func (s *state) readManifest(ctx context.Context, name manifestName) (manifest, error) {
	var m manifest
	data, err := readPath(ctx, name.path)
	if err != nil {
		return m, err
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	if string(head) != manifestHead(body) {
		return m, fmt.Errorf("%s: %w", name.path, errDamaged)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("%s: %w", name.path, err)
	}
	if m.Done == nil {
		m.Done = map[string][]file{}
	}
	return m, nil
}

func manifestHead(body []byte) string {
	return fmt.Sprintf("%s%08x", manifestMagic, crc32.Checksum(body, castagnoli))
}

// write writes the next manifest. It fails if another driver has written one as new.
func (s *state) write(ctx context.Context) error {
	if err := s.alone(ctx, ""); err != nil {
		return err
	}
	s.number++
	body, err := json.Marshal(manifest{s.done})
	if err != nil {
		return err
	}
	path := joinPath(s.folder, fmt.Sprintf("%s%08d-%s", manifestPrefix, s.number, s.driver))
	_, _, err = writePath(ctx, path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n%s", manifestHead(body), body)
		return err
	})
	if err != nil {
		return fmt.Errorf("beam: manifest: %w", err)
	}
	return s.alone(ctx, s.driver)
}

// alone returns an error if another driver has written a manifest since, and removes all but
// the last two. Of two with the same number, that of the greater driver counts as newer, if
// there is a driver to compare.
func (s *state) alone(ctx context.Context, driver string) error {
	all, err := s.manifests(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.driver != s.driver && (m.number > s.number || m.number == s.number && driver != "" && m.driver > driver) {
			return fmt.Errorf("beam: another program works in the state folder %s: it wrote %s. Its results are kept; run again when it has ended", s.folder, m.path)
		}
	}
	var old []string
	for _, m := range all {
		if m.number < s.number-1 {
			old = append(old, m.path)
		}
	}
	return removePaths(ctx, s.folder, old)
}

// lookup returns the files of what is done, if none of them is missing or has another length
// than was written. What is not whole is forgotten, to be done again.
func (s *state) lookup(ctx context.Context, key string) ([]file, bool, error) {
	s.mu.Lock()
	files, ok := s.done[key]
	s.mu.Unlock()
	if !ok {
		return nil, false, nil
	}
	if err := s.whole(ctx, files); err != nil {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		s.forget(key)
		return nil, false, nil
	}
	return files, true, nil
}

// whole looks whether files are there and have the length that was written.
func (s *state) whole(ctx context.Context, files []file) error {
	return withFS(ctx, s.folder, func(fs filesystem.Interface) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(32)
		for _, f := range files {
			if f.Name == "" {
				continue
			}
			group.Go(func() error {
				path := joinPath(s.folder, f.Name)
				size, err := fs.Size(ctx, path)
				if err == nil && size != f.Size {
					err = fmt.Errorf("%w: %d bytes where %d were written", errDamaged, size, f.Size)
				}
				return named(path, err)
			})
		}
		return group.Wait()
	})
}

func (s *state) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.done, key)
}

// publish says that something is done and which files hold it.
func (s *state) publish(ctx context.Context, key string, files []file) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[key] = files
	return s.write(ctx)
}

// drop forgets something that is done and removes its files, in this order.
func (s *state) drop(ctx context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for _, f := range s.done[key] {
		if f.Name != "" {
			paths = append(paths, joinPath(s.folder, f.Name))
		}
	}
	delete(s.done, key)
	if err := s.write(ctx); err != nil {
		return err
	}
	return removePaths(ctx, s.folder, paths)
}

// clean forgets all but some keys, and removes all files of the folder that the manifest then
// does not name. It is called when a fit is done.
func (s *state) clean(ctx context.Context, keep ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := map[string]bool{}
	for key, files := range s.done {
		if !slices.Contains(keep, key) {
			delete(s.done, key)
			continue
		}
		for _, f := range files {
			named[f.Name] = true
		}
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	paths, err := listPaths(ctx, joinPath(s.folder, filePrefix+"*"))
	if err != nil {
		return err
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return named[baseName(p)] })
	return removePaths(ctx, s.folder, paths)
}

func baseName(path string) string { return path[strings.LastIndexAny(path, "/\\")+1:] }

func listPaths(ctx context.Context, pattern string) (paths []string, err error) {
	err = withFS(ctx, pattern, func(fs filesystem.Interface) error {
		paths, err = fs.List(ctx, pattern)
		return named(pattern, err)
	})
	return paths, err
}

// removePaths removes files of a folder. Where a file system cannot remove files they stay.
func removePaths(ctx context.Context, folder string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	return withFS(ctx, folder, func(fs filesystem.Interface) error {
		rm, ok := fs.(filesystem.Remover) // as Beam's documentation has it
		if !ok {
			return nil
		}
		for _, p := range paths {
			if err := rm.Remove(ctx, p); err != nil {
				return named(p, err)
			}
		}
		return nil
	})
}
