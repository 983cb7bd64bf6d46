package beam

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// modelOf returns a model of some documents, and the path of its file.
func modelOf(t testing.TB, c *corpus.Corpus) (*jsmf.Model, string) {
	t.Helper()
	m, err := jsmf.New(6).Fit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.jsmf")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return m, path
}

// compositions reads the lines of files.
func compositions(t testing.TB, paths []string) (out []composition) {
	t.Helper()
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
			var x composition
			if err := json.Unmarshal(s.Bytes(), &x); err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
	}
	return out
}

// Topics are those of Model.Transform, to the bit, with the documents' ids and labels.
func TestTransform(t *testing.T) {
	c := drawn(300)
	m, model := modelOf(t, c)
	uciPaths, uci := uciShards(t, c, 3)
	whole, header := wholeUCI(t, c)
	jsonPaths, jsonl := jsonShards(t, c, 4)
	ctx, more := context.Background(), corpus.File{Name: write(t, t.TempDir(), "more.jsonl", `{"id":"<new>","text":["a0","a0","stranger"]}`+"\n"+`{"id":"more","text":["stranger"]}`+"\n")}
	vocab := corpus.File{Name: uci.Vocabulary}
	for name, x := range map[string]struct {
		paths  []string
		f      Format
		source func(path string) corpus.Source
	}{
		"uci": {uciPaths, uci, func(p string) corpus.Source {
			return corpus.UCI{Docword: corpus.File{Name: p}, Vocab: vocab, NoHeader: true}
		}},
		"whole": {whole, header, func(p string) corpus.Source {
			return corpus.UCI{Docword: corpus.File{Name: p}, Vocab: corpus.File{Name: header.Vocabulary}}
		}},
		"json": {append(jsonPaths, more.Name), jsonl, func(p string) corpus.Source { return corpus.JSONL{In: corpus.File{Name: p}} }},
	} {
		t.Run(name, func(t *testing.T) {
			out, o := t.TempDir(), options(t, x.f)
			files, err := Transform(ctx, model, x.paths, out, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != len(x.paths) {
				t.Fatalf("files %q", files)
			}
			for _, p := range x.paths {
				want, err := m.Transform(ctx, x.source(p))
				if err != nil {
					t.Fatal(err)
				}
				got := compositions(t, []string{filepath.Join(out, filepath.Base(p)+".topics.jsonl")})
				if len(got) != len(want.IDs) {
					t.Fatalf("%s: %d documents, want %d", p, len(got), len(want.IDs))
				}
				for i, g := range got {
					if !slices.Equal(g.Topics, want.W.RawRowView(i)) {
						t.Fatalf("%s: document %s has %v, want %v", p, want.IDs[i], g.Topics, want.W.RawRowView(i))
					}
					if g.Tokens != int64(want.Docs[i].Tokens) || g.Unknown != want.Unknown[i] {
						t.Errorf("%s: document %s: %+v", p, want.IDs[i], g)
					}
					if g.ID != want.IDs[i] || want.Labels != nil && g.Label != want.Labels[i] {
						t.Errorf("%s: document %q %q, want %q", p, g.ID, g.Label, want.IDs[i])
					}
				}
			}
			before := contents(t, out)
			first, err := os.Stat(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Transform(ctx, model, x.paths, out, o); err != nil || !slices.Equal(again, files) {
				t.Errorf("again: %q, %v", again, err)
			}
			if now, err := os.Stat(files[0]); err != nil || !os.SameFile(first, now) {
				t.Error("a file was written again")
			}
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
			write(t, out, filepath.Base(files[len(files)-1]), "half a li")
			if _, err := Transform(ctx, model, x.paths, out, o); err != nil {
				t.Fatal(err)
			}
			if now := contents(t, out); now != before {
				t.Error("other files the second time")
			}
		})
	}
}

// contents returns the names and contents of the files of a folder.
func contents(t testing.TB, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s.WriteString(e.Name() + "\n" + string(b))
	}
	return s.String()
}

// TransformShards is for pipelines of one's own.
func TestTransformShards(t *testing.T) {
	c := drawn(100)
	_, model := modelOf(t, c)
	paths, f := uciShards(t, c, 2)
	st := openedState(t, t.TempDir())
	out := t.TempDir()
	files, err := st.job(context.Background(), Runner{}, "own", "key", func(s beam.Scope) beam.PCollection {
		return beam.ParDo(s, &transformed{}, TransformShards(s, TransformFn{Model: model, Format: f, Folder: out}, beam.CreateList(s, paths)))
	})
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if got := compositions(t, []string{topicsFile(out, paths[0]), topicsFile(out, paths[1])}); len(got) != 98 {
		t.Errorf("%d documents, want 98", len(got))
	}
}

func TestTransformErrors(t *testing.T) {
	_, model := modelOf(t, drawn(100))
	one, two := t.TempDir(), t.TempDir()
	good := write(t, one, "a.jsonl", `{"text": "a0"}`)
	same := write(t, two, "a.jsonl", `{"text": "a0"}`)
	bad := write(t, two, "b.jsonl", "{}")
	long := write(t, two, "long.jsmf", "x")
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	write(t, two, "long.jsmf", string(b)+"x")
	for name, x := range map[string]struct {
		model string
		paths []string
		out   string
		want  []string
	}{
		"model":      {good, []string{good}, two, []string{good}},
		"no model":   {filepath.Join(one, "none"), []string{good}, two, []string{"none"}},
		"long model": {long, []string{good}, two, []string{long, "more bytes"}},
		"same name":  {model, []string{good, same}, two, []string{good, same, "a.jsonl.topics.jsonl"}},
		"no folder":  {model, []string{good}, "", []string{"no folder"}},
		"no shards":  {model, nil, two, []string{"no shards"}},
		"line":       {model, []string{good, bad}, two, []string{bad + ":1", "no field"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, Format{})
			o.Runner.Tries = 1
			_, err := Transform(context.Background(), x.model, x.paths, x.out, o)
			if err == nil {
				t.Fatal("no error")
			}
			for _, s := range x.want {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v does not say %q", err, s)
				}
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(two, "b.jsonl.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}
