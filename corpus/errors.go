package corpus

import (
	"errors"
	"fmt"
)

// Errors to compare with errors.Is. Errors in a file are wrapped in a [*FileError].
var (
	// ErrTruncated: a file ends early.
	ErrTruncated = errors.New("file is truncated")

	// ErrDamaged: encoded documents or an accumulator are not as they were written.
	ErrDamaged = errors.New("damaged, or not a file of this kind")

	// ErrTooLong: a line, a CSV record or a text file is longer than File.MaxLine
	// or Dir.MaxBytes.
	ErrTooLong = errors.New("exceeds the size limit")

	// ErrInvalidUTF8: text is not valid in UTF-8, or in its encoding (see File.Encoding
	// and File.ReplaceInvalid).
	ErrInvalidUTF8 = errors.New("invalid UTF-8")

	// ErrUngrouped: a line belongs to an earlier document than the one before (see
	// UCI.Ungrouped).
	ErrUngrouped = errors.New("lines are not grouped by document")

	// ErrRepeatedWord: a vocabulary file has a word twice (see UCI.RepeatedWords).
	ErrRepeatedWord = errors.New("occurs twice in the vocabulary")

	// ErrKind: no reader takes files of this kind, such as a PDF. The message says what it is
	// and what to do.
	ErrKind = errors.New("the file is of another kind")

	// ErrRepeatedID: two documents have one id, or an Accumulator holds a document of this id
	// already. The message says where both are.
	ErrRepeatedID = errors.New("comes twice")

	// ErrFull: a document would exceed AccumulatorOptions.MaxBytes.
	ErrFull = errors.New("more than the limit")

	// ErrSourceChanged: a Source yielded other documents in a later pass than in the first.
	ErrSourceChanged = errors.New("the documents are not those of the first pass")

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
