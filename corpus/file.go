package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// File says where the bytes of a file come from: from a path, as
// File{Name: "news.jsonl.gz"}, from a file system, from memory (FileFromBytes)
// or from a reader (FileFromReader). The zero value means that there is no file.
//
// Every pass over the documents opens the file, reads it to its end and closes
// it. Files that begin with the gzip magic number are unpacked; a name that ends
// in .gz without it is an error, and so is a PDF, a picture, a model or any other file that
// is no text (ErrKind). A byte order mark is skipped, and lines may end in LF or CR LF.
type File struct {
	// Name is the path in FS. It also names the file in errors.
	Name string

	// FS is the file system; nil means that of the operating system.
	FS fs.FS

	// Open, where it is set, opens the file in place of Name and FS.
	Open func() (io.ReadCloser, error)

	// MaxLine is the longest line in bytes, for CSV the longest record; 0 means
	// 64 MiB. Anything longer is an error that wraps ErrTooLong. It bounds the
	// memory that a damaged file can take.
	MaxLine int

	// ReplaceInvalid puts U+FFFD in place of bytes that are not valid UTF-8.
	// By default they are an error that wraps ErrInvalidUTF8.
	ReplaceInvalid bool
}

// FileFromBytes returns a file held in memory. It reads from data, which must
// not change meanwhile. name stands for it in errors.
func FileFromBytes(name string, data []byte) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// FileFromReader returns a file that can be read once, such as standard input or
// a network connection; to open it again is an error. r is not closed. name
// stands for it in errors.
func FileFromReader(name string, r io.Reader) File {
	used := new(atomic.Bool)
	return File{Name: name, Open: func() (io.ReadCloser, error) {
		if used.Swap(true) {
			return nil, errors.New("this stream has been read and cannot be read again")
		}
		return io.NopCloser(r), nil
	}}
}

// defaultMax is what a zero File.MaxLine or Dir.MaxBytes stands for.
const defaultMax = 64 << 20

func (in File) given() bool { return in.Name != "" || in.Open != nil }

// at wraps an error with the name and a line of the file.
func (in File) at(line int, err error) error {
	return &FileError{File: in.Name, Line: line, Err: err}
}

func (in File) max() int {
	if in.MaxLine > 0 {
		return in.MaxLine
	}
	return defaultMax
}

// open returns the plain content.
func (in File) open() (*bufio.Reader, io.Closer, error) {
	var rc io.ReadCloser
	var err error
	switch {
	case in.Open != nil:
		rc, err = in.Open()
	case in.Name == "":
		err = errors.New("no file given")
	case in.FS != nil:
		rc, err = in.FS.Open(in.Name)
	default:
		rc, err = os.Open(in.Name)
	}
	if err != nil {
		return nil, nil, in.at(0, err)
	}
	br := bufio.NewReaderSize(rc, 1<<16)
	magic, err := br.Peek(2)
	if err != nil && err != io.EOF {
		rc.Close()
		return nil, nil, in.at(0, err)
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) || strings.HasSuffix(in.Name, ".gz") {
		z, err := gzip.NewReader(br)
		if err != nil {
			rc.Close()
			return nil, nil, in.at(0, readErr(fmt.Errorf("gzip: %w", err)))
		}
		br = bufio.NewReaderSize(z, 1<<16)
	}
	head, _ := br.Peek(kindSize)
	if what := kindOf(head); what != "" {
		rc.Close()
		return nil, nil, in.at(0, fmt.Errorf("%w: it is %s", ErrKind, what))
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		br.Discard(3) // cannot fail: the three bytes are in the buffer
	}
	return br, rc, nil
}

// readErr marks the error of compressed data that stop early.
func readErr(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// lines goes through an input line by line.
type lines struct {
	in  File
	br  *bufio.Reader
	rc  io.Closer
	n   int    // number of the line last returned
	buf []byte // for lines longer than br's buffer
}

func (in File) lines() (*lines, error) {
	br, rc, err := in.open()
	if err != nil {
		return nil, err
	}
	return &lines{in: in, br: br, rc: rc}, nil
}

func (l *lines) close() { l.rc.Close() }

// fail wraps an error with the current line.
func (l *lines) fail(err error) error { return l.in.at(l.n, err) }

// check looks at ctx every 4096 lines.
func (l *lines) check(ctx context.Context) error {
	if l.n&4095 != 0 && l.n != 1 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return l.fail(err)
	}
	return nil
}

