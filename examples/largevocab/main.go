// Largevocab shows what a larger vocabulary does to the topics of a corpus: the
// second experiment of dong-2019 (§4.6, figures 4.2 and 4.3).
//
//	go run ./examples/largevocab -docword docword.nips17.txt.gz -vocab vocab.nips17.txt -stop stop.txt -k 20
//
// The vocabularies are the best N words by tf·ln⌊M/df⌋ for N = 1, 2, 4 and 8 times
// the base size, so that each holds those before it. Where the corpus has fewer
// words of positive score, these are the last size. For each the program prints
//
//	N, documents    as used; documents of fewer than 3 different words or of fewer
//	                than 5 tokens of the vocabulary are left out
//	BaseRecovery    Recovery over the words of the base vocabulary: how well the
//	                anchors of this size explain them. Lower is better
//	AnchorQuality   the mean rank of the anchors in the topics of the others (the
//	                metrics' BasisQuality). Higher is better
//	Sparsity        of the topics, Hoyer's. Higher is better
//	Recovery        over all N words. Lower is better
//	rectify         seconds of the rectification
//	model           seconds from the counts to the model: curation, co-occurrence,
//	                rectification, anchors, recovery
//	total           the same and the measures; not the reading, which is done once
//	peak            memory of the process so far, where the system can tell
//
// and then how the topics of each size differ from those of the base size.
// Topics are matched one to one so that the sum of their cosines over the base
// vocabulary is the largest there can be. A word marked + is among the most
// probable of the topic and was not before, one marked − was and is no more.
// Last come the topic's most probable words that the base vocabulary lacks.
//
// With -json standard output holds one JSON object a line for each size instead:
// factor, corpus {n, m, tokens}, k, rectify, base_recovery, anchor_quality,
// sparsity, recovery (null where not defined), seconds by stage with their
// total, peak_rss_bytes, and topics, each {topic, anchor, words} and, but for the
// first size, {base_topic, base_anchor, cosine, gained, lost, new}. Topics
// come in the order of the base size's. gained is a part of words.
//
// Progress goes to standard error. The exit status is 0, 1 for an error, 2 for
// wrong usage, and 130 when interrupted by Ctrl-C.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/rss"
	"github.com/jsmf-go/spectral/internal/assign"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("largevocab", args, stderr, parseFlags, func(o options) error { return largevocab(ctx, o, stdout, stderr) })
}

