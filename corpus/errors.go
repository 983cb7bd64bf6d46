package corpus

import (
	"errors"
	"fmt"
)

// Errors to compare with errors.Is. Errors in a file are wrapped in a *FileError.
var (
	// ErrTruncated: a file ends early.
	ErrTruncated = errors.New("file is truncated")

	// ErrDamaged: the bytes of an encoded file are not those that were written, or it
	// is no such file.
	ErrDamaged = errors.New("damaged, or not a file of encoded documents")

	// ErrTooLong: a line, a CSV record or a text file is longer than File.MaxLine
	// or Dir.MaxBytes.
	ErrTooLong = errors.New("exceeds the size limit")

	// ErrInvalidUTF8: text is not valid UTF-8 (see File.ReplaceInvalid).
	ErrInvalidUTF8 = errors.New("invalid UTF-8")

	// ErrUngrouped: while streaming, a line belongs to an earlier document. Read
	// takes such files; for Docs see UCI.Ungrouped and Triples.Grouped.
	ErrUngrouped = errors.New("lines are not grouped by document")

	// ErrRepeatedWord: a vocabulary file has a word twice (see UCI.RepeatedWords).
	ErrRepeatedWord = errors.New("stands in the vocabulary twice")

	// ErrKind: the file is of a kind that no reader takes, such as a PDF. The message says
	// which, and what to do.
	ErrKind = errors.New("the file is of another kind")

	// ErrRepeatedID: two documents have one id. The message says where both stand.
	ErrRepeatedID = errors.New("comes twice")

	// ErrNoDocuments: there is no document, or none is left.
	ErrNoDocuments = errors.New("no documents")

	// ErrEmptyVocabulary: there is no word, or none is left.
	ErrEmptyVocabulary = errors.New("empty vocabulary")
)

// FileError says where in a file an error is.
type FileError struct {
	File string // File.Name
	Line int    // counted from 1, header included; 0: the file as a whole
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("corpus: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("corpus: %s:%d: %v", e.File, e.Line, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }
