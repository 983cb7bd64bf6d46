package jsmf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/modelfile"
)

// addSeeds adds the golden file, cut and bent copies of it, and other valid
// files.
func addSeeds(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "model_v3.jsmf"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	for _, n := range []int{0, 7, 8, 12, 39, 40, 60, 100, len(golden) - 8, len(golden) - 1} {
		f.Add(golden[:n])
	}
	for _, at := range []int{0, 9, 17, 25, 33, 41, 45, 49, 70, 200, len(golden) - 300, len(golden) - 6} {
		bent := bytes.Clone(golden)
		bent[at] ^= 0x40
		f.Add(bent)
	}
	file := tinyFile()
	file.sections = append(file.sections, testSection{tag: "FUTR", payload: []byte("later")})
	f.Add(file.bytes())
	p, _ := randomParts(4, 2, 1)
	p.Vocabulary = nil
	m, err := p.model()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, m))
	p = tinyParts()
	refinedParts(&p)
	if m, err = p.model(); err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, m))
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "n", Kind: corpus.Number}, {Name: "c", Kind: corpus.Category}}, [][]corpus.Value{
		{corpus.NumberOf(1), corpus.CategoryOf("x")}, nil,
	})
	if err != nil {
		f.Fatal(err)
	}
	if m, err = m.With(Additions{Documents: &Compositions{W: mat.NewDense(2, 2, []float64{1, 0, 0.25, 0.75}), IDs: []string{"a", "b"}, Metadata: meta, Docs: make([]infer.Doc, 2), Unknown: make([]int64, 2)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, m))
	if m, err = m.With(Additions{Uncertainty: doubted(m)}); err == nil {
		m, err = m.With(Additions{Verdicts: judged(2)})
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded(f, m))
}

// checkRead reads data in both ways: the outcome must be the same, an error
// must be one of a file, and a model must survive another round.
func checkRead(t *testing.T, data []byte) {
	r := bytes.NewReader(data)
	m, err := ReadModel(r)
	m2, err2 := ReadModel(struct{ io.Reader }{bytes.NewReader(data)})
	if (err == nil) != (err2 == nil) || (err == nil) != (m != nil) || (m == nil) != (m2 == nil) {
		t.Fatalf("errors %v and %v", err, err2)
	}
	if err != nil {
		var fe *modelfile.Error
		if !errors.As(err, &fe) {
			t.Fatalf("error %v", err)
		}
		return
	}
	once := encoded(t, m)
	if !bytes.Equal(once, encoded(t, m2)) {
		t.Fatal("known and unknown size give other models")
	}
	again, err := ReadModel(bytes.NewReader(once))
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if !bytes.Equal(once, encoded(t, again)) {
		t.Fatal("written twice, the bytes differ")
	}
	for k := range m.K() {
		top := m.TopWords(k, 3)
		if len(top) > min(3, m.N()) || slices.ContainsFunc(top, func(w WordProb) bool { return !(w.Weight > 0) }) {
			t.Fatalf("top words %v", top)
		}
	}
	m.CorrelatedPairs(-1)
	AnchorWords(m)
}

func FuzzReadModel(f *testing.F) {
	addSeeds(f)
	f.Fuzz(checkRead)
}

// FuzzReadModelContent mends the checksums first, so that the fuzzer gets past
// them.
func FuzzReadModelContent(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { checkRead(t, mend(data)) })
}

// mend returns a copy of a file with all the checksums that can be found set
// right.
func mend(data []byte) []byte {
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	data = bytes.Clone(data)
	all, off := uint32(0), 0
	piece := func(n uint64) bool {
		if n > uint64(len(data)-off) || uint64(len(data)-off)-n < 4 {
			return false
		}
		b := data[off : off+int(n)]
		le.PutUint32(data[off+int(n):], crc32.Checksum(b, table))
		all = crc32.Update(all, table, b)
		off += int(n) + 4
		return true
	}
	if !piece(36) {
		return data
	}
	for range le.Uint32(data[32:]) {
		at := off
		if !piece(16) || !piece(le.Uint64(data[at+8:])) {
			return data
		}
	}
	if len(data)-off >= 8 {
		le.PutUint32(data[off+4:], crc32.Update(all, table, data[off:off+4]))
	}
	return data
}

func TestMend(t *testing.T) {
	want := tinyFile().bytes()
	broken := bytes.Clone(want)
	for _, at := range []int{37, 57, len(want) - 1} {
		broken[at] ^= 0xff
	}
	if !bytes.Equal(mend(broken), want) {
		t.Error("checksums are not mended")
	}
}
