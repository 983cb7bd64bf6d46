package report

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
)

func TestPyLDAvis(t *testing.T) {
	m := model(t, 500, 6)
	var b bytes.Buffer
	if err := WritePyLDAvis(&b, m, 12); err != nil {
		t.Fatal(err)
	}
	// The names that its scripts read.
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"mdsDat", "tinfo", "token.table", "R", "lambda.step", "plot.opts", "topic.order"} {
		if raw[key] == nil {
			t.Errorf("there is no %q", key)
		}
	}
	var v pyLDAvis
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if v.R != 12 || v.Step != 0.01 || !slices.Equal(v.MDS.Topics, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("R %d, step %v, topics %v", v.R, v.Step, v.MDS.Topics)
	}
	shares, topics := m.TopicShares(), mat.DenseCopyOf(m.Topics())
	if !slices.IsSortedFunc(v.MDS.Freq, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("topics are not by falling share: %v", v.MDS.Freq)
	}
	for place, number := range v.Order {
		if !near(v.MDS.Freq[place], 100*shares[number-1], 1e-12) {
			t.Errorf("topic %d has %v %%, want %v", number, v.MDS.Freq[place], 100*shares[number-1])
		}
	}
	// Terms: R by saliency, then for each topic its R most relevant for any λ.
	p := make([]float64, m.N())
	for i := range p {
		for k, s := range shares {
			p[i] += s * topics.At(i, k)
		}
	}
	for i := range 12 {
		if v.Info.Category[i] != "Default" || v.Info.LogProb[i] != float64(12-i) {
			t.Errorf("term %d is of %q", i, v.Info.Category[i])
		}
	}
	perTopic := make(map[string]map[string]bool)
	for i, term := range v.Info.Term {
		w, ok := m.Index(term)
		if !ok || !near(v.Info.Total[i], 1e6*p[w], 1e-9) {
			t.Fatalf("term %q has the total %v", term, v.Info.Total[i])
		}
		if i < 12 {
			continue
		}
		var place int
		if _, err := fmt.Sscanf(v.Info.Category[i], "Topic%d", &place); err != nil {
			t.Fatal(err)
		}
		k := v.Order[place-1] - 1
		if !near(v.Info.LogProb[i], math.Log(topics.At(w, k)), 1e-12) || !near(v.Info.LogLift[i], math.Log(topics.At(w, k)/p[w]), 1e-12) ||
			!near(v.Info.Freq[i], 1e6*shares[k]*topics.At(w, k), 1e-9) {
			t.Errorf("term %q of %s: %v, %v, %v", term, v.Info.Category[i], v.Info.LogProb[i], v.Info.LogLift[i], v.Info.Freq[i])
		}
		if perTopic[v.Info.Category[i]] == nil {
			perTopic[v.Info.Category[i]] = make(map[string]bool)
		}
		perTopic[v.Info.Category[i]][term] = true
	}
	for place, number := range v.Order {
		k, c := number-1, fmt.Sprintf("Topic%d", place+1)
		for _, lambda := range []float64{0, 0.37, 1} {
			for _, w := range order(m.N(), func(i int) float64 {
				if topics.At(i, k) == 0 {
					return math.Inf(-1)
				}
				return math.Log(topics.At(i, k)) - (1-lambda)*math.Log(p[i])
			})[:12] {
				if !perTopic[c][m.Word(w)] {
					t.Errorf("%s lacks %q, which is relevant for λ = %g", c, m.Word(w), lambda)
				}
			}
		}
	}
	// Tokens: p(topic | word), of what is at least half a token.
	sums := make(map[string]float64)
	for i, term := range v.Tokens.Term {
		sums[term] += v.Tokens.Freq[i]
	}
	for _, term := range v.Info.Term {
		w, _ := m.Index(term)
		if s := sums[term]; s > 1+1e-9 || s < 1-6*0.5/(1e6*p[w]) {
			t.Errorf("the topics of %q sum to %v", term, s)
		}
	}
	if !slices.IsSorted(v.Tokens.Term) {
		t.Error("tokens are not by term")
	}

	for _, n := range []int{-1, 101} {
		if err := WritePyLDAvis(&b, m, n); err == nil || !strings.Contains(err.Error(), strconv.Itoa(n)) {
			t.Errorf("%d words: %v", n, err)
		}
	}
	if WritePyLDAvis(&b, nil, 0) == nil {
		t.Error("of no model")
	}
}

// TestCoordinatesOf: three topics fit into the plane, with their divergences as
// distances.
func TestCoordinatesOf(t *testing.T) {
	m := model(t, 200, 3)
	b := mat.DenseCopyOf(m.Topics())
	topics := []int{2, 0, 1}
	x, y, err := coordinatesOf(b, topics)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range topics {
		for j, l := range topics[:i] {
			want := 0.0
			for w := range m.N() {
				p, q := b.At(w, k), b.At(w, l)
				for _, v := range []float64{p, q} {
					if v > 0 {
						want += v / 2 * math.Log(2*v/(p+q))
					}
				}
			}
			if got := math.Hypot(x[i]-x[j], y[i]-y[j]); !near(got, want, 1e-12) {
				t.Errorf("topics %d and %d are %v apart, want %v", k, l, got, want)
			}
		}
	}
}

