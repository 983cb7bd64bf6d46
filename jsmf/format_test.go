package jsmf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/modelfile"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
	recovery "github.com/jsmf-go/spectral/recover"
)

var update = flag.Bool("update", false, "write golden files that do not exist yet; those that do are never touched")

func encoded(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := m.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatalf("WriteTo says %d bytes, wrote %d", n, b.Len())
	}
	return b.Bytes()
}

// A second, plain implementation of FORMAT.md, for the tests below.

type testSection struct {
	tag     string
	flags   uint32
	payload []byte
	length  uint64 // claimed; 0: that of payload
}

type testFile struct {
	magic    string
	version  uint32
	flags    uint32
	n, k     uint64
	count    int // sections claimed; −1: as many as there are
	sections []testSection
	trailer  string
}

func (f testFile) bytes() []byte {
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	var out, unsummed []byte
	piece := func(b []byte, sum bool) {
		out, unsummed = append(out, b...), append(unsummed, b...)
		if sum {
			out = le.AppendUint32(out, crc32.Checksum(b, table))
		}
	}
	count := f.count
	if count < 0 {
		count = len(f.sections)
	}
	h := le.AppendUint32([]byte(f.magic), f.version)
	h = le.AppendUint32(h, f.flags)
	h = le.AppendUint64(h, f.n)
	h = le.AppendUint64(h, f.k)
	piece(le.AppendUint32(h, uint32(count)), true)
	for _, s := range f.sections {
		length := s.length
		if length == 0 {
			length = uint64(len(s.payload))
		}
		h := le.AppendUint32([]byte(s.tag), s.flags)
		piece(le.AppendUint64(h, length), true)
		piece(s.payload, true)
	}
	piece([]byte(f.trailer), false)
	return le.AppendUint32(out, crc32.Checksum(unsummed, table))
}

// section returns the section with a tag; it may be changed.
func (f *testFile) section(tag string) *testSection {
	for i := range f.sections {
		if f.sections[i].tag == tag {
			return &f.sections[i]
		}
	}
	panic("no section " + tag)
}

func floatBytes(xs ...float64) (b []byte) {
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func wordBytes(words ...string) (b []byte) {
	for _, w := range words {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(w))), w...)
	}
	return b
}

const (
	tinyProv = `{"version":"v0.1.0","format_version":3,"go":"go1.25.0","os":"linux","arch":"amd64","arithmetic":"1",` +
		`"seed":18446744073709551615,"stages":["AP(T=15)","QR","active set"]}`
	tinyStat = `{"corpus":{"documents":7,"words":5,"tokens":41,"nnz":19,` +
		`"dropped_documents":[{"reason":"fewer than 2 tokens","count":2,"names":["a.txt","b.txt"]}],` +
		`"dropped_words":[{"reason":"never occurs","count":1,"names":["zebra"]}]},` +
		`"cooc":{"form":"moments","n":5,"nnz":19},` +
		`"rectify":{"method":"AP","iterations":2,"status":"limit","changes":[0.5,0.0625],"eigenvalues":[0.375,0.125],` +
		`"nnz":[4,3],"shift":-0.0009765625,"products":44},` +
		`"anchors":{"method":"QR","requested":2,"k":2,"candidates":5,"norms":[0.75,0.625]},` +
		`"recover":{"method":"active set","solved":3,"mean_objective":0.03125,"mean_iterations":1.5,"max_iterations":2,` +
		`"max_gap":1e-17,"mean_residual":0.25,"max_residual":0.5,"converged":3,"limited":0,"stalled":0},` +
		`"sum":1,"warnings":["1 word never occurs"]}`
)

// tinyFile is the file of tinyParts, put together by hand.
func tinyFile() testFile {
	return testFile{
		magic: "\x89JSMF\r\n\x1a", version: 3, n: 5, k: 2, count: -1, trailer: "JEND",
		sections: []testSection{
			{tag: "VOCB", flags: 1, payload: wordBytes("apple", "börse", "cider", "dividend", "")},
			{tag: "BMAT", flags: 1, payload: floatBytes(0.5, 0, 0, 0.25, 0.25, 0, 0, 0.25, 0.25, 0.5)},
			{tag: "WTOP", flags: 1, payload: floatBytes(1, 0, 0, 1, 1, 0, 0, 1, 0.25, 0.75)},
			{tag: "AMAT", flags: 1, payload: floatBytes(0.5, 0.125, 0.125, 0.25)},
			{tag: "ANCH", flags: 1, payload: []byte("[0,3]")},
			{tag: "MARG", flags: 1, payload: floatBytes(0.25, 0.125, 0.125, 0.125, 0.375)},
			{tag: "PROV", payload: []byte(tinyProv)},
			{tag: "STAT", payload: []byte(tinyStat)},
		},
	}
}

