package report

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Nouns are what the data are made of, in the singular and the plural: artist, artists,
// listener and listeners for what people listen to. The page speaks of them instead of words
// and documents. The zero value is words and documents.
type Nouns struct{ Word, Words, Document, Documents string }

// nounLength is how many characters a noun may have.
const nounLength = 40

func (n Nouns) check() error {
	var errs []error
	for _, p := range [][4]string{{"Word", n.Word, "Words", n.Words}, {"Document", n.Document, "Documents", n.Documents}} {
		if (p[1] == "") != (p[3] == "") {
			errs = append(errs, fmt.Errorf("nouns: %s is %q but %s is %q; want both or none", p[0], p[1], p[2], p[3]))
		}
		for i := 1; i < 4; i += 2 {
			if s := p[i]; utf8.RuneCountInString(s) > nounLength || strings.TrimSpace(s) != s {
				errs = append(errs, fmt.Errorf("nouns: %s is %.100q; want at most %d characters without space around them", p[i-1], s, nounLength))
			}
		}
	}
	return errors.Join(errs...)
}

// phrases are what the texts of the page may have in braces.
func (n Nouns) phrases() map[string]string {
	out := map[string]string{"reading words": "reading words"}
	if n.Word != "" {
		out["reading words"] = "typical " + n.Words
	}
	out["word"], out["words"] = cmp.Or(n.Word, "word"), cmp.Or(n.Words, "words")
	out["document"], out["documents"] = cmp.Or(n.Document, "document"), cmp.Or(n.Documents, "documents")
	for _, key := range []string{"word", "document"} {
		article := "a "
		if strings.ContainsAny(strings.ToLower(out[key][:1]), "aeiou") {
			article = "an "
		}
		out["a "+key] = article + out[key]
	}
	for key, s := range out {
		first, size := utf8.DecodeRuneInString(s)
		out[strings.ToUpper(key[:1])+key[1:]] = strings.ToUpper(string(first)) + s[size:]
	}
	return out
}

// speech puts the nouns into texts.
func speech(phrases map[string]string) *strings.Replacer {
	var pairs []string
	for key, s := range phrases {
		pairs = append(pairs, "{"+key+"}", s)
	}
	return strings.NewReplacer(pairs...)
}
