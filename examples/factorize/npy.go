package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/jsmf"
)

// saveTopics writes B with one row for each word of the vocabulary file.
func saveTopics(path string, m *jsmf.Model, in *input) error {
	b := m.TopicsTo(nil)
	row := make([]int, in.fileWords) // the model's word, counted from 1
	for i, j := range in.fileIndex {
		row[j] = i + 1
	}
	zero := make([]float64, m.K())
	return writeNPY(path, in.fileWords, m.K(), func(i int) []float64 {
		if row[i] == 0 {
			return zero
		}
		return b.RawRowView(row[i] - 1)
	})
}

// writeNPY writes a rows×cols matrix as a NumPy file, format version 1.0:
// little-endian float64 in C order. The file appears under its name only when
// it is complete.
func writeNPY(path string, rows, cols int, row func(i int) []float64) (err error) {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(part))
			return
		}
		if err = f.Close(); err == nil {
			err = os.Rename(part, path)
		}
	}()
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	// Magic, version and length take 10 bytes; the whole head ends in a line
	// break and is a multiple of 64 long.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	w := bufio.NewWriterSize(f, 1<<16)
	w.WriteString("\x93NUMPY\x01\x00") // a bufio.Writer keeps its first error for Flush
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	w.WriteString(header)
	buf := make([]byte, 0, 8*cols)
	for i := range rows {
		buf = buf[:0]
		for _, x := range row(i) {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		}
		w.Write(buf)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}