// sameAsTiny compares a model with tinyParts, value by value.
func sameAsTiny(t *testing.T, m *Model) {
	t.Helper()
	p := tinyParts()
	clearDurations(&p.Stats)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"vocabulary", m.Vocabulary(), p.Vocabulary},
		{"topics", mat.DenseCopyOf(m.Topics()), p.Topics},
		{"word topics", mat.DenseCopyOf(m.WordTopics()), p.WordTopics},
		{"correlations", mat.DenseCopyOf(m.Correlations()), p.Correlations},
		{"anchors", m.Anchors(), p.Anchors},
		{"marginals", m.Marginals(), p.Marginals},
		{"stats", m.Stats(), p.Stats},
		{"provenance", m.Provenance(), p.Provenance},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// The golden file is what WriteTo writes today, and what FORMAT.md says.
func TestGoldenFile(t *testing.T) {
	path := filepath.Join("testdata", fmt.Sprintf("model_v%d.jsmf", modelfile.Version))
	if *update {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case errors.Is(err, fs.ErrExist):
			t.Logf("%s exists: not touched", path)
		case err != nil:
			t.Fatal(err)
		default:
			if _, err := mustModel(t, tinyParts()).WriteTo(f); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := LoadModel(path)
	if err != nil {
		t.Fatal(err)
	}
	sameAsTiny(t, m)
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := encoded(t, mustModel(t, tinyParts())); !bytes.Equal(got, golden) {
		t.Errorf("a fresh model is written as other bytes than %s", path)
	}
	if got := tinyFile().bytes(); !bytes.Equal(got, golden) {
		t.Errorf("FORMAT.md followed by hand gives other bytes than %s", path)
	}
}

func TestRoundTrip(t *testing.T) {
	big, _ := randomParts(3000, 7, 1) // B takes more than two chunks
	bare, _ := randomParts(50, 3, 2)
	bare.Vocabulary = nil
	odd, _ := randomParts(6, 2, 3)
	odd.Vocabulary = []string{"", "\x00", "\xff\xfe", "a\nb", strings.Repeat("long", 40000), "a\nb"}
	odd.Correlations = mat.NewDense(2, 2, []float64{math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.MaxFloat64})
	odd.Stats.Rectify.Changes = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, math.Copysign(0, -1)}
	odd.Stats.Rectify.Shift = math.Inf(-1)
	odd.Stats.Rectify.Nonzeros = []int{}
	odd.Stats.Warnings = []string{`quotes " and \ and <html>`, "\u2028"}
	groups, _ := randomParts(20, 4, 4)
	groups.AnchorGroups = [][]int{{9, 0, 3}, nil, {2}, {}}
	refined, _ := randomParts(40, 4, 5)
	refinedParts(&refined)
	for name, p := range map[string]modelParts{"tiny": tinyParts(), "big": big, "bare": bare, "odd": odd, "groups": groups, "refined": refined} {
		m := mustModel(t, p)
		file := encoded(t, m)
		for how, r := range map[string]io.Reader{
			"known size":   bytes.NewReader(file),
			"string":       strings.NewReader(string(file)),
			"buffer":       bytes.NewBuffer(bytes.Clone(file)),
			"unknown size": struct{ io.Reader }{bytes.NewReader(file)},
			"halves":       iotest.HalfReader(bytes.NewReader(file)),
			"data and EOF": iotest.DataErrReader(bytes.NewReader(file)),
		} {
			got, err := ReadModel(r)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			if !bytes.Equal(encoded(t, got), file) {
				t.Errorf("%s, %s: written again, the bytes differ", name, how)
			}
			if !reflect.DeepEqual(got.Vocabulary(), m.Vocabulary()) ||
				!reflect.DeepEqual(got.TopWords(1, 5), m.TopWords(1, 5)) || !reflect.DeepEqual(got.Provenance(), m.Provenance()) || !reflect.DeepEqual(got.AnchorGroups(), m.AnchorGroups()) {
				t.Errorf("%s, %s: models differ", name, how)
			}
			if !slices.Equal(got.Alpha(), m.Alpha()) {
				t.Errorf("%s, %s: what refinement left differs", name, how)
			}
			if !reflect.DeepEqual(got.Reading(), m.Reading()) || !slices.Equal(got.Background(), m.Background()) || !slices.Equal(got.Names(), m.Names()) {
				t.Errorf("%s, %s: reading weights, background or names differ", name, how)
			}
			if s := got.Stats(); s.Total != 0 || s.Durations != nil {
				t.Errorf("%s, %s: durations were stored", name, how)
			}
			want := m.Stats()
			clearDurations(&want)
			// Printed, for NaN is not equal to itself; %#v tells nil from empty.
			if g, w := fmt.Sprintf("%#v", got.Stats()), fmt.Sprintf("%#v", want); g != w {
				t.Errorf("%s, %s: stats are\n%s, want\n%s", name, how, g, w)
			}
		}
	}
}

