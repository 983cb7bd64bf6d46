// Package console lays text out for people who read it on a terminal.
package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Terminal reports whether w is a terminal: an *os.File that is a character device, unless the
// environment variable TERM is "dumb".
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || f == nil || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Width returns how many characters a line of w has: the environment variable COLUMNS, or
// else 80 if w is a terminal; 0 where lines may be as long as they are.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 20 {
		return n
	}
	if Terminal(w) {
		return 80
	}
	return 0
}

// signs leaves exponents as they are.
var signs = strings.NewReplacer("e-", "e-", "-", "−")

// Number is fmt.Sprintf for numbers, with the sign − before those below zero. Text for
// programs, such as CSV and JSON, keeps the hyphen.
func Number(format string, numbers ...any) string {
	return signs.Replace(fmt.Sprintf(format, numbers...))
}

// And joins names, as in "a, b and c".
func And(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// tabs are those of the help of package flag, and others.
var tabs = strings.NewReplacer("    \t", "        ", "\t", "        ")

// Wrap returns the words of a line in lines of at most width characters if no word is
// longer; 0: the line as it is. All but the first begin below the last column of a table, if
// that leaves a third of the width, or else as far in as the line itself, or three characters.
func Wrap(line string, width int) []string {
	if width <= 0 {
		return []string{line}
	}
	runes := []rune(tabs.Replace(line))
	if len(runes) <= width {
		return []string{line}
	}
	begin := 0 // of the first word
	for begin < len(runes) && runes[begin] == ' ' {
		begin++
	}
	indent := begin
	if begin == 0 || 3*begin > 2*width {
		indent = 3
	}
	for i := begin; i+2 < len(runes) && 3*(i+2) <= 2*width; i++ {
		if runes[i] == ' ' && runes[i+1] == ' ' && runes[i+2] != ' ' {
			indent = i + 2
		}
	}
	var out []string
	for head := begin; ; head = indent {
		end := len(runes)
		if end > width {
			end = width
			for end > head && runes[end] != ' ' {
				end--
			}
			if end <= head { // one word is longer than the line
				for end = width; end < len(runes) && runes[end] != ' '; end++ {
				}
			}
		}
		out = append(out, strings.TrimRight(string(runes[:end]), " "))
		rest := strings.TrimLeft(string(runes[end:]), " ")
		if rest == "" {
			return out
		}
		runes = []rune(strings.Repeat(" ", indent) + rest)
	}
}
