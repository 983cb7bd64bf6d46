package main

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/vec"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report"
)

// formats are those that `spectral export` writes.
func formats() []string {
	return []string{"csv", "json", "pyldavis", "graphml", "npy", "words", "documents"}
}

// export is `spectral export`.
func export(ctx context.Context, o *options, s streams) error {
	m, err := load(o.model)
	if err != nil {
		return err
	}
	return writeOut(o.out, s.out, func(w io.Writer) error {
		switch o.format {
		case "csv":
			return report.WriteTopicsCSV(w, m, o.words)
		case "json":
			return writeJSON(w, m, o.words)
		case "pyldavis":
			return writePyLDAvis(ctx, w, m, o.words)
		case "graphml":
			return writeGraphML(w, m)
		case "npy":
			return report.WriteNPY(w, m.Topics())
		case "words":
			return writeWords(w, m)
		}
		docs := m.Additions().Documents
		if docs == nil {
			return errors.New("the model holds no documents; spectral topics -save keeps them, and spectral apply finds the topics of others")
		}
		return report.WriteDocumentsCSV(w, docs)
	})
}

// writeWords writes the words of the rows of the NumPy matrix.
func writeWords(w io.Writer, m *jsmf.Model) error {
	b := bufio.NewWriter(w)
	for _, word := range m.Vocabulary() {
		fmt.Fprintln(b, word)
	}
	return b.Flush()
}

// number is a float64 that JSON can hold: null where it is not finite.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

type exportedPair struct {
	K           int    `json:"k"`
	L           int    `json:"l"`
	Correlation number `json:"correlation"`
	Lift        number `json:"lift"`
}

func writeJSON(w io.Writer, m *jsmf.Model, words int) error {
	var pairs []exportedPair
	for _, p := range m.CorrelatedPairs(m.K() * m.K()) {
		pairs = append(pairs, exportedPair{p.K, p.L, number(p.Correlation), number(p.Lift)})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Model  string         `json:"model"`
		Topics []jsmf.Topic   `json:"topics"`
		Pairs  []exportedPair `json:"pairs"`
	}{m.Fingerprint(), m.Summary(words), pairs})
}

