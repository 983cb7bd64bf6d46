// Experiments repeats the experiments of the papers: it fits models to corpora by
// many methods, measures them, and writes tables (CSV), figures and a page that
// says what to look for.
//
//	go run . -data FOLDER -stop stopwords.txt -out results
//	go run . -data FOLDER -corpora kos -k 10,20 -methods Baseline,AP -run curves -out /tmp/kos
//	go run . -data FOLDER -corpora kos -run score -topics B.npy -name "some tool" -out /tmp/kos
//
// FOLDER/NAME holds docword.NAME.txt.gz (or .txt) and vocab.NAME.txt in UCI form,
// and labels.txt where the documents have classes, a line for each, of which what
// follows the last tab counts. docword.train.txt.gz and vocab.txt do as well: a
// corpus with documents held out, of which the others are read.
//
// The experiments (-run), with the figures they repeat:
//
//	curves       measures against K by method and recovery: lee-2020 Figures 3 and 4,
//	             lee-2018 Figures 2.5 and A.1, dong-2019 Figure 4.1
//	crossed      Recovery with the anchors of one rectification and the rows of another
//	iterations   measures against the iterations of AP and DR: lee-2020 Figure 2
//	pruning      measures against K by document-frequency cut-off: lee-2020 Figure 1
//	convergence  the changes of AP from iteration to iteration: lee-2018 Figure A.4
//	semi         measures on documents drawn from known topics: lee-2018 Figure A.2
//	gaps         distances to these topics: lee-2018 Figure A.3
//	synthetic    distances to known topics that need have no anchors: arora-2013
//	             Figures 2 to 5 and 9 to 13
//	time         seconds against K and against documents: lee-2020 Figure 6,
//	             dong-2019 Figure 4.1, arora-2013 Figure 1
//	heldout      held-out probability, coherence, unique words: arora-2013 Figure 6
//	pairs        topics by L2 and those of Gibbs sampling: arora-2013 Table 1
//	inference    the topics of single documents: lee-2018 Figures 4.3 and 4.4, Table 4.1
//	admm         recovery by ADMM and by ExpGrad: lee-2018 Figure 3.2
//	vocabulary   measures and topic words against the size of the vocabulary:
//	             dong-2019 Figures 4.2 and 4.3
//	titles       rectification of documents of a few words
//	hierarchy    topics of topics by classes and of artists: lee-2018 Figure 3.4
//	scattered    made topics, with anchors and without: fu-2018 Tables 2 and 3,
//	             Figures 2 and 3
//	anchorfree   topics with and without anchors: fu-2018 Tables 1 and 4 to 16,
//	             Figure 4; every draw of 3, 4, 5 classes of -classes, and many topics
//	             of -large
//	weights      these draws with counts in place of tf-idf: fu-2018 Table 17
//	clusters     the documents of -classes clustered by their topics
//	hulls        anchors by hulls in two or three dimensions: lee-2018 Figures 1.1 to 1.9,
//	             Tables 1.2 and 1.3, on the corpora of -hulls
//	rectified    anchors, A and topics before and after rectification: lee-2018
//	             Figures 2.1 and 2.4, Table 2.2
//	tensor       measures against K of tensor decomposition and online variational
//	             inference: lee-2018 Figure 3.1, lee-2020 Figure 3
//	genres       the classes of the top words of topics, also of the correlated topic
//	             model: lee-2018 Figures 3.3 and 3.4, lee-2020 Figure 5
//	lists        top words of five topics: lee-2018 Table 3.1, lee-2020 Figure 6
//	doubt        how often intervals hold what was planted, on documents that are
//	             drawn
//	number       the number of topics that is recommended, for documents that are drawn and
//	             others
//	steered      topics that are asked for by words, against classes (Pipeline.Seeds)
//	labelled     labels of documents by those of others (Model.Labels)
//	wording      words that groups of documents use more within a topic (Study.Wording), where
//	             it is known
//	planted      correlations, topics and effects of models against those that documents
//	             are drawn from
//	judged       the largest topics of the documents of -classes against their classes, beside
//	             NMF's, k-means and Gibbs sampling
//	reranked     coherence of the default's words, and of NMF's and Gibbs sampling's that are
//	             ranked by the same rule
//	score        topics from elsewhere by the same measures (-topics)
//
// Without -run all but score are run. -only chooses cells by the columns of the tables:
//
//	go run . -data FOLDER -run planted -only "documents=1000,k=10,method=New|Published" -out /tmp/planted
//
// The folder -out then holds NAME.csv for each
// table, which is the same to the byte when it is made again on the same type of
// CPU; NAME-seconds.csv with its times; figures; README.md, the page; and
// records.jsonl. Each cell (a corpus, a method, a K) is recorded there as soon as
// it is done, and is not computed again: an interrupted run continues, and a run
// with more methods or corpora adds what is missing. The key of a cell covers all
// that it depends on, including the content of the input files. Remove the file to
// start afresh. The page takes texts from notes.md in -out, if there is one: what
// follows "## NAME" goes to that section.
//
// Progress and the time left go to standard error. After Ctrl-C or the time of
// -budget the tables and the page are made of what there is. The exit status is
// 0, 1 for an error, 2 for wrong usage, and 130 when interrupted by Ctrl-C.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("experiments", args, stderr, parseFlags, func(o options) error { return runAll(ctx, o, stdout, stderr) })
}

