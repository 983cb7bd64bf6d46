// Documents infers the topics of documents with a saved model. It prints the
// documents with the largest shares of a topic, or the topics of a document or of a
// text. Topics are numbered from 0, as in package jsmf.
//
//	go run ./examples/factorize -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 25 -model kos.jsmf
//	go run ./examples/documents -model kos.jsmf -docword docword.kos.txt.gz -vocab vocab.kos.txt -topic 3
//	go run ./examples/documents -model kos.jsmf -docword docword.kos.txt.gz -vocab vocab.kos.txt -doc 17
//	go run ./examples/documents -model kos.jsmf -text "the war in iraq and the troops"
//
// With -dir the documents are the text files of a folder, and their paths are their
// ids. Without -topic, -doc and -text it prints the first documents of every topic.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"golang.org/x/text/encoding"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/find"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("documents", args, stderr, parseFlags, func(o options) error {
		return cli.FlagError(cli.Buffered(stdout, func(out *bufio.Writer) error { return documents(ctx, o, out, stderr) }))
	})
}

type options struct {
	model, docword, vocab, dir string
	topic, n                   int
	doc, text                  string
	encoding                   encoding.Encoding // of -vocab and -dir; nil: UTF-8
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("documents", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.model, "model", "", "the model: a `file` (required)")
	f.StringVar(&o.docword, "docword", "", "documents: counts in UCI form, plain or gzipped: a `file`")
	f.StringVar(&o.vocab, "vocab", "", "the words of -docword, one a line: a `file`")
	f.StringVar(&o.dir, "dir", "", "documents: the text files of a `folder`")
	cli.Encoding(f, &o.encoding)
	f.IntVar(&o.topic, "topic", -1, "print the documents nearest to the topic of this `number`, from 0")
	f.StringVar(&o.doc, "doc", "", "print the topics of the document of this `id`")
	f.StringVar(&o.text, "text", "", "print the topics of this `text`")
	f.IntVar(&o.n, "n", 5, "how many `documents` or topics to print")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: documents -model F (-docword F -vocab F | -dir D | -text T) [-topic K | -doc ID] [-n N]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	bad := wrong.If
	given := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.model == "", "-model is missing")
	sources := 0
	for _, s := range []string{"docword", "dir", "text"} {
		if given[s] {
			sources++
		}
	}
	bad(sources != 1, "want one of -docword, -dir and -text")
	bad((o.docword == "") != (o.vocab == ""), "-docword and -vocab go together")
	bad(given["topic"] && given["doc"], "-topic and -doc exclude each other")
	bad(given["text"] && (given["topic"] || given["doc"]), "-topic and -doc have no use with -text")
	bad(given["topic"] && o.topic < 0, "-topic %d: want 0 or more", o.topic)
	bad(o.n < 1, "-n %d: want at least 1", o.n)
	return o, wrong.Err("documents", stderr)
}

func documents(ctx context.Context, o options, w, stderr io.Writer) error {
	m, err := jsmf.LoadModel(o.model)
	if err != nil {
		return err
	}
	if o.topic >= m.K() {
		return fmt.Errorf("topic %d: the model has the topics 0 to %d", o.topic, m.K()-1)
	}
	var src corpus.Source
	switch {
	case o.docword != "":
		src = corpus.UCI{Docword: corpus.File{Name: o.docword}, Vocab: corpus.File{Name: o.vocab, Encoding: o.encoding}}
	case o.dir != "":
		tok, err := m.Tokenizer()
		if err != nil {
			return err
		}
		read, err := corpus.Encode(ctx, corpus.Dir{Path: o.dir, Encoding: o.encoding, Tokenizer: tok})
		if err != nil {
			return err
		}
		for _, x := range read.Info().DroppedDocuments {
			fmt.Fprintf(stderr, "documents: warning: %d left out: %s\n", x.Count, cli.Flags(x.Reason))
		}
		src = read
	default:
		src = m.Texts(o.text)
	}
	c, err := m.Transform(ctx, src)
	if err != nil {
		return err
	}
	if o.text != "" {
		return topics(w, m, c, c.IDs[0], o.n)
	}
	if o.doc != "" {
		return topics(w, m, c, o.doc, o.n)
	}
	docs, err := find.NewDocuments(m, c)
	if err != nil {
		return err
	}
	for k := range m.K() {
		if o.topic >= 0 && k != o.topic {
			continue
		}
		if err := nearest(w, m, c, docs, k, o.n); err != nil {
			return err
		}
	}
	return nil
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func name(m *jsmf.Model, k int) string { return fmt.Sprintf("topic %d: %s", k, m.Name(k)) }

// nearest prints the documents with the largest shares of a topic.
func nearest(w io.Writer, m *jsmf.Model, c *jsmf.Compositions, docs *find.Documents, k, n int) error {
	fmt.Fprintln(w, name(m, k))
	found, err := docs.TopDocuments(k, n, nil)
	if err != nil {
		return err
	}
	for _, d := range found {
		fmt.Fprintf(w, "  %5.1f%%  document %s%s, %.0f known words\n", 100*d.Score, d.Name, label(c, d.Index), c.Docs[d.Index].Tokens)
	}
	return nil
}

func label(c *jsmf.Compositions, d int) string {
	if c.Labels == nil || c.Labels[d] == "" {
		return ""
	}
	return " (" + c.Labels[d] + ")"
}

// topics prints the largest topics of a document.
func topics(w io.Writer, m *jsmf.Model, c *jsmf.Compositions, id string, n int) error {
	d := slices.Index(c.IDs, id)
	if d < 0 {
		return fmt.Errorf("there is no document %q; the first is called %q", id, first(c.IDs))
	}
	x := c.Docs[d]
	fmt.Fprintf(w, "document %s%s: %.0f known words, %.0f unknown\n", id, label(c, d), x.Tokens, x.Unknown+float64(c.Unknown[d]))
	if !c.Explained(d) {
		fmt.Fprintln(w, "  no topic explains it")
		return nil
	}
	docs, err := find.NewDocuments(m, c)
	if err != nil {
		return err
	}
	found, err := docs.TopTopics(id, n)
	if err != nil {
		return err
	}
	for _, t := range found {
		fmt.Fprintf(w, "  %5.1f%%  %s\n", 100*t.Score, name(m, t.Index))
	}
	return nil
}
