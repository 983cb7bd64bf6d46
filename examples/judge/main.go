// Judge writes tasks by which people or language models judge the topics of a folder of text files, and says from
// their answers how good the topics are.
//
//	go run ./examples/judge -dir FOLDER -k 20 -sample 100 -out TASKS
//	go run ./examples/judge -dir FOLDER -k 20 -sample 100 -answers answers.json
//
// The first fits topics and writes TASKS/tasks.json, for those who judge, and TASKS/key.json, which they
// must not see. Answers are a JSON list such as
//
//	[{"id": "words-0", "judge": "Ann", "choice": 6},
//	 {"id": "label-0", "judge": "Ann", "label": "weather", "ratings": [5, 1, 4, 2, 1, 3, 5, 1]}]
//
// with choices counted from 1: see package metrics/judge. The second fits the same topics again and prints scores and, from 20
// answers to the tasks choose-… on, the shares of topics as judges would have them, all with intervals of 95 %.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/metrics/judge"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run("judge", args, stderr, parseFlags, func(o options) error {
		return cli.Buffered(stdout, func(out *bufio.Writer) error { return judged(ctx, o, out) })
	})
}

type options struct {
	dir, out, answers string
	k, sample         int
	seed              uint64
}

// parseFlags reports everything that is wrong with the arguments on stderr.
func parseFlags(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("judge", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.dir, "dir", "", "the text files of a `folder` (required)")
	f.IntVar(&o.k, "k", 20, "the `number` of topics")
	f.IntVar(&o.sample, "sample", 0, "ask which topic so many `documents` are about")
	f.Uint64Var(&o.seed, "seed", 1, "the `seed` of the tasks")
	f.StringVar(&o.out, "out", "", "write tasks.json and key.json to a `folder`")
	f.StringVar(&o.answers, "answers", "", "score the answers of a `file`")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var wrong cli.Wrong
	wrong.If(f.NArg() > 0, "unexpected argument %q", f.Arg(0))
	wrong.If(o.dir == "", "-dir is missing")
	wrong.If((o.out == "") == (o.answers == ""), "want one of -out and -answers")
	wrong.If(o.k < 2, "-k %d: want at least 2", o.k)
	wrong.If(o.sample < 0, "-sample %d: want 0 or more", o.sample)
	return o, wrong.Err("judge", stderr)
}

func judged(ctx context.Context, o options, w io.Writer) error {
	c, err := corpus.Read(ctx, corpus.Dir{Path: o.dir})
	if err != nil {
		return err
	}
	m, err := jsmf.New(o.k).Fit(ctx, c)
	if err != nil {
		return err
	}
	docs, err := m.Transform(ctx, c.Source())
	if err != nil {
		return err
	}
	topics := judge.Topics{Shares: docs.W, Text: func(d int) string {
		b, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(docs.IDs[d])))
		if err != nil {
			return err.Error()
		}
		return string(b)
	}}
	for k := range m.K() {
		var words []string
		for _, x := range m.TopWords(k, 20) {
			words = append(words, x.Word)
		}
		topics.Words = append(topics.Words, words)
	}
	tasks, keys, err := judge.Make(topics, o.sample, o.seed)
	if err != nil {
		return err
	}
	if o.answers == "" {
		if err := os.MkdirAll(o.out, 0o777); err != nil {
			return err
		}
		if err := write(filepath.Join(o.out, "key.json"), keys); err != nil {
			return err
		}
		if err := write(filepath.Join(o.out, "tasks.json"), tasks); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%d tasks on %d topics in %s\n", len(tasks), m.K(), filepath.Join(o.out, "tasks.json"))
		return err
	}
	b, err := os.ReadFile(o.answers)
	if err != nil {
		return err
	}
	var answers []judge.Answer
	if err := json.Unmarshal(b, &answers); err != nil {
		return fmt.Errorf("%s: %w", o.answers, err)
	}
	results, err := judge.Score(keys, answers, 0.95)
	if err != nil {
		return err
	}
	for _, r := range results {
		fmt.Fprintf(w, "%-9s  %.2f (%.2f to %.2f), by chance %.2f\n", r.Kind, r.All.Value, r.All.Low, r.All.High, r.Chance)
	}
	if strings.Count(string(b), `"choose-`) < 20 {
		return nil
	}
	shares, err := judge.Correct(keys, answers, docs.W, 0.95)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "\ntopic  share by the model, by judges and model")
	for k, s := range shares {
		fmt.Fprintf(w, "%5d  %5.1f %%  %5.1f %% (%.1f to %.1f)  %s\n", k, 100*s.Model, 100*s.Value, 100*s.Low, 100*s.High, m.Name(k))
	}
	return nil
}

// write writes a list as JSON, an entry a line.
func write(path string, list any) error {
	return cli.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(list)
	})
}
