// Package snippets checks that the Go code in the guides compiles. README.md, jsmf/GUIDE.md and
// jsmf/METHODS.md name packages of several modules, and each module checks the blocks that name
// its own.
package snippets

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "github.com/jsmf-go/spectral"

// given are the variables that a fragment may use without declaring them.
var given = map[string]string{
	"ctx": "context.Context", "c": "*corpus.Corpus", "p": "jsmf.Pipeline", "m": "*jsmf.Model",
	"src": "corpus.Source", "w": "[]float64", "tokens": "[]string", "id": "string", "body": "string", "err": "error",
}

// packages are the packages that a fragment may use without importing them.
var packages = map[string]string{
	"context": "context", "fmt": "fmt", "os": "os", "signal": "os/signal",
	"mat":        "gonum.org/v1/gonum/mat",
	"anchor":     root + "/anchor",
	"anchorfree": root + "/recover/anchorfree",
	"cooc":       root + "/corpus/cooc",
	"corpus":     root + "/corpus",
	"effects":    root + "/jsmf/effects",
	"find":       root + "/jsmf/find",
	"infer":      root + "/infer",
	"jsmf":       root + "/jsmf",
	"metrics":    root + "/metrics",
	"recovery":   root + "/recover",
	"rectify":    root + "/rectify",
	"refine":     root + "/recover/refine",
	"report":     root + "/jsmf/report",
	"scls":       root + "/recover/scls",
	"text":       root + "/corpus/text",
	"stem":       root + "/corpus/text/stem",
	"chinese":    root + "/corpus/text/segment/chinese",
	"japanese":   root + "/corpus/text/segment/japanese",
	"stopwords":  root + "/corpus/text/stopwords",
}

// nested are the modules below the root whose packages the blocks name.
var nested = []string{root + "/corpus/text/stem", root + "/corpus/text/segment"}

// Vet runs go vet on the blocks of Go that belong to the module of the test, of which there are
// at least least, all in one call and in a module outside of the repository. A block belongs to
// the nested module of which it names a package, and otherwise to the root.
//
// A block that begins with "package" is a program. Any other is a fragment, that is the body of
// a function that returns an error and has the parameters given. Fragments import the packages
// that they name, and need not use the variables that they declare.
//
// The go command caches the result in a nested module although a guide has changed, which is a
// file of another module: go test -count=1.
func Vet(t *testing.T, least int) {
	t.Helper()
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("skipped: there is no go command to build the snippets with: %v", err)
	}
	list := func(module ...string) (path, dir string) {
		t.Helper()
		cmd := exec.Command(command, append([]string{"list", "-m", "-f", "{{.Path}}|{{.Dir}}"}, module...)...)
		cmd.Env = append(os.Environ(), "GOWORK=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list -m %v: %v", module, err)
		}
		path, dir, _ = strings.Cut(strings.TrimSpace(string(out)), "|")
		return path, dir
	}
	module, here := list()
	_, top := list(root)
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
	for _, name := range []string{"README.md", "jsmf/GUIDE.md", "jsmf/METHODS.md"} {
		for _, b := range goBlocks(t, filepath.Join(top, name)) {
			place := fmt.Sprintf("//line %s:%d\n", name, b.line)
			code, home := place+b.code, root
			file := fmt.Sprintf("program%d/main.go", n)
			if !strings.HasPrefix(b.code, "package ") {
				if code, home, err = wrap(place, b.code); err != nil {
					t.Errorf("%s:%d: %v", name, b.line, err)
					continue
				}
				file = fmt.Sprintf("fragments/f%d.go", n)
			}
			if home == module {
				n++
				write(file, code)
			}
		}
	}
	if n < least {
		t.Fatalf("%d snippets for %s, want at least %d: are they still found?", n, module, least)
	}
	var mod strings.Builder
	for line := range strings.Lines(read(t, filepath.Join(here, "go.mod"))) {
		if !strings.HasPrefix(line, "module ") && !strings.HasPrefix(line, "replace ") {
			mod.WriteString(line)
		}
	}
	fmt.Fprintf(&mod, "\nmodule snippets\n\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, here)
	if module != root {
		fmt.Fprintf(&mod, "\nreplace %s => %q\n", root, top)
	}
	write("go.mod", mod.String())
	write("go.sum", read(t, filepath.Join(top, "go.sum"))+read(t, filepath.Join(here, "go.sum")))

	vet := exec.Command(command, "vet", "-mod=mod", "./...")
	vet.Dir = dir
	vet.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
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

// wrap makes a file of a fragment, whose first line is that of place, and finds its module.
func wrap(place, fragment string) (code, module string, err error) {
	const head = "package p; func _() {\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+fragment+"}\n", parser.SkipObjectResolution)
	if err != nil {
		return "", "", err
	}
	body := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(body) == 0 {
		return "", "", fmt.Errorf("an empty block")
	}
	code = fragment
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
	imports, params := map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && packages[id.Name] != "" {
				imports[id.Name] = true
			}
		case *ast.Ident:
			if given[n.Name] != "" {
				params[n.Name+" "+given[n.Name]] = true
				if pkg, _, ok := strings.Cut(strings.TrimLeft(given[n.Name], "*[]"), "."); ok {
					imports[pkg] = true
				}
			}
		}
		return true
	})
	var b strings.Builder
	b.WriteString("package fragments\n\n")
	module = root
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "import %s %q\n", name, packages[name])
		for _, m := range nested {
			if strings.HasPrefix(packages[name]+"/", m+"/") {
				module = m
			}
		}
	}
	fmt.Fprintf(&b, "\nfunc _(%s) error {\n\t{\n%s%s\t}\n", strings.Join(slices.Sorted(maps.Keys(params)), ", "), place, code)
	if _, ok := body[len(body)-1].(*ast.ReturnStmt); !ok {
		b.WriteString("\treturn nil\n")
	}
	b.WriteString("}\n")
	return b.String(), module, nil
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