type options struct {
	docword, vocab, stop string
	k, base              int
	factors              []int // ascending, from 1
	rectifyName          string
	rectifier            rectify.Rectifier
	top                  int
	seed                 uint64
	workers              int
	json, quiet          bool
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("largevocab", flag.ContinueOnError)
	f.SetOutput(stderr)
	var factors string
	f.StringVar(&o.docword, "docword", "", "counts in UCI form, plain or gzipped: a `file` (required)")
	f.StringVar(&o.vocab, "vocab", "", "the words, one a line: a `file` (required)")
	f.StringVar(&o.stop, "stop", "", "stop words, one a line: a `file`")
	f.IntVar(&o.k, "k", 0, "the number of topics `K` (required)")
	f.IntVar(&o.base, "base", 5000, "the base size `N` of the vocabulary")
	f.StringVar(&factors, "factors", "1,2,4,8", "multiples of the base size, ascending from 1: `F[,F…]`")
	f.StringVar(&o.rectifyName, "rectify", "lr", "lr, enn or ap: the `method`")
	f.IntVar(&o.top, "top", 6, "how many `words` of each topic to compare and print")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of lr")
	f.IntVar(&o.workers, "workers", 0, "how many goroutines work at once; 0: GOMAXPROCS. Results are the same bits for any")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each size and nothing else")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress on standard error")
	f.Usage = func() {
		fmt.Fprintln(stderr, "Usage: largevocab -docword F -vocab F -k K [flags]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}

	var wrong cli.Wrong
	bad := wrong.If
	bad(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	bad(o.docword == "", "-docword is missing")
	bad(o.vocab == "", "-vocab is missing")
	switch {
	case o.k == 0:
		bad(true, "-k is missing")
	case o.k < 2:
		bad(true, "-k %d: want at least 2 topics", o.k)
	}
	bad(o.base < 2, "-base %d: want at least 2 words", o.base)
	bad(o.base >= 2 && o.k > o.base, "-k %d: more topics than words, %d", o.k, o.base)
	last := 0
	for s := range strings.SplitSeq(factors, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		switch {
		case err != nil:
			bad(true, "-factors %q: %q is not a number", factors, s)
		case last == 0 && n != 1:
			bad(true, "-factors %q: want 1 first, the base size", factors)
		case n <= last:
			bad(true, "-factors %q: %d does not exceed %d", factors, n, last)
		case n > math.MaxInt32/max(o.base, 1):
			bad(true, "-factors %q: %d times %d words is too many", factors, n, o.base)
		}
		last = n
		o.factors = append(o.factors, n)
	}
	switch o.rectifyName {
	case "lr":
		o.rectifier = rectify.LR{}
	case "enn":
		o.rectifier = rectify.ENN{}
	case "ap":
		o.rectifier = rectify.AP{}
	default:
		bad(true, "-rectify %q: want lr, enn or ap", o.rectifyName)
	}
	bad(o.top < 1, "-top %d: want at least 1", o.top)
	bad(o.workers < 0, "-workers %d: want 0 or more", o.workers)
	return o, wrong.Err("largevocab", stderr)
}

// result is one size, as -json prints it.
type result struct {
	Factor int `json:"factor"`
	Corpus struct {
		N      int   `json:"n"`
		M      int   `json:"m"`
		Tokens int64 `json:"tokens"`
	} `json:"corpus"`
	K             int     `json:"k"`
	Rectify       string  `json:"rectify"`
	BaseRecovery  number  `json:"base_recovery"`
	AnchorQuality number  `json:"anchor_quality"`
	Sparsity      number  `json:"sparsity"`
	Recovery      number  `json:"recovery"`
	Seconds       seconds `json:"seconds"`
	PeakRSS       int64   `json:"peak_rss_bytes,omitempty"`
	Topics        []topic `json:"topics"`
}

type seconds struct {
	Curate  float64 `json:"curate"`
	Cooc    float64 `json:"cooc"`
	Rectify float64 `json:"rectify"`
	Anchors float64 `json:"anchors"`
	Recover float64 `json:"recover"`
	Metrics float64 `json:"metrics"`
	Total   float64 `json:"total"`
}

type topic struct {
	Topic  int      `json:"topic"`
	Anchor string   `json:"anchor"`
	Words  []string `json:"words"`
	*Change
}

// Change is how a topic differs from the one of the base size.
type Change struct {
	BaseTopic  int      `json:"base_topic"`
	BaseAnchor string   `json:"base_anchor"`
	Cosine     float64  `json:"cosine"`
	Gained     []string `json:"gained"`
	Lost       []string `json:"lost"`
	New        []string `json:"new"`
}

// number is a float64 that JSON can always hold: null where it is not finite.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

func largevocab(ctx context.Context, o options, stdout, stderr io.Writer) error {
	var rec jsmf.Recorder
	if !o.quiet {
		rec = jsmf.NewPrinter(stderr)
	}
	var raw *corpus.Corpus
	var stop []string
	_, err := cli.Stage(rec, "read", func() (_ string, err error) {
		if raw, err = corpus.ReadUCI(ctx, o.docword, o.vocab); err != nil {
			return "", err
		}
		if o.stop != "" {
			if stop, err = corpus.ReadStopWords(ctx, o.stop); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%d documents, %d words, %d tokens", raw.NumDocs(), raw.NumWords(), raw.Tokens()), nil
	})
	if err != nil {
		return err
	}
	all, err := candidates(raw, stop)
	if err != nil {
		return err
	}
	if all < o.base {
		return fmt.Errorf("-base %d: the corpus has only %d words of positive score", o.base, all)
	}

	table := tableWriter{w: stdout, peak: rss.Peak() > 0}
	var base *jsmf.Model
	var results []*result
	for i, f := range o.factors {
		if i > 0 && o.factors[i-1]*o.base >= all {
			break
		}
		words := min(f*o.base, all)
		if words < f*o.base {
			fmt.Fprintf(stderr, "largevocab: %d× is %d words, but the corpus has only %d of positive score; they are the last size\n", f, f*o.base, all)
		}
		m, res, err := fit(ctx, o, raw, stop, f, words, base, rec)
		if err != nil {
			return fmt.Errorf("%d words: %w", words, err)
		}
		if base == nil {
			base = m
		}
		if o.json {
			err = json.NewEncoder(stdout).Encode(res)
		} else {
			err = table.row(res)
		}
		if err != nil {
			return err
		}
		results = append(results, res)
	}
	if o.json {
		return nil
	}
	return topicTables(stdout, o, results)
}

// candidates returns how many words the vocabularies are chosen from: those of
// positive score. The others are in more than half of the documents.
func candidates(c *corpus.Corpus, stop []string) (int, error) {
	c, _, err := corpus.Curate(c, corpus.Curation{StopWords: stop, MinDistinct: -1})
	if err != nil {
		return 0, err
	}
	return c.NumWords(), nil
}

// fit fits and measures the model of one size; base is the model of the first,
// nil for that itself.
func fit(ctx context.Context, o options, raw *corpus.Corpus, stop []string, factor, words int, base *jsmf.Model, rec jsmf.Recorder) (*jsmf.Model, *result, error) {
	begun := time.Now()
	res := &result{Factor: factor, Rectify: o.rectifyName}
	s := &res.Seconds
	var c *corpus.Corpus
	d, err := cli.Stage(rec, "curate", func() (_ string, err error) {
		if c, _, err = corpus.Curate(raw, corpus.Curation{StopWords: stop, Words: words}); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d× the base: %d documents, %d words, %d tokens", factor, c.NumDocs(), c.NumWords(), c.Tokens()), nil
	})
	if err != nil {
		return nil, nil, err
	}
	s.Curate = d.Seconds()
	p := jsmf.New(o.k).Rectify(o.rectifier).Seed(o.seed).Workers(o.workers).Record(rec)
	prepared, err := cooc.NewMoments(ctx, c, cooc.Options{DropUnused: true, Workers: o.workers})
	if err != nil {
		return nil, nil, err
	}
	m, err := p.Fit(ctx, prepared)
	if err != nil {
		return nil, nil, err
	}
	var r *metrics.Report
	d, err = cli.Stage(rec, "metrics", func() (_ string, err error) {
		r, err = p.Evaluate(ctx, m, prepared)
		return "", err
	})
	if err != nil {
		return nil, nil, err
	}
	st := m.Stats()
	s.Cooc = st.Cooc.Duration.Seconds()
	s.Rectify, s.Anchors, s.Recover, s.Metrics = st.Rectify.Duration.Seconds(), st.Anchors.Duration.Seconds(), st.Recover.Duration.Seconds(), d.Seconds()
	s.Total = time.Since(begun).Seconds()
	res.PeakRSS = rss.Peak()

	res.Corpus.N, res.Corpus.M, res.Corpus.Tokens = st.Corpus.Words, st.Corpus.Documents, st.Corpus.Tokens
	res.K = m.K()
	res.Recovery, res.AnchorQuality, res.Sparsity = number(r.Recovery.Mean), number(r.BasisQuality.Mean), number(r.Sparsity.Mean)
	if base == nil {
		base = m
	}
	at, err := places(base, m)
	if err != nil {
		return nil, nil, err
	}
	recovery := make([]float64, len(at))
	for i, w := range at {
		recovery[i] = r.Recovery.Values[w]
	}
	res.BaseRecovery = number(metrics.NewStat(recovery).Mean)
	if res.Topics, err = compare(base, m, at, o.top); err != nil {
		return nil, nil, err
	}
	return m, res, nil
}

// places returns the number in m of each word of base. Both list their words
// by score, so that the word numbers of base come first in m, in the same
// order, but for words whose documents were all too short for the smaller
// vocabulary, and which base therefore lacks.
func places(base, m *jsmf.Model) ([]int, error) {
	at := make([]int, base.N())
	for i := range at {
		j, ok := m.Index(base.Word(i))
		if !ok || i > 0 && j <= at[i-1] {
			return nil, fmt.Errorf("the vocabularies are not nested: %q of the base is missing or out of order", base.Word(i))
		}
		at[i] = j
	}
	return at, nil
}

// compare lists the topics of m, in the order of the topics of base that they
// match. at are the places of base's words in m; base may be m itself.
func compare(base, m *jsmf.Model, at []int, top int) ([]topic, error) {
	words := func(m *jsmf.Model, k int) []string {
		var out []string
		for _, w := range m.TopWords(k, top) {
			out = append(out, w.Word)
		}
		return out
	}
	anchors := m.AnchorWords()
	topics := make([]topic, m.K())
	if base == m {
		for k := range topics {
			topics[k] = topic{Topic: k, Anchor: anchors[k], Words: words(m, k)}
		}
		return topics, nil
	}
	inBase := make([]bool, m.N())
	for _, j := range at {
		inBase[j] = true
	}
	b := mat.DenseCopyOf(m.Topics())
	cos := cosines(mat.DenseCopyOf(base.Topics()), b, at)
	col, err := assign.Best(cos)
	if err != nil {
		return nil, err
	}
	for k, l := range col {
		before, now := words(base, k), words(m, l)
		topics[k] = topic{l, anchors[l], now, &Change{
			BaseTopic: k, BaseAnchor: base.AnchorWords()[k], Cosine: cos.At(k, l),
			Gained: without(now, before), Lost: without(before, now), New: newWords(m, b, l, inBase, top),
		}}
	}
	return topics, nil
}

// without returns what of a is not in b, in its order.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// newWords returns the n most probable words of topic k that the base
// vocabulary lacks; fewer where the topic holds fewer.
func newWords(m *jsmf.Model, b *mat.Dense, k int, inBase []bool, n int) []string {
	var idx []int
	for i, old := range inBase {
		if !old && b.At(i, k) > 0 {
			idx = append(idx, i)
		}
	}
	slices.SortStableFunc(idx, func(i, j int) int { return cmp.Compare(b.At(j, k), b.At(i, k)) })
	out := []string{}
	for _, i := range idx[:min(n, len(idx))] {
		out = append(out, m.Word(i))
	}
	return out
}

// tableWriter prints the sizes for people, each as soon as it is there.
type tableWriter struct {
	w     io.Writer
	peak  bool
	begun bool
}

func (t *tableWriter) row(r *result) error {
	if !t.begun {
		t.begun = true
		head := fmt.Sprintf("%8s %8s %9s  %12s %13s %8s %8s  %9s %9s %9s", "size", "N", "documents", "BaseRecovery", "AnchorQuality", "Sparsity", "Recovery", "rectify s", "model s", "total s")
		if t.peak {
			head += fmt.Sprintf(" %8s", "peak MB")
		}
		if _, err := fmt.Fprintln(t.w, head); err != nil {
			return err
		}
	}
	s := r.Seconds
	line := fmt.Sprintf("%7d× %8d %9d  %12.6f %13.1f %8.4f %8.5f  %9.2f %9.2f %9.2f", r.Factor, r.Corpus.N, r.Corpus.M,
		float64(r.BaseRecovery), float64(r.AnchorQuality), float64(r.Sparsity), float64(r.Recovery), s.Rectify, s.Curate+s.Cooc+s.Rectify+s.Anchors+s.Recover, s.Total)
	if t.peak {
		line += fmt.Sprintf(" %8d", r.PeakRSS>>20)
	}
	_, err := fmt.Fprintln(t.w, line)
	return err
}

// topicTables prints how the topics of each size differ from the base's.
func topicTables(w io.Writer, o options, results []*result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	base := results[0]
	fmt.Fprintf(t, "\nTopics of %d words\n", base.Corpus.N)
	fmt.Fprintf(t, "   \tanchor\ttop %d words\n", o.top)
	for _, x := range base.Topics {
		fmt.Fprintf(t, "%3d\t%s\t%s\n", x.Topic, x.Anchor, strings.Join(x.Words, " "))
	}
	t.Flush()
	for _, r := range results[1:] {
		gained, lost := 0, 0
		for _, x := range r.Topics {
			gained, lost = gained+len(x.Gained), lost+len(x.Lost)
		}
		fmt.Fprintf(t, "\nFrom %d to %d words: top words gained (+%d) and lost (−%d)\n", base.Corpus.N, r.Corpus.N, gained, lost)
		fmt.Fprintf(t, "   \tcosine\tanchor\ttop %d words, and those lost\tmost probable new words\n", o.top)
		for k, x := range r.Topics {
			var words []string
			for _, v := range x.Words {
				if slices.Contains(x.Gained, v) {
					v = "+" + v
				}
				words = append(words, v)
			}
			for _, v := range x.Lost {
				words = append(words, "−"+v)
			}
			anchor := x.Anchor
			if anchor != x.BaseAnchor {
				anchor = x.BaseAnchor + " → " + anchor
			}
			fmt.Fprintf(t, "%3d\t%.3f\t%s\t%s\t%s\n", k, x.Cosine, anchor, strings.Join(words, " "), strings.Join(x.New, " "))
		}
		t.Flush()
	}
	return nil
}
