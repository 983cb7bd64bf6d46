package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/scls"
)

// recovererNames are the values of -recover, in the order in which they are
// listed.
var recovererNames = []string{"activeset", "admm", "expgrad", "l2", "kl", "inverse"}

const recovererHelp = `activeset, admm and expgrad solve least squares, l2 is expgrad with
-correlations pinv, kl minimises the Kullback–Leibler divergence, inverse inverts the
co-occurrence of the anchors`

// correlationNames are the values of -correlations.
var correlationNames = []string{"diagonal", "pinv", "multiplicative"}

// recovererFlags are the settings of the methods.
type recovererFlags struct {
	paper, projectTopics bool
	correlations         string // "" where it is not given
	smooth               float64
}

// recoverer returns the method of the name, nil if there is none. What is wrong
// with the settings is told to bad.
func (f recovererFlags) recoverer(name string, bad func(cond bool, format string, args ...any)) recovery.Recoverer {
	finish := recovery.Finish{Smooth: f.smooth}
	if i := slices.Index(correlationNames, f.correlations); i >= 0 {
		finish.Correlations = recovery.Correlations(i)
	} else if f.correlations != "" {
		bad(true, "-correlations %q: want %s", f.correlations, strings.Join(correlationNames, ", "))
	}
	bad(!(f.smooth >= 0 && f.smooth < 1), "-smooth %g: want at least 0 and less than 1", f.smooth)
	bad(f.projectTopics && name != "inverse", "-project-topics has no use with -recover %s", name)
	bad(f.paper && (name == "l2" || name == "kl" || name == "inverse"), "-paper-settings has no use with -recover %s", name)
	var solver scls.Solver
	switch name {
	case "activeset":
		solver = scls.ActiveSet{}
	case "admm":
		solver = scls.ADMM{}
		if f.paper {
			solver = scls.PaperADMM()
		}
	case "expgrad":
		solver = scls.ExpGrad{}
		if f.paper {
			solver = scls.PaperExpGrad()
		}
	case "l2":
		s := recovery.L2()
		if f.correlations == "" {
			finish.Correlations = s.Finish.Correlations
		}
		s.Finish = finish
		return s
	case "kl":
		return recovery.KL{Finish: finish}
	case "inverse":
		bad(f.correlations != "", "-correlations has no use with -recover inverse, which has its own A")
		return recovery.Inverse{Project: f.projectTopics, Smooth: f.smooth}
	default:
		return nil
	}
	return recovery.SCLS{Solver: solver, Finish: finish}
}

// prior is the Dirichlet prior that -alpha prints.
type prior struct {
	Alpha0 float64   `json:"alpha0"`
	Alpha  []float64 `json:"alpha"`
}

// fitAlpha fits a Dirichlet prior to A.
func fitAlpha(m *jsmf.Model) (*prior, error) {
	alpha, err := recovery.FitAlpha(m.Correlations())
	if err != nil {
		return nil, err
	}
	return &prior{floats.Sum(alpha), alpha}, nil
}

func (p *prior) report(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Dirichlet prior: α₀ = %.4g, α = %.3f\n\n", p.Alpha0, p.Alpha)
	return err
}

// level is a level of the hierarchy and a direct fit with the same number of topics.
type level struct {
	K int `json:"k"`
	// Topics are the 20 most probable words of each topic, Children the topics
	// of the level below that have at least half of themselves in it or make up at
	// least a tenth of it.
	Shares   []float64     `json:"shares"`
	Topics   [][]string    `json:"topics"`
	Children [][]jsmf.Edge `json:"children"`
	// Direct are the topics of the direct fit, each at the place of the topic that a
	// one-to-one assignment gives it, and Cosine is their similarity.
	Direct [][]string `json:"direct"`
	Cosine []float64  `json:"cosine"`
	// Distinct and DistinctDirect are the parts of the 20 words of a topic that
	// no other topic has among its own, in the mean (dissimilarity/20).
	Distinct       float64 `json:"distinct"`
	DistinctDirect float64 `json:"distinct_direct"`
}

// minWeight is the weight from which children are listed.
const minWeight = 0.1

