// Largevocab shows what a larger vocabulary does to the topics of the published method
// (jsmf.Published): the second experiment of dong-2019 (§4.6, figures 4.2 and 4.3).
//
//	go run ./examples/largevocab -docword docword.nips17.txt.gz -vocab vocab.nips17.txt -stop stop.txt -k 20
//
// The vocabularies are the best N words by tf·ln⌊M/df⌋ for N = 1, 2, 4 and 8 times
// the base size, so that each contains the smaller ones. If the corpus has fewer
// words of positive score, the last size is all of them. For each the program
// prints
//
//	N, documents    as used; documents of fewer than 3 different words or of fewer
//	                than 5 tokens of the vocabulary are left out
//	BaseRecovery    Recovery over the words of the base vocabulary: how well the
//	                anchors of this size explain them. Lower is better
//	AnchorQuality   the mean rank of the anchors in the topics of the others (the
//	                metrics' BasisQuality). Higher is better. The anchors have the
//	                probability 0 there, so that it is a rank among ties, which
//	                grows with N whatever the anchors are
//	Sparsity        of the topics, Hoyer's. Higher is better
//	Recovery        over all N words. Lower is better
//	rectify         seconds of the rectification
//	model           seconds from the counts to the model: curation, co-occurrence,
//	                rectification, anchors, recovery
//	total           the same and the metrics, without reading, which happens once
//	peak            memory of the process so far, where the system has the figure
//
// and then how the topics of each size differ from those of the base size.
// Topics are matched one to one so that the sum of their cosines over the base
// vocabulary is greatest. + marks a word that has become one of the topic's most
// probable, − one that no longer is. The topic's most probable words that the base
// vocabulary lacks come last.
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
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/rss"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics"
	"github.com/jsmf-go/spectral/rectify"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("largevocab", args, stderr, parseFlags, func(o options) error { return largevocab(ctx, o, stdout, stderr) })
}

type options struct {
	corpus      cli.UCI
	k, base     int
	factors     []int // ascending, from 1
	rectifyName string
	rectifier   rectify.Rectifier
	top         int
	seed        uint64
	workers     int
	json, quiet bool
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("largevocab", flag.ContinueOnError)
	f.SetOutput(stderr)
	var factors string
	o.corpus.Flags(f)
	f.IntVar(&o.k, "k", 0, "the cli.Number of topics `K` (required)")
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
	o.corpus.Require(&wrong)
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

func largevocab(ctx context.Context, o options, stdout, stderr io.Writer) error {
	rec := cli.Progress(o.quiet, stderr)
	var raw *corpus.Corpus
	_, err := cli.Stage(rec, "read", func() (_ string, err error) {
		if raw, err = o.corpus.Read(ctx); err != nil {
			return "", err
		}
		return cli.Sizes(raw), nil
	})
	if err != nil {
		return err
	}
	all, err := candidates(ctx, o, raw)
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
		m, res, err := fit(ctx, o, raw, f, words, base, rec)
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
func candidates(ctx context.Context, o options, raw *corpus.Corpus) (int, error) {
	c, err := o.corpus.Curate(ctx, raw, corpus.Curation{MinDistinct: -1})
	if err != nil {
		return 0, err
	}
	return c.NumWords(), nil
}

// fit fits and measures the model of one size; base is the model of the first,
// nil for that itself.
func fit(ctx context.Context, o options, raw *corpus.Corpus, factor, words int, base *jsmf.Model, rec func(jsmf.Event)) (*jsmf.Model, *result, error) {
	begun := time.Now()
	res := &result{Factor: factor, Rectify: o.rectifyName}
	s := &res.Seconds
	var c *corpus.Corpus
	d, err := cli.Stage(rec, "curate", func() (_ string, err error) {
		if c, err = o.corpus.Curate(ctx, raw, corpus.Curation{Words: words}); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d× the base: %s", factor, cli.Sizes(c)), nil
	})
	if err != nil {
		return nil, nil, err
	}
	s.Curate = d.Seconds()
	counts, d, err := cli.Count(ctx, rec, c, cooc.Options{Workers: o.workers})
	if err != nil {
		return nil, nil, err
	}
	s.Cooc = d.Seconds()
	p := jsmf.Published(o.k).Rectify(o.rectifier).Seed(o.seed).Workers(o.workers).Record(rec)
	m, err := p.Fit(ctx, counts)
	if err != nil {
		return nil, nil, err
	}
	var r *metrics.Report
	d, err = cli.Stage(rec, "metrics", func() (_ string, err error) {
		r, err = p.Evaluate(ctx, m, counts)
		return "", err
	})
	if err != nil {
		return nil, nil, err
	}
	st := m.Stats()
	s.Cooc += st.Cooc.Duration.Seconds() // the check of the counts
	s.Rectify, s.Anchors, s.Recover, s.Metrics = st.Rectify.Duration.Seconds(), st.Anchors.Duration.Seconds(), st.Recover.Duration.Seconds(), d.Seconds()
	s.Total = time.Since(begun).Seconds()
	res.PeakRSS = rss.Peak()

	res.Corpus.N, res.Corpus.M, res.Corpus.Tokens = st.Corpus.Words, st.Corpus.Documents, st.Corpus.Tokens
	res.K = m.K()
	res.Recovery, res.AnchorQuality, res.Sparsity = cli.Number(r.Recovery.Mean), cli.Number(r.BasisQuality.Mean), cli.Number(r.Sparsity.Mean)
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
	res.BaseRecovery = cli.Number(metrics.NewStat(recovery).Mean)
	if res.Topics, err = compare(base, m, at, o.top); err != nil {
		return nil, nil, err
	}
	return m, res, nil
}
