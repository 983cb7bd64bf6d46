package beam

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jsmf-go/spectral/internal/sums"
)

// What a plan leaves of the documents (sums.Carry) is a file for each piece: float32 numbers,
// little-endian. The files belong to the result of the plan, and their notes are the names of
// the pieces. The next plan gets them as the notes of its pieces.

const leavingKind = "pass" // of keys, in place of "sum", for plans that leave something

// sumKey is the key of what a plan adds up over some documents.
func sumKey(docs string, plan sums.Key, leaves bool) string {
	if leaves {
		return keyOf(leavingKind, docs, plan)
	}
	return keyOf("sum", docs, plan)
}

// divide divides the result of a plan into its stripes and what it left of each piece.
func divide(files []file) (stripes []file, left map[string]file) {
	left = map[string]file{}
	for _, f := range files {
		var piece string
		if json.Unmarshal(f.Note, &piece) == nil {
			left[piece] = f
		} else {
			stripes = append(stripes, f)
		}
	}
	return stripes, left
}

// withLeft returns pieces whose notes are what a plan has left of them. If one is missing, the
// plan and those before it are forgotten, to be added up again.
func (s *state) withLeft(ctx context.Context, key string, pieces []file) ([]file, error) {
	files, ok, err := s.lookup(ctx, key)
	if err != nil {
		return nil, err
	}
	_, left := divide(files)
	out := make([]file, len(pieces))
	for i, p := range pieces {
		f, there := left[p.Name]
		if !ok || !there {
			s.forgetLeaving()
			return nil, sums.ErrLost
		}
		if out[i], err = p.with(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// forgetLeaving forgets all plans that leave something.
func (s *state) forgetLeaving() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.done {
		if strings.HasPrefix(key, leavingKind+"-") {
			delete(s.done, key)
		}
	}
}

// dropLeft removes what a plan has left of the documents, but not its sum.
func (s *state) dropLeft(ctx context.Context, key string) error {
	s.mu.Lock()
	stripes, left := divide(s.done[key])
	s.mu.Unlock()
	if len(left) == 0 {
		return nil
	}
	if err := s.publish(ctx, key, stripes); err != nil {
		return err
	}
	paths := make([]string, 0, len(left))
	for _, f := range left {
		paths = append(paths, joinPath(s.folder, f.Name))
	}
	return removePaths(ctx, s.folder, paths)
}

// readLeft reads n numbers that a plan has left of a piece.
func readLeft(ctx context.Context, folder string, piece file, n int) ([]float32, error) {
	if n == 0 {
		return nil, nil
	}
	var f file
	if err := json.NewDecoder(bytes.NewReader(piece.Note)).Decode(&f); err != nil {
		return nil, err
	}
	data, err := f.read(ctx, folder)
	if err != nil {
		return nil, err
	}
	if len(data) != 4*n {
		return nil, fmt.Errorf("%s: %w: %d bytes, want %d", f.Name, errDamaged, len(data), 4*n)
	}
	x := make([]float32, n)
	_, err = binary.Decode(data, binary.LittleEndian, x)
	return x, err
}
