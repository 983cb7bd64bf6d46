package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// version is that of the rules by which a Setting makes words of text.
const version = 1

// Setting says how text becomes words, by the rules in the package documentation. It is plain
// data: a corpus and the model fitted to it keep it, so that later texts are split as those of
// the fit. The zero value is the default and suits most languages.
type Setting struct {
	// Version is the version of the rules; 0 means 1, the only one so far.
	Version int `json:"version,omitempty"`

	// Name is what the user calls the setting. It changes nothing.
	Name string `json:"name,omitempty"`

	// Own is the name of a tokenizer of the user's own (see Own). Only Version, Name and
	// Stemmer may be set with it.
	Own string `json:"own,omitempty"`

	// KeepMarkup keeps tags and entities (&amp;). By default HTML tags, comments, scripts and
	// styles are dropped, and entities become characters.
	KeepMarkup bool `json:"keep_markup,omitempty"`

	// DropHeaders drops the header of an e-mail, except what its Subject says.
	DropHeaders bool `json:"drop_headers,omitempty"`

	// DropQuotes drops lines that begin with ">", and a line right above them that
	// ends in a colon ("Ann wrote:").
	DropQuotes bool `json:"drop_quotes,omitempty"`

	// DropURLs drops web and e-mail addresses.
	DropURLs bool `json:"drop_urls,omitempty"`

	// KeepCase keeps upper case. By default words are lower-cased.
	KeepCase bool `json:"keep_case,omitempty"`

	// FoldAccents takes the marks off Latin, Greek, Cyrillic, Hebrew and Arabic letters: "café"
	// becomes "cafe". Marks of other scripts are part of their letters.
	FoldAccents bool `json:"fold_accents,omitempty"`

	// MinLength and MaxLength bound the length of a word in characters; 0 means 2 and 40.
	// MinLength does not apply to scripts that are written without blanks.
	MinLength int `json:"min_length,omitempty"`
	MaxLength int `json:"max_length,omitempty"`

	// Numbers says which words with digits are dropped.
	Numbers NumberRule `json:"numbers,omitempty"`

	// KeepPossessive keeps 's at the end of words. By default it is removed, also from "it's".
	KeepPossessive bool `json:"keep_possessive,omitempty"`

	// Segmenters are the names of the Segmenters. Scripts without blanks that none of them
	// splits are split into pairs of characters.
	Segmenters []string `json:"segmenters,omitempty"`

	// Stemmer is the name of the Stemmer by which words are merged; "": none.
	Stemmer string `json:"stemmer,omitempty"`

	// Boilerplate are lines to leave out, and Phrases are words to join; nil: none. Learn finds
	// both.
	Boilerplate *Boilerplate `json:"boilerplate,omitempty"`
	Phrases     *Phrases     `json:"phrases,omitempty"`
}

// NumberRule says which words with digits are dropped.
type NumberRule int

const (
	// DropNumbers drops words without a letter, such as 1984 and 3.14, and keeps
	// covid-19. It is the default.
	DropNumbers NumberRule = iota
	// KeepNumbers drops none.
	KeepNumbers
	// DropDigits drops every word with a digit, also covid-19.
	DropDigits
)

var numberRules = [...]string{"drop numbers", "keep numbers", "drop digits"}

func (r NumberRule) String() string {
	if r < 0 || int(r) >= len(numberRules) {
		return fmt.Sprintf("NumberRule(%d)", int(r))
	}
	return numberRules[r]
}

// MarshalText writes the rule as "drop numbers", "keep numbers" or "drop digits".
func (r NumberRule) MarshalText() ([]byte, error) {
	if r < 0 || int(r) >= len(numberRules) {
		return nil, fmt.Errorf("text: there is no %v", r)
	}
	return []byte(numberRules[r]), nil
}

