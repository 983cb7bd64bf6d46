// Package text turns text into words. A [Setting] says how, and a [Tokenizer] made from it does it.
//
// # From text to words
//
// A text goes through these steps. Settings change those that name a field.
//
//  1. Bytes that are not valid UTF-8 separate words.
//  2. Headers of e-mails, quoted lines and addresses go if the setting says so (DropHeaders,
//     DropQuotes, DropURLs). HTML tags, comments, scripts and styles go, and entities become
//     characters (KeepMarkup). Lines of [Boilerplate] go.
//  3. The text is put into Unicode's form NFKC, so that composed and decomposed accents, ﬁ and
//     fi, H₂O and H2O are the same. The vowel AM of Thai and Lao (U+0E33, U+0EB3) stays, for
//     NFKC would cut words at it. Soft hyphens, marks of direction and other invisible
//     characters go; the apostrophe ’ becomes '.
//  4. Letters become small (KeepCase), by rules that do not depend on the language. Accents
//     go if FoldAccents is set.
//  5. The text is cut at the Unicode word boundaries (UAX #29): "can't", "3.14" and "node.js"
//     are one piece, "well-known" is two.
//  6. Pieces stay together where one of them would mean nothing alone: a number behind a
//     hyphen (covid-19, GPT-4), and a single letter next to a hyphen, an ampersand or a slash
//     (x-ray, AT&T, I/O). One or two plus or number signs at the end belong to the word (C++,
//     C#), unless a letter follows, or a digit behind a single sign.
//  7. Chinese characters, Hiragana, Thai, Lao, Khmer and Burmese are written without blanks
//     between words. A run of one such script becomes its overlapping pairs of characters
//     (grapheme clusters), 中文字 giving 中文 and 文字, unless a [Segmenter] splits it. A run of
//     one character is a word if that is Chinese or consists of several code points. Katakana
//     is cut at the word boundaries only.
//  8. 's goes from the end of words (KeepPossessive), underscores from both ends, and from the
//     beginning a consonant with an apostrophe before a vowel or an h: l'eau is eau, while
//     qu'il and dell'arte stay whole. Words that are too short or too long and numbers are
//     dropped (MinLength, MaxLength, Numbers).
//  9. Words that make a phrase are joined, as in machine_learning ([Phrases]). There are no
//     phrases and no boilerplate unless [Learn] finds them.
//
// Stop words stay: corpus.Curate removes them.
//
// A text without markup and without characters beyond ASCII takes a path of its own with
// the same words.
package text
