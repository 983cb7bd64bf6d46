package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[context.Context, int, func(*string) bool, error](&writeIndex{})
	register.Function1x2(atOne)
	register.Iter1[string]()
	register.Emitter1[string]()
}

// job returns the files that are the result of a pipeline, by the key of what it computes. If
// the manifest has them they are not computed again. The pipeline's last collection holds
// strings, each the line of a file: these files are the result.
func (s *state) job(ctx context.Context, r Runner, stage, key string, build func(sc beam.Scope) beam.PCollection) ([]file, error) {
	if files, ok, err := s.lookup(ctx, key); err != nil || ok {
		return files, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	report := func(jobReport) {}
	if s.watch != nil {
		report = s.watch
	}
	var err error
	for try := range r.tries() {
		report(jobReport{stage: stage, try: try + 1})
		began := time.Now()
		var files []file
		if files, err = s.try(ctx, r, stage, build); err == nil {
			err = s.publish(ctx, key, files)
			report(jobReport{stage: stage, try: try + 1, took: max(time.Since(began), 1)})
			return files, err
		}
		report(jobReport{stage: stage, try: try + 1, err: err})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("beam: %s: %w", stage, err)
}

// try runs a pipeline once.
func (s *state) try(ctx context.Context, r Runner, stage string, build func(sc beam.Scope) beam.PCollection) ([]file, error) {
	index := joinPath(s.folder, uniqueName("index"))
	err := r.run(ctx, stage, func(sc beam.Scope) {
		byOne := beam.GroupByKey(sc, beam.ParDo(sc, atOne, build(sc)))
		beam.ParDo0(sc, &writeIndex{Path: index}, byOne)
	})
	if err != nil {
		return nil, err
	}
	data, err := readPath(ctx, index)
	if err != nil {
		return nil, fmt.Errorf("the job ended without a result (do its workers see the state folder?): %w", err)
	}
	lines := strings.Split(string(data), "\n")
	if n := len(lines); n < 1 || lines[n-1] != indexEnd {
		return nil, fmt.Errorf("%s: %w: its end is missing", index, errDamaged)
	}
	files := make([]file, len(lines)-1)
	for i := range files {
		if err := json.Unmarshal([]byte(lines[i]), &files[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", index, err)
		}
	}
	if err := s.whole(ctx, files); err != nil {
		return nil, err
	}
	return files, removePaths(ctx, s.folder, []string{index})
}

func atOne(line string) (int, string) { return 0, line }

// indexEnd is the last line of an index.
const indexEnd = "end"

// writeIndex writes the lines of a collection to a file.
type writeIndex struct{ Path string }

// ProcessElement is called with all lines.
func (f *writeIndex) ProcessElement(ctx context.Context, _ int, lines func(*string) bool) error {
	_, _, err := writePath(ctx, f.Path, func(w io.Writer) error {
		var line string
		for lines(&line) {
			if strings.Contains(line, "\n") {
				return errors.New("a line of the index has two lines")
			}
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, indexEnd)
		return err
	})
	return err
}
