package corpus

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/fields"
)

// Metadata holds the values of M documents, column by column. It is immutable and safe
// for concurrent use. nil is one without columns.
//
// Memory: 8 bytes for each document and number or time, 12 for times with fractions of a
// second, 4 for each document and category.
type Metadata struct {
	columns []Column
	docs    int
	cells   []cells // of each column
}

// cells are the values of a column, in the slice of its kind.
type cells struct {
	numbers []float64 // NaN: missing
	seconds []int64   // since 1970; noTime: missing
	nanos   []int32   // nil: all 0
	codes   []int32   // the place in Levels; noLevel: missing
}

const (
	noTime  = math.MinInt64
	noLevel = -1
)

// NewMetadata returns the values of documents: docs[m][i] is that of document m in column i;
// docs[m] may be nil. Errors about a value wrap a [*ValueError].
func NewMetadata(columns []Column, docs [][]Value) (*Metadata, error) {
	var b metadataBuilder
	if err := b.begin(columns); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	for m, values := range docs {
		if err := b.check(values); err != nil {
			return nil, fmt.Errorf("corpus: document %d: %w", m+1, err)
		}
		b.add(values)
	}
	return b.finish(), nil
}

// NumDocs returns M, the number of documents.
func (t *Metadata) NumDocs() int {
	if t == nil {
		return 0
	}
	return t.docs
}

// Columns returns the columns. Their Levels must not be written to.
func (t *Metadata) Columns() []Column {
	if t == nil {
		return nil
	}
	return slices.Clone(t.columns)
}

// Numbers returns the numbers of a column, one for each document, and which are known; the
// others are NaN. It is an error if there is no such column of numbers.
func (t *Metadata) Numbers(column string) (x []float64, known []bool, err error) {
	c, err := t.find(column, Number)
	if err != nil {
		return nil, nil, err
	}
	known = make([]bool, t.docs)
	for m, v := range c.numbers {
		known[m] = !math.IsNaN(v)
	}
	return slices.Clone(c.numbers), known, nil
}

// Times returns the times of a column in UTC, one for each document, and which are known; the
// others are zero. It is an error if there is no such column of times.
func (t *Metadata) Times(column string) (x []time.Time, known []bool, err error) {
	c, err := t.find(column, Time)
	if err != nil {
		return nil, nil, err
	}
	x, known = make([]time.Time, t.docs), make([]bool, t.docs)
	for m := range x {
		x[m], known[m] = c.value(nil, m).Time()
	}
	return x, known, nil
}

// Categories returns the levels of a column and, for each document, the number of its level,
// −1 if it is missing. No document may have a level, as after Select. It is an error if there
// is no such column of categories.
func (t *Metadata) Categories(column string) (level []int, levels []string, err error) {
	c, err := t.find(column, Category)
	if err != nil {
		return nil, nil, err
	}
	level = make([]int, t.docs)
	for m, code := range c.codes {
		level[m] = int(code)
	}
	return level, slices.Clone(t.columns[t.index(column)].Levels), nil
}

// Value returns the value of document m in column i.
func (t *Metadata) Value(m, i int) Value { return t.cells[i].value(&t.columns[i], m) }

// index returns the number of a column, −1 if there is none of the name.
func (t *Metadata) index(name string) int {
	if t == nil {
		return -1
	}
	return slices.IndexFunc(t.columns, func(c Column) bool { return c.Name == name })
}

func (t *Metadata) find(name string, kind Kind) (*cells, error) {
	i := t.index(name)
	if i < 0 {
		var names []string
		for _, c := range t.Columns() {
			names = append(names, c.Name)
		}
		return nil, fmt.Errorf("corpus: there is no column %q; the columns are %q", name, names)
	}
	if k := t.columns[i].Kind; k != kind {
		return nil, fmt.Errorf("corpus: column %q holds values of the kind %v, not %v", name, k, kind)
	}
	return &t.cells[i], nil
}

