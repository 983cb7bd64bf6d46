package jsmf

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jsmf-go/spectral/internal/atomicfile"
)

// Save writes the model to the file path, atomically: the bytes go to a new
// file in the same folder, which takes the name only once they are on the disk.
// Whoever opens path sees the old content or the whole new one, and after an
// error the old content is still there and the new file is gone. (One failure
// comes too late for that: when only the last step, making the new name in the
// folder durable, fails, Save says that the file has been replaced.)
//
// A file that is replaced keeps its permission bits; a new one gets 0666 less
// the umask. A symbolic link is followed and stays. What is neither missing nor
// a regular file (a folder, a device, a pipe) is refused. On Windows a file
// that is open elsewhere, or read-only, cannot be replaced: that is an error.
// Errors name the path.
func (m *Model) Save(path string) error {
	return SaveTo(path, m)
}

// SaveTo writes what w writes to the file path, such as a cooc.Accumulator,
// atomically, as Model.Save does.
func SaveTo(path string, w io.WriterTo) error {
	if w == nil {
		return fmt.Errorf("jsmf: save %s: nothing to write", path)
	}
	return saveFile(path, func(f io.Writer) error {
		_, err := w.WriteTo(f)
		return err
	})
}

// saveFile writes a file atomically with what write writes.
func saveFile(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("jsmf: save %s: %w", path, err)
	}
	return nil
}

// LoadModel reads a model from the file path; see ReadModel. Bytes after the
// model are an error. Errors name the path, and are those of ReadModel below
// that.
func LoadModel(path string) (*Model, error) {
	wrap := func(err error) error { return fmt.Errorf("jsmf: load %s: %w", path, err) }
	f, err := os.Open(path)
	if err != nil {
		return nil, wrap(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, wrap(err)
	}
	if info.IsDir() {
		return nil, wrap(errors.New("is a folder"))
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	d := &decoder{r: f, size: size}
	m, err := d.model()
	if err != nil {
		return nil, wrap(err)
	}
	if n, err := io.ReadFull(f, make([]byte, 1)); n > 0 {
		return nil, wrap(&FormatError{Kind: ErrInvalid, Section: "trailer", Offset: d.off, Detail: "more bytes after the end of the model"})
	} else if err != io.EOF {
		return nil, wrap(err)
	}
	return m, nil
}
