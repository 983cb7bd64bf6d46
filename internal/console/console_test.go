package console_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/console"
)

func TestWrap(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		width int
		want  string // with | at the end of each line
	}{
		"no limit":         {"a line of any length", 0, "a line of any length"},
		"fits":             {"just fits", 9, "just fits"},
		"prose":            {"some words that are too long", 15, "some words that|   are too long"},
		"indented":         {"     some words that are too long", 20, "     some words that|     are too long"},
		"table":            {" 3  god  god jesus bible faith", 20, " 3  god  god jesus|         bible faith"},
		"last column late": {" 3  a very long name of it  words of it", 30, " 3  a very long name of it|    words of it"},
		"one long word":    {"a /very/long/path/name/there and on", 12, "a|   /very/long/path/name/there|   and on"},
		"nothing but it":   {"/very/long/path/name", 8, "/very/long/path/name"},
		"characters":       {"größe größe größe", 11, "größe größe|   größe"},
		"tab":              {"    \twords and words", 20, "        words and|        words"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(console.Wrap(c.line, c.width), "|"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 0, "120": 120, "7": 0, "many": 0} {
		t.Setenv("COLUMNS", columns)
		if got := console.Width(new(bytes.Buffer)); got != want {
			t.Errorf("COLUMNS=%q: %d, want %d", columns, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	if got := console.Number("%+.2f (%.1g)", -0.45, 1e-7); got != "−0.45 (1e-07)" {
		t.Errorf("%q", got)
	}
}
