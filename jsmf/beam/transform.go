package beam

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/jsmf"
)

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&TransformFn{})
	register.DoFn3x1[context.Context, string, func(string), error](&transformed{})
	register.Emitter1[string]()
}

// TransformFn is a Beam DoFn that finds the topics of documents, as Model.Transform does. It
// takes the path of a shard and emits that of the file that it has written, which is the name
// of the shard with ".topics.jsonl" behind it, in Folder. The file has a line for each
// document, in their order:
//
//	{"id":"1734","label":"sports","topics":[0.25,0.5,0.25],"tokens":310,"unknown":4}
//
// topics are the K proportions, exact to the last bit, and the label is left out where there
// is none. tokens counts those of words that are in topics; with none the document gets the
// mean proportions. unknown counts those of words that the model does not have.
//
// To repeat a shard, or to do it twice at a time, writes the same file again. Local files take
// their name when they are complete, as those of object stores do. A worker holds one model,
// read once for all shards, and some thousand documents.
type TransformFn struct {
	// Model is the path of the model's file, on any file system. A file must not be replaced
	// by another model's while workers run.
	Model string

	// Format says how the shards are read.
	Format Format

	// Folder is where the files go. Shards of the same name in several folders would become
	// one file there.
	Folder string
}

// TransformShards adds a TransformFn to a pipeline: a collection of the paths of shards
// becomes one of the paths of their files. An error of a setting comes with the first shard.
func TransformShards(s beam.Scope, f TransformFn, shards beam.PCollection) beam.PCollection {
	s = s.Scope("jsmf.TransformShards")
	return beam.ParDo(s, &f, beam.Reshuffle(s, shards))
}

// Transform finds the topics of the documents of shards by the model of a file, in a job of
// TransformFn, and returns the paths of the files in the folder out, in the order of the
// shards' paths. A path with *, ? or [ stands for all files that match it. If the state folder
// says that these files have been written from the same model and shards, and they are still
// there, nothing is done.
func Transform(ctx context.Context, model string, shards []string, out string, o Options) ([]string, error) {
	files, err := transform(ctx, model, shards, out, o)
	if err != nil {
		return nil, wrap(err)
	}
	return files, nil
}

func transform(ctx context.Context, model string, shards []string, out string, o Options) ([]string, error) {
	o, err := o.validate()
	if err == nil && out == "" {
		err = errors.New("no folder for the files")
	}
	if err != nil {
		return nil, err
	}
	all, err := list(ctx, shards)
	if err != nil {
		return nil, err
	}
	paths, of := make([]string, len(all)), map[string]string{}
	for i, x := range all {
		paths[i] = x.Path
		name := topicsFile(out, x.Path)
		if other, ok := of[name]; ok {
			return nil, fmt.Errorf("shards %s and %s would both be written to %s", other, x.Path, name)
		}
		of[name] = x.Path
	}
	data, err := readPath(ctx, model)
	if err == nil {
		_, err = readModel(data)
	}
	if err != nil {
		return nil, named(model, err)
	}
	st, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	key := keyOf("transform", 1, o.Format, all, model, len(data), crc32.Checksum(data, castagnoli), out)
	done, err := st.outputs(ctx, key)
	if err != nil || done != nil {
		return done, err
	}
	err = o.stage(StageTransform, func() (string, error) {
		_, err := st.job(ctx, o.Runner, "transform", key, func(sc beam.Scope) beam.PCollection {
			written := TransformShards(sc, TransformFn{model, o.Format, out}, beam.CreateList(sc, paths))
			return beam.ParDo(sc, &transformed{}, written)
		})
		return fmt.Sprintf("%d shards", len(paths)), err
	})
	if err != nil {
		return nil, err
	}
	done, err = st.outputs(ctx, key)
	if err == nil && done == nil {
		err = fmt.Errorf("files in %s are gone as soon as they were written", out)
	}
	return done, err
}

// transformed turns the path of a file that was written into a line of a job's result.
type transformed struct{}

// ProcessElement emits the line.
func (transformed) ProcessElement(ctx context.Context, path string, emit func(string)) error {
	var note shard
	err := withFS(ctx, path, func(fsys filesystem.Interface) (err error) {
		note.Path = path
		note.Size, err = fsys.Size(ctx, path)
		return err
	})
	if err != nil {
		return named(path, err)
	}
	f, err := file{}.with(note)
	if err != nil {
		return err
	}
	return emitLine(f, emit)
}