func TestTopicsCSV(t *testing.T) {
	m := model(t, 300, 4)
	var b bytes.Buffer
	if err := WriteTopicsCSV(&b, m, 7, CSV{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+4*7 || strings.Join(rows[0], ",") != "topic,name,share,background,anchor,rank,word,probability,weight,lift" {
		t.Fatalf("%d rows under %q", len(rows), rows[0])
	}
	p, shares := unigram(m), m.TopicShares()
	for i, r := range rows[1:] {
		k, rank := i/7, i%7
		top := m.TopWords(k, 7)[rank]
		want := []string{strconv.Itoa(k), m.Name(k), strconv.FormatFloat(shares[k], 'g', -1, 64), "false", m.AnchorWords()[k], strconv.Itoa(rank + 1), top.Word,
			strconv.FormatFloat(top.Prob, 'g', -1, 64), strconv.FormatFloat(top.Weight, 'g', -1, 64), strconv.FormatFloat(top.Prob/p[top.Index], 'g', -1, 64)}
		if !slices.Equal(r, want) {
			t.Errorf("row %d is %q, want %q", i, r, want)
		}
	}
	if err := WriteTopicsCSV(&b, m, 0, CSV{}); err == nil {
		t.Error("no words were taken")
	}
	if err := WriteTopicsCSV(&b, nil, 1, CSV{}); err == nil {
		t.Error("of no model")
	}
}

func TestWriteNPY(t *testing.T) {
	m := model(t, 100, 3)
	var b bytes.Buffer
	if err := WriteNPY(&b, m.Topics()); err != nil {
		t.Fatal(err)
	}
	tail := b.Bytes()[b.Len()-8*300:]
	for _, at := range [][2]int{{0, 0}, {50, 2}, {99, 1}} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(tail[8*(3*at[0]+at[1]):])); got != m.Topics().At(at[0], at[1]) {
			t.Errorf("B%v = %v", at, got)
		}
	}
	if WriteNPY(&b, nil) == nil {
		t.Error("no matrix was taken")
	}
}

// By hand: a word that is in one topic tells which, one of the same probability in
// both tells nothing.
func TestWordSaliency(t *testing.T) {
	b := mat.NewDense(5, 2, []float64{
		.5, .5,
		.25, .25,
		.25, 0,
		0, .25,
		0, 0,
	})
	for i, got := range wordSaliency(b, []float64{3, 1}) {
		want := []float64{0, 0, .1875 * math.Log(4/3.0), .0625 * math.Log(4), 0}[i]
		if !(math.Abs(got-want) < 1e-15) {
			t.Errorf("word %d: %g, want %g", i, got, want)
		}
	}
}

func TestWriteDocumentsCSV(t *testing.T) {
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "n", Kind: corpus.Number}, {Name: "when", Kind: corpus.Time}, {Name: "who", Kind: corpus.Category}}, [][]corpus.Value{
		{corpus.NumberOf(-.5), corpus.TimeOf(time.Unix(0, 0)), corpus.CategoryOf("a, b")}, nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &jsmf.Compositions{
		W: mat.NewDense(2, 2, []float64{.25, .75, 1, 0}), IDs: []string{"x", "y"}, Labels: []string{"", "l"}, Metadata: meta,
		Docs: []infer.Doc{{Tokens: 7}, {Tokens: 0}}, Unknown: []int64{0, 1},
	}
	var b strings.Builder
	if err := WriteDocumentsCSV(&b, c, CSV{}); err != nil {
		t.Fatal(err)
	}
	want := "id,label,n,when,who,tokens,topic 0,topic 1\nx,,-0.5,1970-01-01T00:00:00Z,\"a, b\",7,0.25,0.75\ny,l,,,,0,1,0\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if err := WriteDocumentsCSV(&b, nil, CSV{}); err == nil {
		t.Error("nothing was written without an error")
	}
}

// Text from which a spreadsheet makes a formula gets an apostrophe, unless all is wanted
// as it is; numbers stay.
func TestFormulas(t *testing.T) {
	for in, want := range map[string]string{"=1+1": "'=1+1", "+1": "'+1", "-x": "'-x", "@SUM": "'@SUM", "\tx": "'\tx", "\rx": "'\rx", "": "", "a=": "a=", "é": "é"} {
		if got := (CSV{}).text(in); got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
		if got := (CSV{Verbatim: true}).text(in); got != in {
			t.Errorf("%q is written as %q", in, got)
		}
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "@n", Kind: corpus.Number}, {Name: "who", Kind: corpus.Category}}, [][]corpus.Value{{corpus.NumberOf(-2), corpus.CategoryOf("-b")}})
	if err != nil {
		t.Fatal(err)
	}
	c := &jsmf.Compositions{W: mat.NewDense(1, 1, []float64{1}), IDs: []string{"=x"}, Labels: []string{"+l"}, Metadata: meta, Docs: []infer.Doc{{Tokens: 7}}, Unknown: []int64{0}}
	for o, want := range map[CSV]string{
		{}:               "id,label,'@n,who,tokens,topic 0\n'=x,'+l,-2,'-b,7,1\n",
		{Verbatim: true}: "id,label,@n,who,tokens,topic 0\n=x,+l,-2,-b,7,1\n",
	} {
		var b strings.Builder
		if err := WriteDocumentsCSV(&b, c, o); err != nil || b.String() != want {
			t.Errorf("got %q, %v; want %q", b.String(), err, want)
		}
	}
}