// values appends the values of document m.
func (t *Metadata) values(dst []Value, m int) []Value {
	if t == nil {
		return dst
	}
	for i := range t.cells {
		dst = append(dst, t.Value(m, i))
	}
	return dst
}

// at returns the values of the documents with the given numbers.
func (t *Metadata) at(docs []int) *Metadata {
	if t == nil {
		return nil
	}
	out := &Metadata{columns: t.columns, docs: len(docs)}
	for _, c := range t.cells {
		out.cells = append(out.cells, cells{at(c.numbers, docs), at(c.seconds, docs), at(c.nanos, docs), at(c.codes, docs)})
	}
	return out
}

// value returns the value of document m. column has the levels.
func (c *cells) value(column *Column, m int) Value {
	switch {
	case c.numbers != nil:
		if x := c.numbers[m]; !math.IsNaN(x) {
			return NumberOf(x)
		}
	case c.seconds != nil:
		if s := c.seconds[m]; s != noTime {
			v := Value{kind: Time, bits: uint64(s)}
			if c.nanos != nil {
				v.nano = c.nanos[m]
			}
			return v
		}
	case c.codes[m] != noLevel:
		return CategoryOf(column.Levels[c.codes[m]])
	}
	return Value{}
}

// metadataBuilder collects the values of documents, after begin.
type metadataBuilder struct {
	t     *Metadata
	open  []bool             // columns whose levels are not given; they are sorted in the end
	level []map[string]int32 // of categories
}

// begin checks the columns, which are copied.
func (b *metadataBuilder) begin(columns []Column) error {
	if err := checkColumns(columns); err != nil || len(columns) == 0 {
		return err
	}
	n := len(columns)
	b.t = &Metadata{columns: slices.Clone(columns), cells: make([]cells, n)}
	b.open, b.level = make([]bool, n), make([]map[string]int32, n)
	for i := range columns {
		c, x := &b.t.columns[i], &b.t.cells[i]
		switch c.Kind {
		case Number:
			x.numbers = []float64{}
		case Time:
			x.seconds = []int64{}
		case Category:
			x.codes, b.open[i], b.level[i] = []int32{}, c.Levels == nil, map[string]int32{}
			c.Levels = append([]string{}, c.Levels...)
			for k, name := range c.Levels {
				b.level[i][name] = int32(k)
			}
		}
	}
	return nil
}

func checkColumns(columns []Column) error {
	var errs []error
	names := map[string]bool{}
	for i, c := range columns {
		bad := func(cond bool, format string, args ...any) {
			if cond {
				errs = append(errs, fmt.Errorf("column %d, %q: %s", i+1, c.Name, fmt.Sprintf(format, args...)))
			}
		}
		bad(c.Name == "", "it has no name")
		bad(names[c.Name], "another column has this name")
		bad(c.Kind < Number || c.Kind > Category, "Kind is %d; want Number, Time or Category", int(c.Kind))
		bad(c.Levels != nil && c.Kind != Category, "a %v has no Levels", c.Kind)
		bad(!utf8.ValidString(c.Name+c.Unit), "%v", ErrInvalidUTF8)
		names[c.Name] = true
		levels := map[string]bool{}
		for _, l := range c.Levels {
			bad(levels[l], "the level %q comes twice", l)
			bad(!utf8.ValidString(l), "level %q: %v", l, ErrInvalidUTF8)
			levels[l] = true
		}
	}
	return errors.Join(errs...)
}

// check reports whether a document may have these values.
func (b *metadataBuilder) check(values []Value) error {
	if len(values) == 0 {
		return nil
	}
	if b.t == nil {
		return fmt.Errorf("%d values, but no columns are given: a Builder needs Columns, and a Source names them in its Description", len(values))
	}
	if len(values) != len(b.t.columns) {
		return fmt.Errorf("%d values for %d columns", len(values), len(b.t.columns))
	}
	for i, v := range values {
		c := &b.t.columns[i]
		if err := v.check(c); err != nil {
			return err
		}
		if v.kind == Category && !b.open[i] {
			if _, ok := b.level[i][v.text]; !ok {
				return noSuchLevel(c, v)
			}
		}
	}
	return nil
}