// A refined model of many topics takes a small part of its matrices, and comes back to the bit.
func TestManyTopicsAreSmall(t *testing.T) {
	testutil.NotWithRace(t)
	const n, k = 1500, 400
	p, _ := randomParts(n, k, 1)
	rng := rand.New(rand.NewPCG(2, 3))
	p.Reading = mat.NewDense(n, k, nil)
	for j := range k {
		weights, sum, reads := make([]float64, n), 0.0, 0.0
		for i := range weights {
			weights[i] = 0.02 // the prior's
			if rng.IntN(10) == 0 {
				x := rng.ExpFloat64()
				weights[i] += x
				p.Reading.Set(i, j, x)
				reads += x
			}
			sum += weights[i]
		}
		for i, x := range weights {
			p.Topics.Set(i, j, x/sum)
			p.Reading.Set(i, j, p.Reading.At(i, j)/reads)
		}
	}
	shares := mustModel(t, p).rowSums()
	for i := range n {
		vec.Posterior(p.WordTopics.RawRowView(i), p.Topics.RawRowView(i), shares)
	}
	m := mustModel(t, p)
	file := encoded(t, m)
	// 0.12 for each of the matrices, and 0.13 for half of A.
	if part := float64(len(file)) / (8 * n * k); part > 0.42 {
		t.Errorf("the file takes %.3f of a dense matrix", part)
	}
	got, err := ReadModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string][2]mat.Matrix{
		"B": {got.Topics(), p.Topics}, "B̆": {got.WordTopics(), p.WordTopics}, "dense B̆": {got.denseWordTopics(), p.WordTopics},
		"A": {got.Correlations(), m.Correlations()}, "reading": {got.Reading(), p.Reading},
	} {
		if !mat.Equal(x[0], x[1]) {
			t.Errorf("%s differs", name)
		}
	}
	if !bytes.Equal(encoded(t, got), file) {
		t.Error("written again, the bytes differ")
	}
	// Merged topics have the sum of p(topic | word), to rounding.
	merged, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{0, k - 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		row := p.WordTopics.RawRowView(i)
		if got, want := merged.WordTopics().At(i, 0), row[0]+row[k-1]; math.Abs(got-want) > 1e-14 {
			t.Errorf("p(merged topic | word %d) = %v, want %v", i, got, want)
		}
	}
}

// Every field of Stats and Provenance but durations survives: a field that is
// added and forgotten would show here.
func TestEveryStatisticIsStored(t *testing.T) {
	p := tinyParts()
	n := 0
	fill(reflect.ValueOf(&p.Stats).Elem(), &n)
	fill(reflect.ValueOf(&p.Provenance).Elem(), &n)
	for i := range p.Stats.Seeds { // these are checked
		p.Stats.Seeds[i].Topic, p.Stats.Seeds[i].Asked = i%2, Seed{Name: "asked", Words: []string{"some"}, Weights: []float64{2}, Strength: 0.5}
	}
	for i := range p.Stats.Edited.Excluded {
		p.Stats.Edited.Excluded[i].Topic = i % 2
	}
	p.Provenance.FormatVersion = modelfile.Version
	m, err := ReadModel(bytes.NewReader(encoded(t, mustModel(t, p))))
	if err != nil {
		t.Fatal(err)
	}
	clearDurations(&p.Stats)
	if got := m.Stats(); !reflect.DeepEqual(got, p.Stats) {
		t.Errorf("stats are\n%+v, want\n%+v", got, p.Stats)
	}
	if got := m.Provenance(); !reflect.DeepEqual(got, p.Provenance) {
		t.Errorf("provenance is\n%+v, want\n%+v", got, p.Provenance)
	}
}

// clearDurations zeroes what a model file does not keep.
func clearDurations(s *Stats) { s.Durations, s.Total, s.Refine.LastRead = nil, 0, 0 }

// fill gives every field below v a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map: // durations
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 7)
	default:
		panic("a kind the file does not know: " + v.Kind().String())
	}
}

