// Factorize fits topic models to a corpus in UCI form and measures them: the
// experiments of the papers from the command line.
//
//	go run ./examples/factorize -docword docword.kos.txt.gz -vocab vocab.kos.txt -n 5000 -k 25,50 -json
//
// It fits the default, jsmf.New, unless -published or a flag of a method asks for the
// papers' pipeline, jsmf.Published, in which whatever is not given is as the papers have
// it. -refine N alone is the default with N passes at most. The default counts every
// document that has a word, the papers' pipeline those of -min-tokens.
//
// It prints a report for people. With -json, standard output holds one JSON object
// a line for each K instead, in the order of -k:
//
//	corpus           n words, m documents and their tokens, as used
//	k                the number of topics found
//	method           default or published
//	rectify, finder, recover
//	                 the methods, as in the flags (finder: -anchors); not of the default
//	anchor_free      with -anchor-free only: lp or pds, in place of finder and
//	                 recover
//	weights          with -weights only
//	rectify_method   with -rectify auto only: what was chosen, with its settings
//	rectify_reason   and why
//	anchors          [{index, word, input_index}], in the order found; empty with
//	                 -anchor-free. index is the number of the word, from 0, in the
//	                 curated vocabulary (ordered by tf-idf, with -vocabulary all as
//	                 in the file; words in no document used are left out),
//	                 input_index that in the vocabulary file. With -anchors tandem
//	                 also facet, the words of the group
//	topics           [{name, share, background, words}]: p(topic), whether the topic
//	                 gathers words of no subject, and its 20 best words, by their
//	                 reading weights where the model has them, or by probability
//	metrics          by name, each a number or {mean, std}; an undefined one is
//	                 null, and "undefined" counts the values left out of a mean.
//	                 Without passes anchors are in no other topic: basis_quality is
//	                 then a rank among ties, and basis_quality_share 1
//	alpha            with -alpha only: {alpha0, alpha}, a Dirichlet prior fitted to A
//	tree             where topics were found by splitting fewer only: {groups}, a
//	                 list for each level, of the group of each topic
//	hierarchy        with -hierarchy only: [{k, shares, topics, children, direct, …}],
//	                 one for each level above the topics, with a direct fit of the
//	                 same number of topics
//	objective_mean   the mean of ½‖v − Uy‖² over all N words, 0 for anchors; null
//	                 with -anchor-free
//	infer            with -infer only: method, documents, unknown_tokens (of words
//	                 the model lacks), without_known_word and all_zero (documents);
//	                 of padd residual and learn_status; of map, em and gibbs
//	                 alpha_sum
//	refine           of the default and with -refine: method, passes made, and loglik,
//	                 the mean ln p(token) before each pass and after the last. Topics and
//	                 metrics are then those of the refined model
//	seconds          by stage; reading is the last read of the documents, after the
//	                 passes of refine. read, curate and, of the papers' pipeline, the
//	                 counting in cooc happen once for all K and are part of each line
//	                 and its total
//	cpu_seconds      processor time from the documents in memory to the model; left out
//	                 where the system does not count it
//	peak_rss_bytes   of the process so far; left out where the system has no figure
//
// With -estimate nothing is fitted: it prints how much memory each stage of a fit
// would need at most for each K, by jsmf.Pipeline.Estimate.
//
// Progress goes to standard error. So does a warning where the sum of A is far
// from 1, that is, where the model does not fit; -quiet does not suppress it. The
// exit status is 0, 1 for an error, 2 for wrong usage, and 130 when interrupted by
// Ctrl-C.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/examples/internal/rss"
	"github.com/jsmf-go/spectral/internal/cputime"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("factorize", args, stderr, parseFlags, func(o options) error { return cli.FlagError(factorize(ctx, o, stdout, stderr)) })
}