// add adds the values of a document, which have been checked. None: all are missing.
func (b *metadataBuilder) add(values []Value) {
	if b.t == nil {
		return
	}
	b.t.docs++
	for i := range b.t.cells {
		var v Value
		if len(values) > 0 {
			v = values[i]
		}
		switch c := &b.t.cells[i]; b.t.columns[i].Kind {
		case Number:
			x, ok := v.Number()
			if !ok {
				x = math.NaN()
			}
			c.numbers = append(c.numbers, x)
		case Time:
			s := int64(noTime)
			if v.kind == Time {
				s = int64(v.bits)
			}
			c.seconds = append(c.seconds, s)
			if v.nano != 0 && c.nanos == nil {
				c.nanos = make([]int32, b.t.docs-1)
			}
			if c.nanos != nil {
				c.nanos = append(c.nanos, v.nano)
			}
		case Category:
			c.codes = append(c.codes, b.code(i, v))
		}
	}
}

// code returns the number of a level, which is a new one if need be.
func (b *metadataBuilder) code(i int, v Value) int32 {
	if v.kind == 0 {
		return noLevel
	}
	code, ok := b.level[i][v.text]
	if !ok {
		code = int32(len(b.level[i]))
		name := strings.Clone(v.text)
		b.level[i][name] = code
		b.t.columns[i].Levels = append(b.t.columns[i].Levels, name)
	}
	return code
}

// finish returns the metadata, nil without columns, and empties the builder. Levels that
// were not given are sorted.
func (b *metadataBuilder) finish() *Metadata {
	t := b.t
	for i, open := range b.open {
		if !open {
			continue
		}
		sorted, to := sortNames(t.columns[i].Levels)
		t.columns[i].Levels = sorted
		for m, code := range t.cells[i].codes {
			if code != noLevel {
				t.cells[i].codes[m] = to[code]
			}
		}
	}
	*b = metadataBuilder{}
	return t
}

var (
	_ encoding.BinaryAppender    = (*Metadata)(nil)
	_ encoding.BinaryUnmarshaler = (*Metadata)(nil)
)

// AppendBinary appends the values in the form of FORMAT.md. It returns no error.
func (t *Metadata) AppendBinary(b []byte) ([]byte, error) {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(len(t.Columns())))
	b = le.AppendUint64(b, uint64(t.NumDocs()))
	if t == nil {
		return b, nil
	}
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for i, c := range t.columns {
		b = append(b, byte(c.Kind))
		text(c.Name)
		text(c.Unit)
		x := t.cells[i]
		switch c.Kind {
		case Number:
			for _, v := range x.numbers {
				if math.IsNaN(v) {
					v = math.NaN()
				}
				b = le.AppendUint64(b, math.Float64bits(v))
			}
		case Time:
			fractions := slices.ContainsFunc(x.nanos, func(v int32) bool { return v != 0 })
			if b = append(b, 0); fractions {
				b[len(b)-1] = 1
			}
			for _, v := range x.seconds {
				b = le.AppendUint64(b, uint64(v))
			}
			if fractions {
				for _, v := range x.nanos {
					b = le.AppendUint32(b, uint32(v))
				}
			}
		case Category:
			b = binary.AppendUvarint(b, uint64(len(c.Levels)))
			for _, l := range c.Levels {
				text(l)
			}
			for _, v := range x.codes {
				b = le.AppendUint32(b, uint32(v+1))
			}
		}
	}
	return b, nil
}