// UnmarshalText reads what MarshalText writes.
func (r *NumberRule) UnmarshalText(b []byte) error {
	for i, s := range numberRules {
		if s == string(b) {
			*r = NumberRule(i)
			return nil
		}
	}
	return fmt.Errorf("text: there is no number rule %q", b)
}

// longest is the largest MaxLength.
const longest = 1000

// Validate reports what is wrong with the setting, nil for nothing.
func (s Setting) Validate() error {
	if s.Version < 0 || s.Version > version {
		return fmt.Errorf("text: setting of version %d; this library knows version %d", s.Version, version)
	}
	if s.Own != "" {
		if !s.Equal(Setting{Own: s.Own, Stemmer: s.Stemmer}) {
			return fmt.Errorf("text: a setting with a tokenizer of one's own (%q) has no other fields except a Stemmer", s.Own)
		}
		return nil
	}
	lo, hi := s.lengths()
	if s.MinLength < 0 || s.MaxLength < 0 || hi > longest || lo > hi {
		return fmt.Errorf("text: words of %d to %d characters; want 1 to %d", lo, hi, longest)
	}
	if s.Numbers < DropNumbers || s.Numbers > DropDigits {
		return fmt.Errorf("text: there is no %v", s.Numbers)
	}
	seen := make(map[string]bool)
	for _, name := range s.Segmenters {
		if name == "" || seen[name] {
			return fmt.Errorf("text: the segmenter %q has no name or comes twice", name)
		}
		seen[name] = true
	}
	if s.Boilerplate != nil {
		if err := s.Boilerplate.Validate(); err != nil {
			return err
		}
	}
	if s.Phrases != nil {
		return s.Phrases.Validate()
	}
	return nil
}

func (s Setting) lengths() (lo, hi int) {
	return cmp.Or(s.MinLength, 2), cmp.Or(s.MaxLength, 40)
}

// Equal reports whether two settings make the same words: all but their Names.
func (s Setting) Equal(o Setting) bool {
	if s.Phrases == o.Phrases { // tables may be long
		s.Phrases, o.Phrases = nil, nil
	}
	if s.Boilerplate == o.Boilerplate {
		s.Boilerplate, o.Boilerplate = nil, nil
	}
	return s.canonical() == o.canonical()
}

// canonical returns the same string for settings that make the same words.
func (s Setting) canonical() string {
	s.Name = ""
	if s.Version == 0 {
		s.Version = version
	}
	if s.Own == "" {
		s.MinLength, s.MaxLength = s.lengths()
	}
	numbers := s.Numbers
	if numbers < DropNumbers || numbers > DropDigits { // such a rule has no text
		s.Numbers = DropNumbers
	}
	b, err := json.Marshal(plain(s))
	if err != nil { // no field can fail
		panic(err)
	}
	if s.Numbers != numbers {
		return numbers.String() + string(b)
	}
	return string(b)
}

type plain Setting // without methods

// MarshalJSON writes the setting with its version.
func (s Setting) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s.Version = version
	return json.Marshal(plain(s))
}

// UnmarshalJSON reads what MarshalJSON writes. Unknown fields are an error.
func (s *Setting) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var p plain
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("text: setting: %w", err)
	}
	if err := Setting(p).Validate(); err != nil {
		return err
	}
	*s = Setting(p)
	return nil
}

// String describes the setting in a few words.
func (s Setting) String() string {
	name := s.Name
	switch {
	case s.Own != "":
		name = strings.TrimSpace(name + " (tokenizer " + s.Own + ")")
	case name == "" && s.Equal(Setting{}):
		name = "default"
	case name == "":
		rest := s
		rest.Boilerplate, rest.Phrases = nil, nil
		name = rest.canonical()
		if s.Boilerplate != nil {
			name += fmt.Sprintf(" without %d lines of boilerplate and signatures of %d words", len(s.Boilerplate.Lines), len(s.Boilerplate.Signatures))
		}
		if s.Phrases != nil {
			name += fmt.Sprintf(" with %d phrases", len(s.Phrases.List))
		}
	}
	return name
}