// outputs returns the paths of the files that a transform job has written, in order; nil if
// it has not run or if one of them is not there any more, and the job is then forgotten.
func (s *state) outputs(ctx context.Context, key string) ([]string, error) {
	files, ok, err := s.lookup(ctx, key)
	if err != nil || !ok {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		var note shard
		if err := json.Unmarshal(f.Note, &note); err != nil {
			return nil, err
		}
		now, err := expand(ctx, note.Path)
		if err != nil || len(now) != 1 || now[0].Size != note.Size {
			s.forget(key)
			return nil, ctx.Err()
		}
		paths[i] = note.Path
	}
	slices.Sort(paths)
	return paths, nil
}

func topicsFile(folder, shard string) string {
	return joinPath(folder, baseName(shard)+".topics.jsonl")
}

// models holds the model of a worker.
var models once[*jsmf.Model]

// ProcessElement finds the topics of the documents of a shard.
func (f *TransformFn) ProcessElement(ctx context.Context, path string, emit func(string)) (err error) {
	defer panicked("shard", &path, &err)
	n, err := cores.take(ctx, cap(cores))
	if err != nil {
		return err
	}
	defer cores.give(n)
	format, err := f.Format.validate()
	if err != nil {
		return err
	}
	m, err := models.get(f.Model, func() (*jsmf.Model, error) {
		data, err := readPath(ctx, f.Model)
		if err != nil {
			return nil, err
		}
		m, err := readModel(data)
		return m, named(f.Model, err)
	})
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	to := topicsFile(f.Folder, path)
	err = publish(ctx, to, func(w io.Writer) error { return format.transform(ctx, m, path, n, w) })
	if err != nil {
		return named(path, err)
	}
	emit(to)
	return nil
}

// readModel reads a model and nothing else.
func readModel(data []byte) (*jsmf.Model, error) {
	r := bytes.NewReader(data)
	m, err := jsmf.ReadModel(r)
	if err == nil && r.Len() > 0 {
		err = errors.New("more bytes after the end of the model")
	}
	return m, err
}

// publish writes a file that has its name only when it is complete. Object stores see to that;
// a local file gets another name first.
func publish(ctx context.Context, path string, write func(w io.Writer) error) error {
	if strings.Contains(path, "://") {
		_, _, err := writePath(ctx, path, write)
		return err
	}
	temp := path + "." + randomHex()
	_, _, err := writePath(ctx, temp, write)
	return withFS(ctx, path, func(fsys filesystem.Interface) error {
		if err == nil {
			err = filesystem.Rename(ctx, fsys, temp, path)
		}
		if err != nil {
			_ = removePaths(ctx, temp, []string{temp}) // it may not be there
			return err
		}
		return nil
	})
}

// composition is a line of a file of topics.
type composition struct {
	ID      string    `json:"id"`
	Label   string    `json:"label,omitempty"`
	Topics  []float64 `json:"topics"`
	Tokens  int64     `json:"tokens"`
	Unknown int64     `json:"unknown"`
}

// transform writes a line for each document of a shard.
func (f Format) transform(ctx context.Context, m *jsmf.Model, path string, workers int, w io.Writer) error {
	t, err := m.Tokenizer()
	if err != nil {
		return err
	}
	src := f.source(ctx, path, t)
	desc, err := src.Describe(ctx)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(src.Docs(ctx))
	defer stop()
	buf := bufio.NewWriterSize(w, 1<<16)
	lines := json.NewEncoder(buf)
	lines.SetEscapeHTML(false)
	for at := (&part{next: next, size: maxPiece / 4, desc: desc}); !at.done; {
		docs, err := m.TransformBy(ctx, at, nil, infer.Options{Workers: workers})
		if err != nil {
			return err
		}
		for i, id := range docs.IDs {
			x := composition{ID: id, Topics: docs.W.RawRowView(i), Tokens: int64(docs.Docs[i].Tokens), Unknown: docs.Unknown[i] + int64(docs.Docs[i].Unknown)}
			if docs.Labels != nil {
				x.Label = docs.Labels[i]
			}
			if err := lines.Encode(x); err != nil {
				return err
			}
		}
	}
	return buf.Flush()
}
