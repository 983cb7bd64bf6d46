package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// keep writes the files that were asked for but the report. A saved model keeps the topics
// of the documents if there is metadata beside them.
func keep(o options, m *jsmf.Model, docs *jsmf.Compositions) (err error) {
	if o.save != "" {
		if docs.Metadata != nil {
			if m, err = m.WithDocuments(docs); err != nil {
				return err
			}
		}
		if err := m.Save(o.save); err != nil {
			return err
		}
	}
	if o.documents == "" {
		return nil
	}
	f, err := os.Create(o.documents)
	if err != nil {
		return err
	}
	return errors.Join(report.WriteDocumentsCSV(f, docs, report.CSV{}), f.Close())
}

// writeReport writes the report to a file, if path is empty to a new one in the
// folder for temporary files, and returns where it is.
func writeReport(path string, m *jsmf.Model, opts report.Options) (where string, err error) {
	var f *os.File
	if path == "" {
		f, err = os.CreateTemp("", "spectral-report-*.html")
	} else {
		f, err = os.Create(path)
	}
	if err != nil {
		return "", err
	}
	err = report.Write(f, m, opts)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return filepath.Abs(f.Name())
}

// textFile returns the beginning of a text file. A document that cannot be read
// anew is shown without.
func textFile(dir, id string) report.Document {
	d := report.Document{Title: id}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(id)))
	if err != nil {
		return d
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 2000))
	if err == nil && utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)]) { // the last may be cut
		d.Snippet = strings.ToValidUTF8(string(head), "")
	}
	return d
}

// goFile returns a Go file's comments, and as its snippet the first longer paragraph that
// is about the file: not what is to be done, nor where the code has come from.
func goFile(root, id string) report.Document {
	d := report.Document{Title: id}
	file, err := parse(filepath.Join(root, filepath.FromSlash(id)))
	if err != nil || file == nil {
		return d
	}
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
