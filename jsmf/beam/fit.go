package beam

import (
	"context"
	"io"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
)

// Fit encodes shards of documents (Encode) and fits a model to them:
//
//	m, err := beam.Fit(ctx, jsmf.New(100).Refine(refine.Batch{}), []string{"gs://bucket/news-*.jsonl.gz"}, beam.Options{State: "gs://bucket/state"})
//
// On one type of CPU the model is the same to the bit for any division of the documents into
// shards, on any runner, with any number of workers, and however often something failed. It is
// the model of the same Pipeline on one machine, if the documents have the same ids there:
// those of UCILines do, and those that name their ids.
//
// The settings are checked before anything is read. What reads documents in ways that are no
// sums is refused, such as refine.Passes, and so is Published.
func Fit(ctx context.Context, p jsmf.Pipeline, shards []string, o Options) (*jsmf.Model, error) {
	if err := p.Validate(&Documents{info: corpus.Info{Form: "encoded", Source: new(source)}}); err != nil {
		return nil, err
	}
	docs, err := Encode(ctx, shards, o)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, docs)
}

// SaveModel writes a model to a file on any file system, as Model.WriteTo does. A local file
// takes its name when it is complete, as those of object stores do.
func SaveModel(ctx context.Context, m *jsmf.Model, path string) error {
	err := publish(ctx, path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	if err != nil {
		return wrap(err)
	}
	return nil
}
