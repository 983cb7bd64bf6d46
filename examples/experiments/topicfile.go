package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// readTopics reads the file of -topics. A matrix has a row for each word of
// -topics-vocab or of the corpus' vocabulary file; it is turned where only its
// columns fit.
func (l *lab) readTopics(ctx context.Context, s *source) (*topics, error) {
	data, err := os.ReadFile(l.scoreFile)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(l.scoreFile) == ".words" {
		lists, err := parseLists(data)
		return &topics{lists: lists}, err
	}
	var m *mat.Dense
	if bytes.HasPrefix(data, []byte(npyMagic)) {
		m, err = parseNPY(data)
	} else {
		m, err = parseText(data)
	}
	if err != nil {
		return nil, err
	}
	vocab := l.scoreVocab
	if vocab == "" {
		vocab = s.vocab
	}
	words, err := readLines(vocab)
	if err != nil {
		return nil, err
	}
	return asTopics(m, words)
}

// asTopics checks a matrix: N×K, or K×N where that alone fits; columns are scaled
// to sum 1.
func asTopics(m *mat.Dense, words []string) (*topics, error) {
	r, c := m.Dims()
	if r != len(words) {
		if c != len(words) {
			return nil, fmt.Errorf("a %d×%d matrix for %d words", r, c, len(words))
		}
		m = mat.DenseCopyOf(m.T())
		r, c = c, r
	}
	seen := make(map[string]int, r)
	for i, w := range words {
		if j, ok := seen[w]; ok {
			return nil, fmt.Errorf("word %q has the rows %d and %d", w, j, i)
		}
		seen[w] = i
	}
	for j := range c {
		sum := 0.0
		for i := range r {
			v := m.At(i, j)
			if !(v >= 0) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("row %d (%q), column %d: %g is no probability", i, words[i], j, v)
			}
			sum += v
		}
		if !(sum > 0) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("column %d has the sum %g", j, sum)
		}
		for i := range r {
			m.Set(i, j, m.At(i, j)/sum)
		}
	}
	return &topics{words: words, b: m}, nil
}

// parseLists reads lists of top words, a line a topic, the best first, with blanks,
// tabs or commas between them; # begins a comment line.
func parseLists(data []byte) ([][]string, error) {
	var out [][]string
	for i, text := range strings.Split(string(data), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' })
		for j, w := range words {
			if slices.Contains(words[:j], w) {
				return nil, fmt.Errorf("line %d has %q twice", i+1, w)
			}
		}
		out = append(out, words)
	}
	if len(out) == 0 {
		return nil, errors.New("no lists of words")
	}
	return out, nil
}

// parseText reads a matrix of numbers, a line a row, with blanks, tabs or commas
// between them; # begins a comment line.
func parseText(data []byte) (*mat.Dense, error) {
	var values []float64
	rows, cols := 0, 0
	for i, text := range strings.Split(string(data), "\n") {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		if rows > 0 && len(fields) != cols {
			return nil, fmt.Errorf("line %d has %d numbers, the first %d", i+1, len(fields), cols)
		}
		cols = len(fields)
		for _, f := range fields {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number", i+1, f)
			}
			values = append(values, v)
		}
		rows++
	}
	if len(values) == 0 {
		return nil, errors.New("no numbers")
	}
	return mat.NewDense(rows, cols, values), nil
}

const npyMagic = "\x93NUMPY"

var (
	npyDescr   = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape':\s*\((\d+),\s*(\d+),?\s*\)`)
)

// parseNPY reads a NumPy file of two dimensions, of versions 1 to 3, of float64 or
// float32 in little-endian order, by rows or by columns.
func parseNPY(data []byte) (*mat.Dense, error) {
	if len(data) < 12 || !bytes.HasPrefix(data, []byte(npyMagic)) {
		return nil, errors.New("not a NumPy file")
	}
	head, at := int(binary.LittleEndian.Uint16(data[8:])), 10
	if data[6] >= 2 {
		head, at = int(binary.LittleEndian.Uint32(data[8:])), 12
	}
	if head < 0 || len(data)-at < head {
		return nil, errors.New("the NumPy file ends in its header")
	}
	header := string(data[at : at+head])
	data = data[at+head:]
	descr, fortran, shape := npyDescr.FindStringSubmatch(header), npyFortran.FindStringSubmatch(header), npyShape.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("NumPy header %q: want a descr, fortran_order and a shape of two dimensions", strings.TrimSpace(header))
	}
	size := map[string]int{"<f8": 8, "<f4": 4}[descr[1]]
	if size == 0 {
		return nil, fmt.Errorf("NumPy numbers of the type %q: want <f8 or <f4", descr[1])
	}
	r, err1 := strconv.Atoi(shape[1])
	c, err2 := strconv.Atoi(shape[2])
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if r < 1 || c < 1 || r > len(data)/size/c || r*c*size != len(data) {
		return nil, fmt.Errorf("NumPy file of %d×%d numbers of %d bytes has %d bytes of them", r, c, size, len(data))
	}
	out := mat.NewDense(r, c, nil)
	for i := range r * c {
		var v float64
		if size == 8 {
			v = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		} else {
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		}
		if fortran[1] == "True" {
			out.Set(i%r, i/r, v)
		} else {
			out.Set(i/c, i%c, v)
		}
	}
	return out, nil
}

// readLines reads a file of words, one a line.
func readLines(path string) (_ []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return lines(f)
}

func lines(r io.Reader) ([]string, error) {
	var out []string
	for in := bufio.NewScanner(r); ; {
		if !in.Scan() {
			return out, in.Err()
		}
		out = append(out, strings.TrimRight(in.Text(), "\r"))
	}
}
