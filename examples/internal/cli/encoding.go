package cli

import (
	"flag"
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// Encoding defines -encoding, for texts that are not UTF-8. It leaves nil for UTF-8, as
// corpus.File does.
func Encoding(f *flag.FlagSet, to *encoding.Encoding) {
	f.Func("encoding", "the `name` of the encoding of the texts, such as windows-1252, iso-8859-15 or utf-16le (default UTF-8, or\nthe UTF-16 that a byte order mark says)", func(name string) error {
		e, err := htmlindex.Get(name)
		switch {
		case err != nil:
			return fmt.Errorf("want a name that web pages have for an encoding, such as windows-1252")
		case e == unicode.UTF8:
			e = nil
		}
		*to = e
		return nil
	})
}

// fields are the settings that errors and warnings of package corpus name, with the flags
// by which programs set them.
var fields = strings.NewReplacer(
	"set Encoding", "give -encoding",
	"set Field.Layout", "give -layout",
	"set CSV.Comma", "give -comma",
)

// Flags names the flags of a program in place of fields in a message of package corpus.
func Flags(message string) string { return fields.Replace(message) }

// FlagError is Flags for the message of an error; nil for nil.
func FlagError(err error) error {
	if err == nil {
		return nil
	}
	return flagError{err}
}

type flagError struct{ error }

func (e flagError) Error() string { return Flags(e.error.Error()) }
func (e flagError) Unwrap() error { return e.error }