// runAll plans the cells, does those that are not done, and writes what there is
// in the end. An interrupted run writes it too.
func runAll(ctx context.Context, o options, stdout, stderr io.Writer) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	s, err := openStore(o.out)
	if err != nil {
		return err
	}
	l := &lab{options: o}
	var cells []cell
	planned := make(map[string]bool)
	for _, e := range experiments {
		if !slices.Contains(o.names, e.name) {
			continue
		}
		more, err := e.plan(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		for _, c := range more { // experiments share cells
			if o.only.has(c.settings) && !planned[c.key()] {
				planned[c.key()] = true
				cells = append(cells, c)
			}
		}
	}
	if o.plan {
		for _, c := range cells {
			_, done := s.done[c.key()]
			fmt.Fprintf(stdout, "%v\t%s\n", map[bool]string{true: "done", false: "to do"}[done], c)
		}
		return nil
	}
	err = work(ctx, o, s, cells, stderr)
	t := &tables{rows: make(map[string][]row)}
	for _, c := range cells {
		if r, ok := s.done[c.key()]; ok {
			t.rows[c.group.name] = append(t.rows[c.group.name], r.Rows...)
			t.seconds += r.Seconds
			t.cells++
		} else {
			t.missing++
		}
	}
	if werr := write(l, t); werr != nil {
		return errors.Join(err, werr)
	}
	if err == nil && !o.quiet {
		fmt.Fprintf(stderr, "%s\n", filepath.Join(o.out, pageName))
	}
	return err
}

// work does the cells that are not done, in their order.
func work(ctx context.Context, o options, s *store, cells []cell, stderr io.Writer) error {
	var todo []cell
	left := 0.0
	for _, c := range cells {
		if _, ok := s.done[c.key()]; !ok {
			todo = append(todo, c)
			left += c.cost
		}
	}
	say := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(stderr, format, args...)
		}
	}
	say("%d cells, %d of them done before\n", len(cells), len(cells)-len(todo))
	begun, spent := time.Now(), 0.0 // spent, like cost, in the seconds of some machine
	for i, c := range todo {
		if o.budget > 0 && time.Since(begun) >= o.budget {
			say("the time of -budget is over, %d cells are left; the same command goes on with them\n", len(todo)-i)
			return nil
		}
		start, cpu := time.Now(), cpuSeconds()
		rows, err := c.run(ctx)
		if ctx.Err() != nil {
			say("%d cells are left; the same command goes on with them\n", len(todo)-i)
			return ctx.Err()
		}
		outcome := ""
		if err != nil {
			// What a method cannot do is a result, too.
			r := row{"error": err.Error()}
			for _, x := range c.settings {
				if slices.Contains(c.group.labels, x.Name) {
					r[x.Name] = x.Value
				}
			}
			rows, outcome = []row{r}, ": "+err.Error()
		}
		took := time.Since(start)
		if err := s.add(record{Key: c.key(), Group: c.group.name, Version: c.group.version, Settings: c.settings, Rows: rows, Seconds: cpuSeconds() - cpu}); err != nil {
			return err
		}
		spent += c.cost
		left -= c.cost
		rest := ""
		if spent > 0 && i+1 < len(todo) {
			rest = fmt.Sprintf(", %v left", time.Duration(left/spent*float64(time.Since(begun))).Round(time.Second))
		}
		say("%d/%d %s: %.1fs%s%s\n", i+1, len(todo), c, took.Seconds(), rest, outcome)
	}
	return nil
}
