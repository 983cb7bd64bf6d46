package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// row is a line of results: the values in the CSV by the name of their column. An
// undefined number and a column without use are "".
type row map[string]string

// set puts a value into the row: a string, an int or a float64, which keeps all
// its digits.
func (r row) set(column string, v any) row {
	switch v := v.(type) {
	case float64:
		r[column] = ""
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			r[column] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	default:
		r[column] = fmt.Sprint(v)
	}
	return r
}

// num returns the number in a column, NaN where there is none.
func (r row) num(column string) float64 {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// setting is one of the things that a result depends on.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// record is a cell that is done: a line of the file of records.
type record struct {
	Key      string    `json:"key"`
	Group    string    `json:"group"`
	Version  int       `json:"version"`
	Settings []setting `json:"settings"`
	Rows     []row     `json:"rows"`
	Seconds  float64   `json:"seconds"` // that it took, as by cpuSeconds
}

// cellKey returns the key of a cell: a digest of all that its result depends on.
// The settings hold a digest of the input.
func cellKey(group string, version int, settings []setting) string {
	b, err := json.Marshal(record{Group: group, Version: version, Settings: settings})
	if err != nil {
		panic(err) // strings and numbers only
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// store is the file of records. Each is one line that is written by one call,
// with the line break last, and is on the disk before the next cell begins: a
// program that is stopped at any moment leaves at most half a line at the end,
// which the next one cuts off.
type store struct {
	path string
	done map[string]record
}

const recordsName = "records.jsonl"

func openStore(dir string) (*store, error) {
	s := &store{path: filepath.Join(dir, recordsName), done: make(map[string]record)}
	b, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(b, '\n') + 1; end < len(b) {
		if err := os.Truncate(s.path, int64(end)); err != nil {
			return nil, err
		}
		b = b[:end]
	}
	for i, line := range bytes.Split(b, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", s.path, i+1, err)
		}
		if r.Key != cellKey(r.Group, r.Version, r.Settings) {
			return nil, fmt.Errorf("%s:%d: the key is not that of the settings in the same line", s.path, i+1)
		}
		s.done[r.Key] = r
	}
	return s, nil
}

func (s *store) add(r record) (err error) {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	s.done[r.Key] = r
	return nil
}

// writeFile writes a file that appears under its name only when it is complete.
func writeFile(path string, write func(w io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeCSV writes the given columns of rows.
func writeCSV(path string, columns []string, rows []row) error {
	return writeFile(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		if err := out.Write(columns); err != nil {
			return err
		}
		line := make([]string, len(columns))
		for _, r := range rows {
			for i, c := range columns {
				line[i] = r[c]
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}
