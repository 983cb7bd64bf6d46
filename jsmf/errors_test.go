package jsmf_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/rectify"
)

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// Every error names the package once, at its beginning, whatever it wraps.
// badTokenizer has a setting that is out of range.
type badTokenizer struct{ text.Tokenizer }

func (badTokenizer) Setting() text.Setting { return text.Setting{MinLength: -1} }

func TestErrorsNameThePackageOnce(t *testing.T) {
	_, docs := planted(60, 4, 200)
	c := countsCorpus(t, 60, docs)
	p := jsmf.Published(4).Rectify(rectify.AP{Iterations: 3})
	m := fit(t, p, c)
	other, err := corpus.Builder{}, error(nil)
	if err = other.AddText("", "", "words that no topic has and no document of the fit"); err != nil {
		t.Fatal(err)
	}
	strange, err := other.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.jsmf")
	if err := os.WriteFile(broken, encoded(t, m)[:500], 0o644); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	names := regexp.MustCompile(`(^| )jsmf: `)
	for what, f := range map[string]func() error{
		"fit, K = 1":           func() error { _, err := jsmf.Published(1).Fit(ctx, c); return err },
		"fit, K > N":           func() error { _, err := jsmf.Published(99).Fit(ctx, c); return err },
		"fit, bad settings":    func() error { _, err := p.Rectify(rectify.AP{Iterations: -1}).Workers(-1).Fit(ctx, c); return err },
		"fit, cancelled":       func() error { _, err := p.Fit(gone, c); return err },
		"fit, few words":       func() error { _, err := p.Fit(ctx, strange); return err },
		"fit after another":    func() error { _, err := p.From(m).Fit(ctx, identity(t, 9)); return err },
		"evaluate":             func() error { _, err := p.Evaluate(ctx, m, strange); return err },
		"evaluate, cancelled":  func() error { _, err := p.Evaluate(gone, m, c); return err },
		"sweep":                func() error { _, err := jsmf.Grid{K: []int{1, 1}}.Run(ctx, p.K(0), c); return err },
		"sweep, cancelled":     func() error { _, err := jsmf.Grid{K: []int{2, 3}}.Run(gone, p.K(0), c); return err },
		"hierarchy":            func() error { _, err := jsmf.Levels{K: []int{3, 3}}.Run(ctx, p.K(0), m); return err },
		"hierarchy, cancelled": func() error { _, err := jsmf.Levels{K: []int{3}}.Run(gone, p.K(0), m); return err },
		"bootstrap":            func() error { _, err := jsmf.Bootstrap{Warm: -1}.Run(ctx, p.K(99), m, c); return err },
		"bootstrap, cancelled": func() error { _, err := jsmf.Bootstrap{Warm: -1}.Run(gone, p, m, c); return err },
		"bootstrap, settings":  func() error { _, err := jsmf.Bootstrap{Level: 2, Words: -1}.Run(ctx, p, m, c); return err },
		"align":                func() error { _, err := jsmf.Align(gone, m, m, 1); return err },
		"reorder":              func() error { _, err := m.Reorder([]int{1}); return err },
		"inferer":              func() error { _, err := m.Inferer(ctx, infer.PADD{}, infer.Options{}); return err },
		"transform":            func() error { _, err := m.TransformBy(ctx, c.Source(), infer.PADD{}, infer.Options{}); return err },
		"transform, no source": func() error { _, err := m.Transform(ctx, nil); return err },
		"transform, cancelled": func() error { _, err := m.Transform(gone, m.Texts("w1", "w2")); return err },
		"learn dual":           func() error { _, _, err := m.LearnDual(gone, c, infer.PADD{}, infer.Options{}); return err },
		"tokenizer":            func() error { _, err := m.With(jsmf.Additions{Tokenizer: badTokenizer{}}); return err },
		"save":                 func() error { return m.Save(filepath.Join(dir, "none", "m")) },
		"write":                func() error { _, err := m.WriteTo(full{}); return err },
		"load, missing":        func() error { _, err := jsmf.LoadModel(filepath.Join(dir, "none")); return err },
		"load, broken":         func() error { _, err := jsmf.LoadModel(broken); return err },
		"load, folder":         func() error { _, err := jsmf.LoadModel(dir); return err },
		"read":                 func() error { _, err := jsmf.ReadModel(strings.NewReader("no model")); return err },
	} {
		err := f()
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for line := range strings.Lines(err.Error()) {
			if n := len(names.FindAllString(line, -1)); n > 1 {
				t.Errorf("%s: %q", what, line)
			}
		}
		if !strings.HasPrefix(err.Error(), "jsmf: ") {
			t.Errorf("%s: %q", what, err)
		}
	}
}

// identity is a matrix of n words without names.
func identity(t *testing.T, n int) cooc.Matrix {
	t.Helper()
	d := make([]float64, n*n)
	for i := range n {
		d[i*n+i] = 1 / float64(n)
	}
	c, err := cooc.NewDense(mat.NewDense(n, n, d))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
