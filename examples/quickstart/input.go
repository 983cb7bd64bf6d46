package main

import (
	"cmp"
	"context"
	"go/ast"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// input is what to read, which words to keep of it, and how to call it.
type input struct {
	source      corpus.Source
	curation    corpus.Curation
	what, title string
	describe    func(id string) report.Document // what the report shows of a document
}

// choose returns the texts that the options name, or the source of Go.
func choose(ctx context.Context, o options) (in input, err error) {
	in.curation.MinDocs = 3 // a word of fewer documents tells nothing about what goes together
	switch {
	case o.dir != "":
		dir := corpus.Dir{Path: o.dir, Encoding: o.encoding, Strict: o.strict}
		if o.ext != "" {
			dir.Ext = strings.Split(o.ext, ",")
		}
		in.source, in.what, in.title = dir, "text files in "+o.dir, "Topics of "+folderName(o.dir)
		in.describe = func(id string) report.Document {
			return textFile(filepath.Join(o.dir, filepath.FromSlash(id)), id, o.encoding)
		}
	case o.csv != "":
		comma, _ := utf8.DecodeRuneInString(o.comma)
		if o.comma == "" {
			comma = 0
		}
		in.source = corpus.CSV{
			In: corpus.File{Name: o.csv, Encoding: o.encoding}, Comma: comma,
			Text: cmp.Or(o.text, "text"), ID: o.id, Label: o.label, Fields: o.fields(),
		}
		in.table(o.csv)
	case o.jsonl != "":
		in.source = corpus.JSONL{
			In:   corpus.File{Name: o.jsonl, Encoding: o.encoding},
			Text: o.text, ID: o.id, Label: o.label, Fields: o.fields(),
		}
		in.table(o.jsonl)
	default:
		root := o.goroot
		if root == "" {
			if root, err = goroot(ctx); err != nil {
				return in, err
			}
		}
		root = filepath.Join(root, "src")
		tok, err := proseTokenizer()
		if err != nil {
			return in, err
		}
		shown := map[string]report.Document{} // parsing all files again would take seconds
		keep := func(name string, file *ast.File) { shown[name] = goFile(name, file) }
		in.source, in.what, in.title = goSource{root, tok, keep}, "comments of the Go files in "+root, "Topics of Go’s standard library"
		in.describe = func(id string) report.Document { return shown[id] }
		in.curation.MinTokens = 20 // less is not about anything yet
	}
	if o.stop != "" {
		if in.curation.StopWords, err = corpus.ReadStopWords(ctx, corpus.File{Name: o.stop, Encoding: o.encoding}); err != nil {
			return in, err
		}
	}
	return in, nil
}

// table fills in what is said of a file whose records are texts.
func (in *input) table(path string) {
	in.what, in.title = "texts in "+path, "Topics of "+filepath.Base(path)
	in.describe = func(id string) report.Document { return report.Document{Title: id} }
}

// fields returns the columns of metadata that the options name.
func (o options) fields() []corpus.Field {
	var out []corpus.Field
	for _, x := range []struct {
		names string
		kind  corpus.Kind
	}{{o.numbers, corpus.Number}, {o.times, corpus.Time}, {o.categories, corpus.Category}} {
		if x.names == "" {
			continue
		}
		for name := range strings.SplitSeq(x.names, ",") {
			f := corpus.Field{Column: corpus.Column{Name: name, Kind: x.kind}}
			if x.kind == corpus.Time {
				f.Layout = o.layout
			}
			if o.missing != "" {
				f.Missing = strings.Split(o.missing, ",")
			}
			out = append(out, f)
		}
	}
	return out
}
