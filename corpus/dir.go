package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Dir reads the text files of a folder and its subfolders. A file is a document;
// its id is the path below the folder, with slashes. Files come in the order of
// fs.WalkDir; gzipped ones are unpacked. Names that begin with a dot, symbolic links
// and other files that are not regular are skipped.
type Dir struct {
	// FS is the file system; nil means that of the operating system.
	FS fs.FS

	// Path is the folder. "" means ".".
	Path string

	// Ext are the extensions of the files to read, such as ".txt", in upper or
	// lower case and before a final .gz. Empty: all files.
	Ext []string

	// Include reports whether to read the file with this path below the folder.
	// nil: all files.
	Include func(path string) bool

	// FolderLabels labels each file with the name of its folder; files directly
	// in Path have no label.
	FolderLabels bool

	// ModTime, if it is not "", names a column of times of its own that holds when each file
	// was last changed.
	ModTime string

	// Folders name columns of categories: the first holds the name of the folder in Path
	// that a file is in, the next that of the folder within it, and so on. For files like
	// 2024/smith/a.txt they may be "year" and "author".
	Folders []string

	// Hidden also reads files and folders whose names begin with a dot.
	Hidden bool

	// MaxBytes is the largest size of an unpacked file; 0 means 64 MiB. A larger
	// file is an error that wraps ErrTooLong.
	MaxBytes int

	// ReplaceInvalid puts U+FFFD in place of bytes that are not valid UTF-8.
	// By default they are an error that wraps ErrInvalidUTF8.
	ReplaceInvalid bool

	// Tokenizer splits the text. nil means text.Default().
	Tokenizer text.Tokenizer
}

// ReadDir reads the text files of a folder with the given extensions (none: all
// files) with the default tokenizer. For other settings use Read with a Dir.
func ReadDir(ctx context.Context, path string, ext ...string) (*Corpus, error) {
	return Read(ctx, Dir{Path: path, Ext: ext})
}

// TextSetting implements FromText.
func (s Dir) TextSetting() *text.Setting { return settingOf(s.Tokenizer) }

// Stemmer implements FromText.
func (s Dir) Stemmer() text.Stemmer { return orDefault(s.Tokenizer).Stemmer() }

// Columns implements Described.
func (s Dir) Columns() []Column {
	var out []Column
	if s.ModTime != "" {
		out = append(out, Column{Name: s.ModTime, Kind: Time})
	}
	for _, name := range s.Folders {
		out = append(out, Column{Name: name, Kind: Category})
	}
	return out
}

// values appends the values of a file.
func (s Dir) values(dst []Value, rel string, e fs.DirEntry) ([]Value, error) {
	if s.ModTime != "" {
		info, err := e.Info()
		if err != nil {
			return dst, err
		}
		var v Value
		if t := info.ModTime(); !t.IsZero() { // some file systems do not know
			v = TimeOf(t)
		}
		dst = append(dst, v)
	}
	parts := strings.Split(rel, "/")
	for i := range s.Folders {
		var v Value
		if i < len(parts)-1 {
			v = CategoryOf(parts[i])
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// Docs implements Source.
func (s Dir) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		fsys, root, name := s.FS, s.Path, s.Path
		if root == "" {
			root, name = ".", "."
		}
		if fsys == nil {
			fsys, root = os.DirFS(root), "."
		}
		tok := orDefault(s.Tokenizer)
		var d Document
		files := 0
		err := fs.WalkDir(fsys, root, func(p string, e fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			rel := p
			if root != "." {
				rel = strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
			}
			in := File{
				Name:           path.Join(filepath.ToSlash(name), rel),
				Open:           func() (io.ReadCloser, error) { return fsys.Open(p) },
				MaxLine:        s.MaxBytes,
				ReplaceInvalid: s.ReplaceInvalid,
			}
			if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
				err = pe.Err // in.at names the path
			}
			if err != nil {
				return in.at(0, err)
			}
			if p == root {
				if !e.IsDir() {
					return in.at(0, errors.New("is not a folder"))
				}
				return nil
			}
			if !s.Hidden && strings.HasPrefix(e.Name(), ".") {
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !e.Type().IsRegular() || !s.wants(rel) {
				return nil
			}
			files++
			text, err := in.all()
			if err != nil {
				return err
			}
			d.ID, d.Label = rel, ""
			if dir := path.Dir(rel); s.FolderLabels && dir != "." {
				d.Label = path.Base(dir)
			}
			if d.Values, err = s.values(d.Values[:0], rel, e); err != nil {
				return in.at(0, err)
			}
			d.Tokens = tok.Tokenize(d.Tokens[:0], text)
			if !yield(d, nil) {
				return errStop
			}
			return nil
		})
		if err == nil && files == 0 {
			err = File{Name: filepath.ToSlash(name)}.at(0, s.none())
		}
		if err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

// none says that there is no file of the kind asked for.
func (s Dir) none() error {
	switch {
	case s.Include != nil:
		return fmt.Errorf("%w: no file that Include takes", ErrNoDocuments)
	case len(s.Ext) > 0:
		return fmt.Errorf("%w: no file whose name ends in %s", ErrNoDocuments, strings.Join(s.Ext, " or "))
	}
	return fmt.Errorf("%w: no files", ErrNoDocuments)
}

func (s Dir) wants(rel string) bool {
	if len(s.Ext) > 0 {
		ok := false
		ext := path.Ext(strings.TrimSuffix(rel, ".gz"))
		for _, x := range s.Ext {
			ok = ok || strings.EqualFold(x, ext)
		}
		if !ok {
			return false
		}
	}
	return s.Include == nil || s.Include(rel)
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
	if !utf8.Valid(b) {
		if !in.ReplaceInvalid {
			i := invalidAt(b)
			return "", in.at(1+bytes.Count(b[:i], []byte("\n")), ErrInvalidUTF8)
		}
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return string(b), nil
}
