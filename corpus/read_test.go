package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

func wantDump(t *testing.T, c *corpus.Corpus, want string) {
	t.Helper()
	if got := dump(c); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUCI(t *testing.T) {
	for name, body := range map[string]string{
		"grouped":     "4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4\n",
		"ungrouped":   "4\n3\n5\n3 3 4\n1 1 7\n3 1 1\n1 2 1\n3 3 2\n",
		"crlf":        "4\r\n3\r\n5\r\n1 2 1\r\n1 1 7\r\n3 3 2\r\n3 1 1\r\n3 3 4\r\n\r\n",
		"no end":      "4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4",
		"odd spacing": " 4 \n3\t\n5\n1  2\t1\n 1 1 7 \n3 3 2\n3 1 1\n3 3 4\n\n \n",
		"bom":         "\ufeff4\n3\n5\n1 2 1\n1 1 7\n3 3 2\n3 1 1\n3 3 4\n",
		"zeros":       "4\n3\n5\n01 2 001\n1 1 7\n3 3 2\n3 1 00000000000000000000001\n3 3 4\n",
	} {
		for _, zip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/gz=%v", name, zip), func(t *testing.T) {
				data, file := []byte(body), "docword"
				if zip {
					data, file = gz(t, data), "docword.gz"
				}
				src := corpus.UCI{Docword: corpus.FileFromBytes(file, data), Vocab: vocabOf("ant", "bee", "cat"), Ungrouped: name == "ungrouped"}
				// Documents 2 and 4 have no line and stay as empty ones.
				wantDump(t, same(t, src), "[\"ant\" \"bee\" \"cat\"]\n1 ant:7 bee:1\n2\n3 ant:1 cat:6\n4\n")
			})
		}
	}
	t.Run("names", func(t *testing.T) {
		src := corpus.UCI{Docword: str("2\n11\n2\n1 11 1\n2 1 1\n"), IDs: str("x\ny\n"), Labels: str("good\n\n")}
		c := same(t, src)
		if v := c.Vocabulary(); v[0] != "1" || v[10] != "11" {
			t.Errorf("words without a vocabulary are called %q", v)
		}
		if c.ID(1) != "y" || c.Label(0) != "good" || c.Label(1) != "" {
			t.Errorf("ids and labels: %s", dump(c))
		}
	})
	t.Run("once", func(t *testing.T) {
		src := corpus.UCI{Docword: corpus.FileFromReader("stdin", strings.NewReader("1\n2\n1\n1 2 3\n"))}
		c, err := corpus.Read(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		wantDump(t, c, "[\"1\" \"2\"]\n1 2:3\n")
		if _, err := corpus.Read(context.Background(), src); err == nil || !strings.Contains(err.Error(), "corpus: stdin: this stream has been read") {
			t.Errorf("the second reading of a stream: %v", err)
		}
	})
	t.Run("repeated words", func(t *testing.T) {
		src := corpus.UCI{Docword: str("1\n2\n1\n1 2 3\n"), Vocab: vocabOf("a", "a"), RepeatedWords: true}
		wantDump(t, same(t, src), "[\"a\" \"a\"]\n1 a:3\n")
	})
	t.Run("the largest count", func(t *testing.T) {
		c := same(t, corpus.UCI{Docword: str("2\n1\n2\n1 1 2147483647\n2 1 2147483647\n")})
		if c.Tokens() != 2*math.MaxInt32 {
			t.Errorf("%d tokens", c.Tokens())
		}
	})
}

// The real corpora have the sizes that their headers give.
func TestRealCorpora(t *testing.T) {
	testutil.NotWithRace(t)
	for name, want := range map[string][3]int{"kos": {3430, 6906, 353160}, "nips17": {2483, 14036, 1304438}, "bbc": {2225, 2949, 182484},
		"lastfm": {1892, 17632, 92834}, "retail": {88162, 16470, 908576}} {
		t.Run("corpus="+name, func(t *testing.T) {
			if testing.Short() && name != "bbc" {
				t.Skip("seconds each")
			}
			src := corpus.UCI{Docword: corpus.File{Name: testutil.Data(t, name, "docword."+name+".txt.gz")}, Vocab: corpus.File{Name: testutil.Data(t, name, "vocab."+name+".txt")}}
			if name == "bbc" {
				src.Labels = corpus.File{Name: testutil.Data(t, name, "labels.txt")}
			}
			c, err := corpus.Read(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, c)
			if got := [3]int{c.NumDocs(), c.NumWords(), c.NNZ()}; got != want {
				t.Errorf("documents, words, pairs: %v, want %v", got, want)
			}
			if hasLabels(c) != (name == "bbc") {
				t.Error("labels")
			}
			s, err := corpus.Read(context.Background(), wrapped{src})
			if err != nil {
				t.Fatal(err)
			}
			if dump(s) != dump(c) {
				t.Error("streaming differs")
			}
		})
	}
}

