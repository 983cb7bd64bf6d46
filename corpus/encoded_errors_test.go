package corpus_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
)

// smallFile are the bytes of a file with everything that there can be in one.
func smallFile(t testing.TB) []byte {
	t.Helper()
	ctx := context.Background()
	b := corpus.Builder{Vocabulary: []string{"sea", "", "ship", "wind", "é"}}
	for _, d := range []corpus.Document{
		{ID: "a", Label: "x", Words: []int32{0, 2}},
		{},
		{ID: "b", Words: []int32{4, 1}, Counts: []int32{70_000, 2}},
		{Label: "y", Words: []int32{3}, Counts: []int32{300}},
	} {
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithWeights([]float64{1, 0, 2.5, 3}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "small.jenc")
	e, err := corpus.EncodeFile(ctx, c.Source(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readAll opens a file of the given bytes and reads every block, and does the same with
// the bytes in memory, with the same error.
func readAll(t testing.TB, path string, data []byte) error {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := corpus.OpenEncoded(path)
	held, heldErr := corpus.EncodedFromBytes(path, data)
	if fmt.Sprint(err) != fmt.Sprint(heldErr) {
		t.Fatalf("opened as a file: %v; from memory: %v", err, heldErr)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	err, heldErr = readBlocks(t, file), readBlocks(t, held)
	if fmt.Sprint(err) != fmt.Sprint(heldErr) {
		t.Fatalf("read from a file: %v; from memory: %v", err, heldErr)
	}
	return err
}

// readBlocks reads every block.
func readBlocks(t testing.TB, e *corpus.Encoded) error {
	t.Helper()
	info := e.Info()
	var b corpus.Block
	docs, tokens, nonzeros := 0, int64(0), int64(0)
	for i := range e.Blocks() {
		if err := e.Block(i, &b); err != nil {
			return err
		}
		for d := range b.Docs() {
			words, counts := b.Doc(d)
			for j, w := range words {
				if w < 0 || int(w) >= len(info.Vocabulary) || j > 0 && w <= words[j-1] || counts[j] < 1 {
					t.Fatalf("document %d: words %v, counts %v", b.First+d, words, counts)
				}
				tokens += int64(counts[j])
			}
			nonzeros += int64(len(words))
			b.ID(d)
			b.Label(d)
			b.Key(d)
		}
		docs += b.Docs()
	}
	if docs != info.Documents || tokens != info.Tokens || nonzeros != info.Nonzeros || len(info.DocFrequencies) != len(info.Vocabulary) {
		t.Fatalf("%d documents with %d words and %d tokens; Info says %+v", docs, nonzeros, tokens, info)
	}
	for _, err := range e.DropUnused().Docs(context.Background()) {
		if err != nil { // the footer has a word in no document, and a block has it
			return err
		}
	}
	return nil
}

// damaged checks an error of readAll.
func damaged(t testing.TB, path string, err error) {
	t.Helper()
	var fe *corpus.FileError
	if !errors.As(err, &fe) || fe.File != path || !errors.Is(err, corpus.ErrDamaged) && !errors.Is(err, corpus.ErrTruncated) {
		t.Fatalf("error %v", err)
	}
	for _, place := range []string{"header: ", "block ", "footer at byte ", "trailer: "} {
		if strings.Contains(err.Error(), path+": "+place) {
			return
		}
	}
	t.Fatalf("error %v names no place", err)
}

// No bit can change, and no byte be missing or added, without an error.
func TestEncodedDamage(t *testing.T) {
	data := smallFile(t)
	path := filepath.Join(t.TempDir(), "damaged.jenc")
	if err := readAll(t, path, data); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := bytes.Clone(data)
		for _, flip := range []byte{1 << (i % 8), 0xff} {
			bad[i] = data[i] ^ flip
			damaged(t, path, readAll(t, path, bad))
		}
		damaged(t, path, readAll(t, path, data[:i]))
	}
	damaged(t, path, readAll(t, path, append(bytes.Clone(data), 0)))
	damaged(t, path, readAll(t, path, append(bytes.Clone(data), data[len(data)-16:]...)))
}

// resum sets all checksums of a file to what its bytes have, as far as its pieces can be
// found. It is written from FORMAT.md.
func resum(b []byte) {
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	if len(b) < 32 {
		return
	}
	le.PutUint32(b[12:], crc32.Checksum(b[:12], table))
	tail := b[len(b)-16:]
	length := le.Uint64(tail)
	if length < 20 || length > uint64(len(b)-32) {
		return
	}
	end := len(b) - 16 - int(length)
	foot, at := b[end:len(b)-16], 16
	for i := uint64(0); i < le.Uint64(foot[12:]) && 20+28*(i+1) <= length; i++ {
		entry := foot[20+28*i:]
		size := le.Uint64(entry)
		if size > uint64(end-at) {
			break
		}
		le.PutUint32(entry[24:], crc32.Checksum(b[at:at+int(size)], table))
		at += int(size)
	}
	le.PutUint32(tail[8:], crc32.Checksum(b[end:len(b)-8], table))
}

// forged reads a file with good checksums and any content. Nothing panics, and what is
// read is valid.
func forged(t *testing.T, path string, data []byte) {
	t.Helper()
	data = bytes.Clone(data)
	resum(data)
	if err := readAll(t, path, data); err != nil {
		damaged(t, path, err)
	}
}

func TestEncodedForged(t *testing.T) {
	data := smallFile(t)
	path := filepath.Join(t.TempDir(), "forged.jenc")
	for i := range data {
		for _, v := range []byte{0, 0xff} {
			bad := bytes.Clone(data)
			bad[i] = v
			forged(t, path, bad)
		}
	}
}

func FuzzEncoded(f *testing.F) {
	data := smallFile(f)
	f.Add(data)
	f.Add(data[:40])
	f.Fuzz(func(t *testing.T, data []byte) { forged(t, filepath.Join(t.TempDir(), "fuzz.jenc"), data) })
}

func TestEncodeErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	path := filepath.Join(dir, "docs.jenc")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]struct {
		ctx context.Context
		src corpus.Source
	}{
		"corpus: encode: no documents are given":               {context.Background(), nil},
		"context canceled":                                     {ctx, listed{{}}},
		"corpus: document 2: word 3 is not in [0, 2]":          {context.Background(), numberedList{listed{{}, {Words: []int32{3}}}, 3}},
		"corpus: count 2147483648 of word \"a\" in document x": {context.Background(), listed{{ID: "x", Tokens: []string{"a", "a"}, Counts: []int32{math.MaxInt32, 1}}}},
		"corpus: document 1: tokens are given where numbers":   {context.Background(), numberedList{listed{{Tokens: []string{"word1"}}}, 3}},
		"corpus: document 1: words are given by number, but":   {context.Background(), listed{{Words: []int32{3}}}},
		"corpus: document 1: token \"\\xff\": invalid UTF-8":   {context.Background(), listed{{Tokens: []string{"\xff"}}}},
		"corpus: data:5: document 3 is not in [1, 2]":          {context.Background(), corpus.UCI{Docword: str("2\n3\n2\n1 1 1\n3 1 1\n")}},
		"corpus: encode: 2 weights for 1 documents":            {context.Background(), misweighted{listed{{}}}},
	} {
		_, err := corpus.Encode(x.ctx, x.src)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, ferr := corpus.EncodeFile(x.ctx, x.src, path); err == nil || ferr == nil || ferr.Error() != err.Error() {
			t.Errorf("file: %v, want %v", ferr, err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the old file holds %q, %v", b, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v are left", left, err)
	}
	missing := filepath.Join(dir, "none", "docs")
	full := errors.New("no room")
	if _, err := corpus.EncodeTo(context.Background(), listed{{}}, writer(func([]byte) (int, error) { return 0, full })); !errors.Is(err, full) {
		t.Errorf("EncodeTo: %v", err)
	}
	if _, err := corpus.EncodeFile(context.Background(), listed{{}}, missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
	if _, err := corpus.OpenEncoded(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
	// What is left of a closed file is an error.
	e, err := corpus.EncodeFile(context.Background(), listed{{Tokens: []string{"a"}}}, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Block(0, new(corpus.Block)); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// misweighted has another number of weights than of documents.
type misweighted struct{ listed }

func (misweighted) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Weights: []float64{1, 2}}, nil
}

// An Encoded can be left, and cancelled, between documents.
func TestEncodedDocs(t *testing.T) {
	e, err := corpus.Encode(context.Background(), make(listed, 10_000))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range e.Docs(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 10 {
			break
		}
	}
	n = 0
	for _, err := range e.Docs(ctx) {
		cancel()
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return
		}
		n++
	}
	t.Errorf("%d documents after the end of the context", n)
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
