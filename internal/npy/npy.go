// Package npy writes matrices as NumPy files.
package npy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// Write writes a rows×cols matrix in format version 1.0: little-endian float64
// in C order. row returns row i, of length cols; the slice is not kept.
func Write(w io.Writer, rows, cols int, row func(i int) []float64) error {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	// Magic, version and length take 10 bytes; the whole head ends in a line
	// break and is a multiple of 64 long.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString("\x93NUMPY\x01\x00") // a bufio.Writer keeps its first error for Flush
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	buf := make([]byte, 0, 8*cols)
	for i := range rows {
		buf = buf[:0]
		r := row(i)
		if len(r) != cols {
			return fmt.Errorf("npy: row %d has %d numbers, want %d", i, len(r), cols)
		}
		for _, x := range r {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		}
		if _, err := b.Write(buf); err != nil {
			return err
		}
	}
	return b.Flush()
}
