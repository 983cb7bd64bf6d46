package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/corpus/text/stopwords"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// goSource is a corpus.Source: the comments of the Go files below a folder, one
// document a file, called by its path there (for the standard library, import
// path and file name). What is not prose about the file is left out:
//
//   - tests, testdata, vendored and generated files;
//   - boilerplate: licences, directives (//go:build, //sys for a system call),
//     the C code above import "C";
//   - code blocks in comments, and paragraphs without function words ("the",
//     "of"): tables, assembly, code that has been commented out;
//   - a paragraph that has been seen before, in whatever file. Variants of a
//     file for other systems and processors repeat their comments word for
//     word; counted each time they would make topics by their number alone.
//
// Files in which nothing is left are no documents.
type goSource struct {
	root      string // the src folder
	tokenizer text.Tokenizer
	read      func(name string, file *ast.File) // of each document, unless it is nil
}

// goroot returns the folder of the Go installation.
func goroot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	root := strings.TrimSpace(string(out))
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", fmt.Errorf("go env GOROOT: %w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return "", fmt.Errorf("go env GOROOT: %w (name the installation by -goroot)", err)
	case root == "":
		return "", errors.New("go env GOROOT says nothing; name the installation by -goroot")
	}
	return root, nil
}

// Describe implements corpus.Source.
func (s goSource) Describe(context.Context) (corpus.Description, error) {
	set := s.tokenizer.Setting()
	return corpus.Description{Text: &set, Stemmer: s.tokenizer.Stemmer()}, nil
}

// Docs implements corpus.Source.
func (s goSource) Docs(ctx context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		function := make(map[string]bool)
		for _, w := range stopwords.English() {
			function[w] = true
		}
		seen := make(map[string]bool)
		var tokens []string
		err := fs.WalkDir(os.DirFS(s.root), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			base := path.Base(name)
			if d.IsDir() {
				if base == "testdata" || base == "vendor" || base != "." && base[0] == '.' {
					return fs.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
				return nil
			}
			file, err := parse(filepath.Join(s.root, filepath.FromSlash(name)))
			if file == nil || err != nil {
				return err
			}
			tokens = tokens[:0]
			for _, p := range paragraphs(file, false) {
				if seen[p] {
					continue
				}
				seen[p] = true
				n, grammar := len(tokens), 0
				tokens = s.tokenizer.Tokenize(tokens, p)
				for _, w := range tokens[n:] {
					if function[w] {
						grammar++
					}
				}
				if 10*grammar < len(tokens)-n { // in prose about half of all words are such
					tokens = tokens[:n]
				}
			}
			if len(tokens) > 0 && s.read != nil {
				s.read(name, file)
			}
			if len(tokens) > 0 && !yield(corpus.Document{ID: name, Tokens: tokens}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(corpus.Document{}, err)
		}
	}
}

// parse returns the syntax of a file, nil for a generated one.
func parse(name string) (*ast.File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	// The head is enough to tell generated files, among them the longest of all.
	head, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(head) {
		return nil, nil
	}
	return parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
}

// boilerplate is what paragraphs of licences hold, and the note that some
// hundred functions of the runtime have about who links to them.
var boilerplate = []string{"copyright", "license", "licence", "all rights reserved", "redistribution and use", "hall of shame", "linkname"}

func isBoilerplate(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(boilerplate, func(s string) bool { return strings.Contains(text, s) })
}

// isDirective reports whether a comment has something other than space after the
// slashes: gofmt gives a space to all prose.
func isDirective(text string) bool {
	return len(text) > 2 && text[1] == '/' && !strings.ContainsRune(" \t/", rune(text[2]))
}

// paragraphs returns the text of a file's comments by paragraphs, with runs of
// space made one, links as they read on a page ([io.Reader] as io.Reader), and
// addresses only if they are asked for.
func paragraphs(file *ast.File, addresses bool) []string {
	cgo := make(map[*ast.CommentGroup]bool)
	imports := make(map[string]string)
	for _, s := range file.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err == nil {
			imports[path.Base(p)] = p
		}
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for _, s := range g.Specs {
				if s := s.(*ast.ImportSpec); s.Path.Value == `"C"` {
					cgo[g.Doc], cgo[s.Doc] = true, true
				}
			}
		}
	}
	t := texts{addresses: addresses}
	parser := comment.Parser{
		LookupPackage: func(name string) (string, bool) { p, ok := imports[name]; return p, ok },
		LookupSym:     func(_, _ string) bool { return true }, // any in brackets is meant as a link
	}
	for _, g := range file.Comments {
		if cgo[g] {
			continue
		}
		var kept ast.CommentGroup
		for _, c := range g.List {
			if !isDirective(c.Text) {
				kept.List = append(kept.List, c)
			}
		}
		if len(kept.List) > 0 {
			t.blocks(parser.Parse(kept.Text()).Content)
		}
	}
	return t.list
}

// texts collects the paragraphs of comments.
type texts struct {
	addresses bool // keep bare ones
	list      []string
}

func (t *texts) blocks(blocks []comment.Block) {
	for _, b := range blocks {
		switch b := b.(type) { // a *comment.Code is left out
		case *comment.Paragraph:
			t.add(b.Text)
		case *comment.Heading:
			t.add(b.Text)
		case *comment.List:
			for _, item := range b.Items {
				t.blocks(item.Content)
			}
		}
	}
}

func (t *texts) add(text []comment.Text) {
	var b strings.Builder
	t.write(&b, text)
	s := strings.Join(strings.Fields(b.String()), " ")
	if s != "" && !isBoilerplate(s) {
		t.list = append(t.list, s)
	}
}

func (t *texts) write(b *strings.Builder, text []comment.Text) {
	for _, x := range text {
		switch x := x.(type) {
		case comment.Plain:
			b.WriteString(string(x))
		case comment.Italic:
			b.WriteString(string(x))
		case *comment.Link:
			if !x.Auto || t.addresses { // an automatic link is a bare address
				t.write(b, x.Text)
			}
		case *comment.DocLink:
			t.write(b, x.Text)
		}
	}
}

// proseTokenizer splits text about programs into words and drops the names in
// it: what holds a digit, an underscore, a dot, a colon, or a capital after a
// small letter.
func proseTokenizer() (text.Tokenizer, error) {
	t, err := text.Setting{KeepCase: true, Numbers: text.DropDigits}.Tokenizer()
	return text.Own("prose about programs", func(dst []string, s string) []string { return prose(t, dst, s) }), err
}

func prose(t text.Tokenizer, dst []string, s string) []string {
	n := len(dst)
	dst = t.Tokenize(dst, s)
	kept := dst[:n]
	for _, w := range dst[n:] {
		if !isName(w) {
			kept = append(kept, strings.ToLower(w))
		}
	}
	return kept
}

func isName(w string) bool {
	lower := false
	for _, r := range w {
		if r == '_' || r == '.' || r == ':' || lower && unicode.IsUpper(r) {
			return true
		}
		lower = lower || unicode.IsLower(r)
	}
	return false
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