// UnmarshalBinary replaces the values by those that AppendBinary wrote, unless there is an
// error. Memory is at most a small multiple of len(b).
func (t *Metadata) UnmarshalBinary(b []byte) error {
	out, err := readMetadata(&fields.Reader{B: b})
	if err != nil {
		return fmt.Errorf("corpus: metadata: %w: %w", ErrDamaged, err)
	}
	*t = *out
	return nil
}

// readMetadata reads all of r.
func readMetadata(r *fields.Reader) (*Metadata, error) {
	columns, docs := r.U32(), r.U64()
	if uint64(columns) > uint64(len(r.B)) || columns > 0 && docs > uint64(len(r.B))/4 || docs > math.MaxInt {
		return nil, fmt.Errorf("%d columns of %d documents in %d bytes", columns, docs, len(r.B))
	}
	t := &Metadata{docs: int(docs)}
	for i := range columns {
		c, x, err := readColumn(r, docs)
		if err == nil && r.Short {
			err = errors.New("it ends early")
		}
		if err != nil {
			return nil, fmt.Errorf("column %d, %q: %w", i+1, c.Name, err)
		}
		t.columns, t.cells = append(t.columns, c), append(t.cells, x)
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	return t, checkColumns(t.columns)
}

func readColumn(r *fields.Reader, docs uint64) (c Column, x cells, err error) {
	le := binary.LittleEndian
	c.Kind = Kind(r.U8())
	c.Name, c.Unit = string(r.Take(r.Uvarint())), string(r.Take(r.Uvarint()))
	switch c.Kind {
	case Number:
		raw := r.Take(8 * docs)
		x.numbers = make([]float64, len(raw)/8)
		for m := range x.numbers {
			bits := le.Uint64(raw[8*m:])
			v := math.Float64frombits(bits)
			if math.IsInf(v, 0) || math.IsNaN(v) && bits != math.Float64bits(math.NaN()) {
				return c, x, fmt.Errorf("document %d has the number %#x", m+1, bits)
			}
			x.numbers[m] = v
		}
	case Time:
		fractions := r.U8()
		raw := r.Take(8 * docs)
		x.seconds = make([]int64, len(raw)/8)
		for m := range x.seconds {
			x.seconds[m] = int64(le.Uint64(raw[8*m:]))
			if s := x.seconds[m]; s != noTime && !inYears(s) {
				return c, x, fmt.Errorf("document %d has the time %d, which %w", m+1, s, errYears)
			}
		}
		if fractions > 1 {
			return c, x, fmt.Errorf("times of the form %d", fractions)
		}
		if fractions == 1 {
			raw = r.Take(4 * docs)
			x.nanos = make([]int32, len(raw)/4)
			for m := range x.nanos {
				v := le.Uint32(raw[4*m:])
				if v >= 1e9 || v > 0 && x.seconds[m] == noTime {
					return c, x, fmt.Errorf("document %d has %d nanoseconds", m+1, v)
				}
				x.nanos[m] = int32(v)
			}
		}
	case Category:
		return c, x, readLevels(r, docs, &c, &x)
	default:
		err = fmt.Errorf("its kind is %d", int(c.Kind))
	}
	return c, x, err
}

func readLevels(r *fields.Reader, docs uint64, c *Column, x *cells) error {
	n := r.Uvarint()
	if n > uint64(len(r.B)) || n > math.MaxInt32 {
		return fmt.Errorf("%d levels in %d bytes", n, len(r.B))
	}
	c.Levels = slices.Grow([]string{}, int(n))
	for range n {
		c.Levels = append(c.Levels, string(r.Take(r.Uvarint())))
	}
	raw := r.Take(4 * docs)
	x.codes = make([]int32, len(raw)/4)
	for m := range x.codes {
		code := binary.LittleEndian.Uint32(raw[4*m:])
		if uint64(code) > n {
			return fmt.Errorf("document %d has level %d of %d", m+1, code, n)
		}
		x.codes[m] = int32(code) - 1
	}
	return nil
}