// next returns the next line without its end. The bytes are valid until the
// next call. At the end of the file the error is io.EOF itself.
func (l *lines) next() ([]byte, error) {
	b, err := l.br.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.buf = append(l.buf[:0], b...)
		for err == bufio.ErrBufferFull && len(l.buf) <= l.in.max() {
			b, err = l.br.ReadSlice('\n')
			l.buf = append(l.buf, b...)
		}
		b = l.buf
	}
	if err == io.EOF && len(b) == 0 {
		return nil, io.EOF
	}
	l.n++
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, l.fail(readErr(err))
	}
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
		if n > 1 && b[n-2] == '\r' {
			b = b[:n-2]
		}
	}
	if len(b) > l.in.max() {
		return nil, l.fail(fmt.Errorf("line %w of %d bytes", ErrTooLong, l.in.max()))
	}
	return b, nil
}

// text returns the next line as valid UTF-8, valid until the next call.
func (l *lines) text() ([]byte, error) {
	b, err := l.next()
	if err != nil || utf8.Valid(b) {
		return b, err
	}
	if !l.in.ReplaceInvalid {
		return nil, l.fail(fmt.Errorf("%w at byte %d of the line", ErrInvalidUTF8, invalidAt(b)+1))
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), nil
}

func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// list reads a file of one entry a line: surrounding space is cut off, blank
// lines at the end are ignored. what names an entry; a blank line in between
// is an error unless blanks are allowed. total counts all lines.
func (in File) list(what string, blanks bool) (entries []string, total int, err error) {
	l, err := in.lines()
	if err != nil {
		return nil, 0, err
	}
	defer l.close()
	var out []string
	full := 0 // lines up to the last that is not blank
	for {
		b, err := l.text()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		b = bytes.TrimSpace(b)
		if len(b) > 0 {
			if !blanks && full != len(out) {
				return nil, 0, in.at(full+1, fmt.Errorf("blank line where a %s is expected", what))
			}
			full = len(out) + 1
		}
		out = append(out, string(b))
		if what == "word" && len(out) == 4 && isUCI(out) {
			return nil, 0, in.at(1, errors.New("these are counts in UCI form, not words; are the files of counts and of words swapped?"))
		}
	}
	return out[:full], len(out), nil
}

// vocabulary reads one word a line.
func (in File) vocabulary(repeated bool) ([]string, error) {
	v, _, err := in.list("word", false)
	if err != nil || repeated {
		return v, err
	}
	seen := make(map[string]int, len(v))
	for i, w := range v {
		if j, ok := seen[w]; ok {
			return nil, in.at(i+1, fmt.Errorf("word %q %w, first on line %d", w, ErrRepeatedWord, j+1))
		}
		seen[w] = i
	}
	return v, nil
}

// optional reads the vocabulary if there is such a file; nil: there is none.
func (in File) optional(repeated bool) ([]string, error) {
	if !in.given() {
		return nil, nil
	}
	v, err := in.vocabulary(repeated)
	return orEmpty(v), err
}

// side is a file with a line for each document.
type side struct {
	in    File
	what  string
	list  []string // up to the last line that is not blank
	total int
}

// side reads the file; nil where there is none.
func (in File) side(what string) (*side, error) {
	if !in.given() {
		return nil, nil
	}
	list, total, err := in.list(what, true)
	return &side{in, what, list, total}, err
}

// at returns the string of document m, "" where there is none.
func (s *side) at(m int) string {
	if s == nil || m >= len(s.list) {
		return ""
	}
	return s.list[m]
}

// all returns the strings of docs documents, nil where there are none.
func (s *side) all(docs int) ([]string, error) {
	if s == nil {
		return nil, nil
	}
	if len(s.list) > docs || s.total < docs {
		return nil, s.in.at(0, fmt.Errorf("%d lines with a document's %s for %d documents", s.total, s.what, docs))
	}
	return padStrings(orEmpty(s.list), docs), nil
}

// sides reads the files of ids and labels.
func sides(ids, labels File) (*side, *side, error) {
	a, err := ids.side("id")
	if err == nil && a != nil {
		err = checkIDs(a.list, ids.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	b, err := labels.side("label")
	return a, b, err
}
