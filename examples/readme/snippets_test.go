package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// given are the variables that a fragment may use without declaring them.
const given = `ctx context.Context, c *corpus.Corpus, p jsmf.Pipeline, m *jsmf.Model,
	src corpus.Source, w []float64, tokens []string, id, body string, err error`

// packages are the packages that a fragment may use without importing them.
var packages = map[string]string{
	"context": "context", "fmt": "fmt", "os": "os", "signal": "os/signal",
	"mat":        "gonum.org/v1/gonum/mat",
	"anchor":     "github.com/jsmf-go/spectral/anchor",
	"anchorfree": "github.com/jsmf-go/spectral/recover/anchorfree",
	"cooc":       "github.com/jsmf-go/spectral/corpus/cooc",
	"corpus":     "github.com/jsmf-go/spectral/corpus",
	"effects":    "github.com/jsmf-go/spectral/jsmf/effects",
	"find":       "github.com/jsmf-go/spectral/jsmf/find",
	"infer":      "github.com/jsmf-go/spectral/infer",
	"jsmf":       "github.com/jsmf-go/spectral/jsmf",
	"metrics":    "github.com/jsmf-go/spectral/metrics",
	"recovery":   "github.com/jsmf-go/spectral/recover",
	"rectify":    "github.com/jsmf-go/spectral/rectify",
	"refine":     "github.com/jsmf-go/spectral/recover/refine",
	"report":     "github.com/jsmf-go/spectral/jsmf/report",
	"scls":       "github.com/jsmf-go/spectral/recover/scls",
	"text":       "github.com/jsmf-go/spectral/corpus/text",
}

// elsewhere are packages of modules below this one, which the go command here cannot load.
// Fragments that name one are left to the examples of these modules.
var elsewhere = []string{"stem", "chinese", "japanese", "stopwords"}

// The blocks of Go in README.md and jsmf/METHODS.md pass go vet, all in one call
// and in a module outside of this one. A block that begins with "package" is a
// program. Any other is a fragment, that is the body of a function that returns
// an error and has the parameters given. Fragments import the packages that they
// name, and need not use the variables that they declare.
func TestSnippets(t *testing.T) {
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("skipped: there is no go command to build the snippets with: %v", err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, name := range []string{"README.md", "jsmf/METHODS.md"} {
		for _, b := range goBlocks(t, filepath.Join(root, name)) {
			n++
			place := fmt.Sprintf("//line %s:%d\n", name, b.line)
			if strings.HasPrefix(b.code, "package ") {
				write(fmt.Sprintf("program%d/main.go", n), place+b.code)
				continue
			}
			if slices.ContainsFunc(elsewhere, func(name string) bool { return strings.Contains(b.code, name+".") }) {
				continue
			}
			code, err := wrap(place, b.code)
			if err != nil {
				t.Errorf("%s:%d: %v", name, b.line, err)
				continue
			}
			write(fmt.Sprintf("fragments/f%d.go", n), code)
		}
	}
	if n < 11 {
		t.Fatalf("%d snippets in all: are they still found?", n)
	}
	mod := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module github.com/jsmf-go/spectral\n", "module snippets\n", 1)
	write("go.mod", mod+fmt.Sprintf("\nrequire github.com/jsmf-go/spectral v0.0.0\n\nreplace github.com/jsmf-go/spectral => %q\n", root))
	write("go.sum", read(t, filepath.Join(root, "go.sum")))

	vet := exec.Command(command, "vet", "-mod=mod", "./...")
	vet.Dir = dir
	vet.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go vet of the snippets: %v\n%s", err, out)
	}
}

// goBlock is a fenced block of Go, and the line of the file on which it begins.
type goBlock struct {
	code string
	line int
}

func goBlocks(t *testing.T, name string) (blocks []goBlock) {
	t.Helper()
	lines := strings.SplitAfter(read(t, name), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "```go" {
			continue
		}
		b := goBlock{line: i + 2}
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
			b.code += lines[i]
		}
		if i == len(lines) {
			t.Fatalf("%s:%d: a block without an end", name, b.line)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// wrap makes a file of a fragment, whose first line is that of place.
func wrap(place, fragment string) (string, error) {
	const head = "package p; func _() {\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+fragment+"}\n", parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	body := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) == 0 {
		return "", fmt.Errorf("an empty block")
	}
	code := fragment
	for _, s := range slices.Backward(body) { // say that its variables are used, right after each declaration
		var names []string
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, x := range a.Lhs {
				if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
					names = append(names, id.Name)
				}
			}
		}
		if len(names) > 0 {
			end := fset.Position(s.End()).Offset - len(head)
			code = code[:end] + "; _" + strings.Repeat(", _", len(names)-1) + " = " + strings.Join(names, ", ") + code[end:]
		}
	}
	imports := map[string]bool{"context": true, "corpus": true, "jsmf": true} // those of given
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && packages[id.Name] != "" {
				imports[id.Name] = true
			}
		}
		return true
	})
	var b strings.Builder
	b.WriteString("package fragments\n\n")
	for name := range imports {
		fmt.Fprintf(&b, "import %s %q\n", name, packages[name])
	}
	fmt.Fprintf(&b, "\nfunc _(%s) error {\n\t{\n%s%s\t}\n", given, place, code)
	if _, ok := body[len(body)-1].(*ast.ReturnStmt); !ok {
		b.WriteString("\treturn nil\n")
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// read returns a text file, its lines ended as on Unix.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}
