// Package text turns text into words: a Tokenizer splits it, and EnglishStopWords
// are words to leave out. Package corpus uses it for its readers.
package text
