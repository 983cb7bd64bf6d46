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
)

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
