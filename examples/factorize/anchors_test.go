package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

func wordFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func anchorsOf(l line) (words []string) {
	for _, a := range l.Anchors {
		words = append(words, a.Word)
	}
	return words
}

// Every finder runs and finds planted anchors: on synth, which is made by the
// model, those that go by the rows of C̄ find little else.
func TestFinders(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	for _, name := range finderNames {
		args := []string{"-k", "8", "-anchors", name, "-json", "-quiet"}
		want := 6
		switch name {
		case "tsne": // a picture with more corners than topics
			want = 2
		case "fixed":
			args = append(args, "-anchor-words", wordFile(t, "anchor_08_0\n\nanchor_02_1\n"))
		case "tandem":
			args = append(args, "-anchor-words", wordFile(t, "anchor_08_0 anchor_08_1\r\nanchor_02_1\n"))
		}
		out, _ := invoke(t, 0, synth(args...)...)
		l := decode(t, out)[0]
		if l.K != 8 || l.Finder != name || len(l.Anchors) != 8 {
			t.Fatalf("%s: %+v", name, l)
		}
		planted := 0
		for _, w := range anchorsOf(l) {
			if strings.HasPrefix(w, "anchor_") {
				planted++
			}
		}
		if planted < want {
			t.Errorf("%s: %d of the anchors %q are planted ones", name, planted, anchorsOf(l))
		}
		for i, a := range l.Anchors {
			switch {
			case name == "tandem" && i == 0:
				if !slices.Equal(a.Facet, []string{"anchor_08_0", "anchor_08_1"}) || a.Word != "anchor_08_0" {
					t.Errorf("tandem: %+v", a)
				}
			case a.Facet != nil:
				t.Errorf("%s: a facet %q", name, a.Facet)
			}
		}
		if (name == "fixed" || name == "tandem") && !slices.Equal(anchorsOf(l)[:2], []string{"anchor_08_0", "anchor_02_1"}) {
			t.Errorf("%s: anchors %q", name, anchorsOf(l))
		}
	}
}

// The flags of the finders reach them.
func TestFinderFlags(t *testing.T) {
	if testutil.Race || testing.Short() {
		t.Skip("skipped: 20 fits")
	}
	words := wordFile(t, "anchor_02_1\n")
	fits := make(map[string]string)
	fit := func(args string) string {
		if found, ok := fits[args]; ok {
			return found
		}
		out, _ := invoke(t, 0, synth(append(strings.Fields(args), "-k", "6", "-rectify", "none", "-json", "-quiet")...)...)
		fits[args] = strings.Join(anchorsOf(decode(t, out)[0]), " ")
		return fits[args]
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"-anchors projected -project-dims 8", "-anchors projected", false},
		{"-anchors projected -project-dims 8", "-anchors projected -project-dims 8 -seed 1", false},
		{"-anchors projected -project-dims 8", "-anchors projected -project-dims 8 -project-sparse", false},
		{"-anchors spa", "-anchors qr", true},
		{"-anchors spa -unnormalised", "-anchors spa", false},
		{"-anchors projected", "-anchors qr -clean-up", true}, // 600 dimensions are not projected to 1000
		{"-anchors fixed -anchor-words " + words, "-anchors tandem -anchor-words " + words, true},
		{"-anchors fixed -anchor-words " + words + " -complete spa -unnormalised", "-anchors fixed -anchor-words " + words, false},
		{"-anchors snpa -anchor-min-df 300", "-anchors snpa", false},
		{"-anchors pca", "-anchors pca -embed-dims 3", true},
		{"-anchors pca", "-anchors pca -unnormalised", false},
		{"-anchors pca", "-anchors pca -all-vertices", false},
		{"-anchors pca", "-anchors pca -anchor-min-df 300", false},
		{"-anchors tsne -embed-dims 2", "-anchors tsne -embed-dims 2 -perplexity 20", false},
	} {
		if a, b := fit(c.a), fit(c.b); (a == b) != c.same {
			t.Errorf("%q: %s\n%q: %s", c.a, a, c.b, b)
		}
	}
}

