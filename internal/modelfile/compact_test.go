package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// tables are the sections of two matrices.
func tables(a, s *[]float64, n, k int) []Section {
	return []Section{
		{Tag: "TABL", Compact: "TSPA", Field: "table", Needed: true, Content: Table(a, n, k)},
		{Tag: "SYMM", Compact: "STRI", Field: "symmetric", Content: Symmetric(s, k)},
	}
}

func TestCompact(t *testing.T) {
	const n, k = 300, 150
	rng := rand.New(rand.NewPCG(1, 2))
	var sparse, dense, symmetric []float64
	for range n {
		for j := range k {
			x := 1 / float64(j+1)
			if j == 3 {
				x = math.Copysign(0, -1)
			}
			dense = append(dense, rng.Float64())
			if rng.IntN(10) == 0 {
				x += rng.Float64()
			}
			sparse = append(sparse, x)
		}
	}
	sparse[4*k+3] = 0 // differs from −0
	for i := range k {
		for j := range k {
			symmetric = append(symmetric, 1/float64(1+i+j))
		}
	}
	odd := slices.Clone(symmetric)
	odd[1], odd[k] = 0, math.Copysign(0, -1)
	for name, c := range map[string]struct {
		a, s  []float64
		least float64 // and at most 0.02 more: the part of the bytes that the file takes
		tags  string
	}{
		"sparse":     {sparse, nil, 0.11, "TSPA"},
		"equal":      {make([]float64, n*k), nil, 1. / (8 * numbersOfByte), "TSPA"},
		"dense":      {dense, nil, 1, "TABL"},
		"symmetric":  {dense, symmetric, 1.25, "TABL STRI"},
		"0 and −0":   {dense, odd, 1.5, "TABL SYMM"},
		"both small": {sparse, symmetric, 0.36, "TSPA STRI"},
	} {
		var file bytes.Buffer
		if _, err := Write(&file, n, k, tables(&c.a, &c.s, n, k)); err != nil {
			t.Fatal(err)
		}
		if part := float64(file.Len()) / (8 * n * k); part < c.least || part > c.least+0.02 {
			t.Errorf("%s: %.3f of the bytes, want %.3f", name, part, c.least)
		}
		for _, tag := range strings.Fields(c.tags) {
			if !bytes.Contains(file.Bytes(), []byte(tag)) {
				t.Errorf("%s: there is no %s", name, tag)
			}
		}
		var a, s []float64
		if err := Read(&file, func(n, k int) []Section { return tables(&a, &s, n, k) }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
		if !slices.EqualFunc(a, c.a, same) || !slices.EqualFunc(s, c.s, same) {
			t.Errorf("%s: other bits come back", name)
		}
	}
}

// Small matrices are written as they were.
func TestCompactSmall(t *testing.T) {
	a, s := []float64{0.5, 0, 0, 0.25, 0.25, 0, 0, 0.25, 0.25, 0.5}, []float64{1, 2, 2, 1}
	for _, row := range tables(&a, &s, 5, 2) {
		if b := row.compact(); b != nil {
			t.Errorf("%s: %d bytes", row.Field, len(b))
		}
	}
}

func TestExpandRefuses(t *testing.T) {
	const n, k = 3, 40
	a := make([]float64, n*k)
	a[k+7] = 1
	good := compactTable(a, n, k)
	at := 8*k + 1 // of the number
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":       {nil, "too few"},
		"short":       {good[:8*k-1], "too few"},
		"cut in row":  {good[:at+5], "bytes are left"},
		"cut":         {good[:8*k+1], "ends before row 1 of 3"},
		"column K":    {slices.Concat(good[:at], binary.AppendUvarint(nil, k+1), good[at+1:]), "columns after column -1 of 40"},
		"gap of 2⁶³":  {slices.Concat(good[:at], binary.AppendUvarint(nil, 1<<63), good[at+1:]), "columns after"},
		"endless gap": {slices.Concat(good[:at], bytes.Repeat([]byte{0xff}, 20)), "ends before row 1"},
		"more":        {append(slices.Clone(good), 0, 1), "2 bytes after the last row"},
	} {
		if _, err := expandTable(c.b, n, k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if got, err := expandTable(append(good, 0), n, k); err != nil || !slices.Equal(got, a) {
		t.Errorf("%v, %v", got, err)
	}
	// A short file cannot claim a large matrix.
	if _, err := expandTable(make([]byte, 1<<10), 1<<20, 1<<7); err == nil {
		t.Error("a kilobyte makes a gigabyte")
	}
	var s []float64
	if err := Symmetric(&s, 3).expand(make([]byte, 40)); err == nil {
		t.Error("five numbers make a triangle of six")
	}
}

// Both forms of one section are two of it.
func TestCompactTwice(t *testing.T) {
	const n, k = 40, 20
	a, s := make([]float64, n*k), []float64(nil)
	table := tables(&a, &s, n, k)
	plain := Section{Tag: "TABL", Field: "table", Content: Floats(&a, n*k)}
	var file bytes.Buffer
	if _, err := Write(&file, n, k, []Section{table[0], plain}); err != nil {
		t.Fatal(err)
	}
	err := Read(&file, func(n, k int) []Section { return table })
	if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Detail, "comes twice") {
		t.Errorf("error %v", err)
	}
}
