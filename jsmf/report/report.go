package report

import (
	"bytes"
	_ "embed"
	"errors"
	"io"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
)

// wrap puts "report: " in front of an error, once.
func wrap(err error) error { return errs.Wrap("report", err) }

// Write writes a report on m to w: one HTML file that needs no other. See the
// package documentation for what it shows.
//
// For a hundred topics over twenty thousand words the page has about half a
// megabyte, with documents up to three more, and at most twelve with 100,000 documents;
// these take some three seconds. The cost is O(N·K²) for the maps,
// O(N·K·(log N + n)) for the words, with n shown of a topic, O(M·(K + log M)) for M
// documents, and O(K³) for the places and groups of topics and the order of the matrix, of
// at most 250 topics. Write is safe for concurrent use.
//
// Errors: options out of range or that do not fit the model, and those of w.
func Write(w io.Writer, m *jsmf.Model, o Options) error {
	if m == nil {
		return errors.New("report: no model")
	}
	if err := o.check(m); err != nil {
		return wrap(err)
	}
	p, err := newPage(m, &o)
	if err != nil {
		return wrap(err)
	}
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return wrap(err)
	}
	_, err = w.Write(out.Bytes())
	return wrap(err)
}
