package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

// trueTopics reads the planted topics of the synthetic corpus, over all words.
func trueTopics(t *testing.T) (*mat.Dense, []string) {
	t.Helper()
	b, err := parseText([]byte(strings.Join(testutil.Lines(t, "synth", "true_B.csv"), "\n")))
	if err != nil {
		t.Fatal(err)
	}
	words := testutil.Lines(t, "synth", "vocab.synth.txt")
	if n, k := b.Dims(); n != len(words) {
		t.Fatalf("%d×%d true topics for %d words", n, k, len(words))
	}
	return b, words
}

// A matrix scores the same in every form, whatever the order of its topics.
func TestScore(t *testing.T) {
	b, words := trueTopics(t)
	n, k := b.Dims()
	perm := rand.New(rand.NewPCG(1, 2)).Perm(k)
	permuted := mat.NewDense(n, k, nil)
	for j, p := range perm {
		for i := range n {
			permuted.Set(i, j, 7*b.At(i, p)) // of any scale
		}
	}
	dir := t.TempDir()
	npy := func(m *mat.Dense, fortran bool) []byte {
		r, c := m.Dims()
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }\n", map[bool]string{true: "True", false: "False"}[fortran], r, c)
		out := append([]byte(npyMagic+"\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
		out = append(out, header...)
		for x := range r * c {
			v := m.At(x/c, x%c)
			if fortran {
				v = m.At(x%r, x/r)
			}
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
		return out
	}
	text := func(m mat.Matrix) []byte {
		var out []byte
		r, c := m.Dims()
		for i := range r {
			for j := range c {
				out = append(strconv.AppendFloat(out, m.At(i, j), 'g', -1, 64), ' ')
			}
			out = append(out, '\n')
		}
		return out
	}
	files := map[string][]byte{
		"plain.npy": npy(b, false), "columns.npy": npy(b, true), "permuted.npy": npy(permuted, false),
		"plain.txt": text(b), "turned.txt": text(permuted.T()),
	}
	// The same by hand.
	d := counted(t, 300)
	c := d.Info().Corpus
	own := mat.NewDense(c.NumWords(), k, nil)
	for i := range c.NumWords() {
		at := slices.Index(words, c.Word(i))
		copy(own.RawRowView(i), b.RawRowView(at))
	}
	for j := range k {
		col := own.ColView(j).(*mat.VecDense)
		col.ScaleVec(1/mat.Sum(col), col)
	}
	rep, err := evaluate(t.Context(), d, own, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := metrics.TopLists(own, 0)
	if err != nil {
		t.Fatal(err)
	}
	similar, err := metrics.SimCount(lists)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		path, out := filepath.Join(dir, name), t.TempDir()
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		o, err := parseFlags(small(out, "-run", "score", "-topics", path), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		l := &lab{options: o}
		s, err := l.source("synth")
		if err != nil {
			t.Fatal(err)
		}
		given, err := l.readTopics(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows, err := l.score(t.Context(), s, name, given)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for key, want := range map[string]float64{"npmi": rep.NPMI.Mean, "coherence": rep.Coherence.Mean, "dissimilarity": rep.Dissimilarity.Mean,
			"specificity": rep.Specificity.Mean, "sparsity": rep.Sparsity.Mean, "simcount": float64(similar), "k": float64(k)} {
			// Sums over topics in another order and another scale differ by rounding.
			if got := rows[0].num(key); math.Abs(got-want) > 1e-11*math.Abs(want) {
				t.Errorf("%s: %s is %v; want %v", name, key, got, want)
			}
		}
	}
}

// Lists of top words score as the topics they are of, as far as the words go.
func TestScoreLists(t *testing.T) {
	out := t.TempDir()
	d := counted(t, 300)
	m, err := asPublished(5).Rectify(rectify.AP{}).Seed(1).Fit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("# top words\n")
	for k := range m.K() {
		for _, w := range m.TopWords(k, 20) {
			text.WriteString(w.Word + " ")
		}
		text.WriteString("\n")
	}
	path := filepath.Join(t.TempDir(), "ours.words")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	mustRun(t, small(out, "-run", "score", "-topics", path, "-name", "lists")...)
	rows := readTable(t, filepath.Join(out, "score.csv"))
	lists, ap := where(rows, "topics", "lists"), where(rows, "topics", "AP")
	if len(rows) != 1+len(scoreMethods) || len(lists) != 1 || len(ap) != 1 {
		t.Fatalf("rows: %v", rows)
	}
	for _, key := range []string{"npmi", "coherence", "u_mass", "c_npmi", "c_v", "dissimilarity", "simcount", "diversity", "k"} {
		if a, b := lists[0].num(key), ap[0].num(key); !(math.Abs(a-b) <= 1e-12*math.Abs(b)) {
			t.Errorf("%s: the lists have %v, the topics %v", key, a, b)
		}
	}
	if lists[0]["specificity"] != "" || lists[0].num("unknown") != 0 {
		t.Errorf("lists: %v", lists[0])
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil || !bytes.Contains(page, []byte("| synth | lists | 5 |")) {
		t.Errorf("the page has no line of the lists (%v)", err)
	}
}

func TestBadTopics(t *testing.T) {
	words := []string{"a", "b", "c"}
	for want, f := range map[string]func() error{
		"for 3 words":             func() error { _, err := asTopics(mat.NewDense(2, 2, []float64{1, 0, 0, 1}), words); return err },
		"is no probability":       func() error { _, err := asTopics(mat.NewDense(3, 1, []float64{1, -1, 1}), words); return err },
		"row 2 (\"c\"), column 0": func() error { _, err := asTopics(mat.NewDense(3, 1, []float64{1, 1, math.NaN()}), words); return err },
		"column 1 has the sum 0":  func() error { _, err := asTopics(mat.NewDense(3, 2, []float64{1, 0, 1, 0, 1, 0}), words); return err },
		`word "a" has the rows`: func() error {
			_, err := asTopics(mat.NewDense(3, 1, []float64{1, 1, 1}), []string{"a", "b", "a"})
			return err
		},
		"line 2 has 1 numbers": func() error { _, err := parseText([]byte("1 2\n3\n")); return err },
		`"x" is not a number`:  func() error { _, err := parseText([]byte("1 x\n")); return err },
		"no numbers":           func() error { _, err := parseText([]byte("# nothing\n")); return err },
		`line 1 has "a" twice`: func() error { _, err := parseLists([]byte("a b a\n")); return err },
		"no lists":             func() error { _, err := parseLists(nil); return err },
		"not a NumPy file":     func() error { _, err := parseNPY([]byte(npyMagic)); return err },
		"ends in its header":   func() error { _, err := parseNPY([]byte(npyMagic + "\x01\x00\xff\xff{}  ")); return err },
		`numbers of the type "<i8"`: func() error {
			_, err := parseNPY(npyHead("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }", 8))
			return err
		},
		"two dimensions": func() error {
			_, err := parseNPY(npyHead("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8))
			return err
		},
		"has 8 bytes of them": func() error {
			_, err := parseNPY(npyHead("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }", 8))
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if m, err := parseNPY(append(npyHead("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", 0), 0, 0, 128, 63, 0, 0, 0, 64)); err != nil || m.At(0, 0) != 1 || m.At(0, 1) != 2 {
		t.Errorf("float32: %v, %v", m, err)
	}
}

// npyHead is a NumPy file of version 2: the header and a number of zero bytes.
func npyHead(header string, zeros int) []byte {
	out := append([]byte(npyMagic+"\x02\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len(header)))...)
	return append(append(out, header...), make([]byte, zeros)...)
}
