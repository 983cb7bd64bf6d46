package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

func model(t testing.TB, n, k int) *jsmf.Model {
	t.Helper()
	m, err := sample.Model(n, k, sample.Words)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t testing.TB, m *jsmf.Model, opts ...Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, m, append(opts, Options{})[0]); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// between returns what stands between two marks.
func between(t testing.TB, s, from, to string) string {
	t.Helper()
	_, s, ok := strings.Cut(s, from)
	s, _, ok2 := strings.Cut(s, to)
	if !ok || !ok2 {
		t.Fatalf("there is no %q … %q", from, to)
	}
	return s
}

// shown is the data of a page as its script reads them.
type shown struct {
	Steps  int
	Top    int
	Words  []string
	P      []float64
	Home   [][]float64
	Topics []struct {
		Name       string
		Verdict    *verdict
		Background bool
		Read       []int
		Share      *float64
		Anchor     int
		Rank       int
		Group      []int
		Words      []int
		P          []float64
		Docs       []struct {
			Title, Note, Snippet string
			Share                float64
		}
	}
	Columns []struct {
		Key    string
		Values []*float64
	}
	Matrix struct {
		Topics      []int
		Corr, Joint []*float64
		Similar     []int
		X, Y, R     []float64
		Links       [][]int
	}
	TopicMap    topicMapData
	Tree        *treeData
	Uncertainty *struct {
		Warm, Cold int
		Topics     []struct {
			Share  [2]*float64
			Merges [][2]float64
		}
	}
	Map struct {
		Words []int
		X, Y  []float64
		Hull  []int
	}
	Documents                     *documentData
	Changes, Eigen, Norms, LogLik []float64
	Sweep                         *struct {
		Recommended, Low, High int
		Points                 []struct {
			K                                int
			Score, Behind, Error, Back, NPMI float64
			Why                              string
		}
	}
}

func read(t testing.TB, page string) *shown {
	t.Helper()
	s := new(shown)
	if err := json.Unmarshal([]byte(between(t, page, `<script type="application/json" id="data">`, `</script>`)), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// compositions makes documents of K topics: document d is mostly of topic d mod K,
// the more so the later. The last has no known word.
func compositions(k, docs int) *jsmf.Compositions {
	c := &jsmf.Compositions{W: mat.NewDense(docs, k, nil), Unknown: make([]int64, docs)}
	for d := range docs {
		most := 0.5 + 0.5*float64(d)/float64(docs)
		for t := range k {
			c.W.Set(d, t, (1-most)/float64(k))
		}
		c.W.Set(d, d%k, most+(1-most)/float64(k))
		c.IDs = append(c.IDs, fmt.Sprintf("doc%d", d))
		c.Docs = append(c.Docs, infer.Doc{Tokens: float64(1000 + d)})
	}
	c.Docs[docs-1].Status = infer.NoTokens
	return c
}

func hierarchy(t testing.TB, m *jsmf.Model, sizes ...int) *jsmf.Hierarchy {
	t.Helper()
	h, err := jsmf.Levels{K: sizes}.Run(context.Background(), jsmf.Published(0), m)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*max(1, math.Abs(a), math.Abs(b)) }