func TestFinderUsage(t *testing.T) {
	ok := []string{"-docword", "d", "-vocab", "v", "-n", "100", "-k", "5"}
	for args, want := range map[string]string{
		"-anchors best":  "want qr, projected, spa, snpa, xray, pca, tsne, fixed, tandem",
		"-anchors fixed": "-anchor-words is missing",
		"-anchors tandem -anchor-words f -complete pca": `-complete "pca": want qr, projected, spa, snpa, xray, none`,
		"-anchor-words f":                                                "-anchor-words has no use with -anchors qr",
		"-complete qr":                                                   "-complete has no use with -anchors qr",
		"-project-dims 5":                                                "-project-dims has no use with -anchors qr",
		"-anchors qr -embed-dims 2":                                      "-embed-dims has no use with -anchors qr",
		"-anchors pca -perplexity 9":                                     "-perplexity has no use with -anchors pca",
		"-anchors pca -embed-dims 0":                                     "-embed-dims 0",
		"-anchors tsne -embed-dims 4":                                    "-embed-dims 4: want 2 or 3",
		"-anchors tsne -perplexity 0.5":                                  "-perplexity 0.5",
		"-anchors projected -project-dims 0":                             "-project-dims 0",
		"-anchors snpa -unnormalised":                                    "-unnormalised has no use with -anchors snpa",
		"-anchors xray -clean-up":                                        "-clean-up has no use with -anchors xray",
		"-anchors fixed -anchor-words f -project-sparse":                 "-project-sparse has no use with -anchors fixed",
		"-anchors fixed -anchor-words f -complete none -anchor-min-df 3": "-anchor-min-df has no use",
	} {
		if _, errs := invoke(t, 2, append(ok, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
}

func TestAnchorWordErrors(t *testing.T) {
	for _, c := range []struct {
		words, method, want string
	}{
		{"anchor_02_1 anchor_02_0", "fixed", "words.txt:1: 2 words"},
		{"\n \n", "tandem", "words.txt: no words"},
		{"anchor_02_9\nw_0001\n", "fixed", `"anchor_02_9" (near: "anchor_0`},
		{"w_0001\nw_0001\n", "fixed", `"w_0001" is given as anchors 0 and 1`},
		{"w_0011\nw_0007\nw_0008\n", "tandem", "3 anchors are given for 2 topics"},
	} {
		_, errs := invoke(t, 1, synth("-k", "2", "-rectify", "none", "-quiet", "-anchors", c.method, "-anchor-words", wordFile(t, c.words))...)
		if !strings.Contains(errs, c.want) {
			t.Errorf("%q: %q does not say %q", c.words, errs, c.want)
		}
	}
	if _, errs := invoke(t, 1, synth("-k", "2", "-quiet", "-anchors", "fixed", "-anchor-words", "none.txt")...); !strings.Contains(errs, "none.txt") {
		t.Error(errs)
	}
	if _, errs := invoke(t, 1, synth("-k", "4", "-quiet", "-rectify", "eig", "-anchors", "tandem", "-anchor-words", wordFile(t, "anchor_02_0 anchor_02_1"))...); !strings.Contains(errs, "low-rank rows do not have") {
		t.Error(errs)
	}
}

// The report and the saved model know the facets.
func TestTandemReport(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.jsmf")
	out, _ := invoke(t, 0, synth("-k", "4", "-quiet", "-rectify", "none", "-anchors", "tandem", "-model", model, "-anchor-words", wordFile(t, "anchor_02_0 anchor_02_1\n"))...)
	if !strings.Contains(out, "anchor_02_0+anchor_02_1") {
		t.Errorf("the report does not show the facet:\n%s", out)
	}
	m, err := jsmf.LoadModel(model)
	if err != nil {
		t.Fatal(err)
	}
	if f := m.AnchorGroups(); f == nil || len(f[0]) != 2 || f[1] != nil {
		t.Errorf("facets %v", f)
	}
}