// Parts of a file have the documents of the whole, except empty ones, with their numbers
// as ids.
func TestUCINoHeader(t *testing.T) {
	v := vocabOf("ant", "bee", "cat")
	parts := []string{"1 2 1\n1 1 3\n", "2000000000 3 2\n2000000000 1 1\n2000000000 3 1\n2000000007 2 1\n\n"}
	want := []string{"1: ant ant ant bee", "2000000000: ant cat cat cat", "2000000007: bee"}
	var got []string
	for _, part := range parts {
		c := same(t, corpus.UCI{Docword: str(part), Vocab: v, NoHeader: true})
		for m := range c.NumDocs() {
			got = append(got, c.ID(m)+": "+strings.Join(words(c, m), " "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUCIBad(t *testing.T) {
	v := vocabOf("ant", "bee", "cat")
	uci := func(s string) corpus.Source { return corpus.UCI{Docword: str(s), Vocab: v} }
	refuse(t, []badCase{
		{"empty file", uci(""), corpus.ErrTruncated, 1, "number of documents is missing"},
		{"half a header", uci("3\n3\n"), corpus.ErrTruncated, 3, "number of entries is missing"},
		{"word in header", uci("3\nthree\n1\n"), nil, 2, `"three" is not a number of words`},
		{"negative header", uci("-3\n3\n0\n"), nil, 1, `"-3" is not a number of documents`},
		{"huge header", uci("3000000000\n3\n0\n"), nil, 1, "is not a number of documents"},
		{"two numbers in header", uci("3 3\n0\n"), nil, 1, `"3 3"`},
		{"truncated", uci("3\n3\n3\n1 1 1\n2 2 2\n"), corpus.ErrTruncated, 5, "header says 3 entries, there are 2"},
		{"too many", uci("3\n3\n1\n1 1 1\n2 2 2\n"), nil, 5, "more entries than the 1"},
		{"two fields", uci("3\n3\n2\n1 1 1\n2 2\n"), nil, 5, "want three whole numbers"},
		{"four fields", uci("3\n3\n1\n1 1 1 1\n"), nil, 4, "want three whole numbers"},
		{"letters", uci("3\n3\n1\n1 x 1\n"), nil, 4, "want three whole numbers"},
		{"real count", uci("3\n3\n1\n1 1 1.5\n"), nil, 4, "want three whole numbers"},
		{"blank line between", uci("3\n3\n2\n1 1 1\n\n2 2 2\n"), nil, 5, "want three whole numbers"},
		{"document 0", uci("3\n3\n1\n0 1 1\n"), nil, 4, "document 0 is not in [1, 3]"},
		{"document too large", uci("3\n3\n1\n4 1 1\n"), nil, 4, "document 4 is not in [1, 3]"},
		{"word 0", uci("3\n3\n1\n1 0 1\n"), nil, 4, "word 0 is not in [1, 3]"},
		{"word too large", uci("3\n3\n1\n1 4 1\n"), nil, 4, "word 4 is not in [1, 3]"},
		{"word beyond 64 bits", uci("3\n3\n1\n1 99999999999999999999999 1\n"), nil, 4, "word 1000000000000000000 is not in"},
		{"count 0", uci("3\n3\n1\n1 1 0\n"), nil, 4, `count 0 of word "ant" in document 1`},
		{"count negative", uci("3\n3\n1\n1 1 -2\n"), nil, 4, "count -2"},
		{"count overflows", uci("3\n3\n1\n1 1 2147483648\n"), nil, 4, "count 2147483648"},
		{"sum overflows", uci("3\n3\n2\n1 1 2147483647\n1 1 1\n"), nil, 0, `count 2147483648 of word "ant" in document 1`},
		{"vocabulary too short", uci("3\n4\n1\n1 1 1\n"), nil, 2, "header says 4 words, but vocab has 3"},
		{"no documents", uci("0\n3\n0\n"), corpus.ErrNoDocuments, 0, ""},
		{"empty vocabulary", corpus.UCI{Docword: str("1\n0\n0\n"), Vocab: corpus.FileFromBytes("v", nil)}, corpus.ErrEmptyVocabulary, 0, ""},
		{"no words", corpus.UCI{Docword: str("1\n0\n0\n")}, corpus.ErrEmptyVocabulary, 0, ""},
		{"word of none", corpus.UCI{Docword: str("1\n0\n1\n1 1 1\n")}, nil, 4, "word 1: there are none"},
		{"lying D", uci("2000000000\n3\n1\n1 1 1\n"), nil, 1, "promises far more"},
		{"lying D and document", corpus.UCI{Docword: str("2000000000\n3\n1\n2000000000 1 1\n"), Vocab: v, Ungrouped: true}, nil, 1, "promises far more"},
		{"lying W", corpus.UCI{Docword: str("1\n2000000000\n1\n1 2000000000 1\n")}, nil, 1, "promises far more"},
		{"lying NNZ", uci("1\n3\n999999999999999999\n1 1 1\n"), corpus.ErrTruncated, 4, ""},
		{"repeated word", corpus.UCI{Docword: str("1\n2\n1\n1 1 1\n"), Vocab: vocabOf("a", "a")}, corpus.ErrRepeatedWord, 2, `word "a" occurs twice in the vocabulary, first on line 1`},
		{"blank word", corpus.UCI{Docword: str("1\n3\n1\n1 1 1\n"), Vocab: vocabOf("a", "", "b")}, nil, 2, "blank line where a word is expected"},
		{"bad UTF-8 in vocabulary", corpus.UCI{Docword: str("1\n2\n1\n1 1 1\n"), Vocab: vocabOf("a", "b\xff")}, corpus.ErrInvalidUTF8, 2, "byte 2"},
		{"few ids", corpus.UCI{Docword: str("3\n1\n1\n1 1 1\n"), IDs: str("a\nb\n")}, nil, 0, "2 lines with a document's id for 3 documents"},
		{"many labels", corpus.UCI{Docword: str("1\n1\n1\n1 1 1\n"), Labels: str("a\nb\n")}, nil, 0, "2 lines with a document's label for 1 documents"},
		{"no such file", corpus.UCI{Docword: corpus.File{Name: "testdata/none.txt"}}, fs.ErrNotExist, 0, "testdata/none.txt"},
		{"no file", corpus.UCI{}, nil, 0, "no file given"},
		{"long line", corpus.UCI{Docword: corpus.File{Name: "f", MaxLine: 10, Open: str("1\n1\n1\n1        1        1\n").Open}}, corpus.ErrTooLong, 4, "of 10 bytes"},
		{"not gzip", corpus.UCI{Docword: corpus.FileFromBytes("f.gz", []byte("1\n1\n1\n"))}, nil, 0, "gzip"},
		{"header without one", corpus.UCI{Docword: str("3\n3\n1\n1 1 1\n"), Vocab: v, NoHeader: true}, nil, 1, "want three whole numbers"},
		{"part with a word too large", corpus.UCI{Docword: str("7 1 1\n9 4 1\n"), Vocab: v, NoHeader: true}, nil, 2, "word 4 is not in [1, 3]"},
		{"part without vocabulary", corpus.UCI{Docword: str("7 1 1\n"), NoHeader: true}, nil, 0, "needs a vocabulary file"},
		{"part with ids", corpus.UCI{Docword: str("7 1 1\n"), Vocab: v, IDs: str("x\n"), NoHeader: true}, nil, 0, "no files of ids"},
		{"part with labels", corpus.UCI{Docword: str("7 1 1\n"), Vocab: v, Labels: str("x\n"), NoHeader: true}, nil, 0, "no files of ids"},
		{"part ungrouped", corpus.UCI{Docword: str("7 1 1\n"), Vocab: v, Ungrouped: true, NoHeader: true}, nil, 0, "Ungrouped"},
		{"part not grouped", corpus.UCI{Docword: str("7 1 1\n3 1 1\n"), Vocab: v, NoHeader: true}, corpus.ErrUngrouped, 2, "document 3 after document 7"},
		{"empty part", corpus.UCI{Docword: str(""), Vocab: v, NoHeader: true}, corpus.ErrNoDocuments, -1, ""},
		{"empty gzip", corpus.UCI{Docword: corpus.FileFromBytes("f.gz", nil)}, corpus.ErrTruncated, 0, "gzip"},
	})
	t.Run("ungrouped stream", func(t *testing.T) {
		_, err := corpus.Read(context.Background(), wrapped{uci("3\n3\n3\n1 1 1\n2 2 2\n1 2 1\n")})
		if !errors.Is(err, corpus.ErrUngrouped) || !strings.Contains(err.Error(), "data:6: document 1 after document 2") {
			t.Error(err)
		}
	})
	t.Run("leap in a stream", func(t *testing.T) {
		_, err := corpus.Read(context.Background(), wrapped{uci("2000000000\n3\n1\n2000000000 1 1\n")})
		if err == nil || !strings.Contains(err.Error(), "data:4: document 2000000000 after document 1") {
			t.Error(err)
		}
	})
}

// A damaged gzip file is an error with the line that was reached.
func TestDamagedGzip(t *testing.T) {
	testutil.NotWithRace(t)
	var b strings.Builder
	b.WriteString("2000\n50\n100000\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for m := range 2000 {
		for w := range 50 {
			fmt.Fprintf(&b, "%d %d %d\n", m+1, w+1, 1+rng.IntN(99))
		}
	}
	whole := gz(t, []byte(b.String()))
	flipped := append([]byte(nil), whole...)
	flipped[len(whole)-6] ^= 1 // in the checksum
	for name, x := range map[string]struct {
		data []byte
		is   error
	}{"cut": {whole[:len(whole)/2], corpus.ErrTruncated}, "flipped": {flipped, nil}} {
		_, err := corpus.Read(context.Background(), corpus.UCI{Docword: corpus.FileFromBytes("x.gz", x.data)})
		var fe *corpus.FileError
		if !errors.As(err, &fe) || fe.Line < 100 || x.is != nil && !errors.Is(err, x.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A header that lies costs no memory to speak of: 16 MiB is far below the 8 GB
// and more that its numbers ask for, and above the 8 bytes for each of the
// 65,536 documents that any file may leave empty.
func TestLyingHeaderMemory(t *testing.T) {
	for _, s := range []string{
		"2000000000\n3\n2000000000000\n1 1 1\n",
		"2000000000\n2000000000\n2000000000000\n2000000000 2000000000 1\n",
		"2000000000\n3\n1\n2000000000 3 1\n",
	} {
		n := testutil.Allocated(t, func() {
			if _, err := corpus.Read(context.Background(), corpus.UCI{Docword: str(s)}); err == nil {
				t.Errorf("%q: no error", s)
			}
		})
		if n > 16<<20 {
			t.Errorf("%q: %d bytes were allocated", s, n)
		}
	}
}

// Any order of the lines gives the same corpus, also with duplicates.
func TestUCIOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const M, N, n = 40, 30, 600
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d %d %d\n", 1+rng.IntN(M), 1+rng.IntN(N), 1+rng.IntN(5))
	}
	want := ""
	for trial := range 6 {
		src := corpus.UCI{Docword: str(fmt.Sprintf("%d\n%d\n%d\n%s", M, N, n, strings.Join(lines, ""))), Ungrouped: true}
		got := dump(same(t, src))
		if trial == 0 {
			want = got
		}
		if got != want {
			t.Fatal("the order of the lines shows in the corpus")
		}
		rng.Shuffle(n, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
}

func TestLines(t *testing.T) {
	wantDump(t, same(t, corpus.Lines{In: corpus.FileFromBytes("t.gz", gz(t, []byte("The cat, the dog.\r\n\nA cat")))}), "[\"cat\" \"dog\" \"the\"]\n1 cat:1 dog:1 the:2\n2\n3 cat:1\n")
	c := same(t, corpus.Lines{In: str("a b\n"), Tokenizer: text.Own("lines", func(dst []string, s string) []string { return append(dst, s) })})
	wantDump(t, c, "[\"a b\"]\n1 a b:1\n")
	refuse(t, []badCase{
		{"empty", corpus.Lines{In: str("")}, corpus.ErrNoDocuments, -1, ""},
		{"no words", corpus.Lines{In: str("1 2\n")}, corpus.ErrEmptyVocabulary, -1, ""},
		{"bad UTF-8", corpus.Lines{In: str("cat\nb\xff\n")}, corpus.ErrInvalidUTF8, 2, "byte 2"},
		{"no such file", corpus.Lines{In: corpus.File{Name: "testdata/none.txt"}}, fs.ErrNotExist, 0, "testdata/none.txt"},
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := corpus.Read(ctx, corpus.Lines{In: str("cat\n")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestJSONL(t *testing.T) {
	src := corpus.JSONL{In: str(`{"id": 7, "text": "The cat, the dog.", "label": "pets"}

{"text": ["New York", "the", "Cat"], "label": null, "id": "b"}
{"text": "", "label": true}
`)}
	wantDump(t, same(t, src), "[\"Cat\" \"New York\" \"cat\" \"dog\" \"the\"]\n7 [pets] cat:1 dog:1 the:2\nb [] Cat:1 New York:1 the:1\n3 [true]\n")
	src = corpus.JSONL{In: str(`{"body": "x1 y1", "who": "z", "id": {"deep": 1}}`), Text: "body", Label: "who", Tokenizer: text.Own("letters", func(dst []string, s string) []string {
		return append(dst, strings.Fields(s)...)
	})}
	wantDump(t, same(t, src), "[\"x1\" \"y1\"]\n1 [z] x1:1 y1:1\n")

	j := func(s string) corpus.Source { return corpus.JSONL{In: str(s)} }
	refuse(t, []badCase{
		{"empty file", j(""), corpus.ErrNoDocuments, -1, ""},
		{"no words", j(`{"text": ""}`), corpus.ErrEmptyVocabulary, -1, ""},
		{"truncated", j("{\"text\": \"good words\"}\n{\"text\": \"aa"), nil, 2, "want a JSON object: unexpected end"},
		{"array", j(`["a"]`), nil, 1, "want a JSON object"},
		{"null", j(`null`), nil, 1, "want a JSON object, not null"},
		{"two objects", j(`{"text": "a"} {"text": "b"}`), nil, 1, "want a JSON object"},
		{"no text", j("{\"text\": \"good\"}\n{\"txt\": \"a\"}"), nil, 2, `there is no field "text"`},
		{"number", j(`{"text": 5}`), nil, 1, `field "text" is neither a string nor`},
		{"null text", j(`{"text": null}`), nil, 1, `field "text" is neither a string nor`},
		{"numbers", j(`{"text": ["a", 5]}`), nil, 1, "want an array of strings"},
		{"empty token", j(`{"text": ["a", ""]}`), nil, 1, "token 2 is null or empty"},
		{"null token", j(`{"text": [null]}`), nil, 1, "token 1 is null or empty"},
		{"bad UTF-8", j("{\"text\": \"caf\xe9\"}"), corpus.ErrInvalidUTF8, 1, "byte 14"},
		{"no label", corpus.JSONL{In: str(`{"text": "a"}`), Label: "class"}, nil, 1, `there is no field "class"`},
		{"label is a list", corpus.JSONL{In: str(`{"text": "a", "class": []}`), Label: "class"}, nil, 1, `neither a string nor a number`},
		{"long line", corpus.JSONL{In: corpus.File{Name: "f", MaxLine: 100_000, Open: str(`{"text": "` + strings.Repeat("word ", 30_000) + `"}`).Open}}, corpus.ErrTooLong, 1, "of 100000 bytes"},
	})
	t.Run("replace", func(t *testing.T) {
		in := str("{\"text\": \"caf\xe9 noir\"}")
		in.ReplaceInvalid = true
		wantDump(t, same(t, corpus.JSONL{In: in}), "[\"caf\" \"noir\"]\n1 caf:1 noir:1\n")
	})
	t.Run("long lines are read", func(t *testing.T) {
		c := same(t, corpus.JSONL{In: str(`{"text": "` + strings.Repeat("word ", 100_000) + `"}` + "\n" + `{"text": "other"}`)})
		if c.Tokens() != 100_001 {
			t.Errorf("%d tokens", c.Tokens())
		}
	})
}

func TestDir(t *testing.T) {
	fsys := fstest.MapFS{
		"root/b/two.txt":       {Data: []byte("two two")},
		"root/b/deep/d.TXT":    {Data: []byte("deep")},
		"root/a/one.txt.gz":    {Data: gz(t, []byte("packed words"))},
		"root/a/skip.md":       {Data: []byte("skipped")},
		"root/top.txt":         {Data: nil},
		"root/.git/config.txt": {Data: []byte("hidden")},
		"root/.dot.txt":        {Data: []byte("hidden")},
		"root/link.txt":        {Data: []byte("a/one"), Mode: fs.ModeSymlink},
	}
	src := corpus.Dir{FS: fsys, Path: "root", Ext: []string{".txt"}, FolderLabels: true}
	wantDump(t, same(t, src), "[\"deep\" \"packed\" \"two\" \"words\"]\na/one.txt.gz [a] packed:1 words:1\nb/deep/d.TXT [deep] deep:1\nb/two.txt [b] two:2\ntop.txt []\n")
	src.Include = func(p string) bool { return strings.HasPrefix(p, "b/") }
	wantDump(t, same(t, src), "[\"deep\" \"two\"]\nb/deep/d.TXT [deep] deep:1\nb/two.txt [b] two:2\n")
	c := same(t, corpus.Dir{FS: fsys, Path: "root", Hidden: true})
	if c.NumDocs() != 7 || c.ID(0) != ".dot.txt" || c.ID(1) != ".git/config.txt" {
		t.Errorf("hidden files:\n%s", dump(c))
	}
	// The same tree on disk.
	dir := t.TempDir()
	for name, f := range fsys {
		if f.Mode == 0 {
			p := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := corpus.Read(context.Background(), corpus.Dir{Path: filepath.Join(dir, "root"), Ext: []string{".txt"}})
	if err != nil {
		t.Fatal(err)
	}
	wantDump(t, got, "[\"deep\" \"packed\" \"two\" \"words\"]\na/one.txt.gz packed:1 words:1\nb/deep/d.TXT deep:1\nb/two.txt two:2\ntop.txt\n")
	if sub, err := corpus.Read(context.Background(), corpus.Dir{FS: os.DirFS(filepath.Join(dir, "root")), Ext: []string{".txt"}, Hidden: true}); err != nil || sub.ID(0) != ".dot.txt" {
		t.Errorf("%v", err)
	}

	bad := func(name, content string) corpus.Source {
		return corpus.Dir{FS: fstest.MapFS{"a/ok.txt": {Data: []byte("fine")}, name: {Data: []byte(content)}}, MaxBytes: 100, Strict: true}
	}
	refuse(t, []badCase{
		{"no folder", corpus.Dir{FS: fsys, Path: "nowhere"}, fs.ErrNotExist, 0, "nowhere"},
		{"no folder on disk", corpus.Dir{Path: filepath.Join(dir, "nowhere")}, fs.ErrNotExist, 0, "nowhere"},
		{"a file", corpus.Dir{FS: fsys, Path: "root/top.txt"}, nil, 0, "is not a folder"},
		{"nothing there", corpus.Dir{FS: fsys, Path: "root", Ext: []string{".pdf"}}, corpus.ErrNoDocuments, -1, ""},
		{"bad UTF-8", bad("b/x.txt", "one\ntwo\n\xff"), corpus.ErrInvalidUTF8, 3, "b/x.txt"},
		{"too long", bad("b/x.txt", strings.Repeat("a ", 51)), corpus.ErrTooLong, 0, "b/x.txt: file exceeds the size limit of 100 bytes"},
		{"bad gzip", bad("b/x.gz", "plain"), nil, 0, "b/x.gz"},
		{"gzip bomb", bad("b/x.gz", string(gz(t, make([]byte, 1<<20)))), corpus.ErrTooLong, 0, "b/x.gz"},
	})
}

func TestCSV(t *testing.T) {
	table := "id, body ,class\n1,\"one, two\nthree\",x\n2,four,y\n"
	for _, src := range []corpus.CSV{
		{In: str(table), Text: "body", ID: "id", Label: "class"},
		{In: str(table), Text: "#2", ID: "#1", Label: "#3"},
		{In: corpus.FileFromBytes("f.csv.gz", gz(t, []byte(table))), Text: "body", ID: "#1", Label: "class"},
		{In: corpus.FileFromBytes("f.TSV", []byte(strings.NewReplacer(", body ,", "\tbody\t", ",\"", "\t\"", "\",", "\"\t", "2,four,y", "2\tfour\ty").Replace(table))), Text: "body", ID: "#1", Label: "#3"},
		{In: str("id|body|class\n1|one two three|x\n2|four|y"), Text: "body", ID: "#1", Label: "#3", Comma: '|', NoQuotes: true},
		{In: str("1,one two three,x\n2,four,y"), Text: "#2", ID: "#1", Label: "#3", NoHeader: true},
	} {
		wantDump(t, same(t, src), "[\"four\" \"one\" \"three\" \"two\"]\n1 [x] one:1 three:1 two:1\n2 [y] four:1\n")
	}
	wantDump(t, same(t, corpus.CSV{In: corpus.FileFromBytes("f.tsv", []byte("text\n\"open quote\n")), Text: "text", NoQuotes: true}), "[\"open\" \"quote\"]\n1 open:1 quote:1\n")

	wantDump(t, same(t, corpus.CSV{In: str("x,body,x,body\n1,one,3,four\n"), Text: "#2", ID: "#4"}), "[\"one\"]\nfour one:1\n")

	f := func(s string) corpus.Source { return corpus.CSV{In: str(s), Text: "body"} }
	refuse(t, []badCase{
		{"no column named", corpus.CSV{In: str(table)}, nil, 0, "CSV.Text"},
		{"empty file", f(""), corpus.ErrNoDocuments, 0, ""},
		{"header only", f("id,body\n"), corpus.ErrNoDocuments, -1, ""},
		{"no words", f("id,body\n1,\n"), corpus.ErrEmptyVocabulary, -1, ""},
		{"no such column", f("id,text\n1,x\n"), nil, 1, `column "body" is not in the header, which has ["id" "text"]`},
		{"two columns of one name", f("body,id,body\n1,x,2\n"), nil, 1, `two columns are called "body", #1 and #3`},
		{"no such number", corpus.CSV{In: str(table), Text: "#4"}, nil, 1, "column #4: the table has 3 columns"},
		{"name without header", corpus.CSV{In: str(table), Text: "body", NoHeader: true}, nil, 1, "columns are given as #1 to #3"},
		{"too few fields", f("id,body\n1,aa\n2\n"), nil, 3, "wrong number of fields"},
		{"too few unquoted fields", corpus.CSV{In: str("id,body\n1,aa\n2\n"), Text: "body", NoQuotes: true}, nil, 3, "1 fields, the first record has 2"},
		{"open quote", f("id,body\n1,\"aa\nbb\n"), nil, -1, "quote"},
		{"stray quote", f("id,body\n1,a\"a\n"), nil, 2, "bare \""},
		{"bad UTF-8", f("id,body\n1,ok\n2,caf\xe9\n"), corpus.ErrInvalidUTF8, 3, "column 2"},
		{"endless record", corpus.CSV{In: corpus.File{Name: "f", MaxLine: 1000, Open: str("id,body\n1,\"" + strings.Repeat("aa\n", 20_000)).Open}, Text: "body"}, corpus.ErrTooLong, 2, "record exceeds the size limit of 1000 bytes"},
		{"long record", corpus.CSV{In: corpus.File{Name: "f", MaxLine: 1000, Open: str("id,body\n1,\"" + strings.Repeat("aa\n", 340) + "\"\n").Open}, Text: "body"}, corpus.ErrTooLong, 2, "of 1000 bytes"},
	})
	t.Run("replace", func(t *testing.T) {
		in := str("t\ncaf\xe9 noir\n")
		in.ReplaceInvalid = true
		wantDump(t, same(t, corpus.CSV{In: in, Text: "t"}), "[\"caf\" \"noir\"]\n1 caf:1 noir:1\n")
	})
}

func TestTriples(t *testing.T) {
	const want = "[\"9\" \"10\" \"b c\" \"x\"]\n2 9:1 10:2\n11 b c:1\nzoe 10:1 x:1\n"
	lines := []string{"2|10|3", "11| b c |9", "2|9|8", "zoe|x|7", "2|10|5", "zoe|10|4"}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5 {
		wantDump(t, same(t, corpus.Triples{In: str(strings.Join(lines, "\n")), Comma: '|', NoHeader: true}), want)
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	wantDump(t, same(t, corpus.Triples{In: str("b::x\nb::y\nb::x\na::y\n"), Comma: ':', Item: "#3", NoHeader: true}), "[\"x\" \"y\"]\na y:1\nb x:2 y:1\n")
	// Columns, header, quotes, stars; a count of 0 leaves the user.
	src := corpus.Triples{In: str("time,stars,film,who\n1,4.5,\"Brazil, the \"\"film\"\"\",ann\n2,0.5,Alien,bob\n\n3,0,Alien,cid\n"),
		User: "who", Item: "film", Rating: "stars", Count: corpus.Stars}
	wantDump(t, same(t, src), "[\"Alien\" \"Brazil, the \\\"film\\\"\"]\nann Brazil, the \"film\":9\nbob Alien:1\ncid\n")
	// Names by id; two ids of one name become one word.
	src = corpus.Triples{In: str("1 5 2\n1 6 1\n2 7 4\n"), Comma: ' ', NoHeader: true, Rating: "#3", Rename: func(id string) string {
		return map[string]string{"5": "Blur", "6": "Blur", "7": "Air"}[id]
	}}
	wantDump(t, same(t, src), "[\"Air\" \"Blur\"]\n1 Blur:3\n2 Air:4\n")

	rated := func(s string) corpus.Triples {
		return corpus.Triples{In: str(s), NoHeader: true, Rating: "#3"}
	}
	plain := func(s string) corpus.Triples { return corpus.Triples{In: str(s), NoHeader: true} }
	counted := func(s string, f func(float64) (int, error)) corpus.Triples {
		src := rated(s)
		src.Count = f
		return src
	}
	noName := plain("1,2\n")
	noName.Rename = func(string) string { return "" }
	refuse(t, []badCase{
		{"empty file", plain(""), corpus.ErrNoDocuments, 0, ""},
		{"header only", corpus.Triples{In: str("user,item\n")}, corpus.ErrNoDocuments, 0, ""},
		{"no items", rated("1,2,0\n"), corpus.ErrEmptyVocabulary, 0, ""},
		{"short line", rated("1,2,3\n1,2\n"), nil, 2, "wrong number of fields"},
		{"no rating", rated("1,2,x\n"), nil, 1, `rating "x" is not a number`},
		{"NaN", rated("1,2,NaN\n"), nil, 1, `rating "NaN" is not a number`},
		{"Inf", rated("1,2,Inf\n"), nil, 1, `rating "Inf" is not a number`},
		{"fraction", rated("1,2,1.5\n"), nil, 1, `1.5 is not a whole number`},
		{"negative", rated("1,2,-1\n"), nil, 1, `-1 is not a whole number`},
		{"negative stars", counted("1,2,-3\n", corpus.Stars), nil, 1, `rating -3 is not a number of stars`},
		{"overflow", rated("1,2,2147483648\n"), nil, 1, `2.147483648e+09 is not a whole number`},
		{"caller's count", counted("1,2,3\n", func(float64) (int, error) { return -1, nil }), nil, 1, `count -1 of word "2" in document 1`},
		{"caller's error", counted("1,2,3\n", func(float64) (int, error) { return 0, io.ErrNoProgress }), io.ErrNoProgress, 1, ""},
		{"sum overflows", rated("u,i,2147483647\nu,i,1\n"), nil, 0, `count 2147483648 of word "i" in document u`},
		{"empty item", plain("a,,b\n"), nil, 1, "empty"},
		{"open quote", plain("a,\"b\n"), nil, 1, `missing " in quoted-field`},
		{"no name", noName, nil, 1, "item 2: its name is the empty string"},
		{"no column", corpus.Triples{In: str("user,item\n1,2\n"), User: "who"}, nil, 1, `column "who" is not in the header`},
		{"bad UTF-8", plain("1,2\n1,\xff\n"), corpus.ErrInvalidUTF8, 2, "column 2"},
	})
}

func TestFile(t *testing.T) {
	ctx := context.Background()
	fsys := fstest.MapFS{"in/words.txt": {Data: []byte("a\nb\n")}}
	path := filepath.Join(t.TempDir(), "docword.txt")
	if err := os.WriteFile(path, []byte("1\n2\n1\n1 2 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src := corpus.UCI{Docword: corpus.File{Name: path}, Vocab: corpus.File{FS: fsys, Name: "in/words.txt"}}
	wantDump(t, same(t, src), "[\"a\" \"b\"]\n1 b:3\n")
	src.Vocab.Name = "words.txt"
	if _, err := corpus.Read(ctx, src); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "corpus: words.txt: ") {
		t.Error(err)
	}
	if _, err := corpus.Read(ctx, corpus.UCI{}); err == nil || !strings.Contains(err.Error(), "no file given") {
		t.Error(err)
	}
}

// Cancellation is noticed within 4096 lines, not at the end of the file.
func TestCancelWhileReading(t *testing.T) {
	const n = 50_000
	line := func(i int) string { return fmt.Sprintf("%d %d 1\n", i/10+1, i%10+1) }
	ctx, cancel := context.WithCancel(context.Background())
	at := 0
	r := readerFunc(func(p []byte) (int, error) { // one line at a time
		s := ""
		switch {
		case at == 0:
			s = fmt.Sprintf("%d\n10\n%d\n", n/10, n)
		case at == n/2:
			cancel()
			fallthrough
		default:
			s = line(at - 1)
		}
		at++
		return copy(p, s), nil
	})
	_, err := corpus.Read(ctx, corpus.UCI{Docword: corpus.FileFromReader("slow", r)})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if at > n/2+4096+10 {
		t.Errorf("cancelled at line %d, noticed after line %d", n/2, at)
	}
}

// Files are read by their paths, gzipped or not.
func TestPaths(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	write := func(name, content string) string {
		p := filepath.Join(dir, name)
		data := []byte(content)
		if strings.HasSuffix(name, ".gz") {
			data = gz(t, data)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	vocab := write("vocab.txt", "ant\nbee\n")
	for name, read := range map[string]func() (*corpus.Corpus, error){
		"uci": func() (*corpus.Corpus, error) {
			return corpus.ReadUCI(ctx, write("u.gz", "1\n2\n2\n1 1 1\n1 2 2\n"), vocab)
		},
		"jsonl": func() (*corpus.Corpus, error) {
			return corpus.Read(ctx, corpus.JSONL{In: corpus.File{Name: write("j.gz", `{"text": "ant bee bee"}`)}})
		},
		"csv": func() (*corpus.Corpus, error) {
			return corpus.Read(ctx, corpus.CSV{In: corpus.File{Name: write("c.tsv.gz", "n\tt\n5\tant bee bee\n")}, Text: "t"})
		},
		"triples": func() (*corpus.Corpus, error) {
			return corpus.Read(ctx, corpus.Triples{In: corpus.File{Name: write("t.gz", "1,bee\n1,ant\n1,bee\n")}, NoHeader: true})
		},
	} {
		c, err := read()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := dump(c), "[\"ant\" \"bee\"]\n1 ant:1 bee:2\n"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReadPassesErrorsOn(t *testing.T) {
	in := corpus.File{Name: "net", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("{\"text\": \"good\"}\n{"), readerFunc(func([]byte) (int, error) { return 0, io.ErrClosedPipe }))), nil
	}}
	_, err := corpus.Read(context.Background(), corpus.JSONL{In: in})
	if !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "corpus: net:2: ") {
		t.Error(err)
	}
}

// endlessLine is a line without an end.
type endlessLine struct{ reads int }

func (e *endlessLine) Read(p []byte) (int, error) {
	e.reads++
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// ctx ends the reading of a line, however long a line may be.
func TestEndlessLineCancel(t *testing.T) {
	for name, source := range map[string]func(corpus.File) corpus.Source{
		"Lines": func(f corpus.File) corpus.Source { return corpus.Lines{In: f} },
		"JSONL": func(f corpus.File) corpus.Source { return corpus.JSONL{In: f} },
	} {
		t.Run(name, func(t *testing.T) {
			r := new(endlessLine)
			f := corpus.FileFromReader("endless", r)
			f.MaxLine = 1 << 30
			_, err := corpus.Read(testutil.EndingAfter(20), source(f))
			if !errors.Is(err, context.Canceled) || r.reads > 50 {
				t.Errorf("%v after %d reads, want the error of ctx after 20 looks at it", err, r.reads)
			}
		})
	}
}
