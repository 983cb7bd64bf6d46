package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is what the values of a Column are. It is never guessed: 2024 may be a number, a
// year or the name of a group, and a column of digits may hold postcodes.
type Kind int

const (
	// Number is a finite float64.
	Number Kind = 1 + iota
	// Time is an instant in the years 0 to 9999, to the nanosecond. Its zone is not kept.
	Time
	// Category is one of a set of names, the levels of the column.
	Category
)

func (k Kind) String() string {
	switch k {
	case Number:
		return "number"
	case Time:
		return "time"
	case Category:
		return "category"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Column says what one column of metadata holds: something known of each document besides its
// words, such as its date, its rating or its author.
type Column struct {
	Name string // not empty, and no other column has it
	Kind Kind   // must be given
	Unit string // of numbers, such as "EUR" or "°C"; "": none

	// Levels are the names that a Category may have, in their order; any other is an error.
	// nil: any name, and the columns of a corpus have those that occur, sorted as Read sorts
	// words. Other kinds have none.
	Levels []string
}

// Value is the value of one document in one column. The zero Value is a missing one, which is
// not the same as 0, the zero time or the category "".
type Value struct {
	text string
	bits uint64 // of a number; seconds since 1970 of a time
	nano int32
	kind Kind
}

// NumberOf returns a number as a Value.
func NumberOf(x float64) Value { return Value{kind: Number, bits: math.Float64bits(x)} }

// TimeOf returns a time as a Value.
func TimeOf(t time.Time) Value {
	return Value{kind: Time, bits: uint64(t.Unix()), nano: int32(t.Nanosecond())}
}

// CategoryOf returns the name of a category as a Value.
func CategoryOf(name string) Value { return Value{kind: Category, text: name} }

// Kind returns the kind of the value; 0 if it is missing.
func (v Value) Kind() Kind { return v.kind }

// Number returns the number, and whether the value is one.
func (v Value) Number() (float64, bool) {
	if v.kind != Number {
		return 0, false
	}
	return math.Float64frombits(v.bits), true
}

// Time returns the time, in UTC, and whether the value is one.
func (v Value) Time() (time.Time, bool) {
	if v.kind != Time {
		return time.Time{}, false
	}
	return time.Unix(int64(v.bits), int64(v.nano)).UTC(), true
}

// Category returns the name of the category, and whether the value is one.
func (v Value) Category() (string, bool) { return v.text, v.kind == Category }

// String returns a number in the fewest digits, a time as in RFC 3339, or as a date such as
// 2006-01-02 if it is midnight in UTC, the name of a category, or "" if the value is missing.
func (v Value) String() string {
	switch v.kind {
	case Number:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case Time:
		t, _ := v.Time()
		if t.Equal(t.Truncate(24 * time.Hour)) {
			return t.Format(time.DateOnly)
		}
		return t.Format(time.RFC3339Nano)
	}
	return v.text
}

// Check returns a [*ValueError] if the column may not have the value.
func (c Column) Check(v Value) error {
	if v.kind == Category && v.kind == c.Kind && c.Levels != nil && !slices.Contains(c.Levels, v.text) {
		return noSuchLevel(&c, v)
	}
	return v.check(&c)
}

func noSuchLevel(c *Column, v Value) error {
	return &ValueError{Column: c.Name, Value: v.text, Err: errors.New("is not among the Levels of the column")}
}

// check is Column.Check without its Levels.
func (v Value) check(c *Column) error {
	var err error
	switch x := math.Float64frombits(v.bits); {
	case v.kind == 0:
	case v.kind != c.Kind:
		err = fmt.Errorf("is a %v, want a %v", v.kind, c.Kind)
	case v.kind == Number && (math.IsNaN(x) || math.IsInf(x, 0)):
		err = errors.New("is not a finite number")
	case v.kind == Time && !inYears(int64(v.bits)):
		err = errYears
	case v.kind == Category && !utf8.ValidString(v.text):
		err = ErrInvalidUTF8
	}
	if err != nil {
		return &ValueError{Column: c.Name, Value: v.String(), Err: err}
	}
	return nil
}

// inYears reports whether a time, in seconds since 1970, is in the years 0 to 9999, those of
// RFC 3339 and JSON.
func inYears(seconds int64) bool { return seconds >= -62_167_219_200 && seconds < 253_402_300_800 }

var errYears = errors.New("is not in the years 0 to 9999")

// ValueError says which value does not fit its column.
type ValueError struct {
	Column string // Column.Name
	Value  string // as it was given
	Err    error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("column %q: value %q: %v", e.Column, clip([]byte(e.Value)), e.Err)
}

func (e *ValueError) Unwrap() error { return e.Err }

// Field is a column of metadata that a reader fills, and says where its values are.
type Field struct {
	Column

	// From is the column of the table or query, or the field of the JSON object. "":
	// Column.Name.
	From string

	// Layout is how times are written: a layout of package time, UnixSeconds or
	// UnixMilliseconds. "" means RFC 3339, or a date such as 2006-01-02, perhaps with a T or a
	// space and a time such as 15:04:05. A time without a zone is in UTC.
	Layout string

	// Missing are the texts for a missing value, such as "NA" or "-". What is empty in a table,
	// null in JSON is always missing.
	Missing []string
}

// Layouts of Field for times that are numbers.
const (
	UnixSeconds      = "seconds since 1970"
	UnixMilliseconds = "milliseconds since 1970"
)

// finer says why a number may lead beyond all years.
var finer = map[string]string{
	UnixSeconds:      "; if it is in milliseconds, set Field.Layout to UnixMilliseconds",
	UnixMilliseconds: "; is it in microseconds or nanoseconds?",
}

func (f *Field) from() string { return cmp.Or(f.From, f.Name) }

func columnsOfFields(fields []Field) []Column {
	var out []Column
	for _, f := range fields {
		out = append(out, f.Column)
	}
	return out
}

// checkFields is for readers that are about to begin.
func checkFields(fields []Field) error { return checkColumns(columnsOfFields(fields)) }

// parse makes a value of text.
func (f *Field) parse(s string) (v Value, err error) {
	if slices.Contains(f.Missing, s) {
		return Value{}, nil
	}
	switch f.Kind {
	case Number:
		var x float64
		x, err = parseNumber(s)
		v = NumberOf(x)
	case Time:
		var t time.Time
		t, err = parseTime(s, f.Layout)
		if v = TimeOf(t); err == nil && !inYears(t.Unix()) {
			err = fmt.Errorf("%w%s", errYears, finer[f.Layout])
		}
	default:
		v = CategoryOf(strings.Clone(s)) // s may be a piece of a whole line
	}
	if err != nil {
		return Value{}, &ValueError{Column: f.Name, Value: s, Err: err}
	}
	return v, f.Check(v)
}

func parseNumber(s string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("is out of the range of a float64")
	}
	if err != nil {
		return 0, errors.New("is not a number; if it stands for a missing one, name it in Field.Missing")
	}
	return x, nil
}

func parseTime(s, layout string) (time.Time, error) {
	s = strings.TrimSpace(s)
	switch layout {
	case UnixSeconds:
		return parseUnix(s, layout, 1)
	case UnixMilliseconds:
		return parseUnix(s, layout, 1000)
	case "":
		form := time.DateOnly
		if n := len(time.DateOnly); len(s) > n {
			form = "2006-01-02T15:04:05"
			if s[n] == ' ' {
				s = s[:n] + "T" + s[n+1:]
			}
			if strings.ContainsAny(s[n:], "Zz+-") {
				form = time.RFC3339
			}
		}
		t, err := time.Parse(form, s)
		if err != nil {
			return t, errors.New("is neither a date such as 2006-01-02 nor a time of RFC 3339; for other forms set Field.Layout")
		}
		return t, nil
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return t, fmt.Errorf("is not a time of the layout %q", layout)
	}
	return t, nil
}

// parseUnix reads a number of seconds since 1970 times unit.
func parseUnix(s, layout string, unit int64) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		sec := n / unit
		return time.Unix(sec, (n-sec*unit)*(1e9/unit)), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(x) < 1<<62) {
		return time.Time{}, fmt.Errorf("is not a number of %s", layout)
	}
	sec, frac := math.Modf(x / float64(unit))
	return time.Unix(int64(sec), int64(math.Round(frac*1e9))), nil
}
