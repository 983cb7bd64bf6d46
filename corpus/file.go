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
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/regular"
)

// File says where the bytes of a file come from: a path, as File{Name: "news.jsonl.gz"}, a file
// system, memory ([FileFromBytes]) or a reader ([FileFromReader]). The zero value means that
// there is no file.
//
// Every pass over the documents opens the file, reads it to its end and closes it. Files that
// begin with the gzip magic number are unpacked; without it a name that ends in .gz is an error,
// and so is a PDF, a picture, a model or any other file that is no text ([ErrKind]), and a pipe
// or device, which cannot be read twice. A byte order mark is skipped, and lines may end in LF
// or CR LF.
type File struct {
	// Name is the path in FS. It also names the file in errors.
	Name string

	// FS is the file system; nil means that of the operating system.
	FS fs.FS

	// Open, if it is set, opens the file instead.
	Open func() (io.ReadCloser, error)

	// MaxLine is the longest line in bytes, for CSV the longest record; 0 means 64 MiB.
	// Anything longer is an error that wraps ErrTooLong. It bounds the memory that a damaged
	// file can take: ten to fifteen times that of a line.
	MaxLine int

	// Encoding is that of the text, such as charmap.Windows1252 of
	// golang.org/x/text/encoding; nil means UTF-8. Documents and words are UTF-8 then.
	Encoding encoding.Encoding

	// ReplaceInvalid puts U+FFFD in place of bytes that are not valid in the encoding. By
	// default they are an error that wraps ErrInvalidUTF8, and so is a U+FFFD in text of
	// another encoding than UTF-8.
	ReplaceInvalid bool
}

// FileFromBytes returns a file held in memory, which errors call by name. data is not copied
// and must not be changed.
func FileFromBytes(name string, data []byte) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// FileFromReader returns a file that can be read once, such as standard input, and that errors
// call by name; to open it again is an error. r is not closed.
func FileFromReader(name string, r io.Reader) File {
	used := new(atomic.Bool)
	return File{Name: name, Open: func() (io.ReadCloser, error) {
		if used.Swap(true) {
			return nil, errReadOnce
		}
		return io.NopCloser(r), nil
	}}
}

var errReadOnce = errors.New("this stream has been read and cannot be read again")

// defaultMax is the default of File.MaxLine and Dir.MaxBytes.
const defaultMax = 64 << 20

func (in File) given() bool { return in.Name != "" || in.Open != nil }

// at wraps an error with the name and a line of the file.
func (in File) at(line int, err error) error {
	return &FileError{File: in.Name, Line: line, Err: err}
}

func (in File) max() int {
	if in.MaxLine == 0 {
		return defaultMax
	}
	return min(in.MaxLine, math.MaxInt/2) // sums with it do not overflow
}

// open returns the plain content. It sets Encoding where a byte order mark says so.
func (in *File) open() (*bufio.Reader, io.Closer, error) {
	var rc io.ReadCloser
	var err error
	switch {
	case in.MaxLine < 0:
		err = fmt.Errorf("a size limit of %d bytes; want 0 for %d, or more", in.MaxLine, defaultMax)
	case in.Open != nil:
		rc, err = in.Open()
	case in.Name == "":
		err = errors.New("no file given")
	case in.FS != nil:
		var info fs.FileInfo
		if info, err = fs.Stat(in.FS, in.Name); err == nil {
			err = regular.Check(in.Name, info)
		}
		if err == nil {
			rc, err = in.FS.Open(in.Name)
		}
	default:
		rc, err = regular.Open(in.Name)
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
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		in.Encoding = nil
		br.Discard(3) // cannot fail: the three bytes are in the buffer
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		in.Encoding = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	}
	if in.Encoding != nil {
		br = bufio.NewReaderSize(in.Encoding.NewDecoder().Reader(br), 1<<16)
	}
	return br, rc, nil
}