// writeGraphML writes the topics as nodes, and as edges the pairs of which more is known than that
// they meet by chance: those whose interval leaves out zero or, without intervals, those that meet
// more often than independent topics.
func writeGraphML(w io.Writer, m *jsmf.Model) error {
	type data struct {
		Key   string `xml:"key,attr"`
		Value string `xml:",chardata"`
	}
	type key struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	}
	type node struct {
		ID   string `xml:"id,attr"`
		Data []data `xml:"data"`
	}
	type edge struct {
		Source string `xml:"source,attr"`
		Target string `xml:"target,attr"`
		Data   []data `xml:"data"`
	}
	type graph struct {
		Kind  string `xml:"edgedefault,attr"`
		Nodes []node `xml:"node"`
		Edges []edge `xml:"edge"`
	}
	g := graph{Kind: "undirected"}
	id := func(k int) string { return fmt.Sprintf("t%d", k) }
	for _, x := range m.Summary(1) {
		g.Nodes = append(g.Nodes, node{id(x.Number), []data{{"name", x.Name}, {"share", fmt.Sprint(x.Share)}}})
	}
	known := map[[2]int]jsmf.Interval{}
	if u := m.Additions().Uncertainty; u != nil {
		for _, p := range u.Pairs {
			known[[2]int{p.K, p.L}] = p.Correlation
		}
	}
	for _, p := range m.CorrelatedPairs(m.K() * m.K()) {
		value, tell := p.Correlation, p.Correlation > 0
		if len(known) > 0 {
			x := known[[2]int{p.K, p.L}]
			value, tell = x.Value, x.Low > 0 || x.High < 0
		}
		if tell {
			g.Edges = append(g.Edges, edge{id(p.K), id(p.L), []data{{"correlation", fmt.Sprint(value)}}})
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	return e.Encode(struct {
		XMLName xml.Name `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
		Keys    []key    `xml:"key"`
		Graph   graph    `xml:"graph"`
	}{
		Keys:  []key{{"name", "node", "name", "string"}, {"share", "node", "share", "double"}, {"correlation", "edge", "correlation", "double"}},
		Graph: g,
	})
}

// pyLDAvis is the JSON of a page that pyLDAvis has prepared. Topics are numbered from 1 by
// decreasing frequency there; topic.order has ours, from 1.
type pyLDAvis struct {
	MDS struct {
		X       []float64 `json:"x"`
		Y       []float64 `json:"y"`
		Topics  []int     `json:"topics"`
		Cluster []int     `json:"cluster"`
		Freq    []float64 `json:"Freq"`
	} `json:"mdsDat"`
	Info struct {
		Term     []string  `json:"Term"`
		Freq     []float64 `json:"Freq"`
		Total    []float64 `json:"Total"`
		Category []string  `json:"Category"`
		LogProb  []float64 `json:"logprob"`
		LogLift  []float64 `json:"loglift"`
	} `json:"tinfo"`
	Tokens struct {
		Topic []int     `json:"Topic"`
		Freq  []float64 `json:"Freq"`
		Term  []string  `json:"Term"`
	} `json:"token.table"`
	R     int               `json:"R"`
	Step  float64           `json:"lambda.step"`
	Opts  map[string]string `json:"plot.opts"`
	Order []int             `json:"topic.order"`
}

// writePyLDAvis writes what the JavaScript of pyLDAvis shows: r words a topic.
func writePyLDAvis(ctx context.Context, w io.Writer, m *jsmf.Model, r int) error {
	b, share := m.Topics(), m.TopicShares()
	n, k := m.N(), m.K()
	tokens := float64(m.Stats().Corpus.Tokens)
	if tokens == 0 {
		return errors.New("-format pyldavis: shows how often words occur, which a model of a matrix does not say")
	}
	order := vec.Order(k, func(t int) float64 { return share[t] })
	total := make([]float64, n) // p(word)
	for i := range n {
		for t := range k {
			total[i] += b.At(i, t) * share[t]
		}
	}
	r = min(r, n)
	var out pyLDAvis
	out.R, out.Step, out.Opts = r, 0.01, map[string]string{"xlab": "PC1", "ylab": "PC2"}
	var err error
	if out.MDS.X, out.MDS.Y, err = plane(ctx, b, order); err != nil {
		return err
	}
	for i, t := range order {
		out.Order = append(out.Order, t+1)
		out.MDS.Topics = append(out.MDS.Topics, i+1)
		out.MDS.Cluster = append(out.MDS.Cluster, 1)
		out.MDS.Freq = append(out.MDS.Freq, 100*share[t])
	}
	add := func(word int, freq float64, category string, prob, lift float64) {
		out.Info.Term = append(out.Info.Term, m.Word(word))
		out.Info.Freq = append(out.Info.Freq, freq)
		out.Info.Total = append(out.Info.Total, tokens*total[word])
		out.Info.Category = append(out.Info.Category, category)
		out.Info.LogProb, out.Info.LogLift = append(out.Info.LogProb, prob), append(out.Info.LogLift, lift)
	}
	salient := make([]float64, n)
	for i := range n {
		for t := range k {
			if p := b.At(i, t) * share[t]; p > 0 {
				salient[i] += p * math.Log(p/(total[i]*share[t]))
			}
		}
	}
	chosen := map[int]bool{}
	for rank, word := range vec.Top(n, r, func(i int) float64 { return salient[i] }) {
		chosen[word] = true
		add(word, tokens*total[word], "Default", float64(r-rank), float64(r-rank))
	}
	for i, t := range order {
		words := map[int]bool{}
		relevance := make([]float64, n)
		for step := range 11 { // of λ, as far as the lists differ by it
			lambda := float64(step) / 10
			for word := range n {
				relevance[word] = math.Inf(-1)
				if p := b.At(word, t); p > 0 {
					relevance[word] = lambda*math.Log(p) + (1-lambda)*math.Log(p/total[word])
				}
			}
			for _, word := range vec.Top(n, r, func(i int) float64 { return relevance[i] }) {
				if !math.IsInf(relevance[word], -1) {
					words[word] = true
				}
			}
		}
		for _, word := range slices.Sorted(maps.Keys(words)) {
			chosen[word] = true
			p := b.At(word, t)
			add(word, tokens*share[t]*p, fmt.Sprintf("Topic%d", i+1), math.Log(p), math.Log(p/total[word]))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(chosen)) {
		for i, t := range order {
			if f := tokens * share[t] * b.At(word, t); f >= 0.5 {
				out.Tokens.Topic = append(out.Tokens.Topic, i+1)
				out.Tokens.Freq = append(out.Tokens.Freq, f/(tokens*total[word]))
				out.Tokens.Term = append(out.Tokens.Term, m.Word(word))
			}
		}
	}
	return json.NewEncoder(w).Encode(out)
}

// plane lays topics out by the Jensen-Shannon divergences of their words (classical scaling), in
// the order given.
func plane(ctx context.Context, b mat.Matrix, order []int) (x, y []float64, err error) {
	n, _ := b.Dims()
	k := len(order)
	d := mat.NewSymDense(k, nil)
	for i := range k {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for j := range i {
			js := 0.
			for w := range n {
				p, q := b.At(w, order[i]), b.At(w, order[j])
				if m := (p + q) / 2; m > 0 {
					if p > 0 {
						js += p * math.Log(p/m) / 2
					}
					if q > 0 {
						js += q * math.Log(q/m) / 2
					}
				}
			}
			d.SetSym(i, j, -js*js/2)
		}
	}
	at, err := linalg.Principal(d)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range at {
		x, y = append(x, p[0]), append(y, p[1])
	}
	return x, y, nil
}
