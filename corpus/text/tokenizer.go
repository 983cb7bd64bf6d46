package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Tokenizer splits text into words. [Setting.Tokenizer] and Own make one. It must be safe
// for concurrent use.
type Tokenizer interface {
	// Tokenize appends the words of a text to dst and returns the extended slice.
	// No word is the empty string. Words may share memory with the text.
	Tokenize(dst []string, s string) []string

	// Setting says how the text is split.
	Setting() Setting

	// Stemmer returns the Stemmer that the setting names, nil if it names none.
	// Tokenize does not apply it: package corpus merges the words of a stem.
	Stemmer() Stemmer
}

// Tool is a Segmenter or a Stemmer, which data cannot describe: a Setting names it, and
// [Setting.Tokenizer] is given it. It must be safe for concurrent use.
type Tool interface {
	// Name names the tool in a Setting, with its version: two tools of one name must give the
	// same words.
	Name() string
}

// Segmenter splits text of scripts that are written without blanks.
type Segmenter interface {
	Tool

	// Scripts are the scripts that it splits, by their names in unicode.Scripts, such as "Han".
	// No other Segmenter of a setting may have them.
	Scripts() []string

	// Segment appends the words of a run to dst and returns the extended slice. A run is a
	// longest piece of text of letters and marks of the Scripts, normalised.
	Segment(dst []string, run string) []string
}

// Stemmer reduces words to stems.
type Stemmer interface {
	Tool

	// Stem returns the stem of a word, which is lower-cased unless KeepCase is set.
	Stem(word string) string
}

// Default returns the Tokenizer of the zero Setting.
func Default() Tokenizer { return defaultTokenizer }

var defaultTokenizer = &tokenizer{lo: 2, hi: 40}

// Tokenizer returns what splits text as the setting says. tools are the Segmenters and the
// Stemmer that the setting names; others are an error, and so is one that is missing, and a
// setting of the user's own tokenizer, which Own makes.
func (s Setting) Tokenizer(tools ...Tool) (Tokenizer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Own != "" {
		return nil, fmt.Errorf("text: the tokenizer %q is the user's own; make it by text.Own(%[1]q, …)", s.Own)
	}
	t := &tokenizer{setting: s, breaks: s.Phrases != nil}
	t.setting.Segmenters = slices.Clone(s.Segmenters)
	t.lo, t.hi = s.lengths()
	named := make(map[string]Tool)
	for _, tool := range tools {
		if tool == nil || named[tool.Name()] != nil {
			return nil, fmt.Errorf("text: tool %v is nil or given twice", tool)
		}
		named[tool.Name()] = tool
	}
	for _, name := range s.Segmenters {
		seg, ok := named[name].(Segmenter)
		if !ok {
			return nil, missing("segmenter", name)
		}
		delete(named, name)
		if err := t.addSegmenter(seg); err != nil {
			return nil, err
		}
	}
	if s.Stemmer != "" {
		stem, ok := named[s.Stemmer].(Stemmer)
		if !ok {
			return nil, missing("stemmer", s.Stemmer)
		}
		delete(named, s.Stemmer)
		t.stemmer = stem
	}
	for name := range named {
		return nil, fmt.Errorf("text: the setting does not name the tool %q; put it into Setting.Segmenters or Setting.Stemmer", name)
	}
	return t, nil
}

func missing(kind, name string) error {
	return fmt.Errorf("text: the setting names the %s %q, which is not given; pass it to Setting.Tokenizer", kind, name)
}

// tokenizer is the Tokenizer of a Setting.
type tokenizer struct {
	setting    Setting
	lo, hi     int // lengths of words
	segmenters []segmenter
	stemmer    Stemmer
	breaks     bool // words that are no neighbours have a Break between them
	lines      bool // lines instead of words
}

// Tokenize implements Tokenizer.
func (t *tokenizer) Tokenize(dst []string, s string) []string {
	s = t.clean(s)
	if t.lines {
		return appendLines(dst, s)
	}
	if len(s) > 1<<16 { // few words are longer than 8; append would take five times as much in all
		dst = slices.Grow(dst, max(strings.Count(s, " "), len(s)/8))
	}
	x := scan{t: t, dst: dst, base: len(dst)}
	x.text(t.setting.Boilerplate.strip(s))
	if t.setting.Phrases != nil {
		return t.setting.Phrases.joinFrom(x.dst, x.base)
	}
	return x.dst
}

// segmenter is a Segmenter with the tables of its scripts.
type segmenter struct {
	Segmenter
	tables []*unicode.RangeTable
}

func (t *tokenizer) addSegmenter(seg Segmenter) error {
	s := segmenter{Segmenter: seg}
	for _, script := range seg.Scripts() {
		table := unicode.Scripts[script]
		if table == nil {
			return fmt.Errorf("text: the segmenter %q splits the script %q, which does not exist", seg.Name(), script)
		}
		for _, other := range append(t.segmenters, s) {
			if slices.Contains(other.tables, table) {
				return fmt.Errorf("text: the segmenters %q and %q both split the script %q", other.Name(), seg.Name(), script)
			}
		}
		s.tables = append(s.tables, table)
	}
	if len(s.tables) == 0 {
		return fmt.Errorf("text: the segmenter %q splits no script", seg.Name())
	}
	t.segmenters = append(t.segmenters, s)
	return nil
}

// Setting implements Tokenizer.
func (t *tokenizer) Setting() Setting {
	s := t.setting
	s.Segmenters = slices.Clone(s.Segmenters)
	return s
}

// Stemmer implements Tokenizer.
func (t *tokenizer) Stemmer() Stemmer { return t.stemmer }

// Own returns a function as a Tokenizer with the setting Setting{Own: name}; "" means "own". A
// model that was fitted with it takes text only from a tokenizer of that name. split appends
// words to dst, of which none is empty, and is safe for concurrent use.
func Own(name string, split func(dst []string, s string) []string) Tokenizer {
	return OwnWithStemmer(name, split, nil)
}

// OwnWithStemmer is Own with a Stemmer, which the setting names; nil: none.
func OwnWithStemmer(name string, split func(dst []string, s string) []string, s Stemmer) Tokenizer {
	if name == "" {
		name = "own"
	}
	return own{name, split, s}
}

type own struct {
	name    string
	split   func(dst []string, s string) []string
	stemmer Stemmer
}

func (o own) Tokenize(dst []string, s string) []string { return o.split(dst, s) }
func (o own) Stemmer() Stemmer                         { return o.stemmer }
func (o own) Setting() Setting {
	s := Setting{Own: o.name}
	if o.stemmer != nil {
		s.Stemmer = o.stemmer.Name()
	}
	return s
}