// text returns b, a part of the text, as valid UTF-8. what names it in an error.
func (in *File) text(b []byte, what string) ([]byte, error) {
	at := in.invalid(b)
	switch {
	case at < 0:
		return b, nil
	case in.ReplaceInvalid:
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), nil
	case in.Encoding != nil:
		return nil, fmt.Errorf("%w at byte %d of the %s, once decoded: the encoding has no such bytes", ErrInvalidUTF8, at+1, what)
	}
	return nil, fmt.Errorf("%w at byte %d of the %s; set Encoding if it has another", ErrInvalidUTF8, at+1, what)
}

// invalid returns where text is not valid, −1 for nowhere.
func (in *File) invalid(b []byte) int {
	if !utf8.Valid(b) {
		return invalidAt(b)
	}
	if in.Encoding != nil {
		return bytes.IndexRune(b, utf8.RuneError)
	}
	return -1
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
	ctx context.Context
}

// lines opens the file. ctx ends the reading of a long line.
func (in File) lines(ctx context.Context) (*lines, error) {
	br, rc, err := in.open()
	if err != nil {
		return nil, err
	}
	return &lines{in: in, br: br, rc: rc, ctx: ctx}, nil
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
		b, err = l.long(b)
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

// long returns a line that begins with b, which fills br's buffer.
func (l *lines) long(b []byte) ([]byte, error) {
	l.buf = append(l.buf[:0], b...)
	err := bufio.ErrBufferFull
	for err == bufio.ErrBufferFull && len(l.buf) <= l.in.max() {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		b, err = l.br.ReadSlice('\n')
		l.buf = append(l.buf, b...)
	}
	return l.buf, err
}

// text returns the next line as valid UTF-8, valid until the next call.
func (l *lines) text() ([]byte, error) {
	b, err := l.next()
	if err != nil {
		return nil, err
	}
	if b, err = l.in.text(b, "line"); err != nil {
		return nil, l.fail(err)
	}
	return b, nil
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

// list reads a file of one entry a line, without the space around it and blank lines at the
// end. what names an entry; another blank line is an error unless blanks are allowed. total
// counts all lines.
func (in File) list(ctx context.Context, what string, blanks bool) (entries []string, total int, err error) {
	l, err := in.lines(ctx)
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
		if err := l.check(ctx); err != nil {
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

// ReadStopWords reads a stop list from a file, plain or gzipped: one word a line, without the
// space around it. Blank lines and lines that begin with # are skipped. Package corpus/text/stopwords
// has lists.
func ReadStopWords(ctx context.Context, in File) ([]string, error) {
	list, _, err := in.list(ctx, "stop word", true)
	return slices.DeleteFunc(list, func(w string) bool { return w == "" || w[0] == '#' }), err
}

// vocabulary reads one word a line.
func (in File) vocabulary(ctx context.Context, repeated bool) ([]string, error) {
	v, _, err := in.list(ctx, "word", false)
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

// side reads a file with one line for each of the documents, nil where there is none.
func (in File) side(ctx context.Context, what string, docs int) ([]string, error) {
	if !in.given() {
		return nil, nil
	}
	list, total, err := in.list(ctx, what, true)
	if err != nil {
		return nil, err
	}
	if len(list) > docs || total < docs {
		return nil, in.at(0, fmt.Errorf("%d lines with a document's %s for %d documents", total, what, docs))
	}
	return padStrings(orEmpty(list), docs), nil
}

// Lines reads a text file with one document a line. A blank line is a document without
// words, so that documents have the numbers of their lines.
type Lines struct {
	In File

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// Describe implements Source.
func (s Lines) Describe(context.Context) (Description, error) { return fromText(s.Tokenizer, nil), nil }

// Docs implements Source.
func (s Lines) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s Lines) stream(ctx context.Context, yield func(Document, error) bool) error {
	tok := orDefault(s.Tokenizer)
	l, err := s.In.lines(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	var tokens []string
	for {
		b, err := l.text()
		if ctx.Err() != nil {
			return l.fail(ctx.Err())
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		tokens = tok.Tokenize(tokens[:0], string(b))
		if !yield(Document{Tokens: tokens, Place: Place{s.In.Name, l.n}}, nil) {
			return errStop
		}
	}
}
