package main

import (
	"errors"
	"go/ast"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// keep writes the files that were asked for, except the report. A saved model keeps the topics
// of the documents if they have metadata.
func keep(o options, m *jsmf.Model, docs *jsmf.Compositions) error {
	var errs []error
	if o.save != "" {
		var err error
		if docs.Metadata != nil {
			m, err = m.With(jsmf.Additions{Documents: docs})
		}
		if err == nil {
			err = m.Save(o.save)
		}
		errs = append(errs, err)
	}
	if o.documents != "" {
		errs = append(errs, cli.WriteFile(o.documents, func(w io.Writer) error { return report.WriteDocumentsCSV(w, docs) }))
	}
	return errors.Join(errs...)
}

// textFile returns the beginning of a text file. A document that cannot be read
// anew is shown without.
func textFile(path, id string, e encoding.Encoding) report.Document {
	d := report.Document{Title: id}
	f, err := os.Open(path)
	if err != nil {
		return d
	}
	defer f.Close()
	if e == nil {
		e = encoding.Nop
	}
	head, err := io.ReadAll(io.LimitReader(transform.NewReader(f, unicode.BOMOverride(e.NewDecoder())), 2000))
	if err == nil && utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) { // the last may be cut
		d.Snippet = strings.ToValidUTF8(string(head), "")
	}
	return d
}

// goFile returns the comments of a Go file, and as its snippet the first longer paragraph that
// is about the file: not what is to be done, nor where the code has come from.
func goFile(name string, file *ast.File) report.Document {
	d := report.Document{Title: name}
	all := paragraphs(file, true)
	d.Text = strings.Join(all, "\n\n")
	for _, p := range all {
		if len(p) > 80 && !strings.HasPrefix(p, "TODO") && !strings.Contains(p, "came with this notice") {
			d.Snippet = p
			break
		}
	}
	return d
}

// folderName returns the last part of a folder's path.
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}
