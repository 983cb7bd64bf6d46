package corpus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/bag"
)

// Dir reads the text files of a folder and its subfolders, in the order of fs.WalkDir. A file
// is a document; its id is the path below the folder, with slashes. Gzipped files are unpacked.
// Names that begin with a dot, symbolic links and other files that are not regular are skipped.
//
// So are files and folders that cannot be read: what is no text ([ErrKind]; a zero byte among
// the first 8000 says so, too), is too long, is not in the Encoding, has a name that is not
// UTF-8, or may not be opened. Read and Encode count them in Info.DroppedDocuments, and a fit
// warns of it. They are an error if no file can be read, or with Strict.
type Dir struct {
	// FS is the file system; nil means that of the operating system.
	FS fs.FS

	// Path is the folder. "" means ".".
	Path string

	// Ext are the extensions of the files to read, such as ".txt", in upper or lower case and
	// before a final .gz. Empty: all files.
	Ext []string

	// Include reports whether to read the file with this path below the folder. nil: all files.
	Include func(path string) bool

	// FolderLabels labels each file with the name of its folder; files in Path have no label.
	FolderLabels bool

	// ModTime names a column of times: when each file was last changed. "": no such column.
	ModTime string

	// Folders name columns of categories: the folder in Path that a file is in, the folder
	// within that, and so on, such as "year" and "author" for files like 2024/smith/a.txt.
	Folders []string

	// Hidden also reads files and folders whose names begin with a dot.
	Hidden bool

	// MaxBytes is the largest size of an unpacked file; 0 means 64 MiB (ErrTooLong).
	MaxBytes int

	// Encoding and ReplaceInvalid are those of every File.
	Encoding       encoding.Encoding
	ReplaceInvalid bool

	// Strict makes the first file that cannot be read an error, which ends the read.
	Strict bool

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// Describe implements Source.
func (s Dir) Describe(context.Context) (Description, error) {
	return fromText(s.Tokenizer, s.columns()), nil
}

func (s Dir) columns() []Column {
	var out []Column
	if s.ModTime != "" {
		out = append(out, Column{Name: s.ModTime, Kind: Time})
	}
	for _, name := range s.Folders {
		out = append(out, Column{Name: name, Kind: Category})
	}
	return out
}

// Docs implements Source.
func (s Dir) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s Dir) stream(ctx context.Context, yield func(Document, error) bool) error {
	root := cmp.Or(s.Path, ".")
	fsys := os.DirFS(root)
	if s.FS != nil {
		var err error
		if fsys, err = fs.Sub(s.FS, root); err != nil {
			return File{Name: root}.at(0, err)
		}
	}
	left := new(leftOut)
	d := Document{left: left}
	docs := 0
	err := fs.WalkDir(fsys, ".", func(rel string, e fs.DirEntry, err error) error {
		in := File{
			Name:           path.Join(filepath.ToSlash(root), rel),
			Open:           func() (io.ReadCloser, error) { return fsys.Open(rel) },
			MaxLine:        s.MaxBytes,
			Encoding:       s.Encoding,
			ReplaceInvalid: s.ReplaceInvalid,
		}
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err // in.at names the path
		}
		switch {
		case ctx.Err() != nil:
			return in.at(0, ctx.Err())
		case rel == "." && err != nil:
			return in.at(0, err)
		case rel == "." && !e.IsDir():
			return in.at(0, errors.New("is not a folder"))
		case rel == ".":
			return nil
		case !s.Hidden && strings.HasPrefix(e.Name(), "."):
			return skip(e)
		case !e.IsDir() && (!e.Type().IsRegular() || !s.wants(rel)):
			return nil
		case err != nil:
			err = in.at(0, err)
		case !utf8.ValidString(rel):
			err = in.at(0, errors.New("its name is not UTF-8; rename it"))
		case e.IsDir():
			return nil
		default:
			err = s.read(&d, in, rel, e)
		}
		if err == nil {
			docs++
			if !yield(d, nil) {
				return errStop
			}
			return nil
		}
		if ctx.Err() != nil {
			return in.at(0, ctx.Err())
		}
		if s.Strict {
			return err
		}
		left.add(rel, err)
		return skip(e)
	})
	switch {
	case err != nil || docs > 0:
		return err
	case left.Count == 1:
		return left.err
	}
	return File{Name: filepath.ToSlash(root)}.at(0, s.none(left))
}

