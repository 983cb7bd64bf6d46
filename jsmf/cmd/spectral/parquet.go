package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// writeParquet writes the columns of a Parquet file that hold one value a record; times are written
// as RFC 3339 has them.
func writeParquet(ctx context.Context, path string, w *maker) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: it is damaged: %w", path, err)
	}
	var names []string
	as := map[int]int{} // a column of the file → its place in a record
	read := map[int]func(parquet.Value) string{}
	for _, c := range p.Schema().Columns() {
		leaf, ok := p.Schema().Lookup(c...)
		if !ok || leaf.MaxRepetitionLevel > 0 {
			continue
		}
		as[leaf.ColumnIndex] = len(names)
		names = append(names, strings.Join(c, "."))
		read[leaf.ColumnIndex] = valueText(leaf.Node.Type())
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: no column holds one value a record", path)
	}
	if err := w.write(names...); err != nil {
		return err
	}
	rows := make([]parquet.Row, 256)
	for _, g := range p.RowGroups() {
		err := func() error {
			r := g.Rows()
			defer r.Close()
			for {
				n, err := r.ReadRows(rows)
				for _, row := range rows[:n] {
					record := make([]string, len(names))
					for _, v := range row {
						if at, ok := as[v.Column()]; ok && !v.IsNull() {
							record[at] = read[v.Column()](v)
						}
					}
					if err := w.write(record...); err != nil {
						return err
					}
				}
				if err == io.EOF {
					return nil
				}
				if err = errors.Join(err, ctx.Err()); err != nil {
					return err
				}
			}
		}()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// valueText returns how values of a type are written.
func valueText(t parquet.Type) func(parquet.Value) string {
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.DateType:
			return func(v parquet.Value) string {
				return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
			}
		case *format.TimestampType:
			unit := time.Nanosecond
			switch l.Unit.Value.(type) {
			case *format.MilliSeconds:
				unit = time.Millisecond
			case *format.MicroSeconds:
				unit = time.Microsecond
			}
			per := int64(time.Second / unit)
			return func(v parquet.Value) string {
				x := v.Int64()
				return time.Unix(x/per, x%per*int64(unit)).UTC().Format(time.RFC3339Nano)
			}
		}
	}
	return func(v parquet.Value) string {
		switch v.Kind() {
		case parquet.Boolean:
			return strconv.FormatBool(v.Boolean())
		case parquet.ByteArray, parquet.FixedLenByteArray:
			return string(v.ByteArray())
		}
		return v.String()
	}
}
