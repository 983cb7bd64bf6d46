package jsmf

import (
	"errors"
	"io"
	"os"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// Save writes the model to the file path atomically: the bytes go to a new file
// in the same folder, which takes the name only once they are on the disk. After
// an error the old content is still there and the new file is gone, except that
// Save may fail after replacing the file, when making the new name durable; the
// error then says that the file has been replaced.
//
// A file that is replaced keeps its permission bits; a new one gets 0666 less
// the umask. A symbolic link is followed. Save refuses to replace anything but a
// regular file. On Windows a file that is open elsewhere, or read-only, cannot
// be replaced. Errors name the path.
func (m *Model) Save(path string) error {
	return saveFile(path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}

// saveFile writes a file atomically with what write writes.
func saveFile(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return errorf("save %s: %w", path, err)
	}
	return nil
}

// LoadModel reads a model from the file path, as ReadModel does. Bytes after the
// model are an error. Errors name the path.
func LoadModel(path string) (*Model, error) {
	m, err := load(path)
	if err != nil {
		return nil, errorf("load %s: %w", path, err)
	}
	return m, nil
}

func load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a folder")
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	d := &decoder{r: f, size: size}
	m, err := d.model()
	if err != nil {
		return nil, err
	}
	if n, err := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return nil, &FormatError{Kind: ErrInvalid, Section: "trailer", Offset: d.off, Detail: "more bytes after the end of the model"}
	} else if err != io.EOF {
		return nil, err
	}
	return m, nil
}