// The sections of a refined model, put together by hand: all of them, one
// missing, one of a wrong length, and one that holds no topics. A reader that
// does not know them would skip them, for none is required.
func TestRefinedFile(t *testing.T) {
	p := tinyParts()
	refinedParts(&p)
	p.Tree = &recovery.Tree{Groups: [][]int{{0, 0}, {1, 0}}}
	raw := func(d *mat.Dense) []byte { return floatBytes(d.RawMatrix().Data...) }
	file := func() testFile {
		f := tinyFile()
		f.section("BMAT").payload, f.section("AMAT").payload = raw(p.Topics), raw(p.Correlations)
		f.section("PROV").payload = []byte(strings.Replace(tinyProv, `"active set"`, `"active set","passes"`, 1))
		f.section("STAT").payload = []byte(strings.Replace(tinyStat, `"sum"`,
			`"refine":{"method":"passes","passes":1,"early":false,"docs":0,"watched":0,"tokens":0,"beta":0,"history":[{"loglik":-7.5,"held_out":0},{"loglik":-7.25,"held_out":0}]},"sum"`, 1))
		f.sections = slices.Insert(f.sections, 6,
			testSection{tag: "ALPH", payload: floatBytes(1.0/3, 1.0/4)})
		f.sections = append(f.sections, testSection{tag: "READ", payload: raw(p.Reading)},
			testSection{tag: "BACK", payload: []byte("[false,true]")},
			testSection{tag: "TREE", payload: []byte(`{"groups":[[0,0],[1,0]]}`)},
			testSection{tag: "NAME", payload: wordBytes("größe, \"1\"", "")})
		return f
	}
	if want, got := file().bytes(), encoded(t, mustModel(t, p)); !bytes.Equal(got, want) {
		t.Error("FORMAT.md followed by hand gives other bytes")
	}
	for want, spoil := range map[string]func(f *testFile){
		`section "ALPH"`:                            func(f *testFile) { f.section("ALPH").payload = floatBytes(1, -1) },
		`section "READ", byte`:                      func(f *testFile) { f.section("READ").payload = floatBytes(1, 2, 3) },
		`the weight of word 0 ("apple") in topic 0`: func(f *testFile) { copy(f.section("READ").payload, floatBytes(-1)) },
		`background: [1]: json`:                     func(f *testFile) { f.section("BACK").payload = []byte("[false,2]") },
		`background: has 1 flags, want 2`:           func(f *testFile) { f.section("BACK").payload = []byte("[true]") },
		`tree: a tree without levels`:               func(f *testFile) { f.section("TREE").payload = []byte(`null`) },
		`tree: level 1 has groups of 1 topics`:      func(f *testFile) { f.section("TREE").payload = []byte(`{"groups":[[0,0],[0]]}`) },
		`names: it ends early`:                      func(f *testFile) { f.section("NAME").payload = append(wordBytes("longer"), 0) },
		`names: 2 bytes are too few for 2 names`:    func(f *testFile) { f.section("NAME").payload = []byte{0, 0} },
		`names: 1 bytes are left over`:              func(f *testFile) { f.section("NAME").payload = append(wordBytes("", ""), 0) },
		`names: "a" is that of topics 0 and 1`:      func(f *testFile) { f.section("NAME").payload = wordBytes("a", "a") },
	} {
		f := file()
		spoil(&f)
		if _, err := ReadModel(bytes.NewReader(f.bytes())); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// ReadModel leaves what follows a model.
func TestReadModelReadsNoFurther(t *testing.T) {
	other, _ := randomParts(9, 3, 4)
	first, second := encoded(t, mustModel(t, tinyParts())), encoded(t, mustModel(t, other))
	for _, known := range []bool{true, false} {
		var r io.Reader = bytes.NewReader(bytes.Join([][]byte{first, second, []byte("rest")}, nil))
		if !known {
			r = struct{ io.Reader }{r}
		}
		for i, want := range [][]byte{first, second} {
			m, err := ReadModel(r)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encoded(t, m), want) {
				t.Errorf("model %d differs", i)
			}
		}
		if rest, err := io.ReadAll(r); string(rest) != "rest" || err != nil {
			t.Errorf("left over: %q, %v", rest, err)
		}
	}
}

// mustRefuse reads a bad file in both ways and checks the error.
func mustRefuse(t *testing.T, what string, file []byte) *modelfile.Error {
	t.Helper()
	var found *modelfile.Error
	for _, r := range []io.Reader{struct{ io.Reader }{bytes.NewReader(file)}, bytes.NewReader(file)} {
		m, err := ReadModel(r)
		if err == nil || m != nil {
			t.Fatalf("%s: no error", what)
		}
		if !errors.As(err, &found) || !strings.HasPrefix(err.Error(), "jsmf: ") {
			t.Fatalf("%s: error %v", what, err)
		}
		if found.Section == "" || found.Offset < 0 || found.Offset > int64(len(file)) {
			t.Fatalf("%s: error without a place: %v", what, err)
		}
		kinds := 0
		for _, kind := range []error{ErrNotModel, ErrUnsupported, ErrTruncated, ErrChecksum, ErrInvalid} {
			if errors.Is(err, kind) {
				kinds++
			}
		}
		if kinds != 1 || !errors.Is(err, found.Kind) || errors.Is(err, io.ErrUnexpectedEOF) != (found.Kind == ErrTruncated) {
			t.Fatalf("%s: error %v is of %d kinds", what, err, kinds)
		}
	}
	return found
}

func TestEveryTruncation(t *testing.T) {
	file := encoded(t, mustModel(t, tinyParts()))
	for n := range file {
		e := mustRefuse(t, fmt.Sprintf("%d bytes", n), file[:n])
		if e.Kind != ErrTruncated || e.Offset != int64(n) {
			t.Fatalf("%d bytes: %v", n, e)
		}
	}
}

func TestEveryBitFlip(t *testing.T) {
	testutil.NotWithRace(t)
	file := encoded(t, mustModel(t, tinyParts()))
	if _, err := ReadModel(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(file) {
		file[bit/8] ^= 1 << (bit % 8)
		e := mustRefuse(t, fmt.Sprintf("bit %d", bit), file)
		want := ErrChecksum
		switch at := bit / 8; {
		case at < 8:
			want = ErrNotModel
		case at < 12:
			want = ErrUnsupported
		case at >= len(file)-8 && at < len(file)-4:
			want = ErrInvalid // the tag of the trailer
		}
		if e.Kind != want {
			t.Fatalf("bit %d of byte %d: %v, want %v", bit%8, bit/8, e, want)
		}
		file[bit/8] ^= 1 << (bit % 8)
	}
}

// Bad files whose checksums are right.
func TestReadModelRefuses(t *testing.T) {
	le := binary.LittleEndian
	nan := floatBytes(math.NaN())
	set := func(tag string, at int, b []byte) func(f *testFile) {
		return func(f *testFile) { copy(f.section(tag).payload[at:], b) }
	}
	payload := func(tag string, b []byte) func(f *testFile) {
		return func(f *testFile) { f.section(tag).payload = b }
	}
	without := func(tag string) func(f *testFile) {
		return func(f *testFile) {
			for i, s := range f.sections {
				if s.tag == tag {
					f.sections = append(f.sections[:i:i], f.sections[i+1:]...)
					return
				}
			}
		}
	}
	groups := func(list string) func(f *testFile) {
		return func(f *testFile) { f.sections = append(f.sections, testSection{tag: "GRUP", payload: []byte(list)}) }
	}
	for _, c := range []struct {
		name          string
		kind          error
		section, want string
		spoil         func(f *testFile)
	}{
		{"version 0", ErrUnsupported, "header", "version: is 0", func(f *testFile) { f.version = 0 }},
		{"version 1", ErrUnsupported, "header", "version: is 1, this library reads 3", func(f *testFile) { f.version = 1 }},
		{"other magic", ErrNotModel, "header", `begins with`, func(f *testFile) { f.magic = "\x89JSMF\n\x1a\x00" }},
		{"flags", ErrUnsupported, "header", "flags: are 0x4", func(f *testFile) { f.flags = 4 }},
		{"N too large", ErrInvalid, "header", "N: is 2147483648", func(f *testFile) { f.n = 1 << 31 }},
		{"N huge", ErrInvalid, "header", "N: is", func(f *testFile) { f.n, f.k = math.MaxUint64, math.MaxUint64 }},
		{"N = 0", ErrInvalid, "header", "K: is 2, not in [2, N = 0]", func(f *testFile) { f.n = 0 }},
		{"K = 0", ErrInvalid, "header", "K: is 0", func(f *testFile) { f.k = 0 }},
		{"K = 1", ErrInvalid, "header", "K: is 1", func(f *testFile) { f.k = 1 }},
		{"K > N", ErrInvalid, "header", "K: is 6", func(f *testFile) { f.k = 6 }},
		{"many sections", ErrInvalid, "header", "sections: are 1025", func(f *testFile) { f.count = 1025 }},
		{"no sections", ErrInvalid, "BMAT", "is missing", func(f *testFile) { f.sections = nil }},
		{"groups cut short", ErrInvalid, "GRUP", "unexpected end of JSON", groups("[[0]")},
		{"groups of one topic", ErrInvalid, "GRUP", "anchor_groups: has 1 groups, want 2", groups("[[0]]")},
		{"a group's word out of range", ErrInvalid, "GRUP", "word 5 of topic 1 is not in [0, 5)", groups("[null,[3,5]]")},
		{"a group's word below 0", ErrInvalid, "GRUP", "word -1 of topic 1 is not in [0, 5)", groups("[null,[3,-1]]")},
		{"a group's word is no number", ErrInvalid, "GRUP", "anchor_groups: [1]: [0]: json", groups("[null,[0.5]]")},
		{"a group without its anchor", ErrInvalid, "GRUP", "the anchor of topic 1, word 3 (\"dividend\"), is not in its group", groups("[null,[0,1]]")},
		{"a word twice in a group", ErrInvalid, "GRUP", "topic 0 has the word 0 (\"apple\") twice", groups("[[0,0],null]")},
		{"fewer sections than there are", ErrInvalid, "trailer", "want", func(f *testFile) { f.count = 7 }},
		{"more sections than there are", ErrTruncated, "#8", "more bytes", func(f *testFile) { f.count = 9 }},
		{"trailer", ErrInvalid, "trailer", `begins with "JENE"`, func(f *testFile) { f.trailer = "JENE" }},
		{"section flags", ErrUnsupported, "MARG", "flags: are 0x3", func(f *testFile) { f.section("MARG").flags = 3 }},
		{"unknown required", ErrUnsupported, "FUTR", "required section", func(f *testFile) {
			f.sections = append(f.sections, testSection{tag: "FUTR", flags: 1, payload: []byte("x")})
		}},
		{"twice", ErrInvalid, "AMAT", "comes twice", func(f *testFile) { f.sections = append(f.sections, *f.section("AMAT")) }},
		{"unknown twice", ErrInvalid, "FUTR", "comes twice", func(f *testFile) {
			f.sections = append(f.sections, testSection{tag: "FUTR"}, testSection{tag: "FUTR"})
		}},
		{"length above int64", ErrInvalid, "PROV", "length", func(f *testFile) { f.section("PROV").length = math.MaxUint64 }},
		{"length beyond the end", ErrTruncated, "PROV", "more bytes", func(f *testFile) { f.section("PROV").length = 1 << 40 }},
		{"length beyond the end, skipped", ErrTruncated, "FUTR", "more bytes", func(f *testFile) {
			f.sections = append(f.sections, testSection{tag: "FUTR", length: 1 << 40})
		}},
		{"N differs from the sections", ErrInvalid, "BMAT", "length: is 80, want 96", func(f *testFile) {
			f.n = 6
			f.section("VOCB").payload = wordBytes("a", "b", "c", "d", "e", "f")
		}},
		{"K differs from the sections", ErrInvalid, "BMAT", "length: is 80, want 120", func(f *testFile) { f.k = 3 }},
		{"B short", ErrInvalid, "BMAT", "length: is 72, want 80", payload("BMAT", make([]byte, 72))},
		{"A long", ErrInvalid, "AMAT", "length: is 40, want 32", payload("AMAT", make([]byte, 40))},
		{"anchors short", ErrInvalid, "ANCH", "anchors: has 1 anchors, want 2", payload("ANCH", []byte("[3]"))},
		{"no B", ErrInvalid, "BMAT", "is missing", without("BMAT")},
		{"no B̆, and a negative share", ErrInvalid, "WTOP", "do not follow from a share of topic 0 of -0.5", func(f *testFile) {
			without("WTOP")(f)
			f.section("AMAT").payload = floatBytes(-1, 0.5, 0.5, 1)
		}},
		{"no A", ErrInvalid, "AMAT", "is missing", without("AMAT")},
		{"norms without anchors", ErrInvalid, "STAT", "2 norms of 0 anchors", without("ANCH")},
		{"no marginals", ErrInvalid, "MARG", "is missing", without("MARG")},
		{"B NaN", ErrInvalid, "BMAT", `topics: p(word 1 ("börse") | topic 0) = NaN`, set("BMAT", 16, nan)},
		{"B negative", ErrInvalid, "BMAT", "= -1 is not", set("BMAT", 16, floatBytes(-1))},
		{"B sum", ErrInvalid, "BMAT", "sums to 1.5", set("BMAT", 16, floatBytes(0.5))},
		{"B̆ NaN", ErrInvalid, "WTOP", "word_topics", set("WTOP", 16, nan)},
		{"A NaN", ErrInvalid, "AMAT", "correlations: A[0,1] = NaN", set("AMAT", 8, nan)},
		{"A asymmetric", ErrInvalid, "AMAT", "A[1,0] = 0.125 but A[0,1] = 0.5", set("AMAT", 8, floatBytes(0.5))},
		{"A nearly symmetric", ErrInvalid, "AMAT", "A[1,0] = 0.125 but A[0,1] = 0.12500001", set("AMAT", 8, floatBytes(0.125+1e-8))},
		{"anchor = N", ErrInvalid, "ANCH", "anchors: word 5 of topic 1", payload("ANCH", []byte("[0,5]"))},
		{"anchor huge", ErrInvalid, "ANCH", "number 18446744073709551615", payload("ANCH", []byte("[18446744073709551615,3]"))},
		{"anchor twice", ErrInvalid, "ANCH", "is the anchor of topics 0 and 1", payload("ANCH", []byte("[3,3]"))},
		{"norm negative", ErrInvalid, "STAT", "stats: the norm of anchor 1 is -1", payload("STAT", []byte(`{"anchors":{"norms":[1,-1]}}`))},
		{"marginal Inf", ErrInvalid, "MARG", "marginals", set("MARG", 32, floatBytes(math.Inf(1)))},
		{"vocabulary empty", ErrInvalid, "VOCB", "too few for 5 words", payload("VOCB", nil)},
		{"vocabulary short", ErrInvalid, "VOCB", "it ends early", payload("VOCB", wordBytes("aaaaa", "b", "c", "d"))},
		{"vocabulary long", ErrInvalid, "VOCB", "5 bytes are left over", payload("VOCB", wordBytes("a", "b", "c", "d", "e", "f"))},
		{"word beyond the end", ErrInvalid, "VOCB", "it ends early",
			func(f *testFile) {
				v := wordBytes("12345678", "", "", "", "", "", "", "")
				le.PutUint32(v, math.MaxUint32)
				f.section("VOCB").payload = v
			}},
		{"provenance empty", ErrInvalid, "PROV", "JSON", payload("PROV", nil)},
		{"provenance no JSON", ErrInvalid, "PROV", "invalid character", payload("PROV", []byte("{x"))},
		{"provenance of another kind", ErrInvalid, "PROV", "cannot unmarshal", payload("PROV", []byte(`[1,2]`))},
		{"seed negative", ErrInvalid, "PROV", "seed: ", payload("PROV", []byte(`{"seed":-1}`))},
		{"stage no text", ErrInvalid, "PROV", "stages: [1]: ", payload("PROV", []byte(`{"stages":["a",7]}`))},
		{"statistic no number", ErrInvalid, "STAT", "rectify: changes: [1]: ", payload("STAT", []byte(`{"rectify":{"changes":[1,"x"]}}`))},
		{"statistic no list", ErrInvalid, "STAT", "warnings: ", payload("STAT", []byte(`{"warnings":{}}`))},
		{"statistic deep", ErrInvalid, "STAT", "depth", payload("STAT", []byte(`{"x":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`))},
	} {
		f := tinyFile()
		c.spoil(&f)
		e := mustRefuse(t, c.name, f.bytes())
		if e.Kind != c.kind || e.Section != c.section || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: %v; want %v in %q: %q", c.name, e, c.kind, c.section, c.want)
		}
	}
	for name, text := range map[string]string{"text": "word topic\napple 1\n", "gzip": "\x1f\x8b\x08", "one byte": "x", "PNG": "\x89PNG\r\n\x1a\n"} {
		if e := mustRefuse(t, name, []byte(text)); e.Kind != ErrNotModel {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// A section exchanged for one of another model, checksums and all, is found by
// the last checksum: no other can.
func TestExchangedSection(t *testing.T) {
	other := tinyFile()
	copy(other.section("AMAT").payload, floatBytes(0.25))
	a, b := tinyFile().bytes(), other.bytes()
	end := len(a) - 8
	e := mustRefuse(t, "exchanged", append(bytes.Clone(b[:end]), a[end:]...))
	if e.Kind != ErrChecksum || e.Section != "trailer" || e.Field != "whole file" {
		t.Errorf("error %v", e)
	}
}

// What later versions of the library may add.
func TestReadModelAccepts(t *testing.T) {
	for name, change := range map[string]func(f *testFile){
		"unknown optional sections": func(f *testFile) {
			f.sections = append([]testSection{{tag: "FUTR", payload: make([]byte, 3*(64<<10)+5)}}, append(f.sections, testSection{tag: "\x00\xff\n\"", payload: nil})...)
		},
		"another order": func(f *testFile) {
			for i, j := 0, len(f.sections)-1; i < j; i, j = i+1, j-1 {
				f.sections[i], f.sections[j] = f.sections[j], f.sections[i]
			}
		},
		"other required bits": func(f *testFile) {
			for i := range f.sections {
				f.sections[i].flags ^= 1
			}
		},
		"unknown keys": func(f *testFile) {
			f.section("STAT").payload = []byte(strings.Replace(tinyStat, "{", ` { "new" : {"x":[1,2]},`+"\n", 1))
			f.section("PROV").payload = []byte(strings.Replace(tinyProv, "{", `{"gpu":null,`, 1))
		},
	} {
		f := tinyFile()
		change(&f)
		m, err := ReadModel(bytes.NewReader(f.bytes()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameAsTiny(t, m)
	}

	withGroups := tinyParts()
	withGroups.AnchorGroups = [][]int{nil, {3, 1}}
	byHand := tinyFile()
	at := slices.IndexFunc(byHand.sections, func(s testSection) bool { return s.tag == "MARG" })
	byHand.sections = slices.Insert(byHand.sections, at, testSection{tag: "GRUP", payload: []byte("[null,[3,1]]")})
	if got := encoded(t, mustModel(t, withGroups)); !bytes.Equal(got, byHand.bytes()) {
		t.Error("FORMAT.md followed by hand gives another file for a model with groups")
	}

	f := tinyFile()
	f.sections = f.sections[1:6]
	m, err := ReadModel(bytes.NewReader(f.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if m.Vocabulary() != nil || !reflect.DeepEqual(m.Stats(), Stats{}) || m.Provenance().Seed != 0 {
		t.Errorf("optional sections appear from nowhere: %+v", m)
	}
}

// A file of some hundred bytes that claims terabytes takes a few chunks at most.
func TestLyingSizesAllocateLittle(t *testing.T) {
	const n, k = math.MaxInt32, 1 << 20
	if math.MaxInt>>40 == 0 {
		t.Skip("needs 64-bit integers")
	}
	for _, s := range []testSection{
		{tag: "BMAT", flags: 1, length: 8 * n * k, payload: make([]byte, 100)},
		{tag: "WTOP", flags: 1, length: 8 * n * k, payload: make([]byte, 100)},
		{tag: "AMAT", flags: 1, length: 8 * k * k, payload: make([]byte, 100)},
		{tag: "MARG", flags: 1, length: 8 * n, payload: make([]byte, 100)},
		{tag: "ANCH", flags: 1, length: 8 * k, payload: make([]byte, 100)},
		{tag: "VOCB", flags: 1, length: 1 << 50, payload: make([]byte, 100)},
		{tag: "PROV", length: 1 << 50, payload: []byte(`{}`)},
		{tag: "FUTR", length: 1 << 50, payload: make([]byte, 100)},
		{tag: "VOCB", flags: 1, payload: make([]byte, 100)}, // true, but N is not
	} {
		f := tinyFile()
		f.n, f.k, f.sections = n, k, []testSection{s}
		file := f.bytes()
		// Four chunks: one to read into, one or two of content, and the rest.
		if got := testutil.Allocated(t, func() { mustRefuse(t, s.tag, file) }); got > 2*4*(64<<10) {
			t.Errorf("%s: %d bytes allocated for a file of %d", s.tag, got, len(file))
		}
	}
}

// Memory in proportion to what is there: content of unknown size costs at most
// four times its bytes in all (doubling leaves 1 + ½ + ¼ + …, and a chunk).
func TestAllocationInProportion(t *testing.T) {
	p, _ := randomParts(20000, 20, 1)
	p.Vocabulary = nil
	file := encoded(t, mustModel(t, p))
	for _, c := range []struct {
		name  string
		r     io.Reader
		times float64
	}{
		{"known size", bytes.NewReader(file), 1.1},
		{"unknown size", struct{ io.Reader }{bytes.NewReader(file)}, 4},
		{"unknown size, cut", struct{ io.Reader }{bytes.NewReader(file[:len(file)*6/10])}, 4 * 0.6},
	} {
		got := testutil.Allocated(t, func() {
			if _, err := ReadModel(c.r); err != nil && !errors.Is(err, ErrTruncated) {
				t.Error(err)
			}
		})
		if float64(got) > c.times*float64(len(file)) {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, got, len(file))
		}
	}

	// The densest JSON: a statistic of 3 bytes becomes a struct of 48, and is
	// held as a raw message of 24 before, both with room to grow.
	f := tinyFile()
	f.section("STAT").payload = []byte(`{"corpus":{"dropped_words":[` + strings.Repeat("{},", 1<<15) + `{}]}}`)
	bomb := f.bytes()
	got := testutil.Allocated(t, func() { ReadModel(bytes.NewReader(bomb)) })
	t.Logf("JSON: %d bytes allocated for a file of %d", got, len(bomb))
	if got > 500*int64(len(bomb)) {
		t.Errorf("JSON: %d bytes allocated for a file of %d", got, len(bomb))
	}
}

var errDisk = errors.New("disk on fire")

func TestReadErrorsPass(t *testing.T) {
	file := encoded(t, mustModel(t, tinyParts()))
	for n := range file {
		_, err := ReadModel(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(errDisk)))
		var fe *modelfile.Error
		if !errors.Is(err, errDisk) || errors.As(err, &fe) || !strings.Contains(err.Error(), fmt.Sprintf("byte %d:", n)) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// limitedWriter takes n bytes; then it fails, or takes less without a word.
type limitedWriter struct {
	n     int
	quiet bool
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if len(p) <= w.n {
		w.n -= len(p)
		return len(p), nil
	}
	n := w.n
	w.n = 0
	if w.quiet {
		return n, nil
	}
	return n, errDisk
}

func TestWriteErrorsPass(t *testing.T) {
	p, _ := randomParts(5000, 4, 1) // several chunks
	m := mustModel(t, p)
	size := len(encoded(t, m))
	for _, n := range []int{0, 1, 39, (64 << 10) - 1, (64 << 10), (64 << 10) + 1, 3 * (64 << 10), size - 1} {
		got, err := m.WriteTo(&limitedWriter{n: n})
		if !errors.Is(err, errDisk) || got != int64(n) || !strings.HasPrefix(err.Error(), "jsmf: write model: ") {
			t.Errorf("room for %d bytes: %d, %v", n, got, err)
		}
		got, err = m.WriteTo(&limitedWriter{n: n, quiet: true})
		if !errors.Is(err, io.ErrShortWrite) || got != int64(n) {
			t.Errorf("room for %d bytes, quietly: %d, %v", n, got, err)
		}
	}
	if got, err := m.WriteTo(&limitedWriter{n: size}); err != nil || got != int64(size) {
		t.Errorf("room for all: %d, %v", got, err)
	}
}

func BenchmarkModelFile(b *testing.B) {
	p, _ := randomParts(5000, 100, 1)
	m := mustModel(b, p)
	file := encoded(b, m)
	b.Run("N=5000/K=100/op=write", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.WriteTo(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("N=5000/K=100/op=read", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadModel(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