// topWords is the length of the lists of words of a topic.
const topWords = 20

// levels fits the levels above m, and as many topics directly.
func levels(ctx context.Context, o options, in *input, m *jsmf.Model, sizes []int, rec func(jsmf.Event)) ([]level, error) {
	h, err := jsmf.Levels{K: sizes}.Run(ctx, pipeline(o, m.K(), rec).K(0), m)
	if err != nil {
		return nil, err
	}
	var out []level
	for i, k := range sizes {
		direct, err := pipeline(o, k, rec).Fit(ctx, in.docs)
		if err != nil {
			return nil, fmt.Errorf("%d topics directly: %w", k, err)
		}
		l := level{K: h.K(i + 1), Shares: h.Model(i + 1).TopicShares(), Children: make([][]jsmf.Edge, h.K(i+1))}
		for t := range l.K {
			l.Topics = append(l.Topics, wordsOf(h.TopWords(i+1, t, topWords)))
		}
		for _, e := range h.Edges(i+1, minWeight) {
			if e.Weight >= minWeight || e.Share >= 0.5 {
				l.Children[e.Parent] = append(l.Children[e.Parent], e)
			}
		}
		gain := cosines(mat.DenseCopyOf(h.Topics(i+1)), mat.DenseCopyOf(direct.Topics()))
		if direct.K() < l.K { // a finder that allows fewer
			return nil, fmt.Errorf("%d topics above, but %d directly", l.K, direct.K())
		}
		match, err := assign.Best(gain)
		if err != nil {
			return nil, err
		}
		for t, d := range match {
			l.Direct = append(l.Direct, wordsOf(direct.TopWords(d, topWords)))
			l.Cosine = append(l.Cosine, gain.At(t, d))
		}
		for _, x := range []struct {
			b  *mat.Dense
			to *float64
		}{{mat.DenseCopyOf(h.Topics(i + 1)), &l.Distinct}, {mat.DenseCopyOf(direct.Topics()), &l.DistinctDirect}} {
			r, err := metrics.Evaluate(ctx, metrics.Factors{B: x.b, TopN: topWords})
			if err != nil {
				return nil, err
			}
			*x.to = r.Dissimilarity.Mean / topWords
		}
		out = append(out, l)
	}
	return out, nil
}

func wordsOf(top []jsmf.WordProb) []string {
	words := make([]string, len(top))
	for i, w := range top {
		words[i] = w.Word
	}
	return words
}

// cosines returns those of each column of a with each of b, N×K both.
func cosines(a, b *mat.Dense) *mat.Dense {
	var dot mat.Dense
	dot.Mul(a.T(), b)
	k, l := dot.Dims()
	for i := range k {
		for j := range l {
			dot.Set(i, j, dot.At(i, j)/(mat.Norm(a.ColView(i), 2)*mat.Norm(b.ColView(j), 2)))
		}
	}
	return &dot
}

// reportLevels prints each level with the direct fit at its side.
func reportLevels(w io.Writer, base int, ls []level) error {
	const words = 7 // as lee-2018, Table 3.1
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	path := fmt.Sprint(base)
	for _, l := range ls {
		path += fmt.Sprintf("→%d", l.K)
		fmt.Fprintf(t, "hierarchy %s\tshare\ttop words (%.0f%% in one topic only)\tcosine\tK = %d directly (%.0f%%)\n", path, 100*l.Distinct, len(l.Direct), 100*l.DistinctDirect)
		for k := range l.Topics {
			fmt.Fprintf(t, "%3d\t%4.1f%%\t%s\t%.2f\t%s\n", k, 100*l.Shares[k], strings.Join(l.Topics[k][:min(words, len(l.Topics[k]))], " "), l.Cosine[k], strings.Join(l.Direct[k][:min(words, len(l.Direct[k]))], " "))
		}
		for k, edges := range l.Children {
			fmt.Fprintf(t, "%3d\tfrom", k)
			for _, e := range edges {
				fmt.Fprintf(t, " %d (%.2f; %.0f%% of it)", e.Child, e.Weight, 100*e.Share)
			}
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