func factorize(ctx context.Context, o options, stdout, stderr io.Writer) error {
	rec := cli.Progress(o.quiet, stderr)
	if err := o.finder.read(); err != nil {
		return err
	}
	var err error
	if o.seeds, err = cli.Seeds(o.seedsFile); err != nil {
		return err
	}
	in, err := load(ctx, o, rec)
	if err != nil {
		return err
	}
	if o.estimate {
		return estimate(o, in, stdout)
	}
	var failed error // the files that could not be written; what was found is printed
	for _, k := range o.topics {
		m, res, err := fit(ctx, o, in, k, rec)
		if err != nil {
			return errors.Join(failed, fmt.Errorf("k=%d: %w", k, err))
		}
		if why := doubt(res.Metrics.Legality); why != "" {
			fmt.Fprintf(stderr, "factorize: warning: k=%d: %s\n", k, why)
		}
		var theta *jsmf.Compositions
		if o.inferName != "" {
			if m, theta, res.Infer, err = inferDocs(ctx, o, in, m, rec, &res.Seconds.Infer); err != nil {
				return errors.Join(failed, fmt.Errorf("k=%d: %w", k, err))
			}
			res.Seconds.Total += res.Seconds.Infer
		}
		failed = errors.Join(failed, save(o, m, theta, k, in))
		if o.json {
			err = json.NewEncoder(stdout).Encode(res)
		} else {
			err = cli.Buffered(stdout, func(out *bufio.Writer) error { return report(out, o, m, res) })
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// input is what all K share.
type input struct {
	docs      jsmf.Input     // what is fitted to: the corpus or, of the papers' pipeline, its counts
	corpus    *corpus.Corpus // the documents
	cpu       float64        // seconds of the counting
	fileWords int            // words in the vocabulary file
	fileIndex []int          // for each word of corpus, its number there
	seconds   seconds
}

// load reads the corpus, curates it, and counts it.
func load(ctx context.Context, o options, rec func(jsmf.Event)) (*input, error) {
	in := new(input)
	var raw, curated *corpus.Corpus
	err := stage(rec, "read", &in.seconds.Read, func() (_ string, err error) {
		if raw, err = o.corpus.Read(ctx); err != nil {
			return "", err
		}
		return cli.Sizes(raw), nil
	})
	if err != nil {
		return nil, err
	}
	err = stage(rec, "curate", &in.seconds.Curate, func() (_ string, err error) {
		cur := corpus.Curation{Words: o.words, KeepVocabulary: o.words == 0, MinDistinct: o.minDistinct, MinTokens: int64(o.minTokens)}
		if curated, err = o.corpus.Curate(ctx, raw, cur); err != nil {
			return "", err
		}
		return cli.Sizes(curated), nil
	})
	if err != nil {
		return nil, err
	}
	cpu := cputime.Seconds()
	if o.published {
		counts, d, err := cli.Pairs(ctx, rec, curated, cooc.Options{Weighting: o.weighting, MinTokens: o.minTokens, Workers: o.workers})
		if err != nil {
			return nil, err
		}
		in.docs, in.corpus, in.seconds.Cooc = counts, counts.Info().Corpus, d.Seconds()
	} else {
		if in.corpus, err = occurring(curated); err != nil {
			return nil, err
		}
		in.docs = in.corpus
	}
	in.cpu = cputime.Seconds() - cpu
	in.fileWords = raw.NumWords()
	for i := range in.corpus.NumWords() {
		j, ok := raw.Index(in.corpus.Word(i))
		if !ok {
			return nil, fmt.Errorf("word %q is not in the vocabulary file", in.corpus.Word(i))
		}
		in.fileIndex = append(in.fileIndex, j)
	}
	return in, nil
}

// occurring returns the corpus without the words that are in no document.
func occurring(c *corpus.Corpus) (*corpus.Corpus, error) {
	var words []int
	for w, df := range c.DocFrequencies() {
		if df > 0 {
			words = append(words, w)
		}
	}
	if len(words) == c.NumWords() {
		return c, nil
	}
	return c.Select(nil, words)
}

// estimate prints the memory that the fits would need.
func estimate(o options, in *input, stdout io.Writer) error {
	c := in.corpus
	st := jsmf.CorpusStats{Documents: c.NumDocs(), Words: c.NumWords(), Tokens: c.Tokens(), NNZ: c.NNZ()}
	for _, k := range o.topics {
		e, err := pipeline(o, k, nil).Estimate(st)
		if err != nil {
			return fmt.Errorf("k=%d: %w", k, err)
		}
		if _, err := fmt.Fprintf(stdout, "%d topics of %s\n%v\n", k, cli.Sizes(c), e); err != nil {
			return err
		}
	}
	return nil
}

// pipeline returns the Pipeline that the flags ask for.
func pipeline(o options, k int, rec func(jsmf.Event)) jsmf.Pipeline {
	p := jsmf.New(k).Seed(o.seed).Workers(o.workers).Record(rec)
	if o.published {
		p = published(o, k, rec)
	}
	if o.refine > 0 {
		p = p.Refine(refine.Passes{N: o.refine})
	}
	return p.Seeds(o.seeds...)
}

// published returns the papers' pipeline with the methods of the flags.
func published(o options, k int, rec func(jsmf.Event)) jsmf.Pipeline {
	return jsmf.Published(k).
		Rectify(o.rectifier).
		Anchors(o.finder.finder(o.finder.name)).
		Recover(o.recoverer).
		AnchorFree(o.learner).
		Seed(o.seed).
		Workers(o.workers).
		Record(rec)
}

// stage runs a step of the program's own and notes its time.
func stage(rec func(jsmf.Event), name string, s *float64, f func() (string, error)) error {
	d, err := cli.Stage(rec, name, f)
	*s = d.Seconds()
	return err
}

// fit fits and measures the model for one K.
func fit(ctx context.Context, o options, in *input, k int, rec func(jsmf.Event)) (*jsmf.Model, *result, error) {
	begun := time.Now()
	p := pipeline(o, k, rec)
	cpu := cputime.Seconds()
	m, err := p.Fit(ctx, in.docs)
	if err != nil {
		return nil, nil, err
	}
	res := describe(o, in, m)
	if cputime.Known {
		res.CPU = in.cpu + cputime.Seconds() - cpu
	}
	err = stage(rec, "metrics", &res.Seconds.Metrics, func() (_ string, err error) {
		res.Metrics, err = p.Evaluate(ctx, m, in.docs)
		return "", err
	})
	if err != nil {
		return nil, nil, err
	}
	if o.alpha {
		if res.Alpha, err = fitAlpha(m); err != nil {
			return nil, nil, err
		}
	}
	if len(o.hierarchy) > 0 {
		if res.Hierarchy, err = levels(ctx, o, in, m, o.hierarchy, rec); err != nil {
			return nil, nil, err
		}
	}
	s := &res.Seconds
	s.Total = s.Read + s.Curate + in.seconds.Cooc + time.Since(begun).Seconds()
	res.PeakRSS = rss.Peak()
	return m, res, nil
}

// describe returns the result for a model, without its metrics.
func describe(o options, in *input, m *jsmf.Model) *result {
	st := m.Stats()
	res := &result{
		K: m.K(), Tree: m.Tree(), Method: "default", ObjectiveMean: cli.Number(st.Recover.Objective), Anchors: []anchorWord{}, Seconds: in.seconds,
	}
	if o.published {
		res.Method, res.Rectify, res.Finder, res.Recover = "published", o.rectifyName, o.finder.name, o.recoverName
	}
	if o.learner != nil {
		res.Finder, res.Recover, res.AnchorFree, res.ObjectiveMean = "", "", o.anchorFreeName, cli.Number(math.NaN())
	}
	if o.weighting != cooc.Unbiased {
		res.Weights = o.weightsName
	}
	res.Corpus.N, res.Corpus.M, res.Corpus.Tokens = st.Corpus.Words, st.Corpus.Documents, st.Corpus.Tokens
	if st.Rectify.Reason != "" { // the rectifier chose
		res.RectifyMethod, res.RectifyReason = st.Rectify.Method, st.Rectify.Reason
	}
	if st.Refine.Method != "" {
		res.Refine = &refinement{st.Refine.Method, st.Refine.Passes, st.Refine.LogLik()}
	}
	groups := m.AnchorGroups()
	for t, a := range m.Anchors() {
		w := anchorWord{a, m.Word(a), in.fileIndex[a], nil}
		if groups != nil {
			for _, i := range groups[t] {
				w.Facet = append(w.Facet, m.Word(i))
			}
		}
		res.Anchors = append(res.Anchors, w)
	}
	for _, t := range m.Summary(topWords) {
		res.Topics = append(res.Topics, topic{t.Name, cli.Number(t.Share), t.Background, wordsOf(t.Words)})
	}
	s := &res.Seconds
	took := func(stage jsmf.Stage) float64 { return st.Durations[stage].Seconds() }
	s.Cooc += took(jsmf.StageCooc) // counts, or checks those given
	s.Rectify, s.Anchors, s.Recover = took(jsmf.StageRectify), took(jsmf.StageAnchors), took(jsmf.StageRecover)
	s.Topics, s.Reading = took(jsmf.StageTopics), st.Refine.LastRead.Seconds()
	s.Refine = took(jsmf.StageRefine) - s.Reading
	return res
}

// outputName returns the path of an output for one of several K.
func outputName(path string, k, several int) string {
	if several < 2 {
		return path
	}
	ext := filepath.Ext(path)
	if ext == filepath.Base(path) { // as .model: a name, not an extension
		ext = ""
	}
	return fmt.Sprintf("%s_k%d%s", strings.TrimSuffix(path, ext), k, ext)
}
