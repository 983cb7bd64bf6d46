package corpus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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