// skip skips a file, or a folder with all that is in it.
func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// read reads a file into d.
func (s Dir) read(d *Document, in File, rel string, e fs.DirEntry) error {
	content, err := in.all()
	if err != nil {
		return err
	}
	d.ID, d.Label, d.Values = rel, "", d.Values[:0]
	if dir := path.Dir(rel); s.FolderLabels && dir != "." {
		d.Label = path.Base(dir)
	}
	if s.ModTime != "" {
		info, err := e.Info()
		if err != nil {
			return in.at(0, err)
		}
		var v Value
		if t := info.ModTime(); !t.IsZero() { // some file systems do not know
			v = TimeOf(t)
		}
		d.Values = append(d.Values, v)
	}
	parts := strings.Split(rel, "/")
	for i := range s.Folders {
		var v Value
		if i < len(parts)-1 {
			v = CategoryOf(parts[i])
		}
		d.Values = append(d.Values, v)
	}
	d.Tokens = orDefault(s.Tokenizer).Tokenize(d.Tokens[:0], content)
	return nil
}

// leftOut are files that one pass could not read.
type leftOut struct {
	Dropped          // except the Reason
	said    []string // which and why, of the first three
	err     error    // of the first
	where   string   // the first, and why it is left out: the parts of err
	why     error
}

func (l *leftOut) add(rel string, err error) {
	bag.Leave(&l.Count, &l.Names, strings.ToValidUTF8(rel, "\uFFFD"))
	if len(l.said) == 3 {
		return
	}
	where, why := strconv.Quote(rel), err
	if strconv.CanBackquote(rel) {
		where = rel
	}
	if fe := (*FileError)(nil); errors.As(err, &fe) {
		if why = fe.Err; fe.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, fe.Line)
		}
	}
	if l.err == nil {
		l.err, l.where, l.why = err, where, why
	}
	l.said = append(l.said, fmt.Sprintf("%s (%v)", where, why))
}

// dropped returns what was left out, nil for nothing.
func (l *leftOut) dropped() []Dropped {
	if l == nil || l.Count == 0 {
		return nil
	}
	reason := "cannot be read: " + strings.Join(l.said, ", ")
	if more := l.Count - len(l.said); more > 0 {
		reason += fmt.Sprintf(" and %d more", more)
	}
	return []Dropped{{Reason: reason, Count: l.Count, Names: l.Names}}
}

// none says that there is no file of the kind asked for, or none that can be read.
func (s Dir) none(left *leftOut) error {
	switch {
	case left.Count > 0:
		return fmt.Errorf("%w: none of %d files can be read; the first, %s: %w", ErrNoDocuments, left.Count, left.where, left.why)
	case s.Include != nil:
		return fmt.Errorf("%w: no file that Include takes", ErrNoDocuments)
	case len(s.Ext) > 0:
		return fmt.Errorf("%w: no file whose name ends in %s", ErrNoDocuments, strings.Join(s.Ext, " or "))
	}
	return fmt.Errorf("%w: no files", ErrNoDocuments)
}

func (s Dir) wants(rel string) bool {
	ext := path.Ext(strings.TrimSuffix(rel, ".gz"))
	hasExt := len(s.Ext) == 0 || slices.ContainsFunc(s.Ext, func(x string) bool { return strings.EqualFold(x, ext) })
	return hasExt && (s.Include == nil || s.Include(rel))
}

// all returns the whole content as valid UTF-8.
func (in File) all() (string, error) {
	br, rc, err := in.open()
	if err != nil {
		return "", err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(br, int64(in.max())+1))
	if err != nil {
		return "", in.at(0, readErr(err))
	}
	if len(b) > in.max() {
		return "", in.at(0, fmt.Errorf("file %w of %d bytes", ErrTooLong, in.max()))
	}
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
		return "", in.at(0, fmt.Errorf("%w: it is no text, for it holds zero bytes; for text in UTF-16 without a byte order mark, set Encoding", ErrKind))
	}
	if at := in.invalid(b); at >= 0 && !in.ReplaceInvalid {
		line := 1 + bytes.LastIndexByte(b[:at], '\n')
		_, err := in.text(b[line:], "line")
		return "", in.at(1+bytes.Count(b[:line], []byte("\n")), err)
	}
	b, err = in.text(b, "file")
	return string(b), err
}
