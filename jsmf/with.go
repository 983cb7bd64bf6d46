package jsmf

import (
	"slices"
	"sync"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/metrics"
)

// Additions are what a model holds besides its fit: see [Model.With]. The file of the model keeps
// them, of a Tokenizer the setting.
type Additions struct {
	// Names are the user's names of the K topics, no two alike; "" gives a topic its automatic
	// name: see [Model.Names]. They go with their topics through Reorder, files and refits
	// ([Pipeline.From]). They must be UTF-8 without control characters or space at the ends.
	Names []string
	// Documents are the topic proportions of documents, such as those of the fit, with their ids,
	// labels and metadata. They take 8·K + 36 bytes a document in a file.
	Documents *Compositions
	// Uncertainty is what a [Bootstrap] found for the model.
	Uncertainty *Uncertainty
	// Verdicts judge the K topics: see [Pipeline.Verdicts] and [metrics.Report].
	Verdicts []metrics.Verdict
	// Tokenizer splits raw text. Its setting must be that of the fit (Provenance.Text), of which
	// Own and the names of the tools are a part. A model of which no setting is known takes any.
	Tokenizer text.Tokenizer
}

// With returns a copy of the model that also holds the fields of x that are not nil, which are
// copied. It is an error if one does not suit the model.
func (m *Model) With(x Additions) (*Model, error) {
	out := *m
	if x.Names != nil {
		if out.add.Names = cloneNames(x.Names); len(x.Names) != m.k {
			return nil, errorf("names: are %d, want K = %d", len(x.Names), m.k)
		}
		if err := out.checkNames(); err != nil {
			return nil, errorf("names: %w", err)
		}
		out.names = sync.OnceValue(out.makeNames)
	}
	if x.Documents != nil {
		if err := x.Documents.Validate(m.k); err != nil {
			return nil, errorf("documents: %w", err)
		}
		out.add.Documents = x.Documents.clone()
	}
	if x.Uncertainty != nil {
		if err := x.Uncertainty.check(m.n, m.families()); err != nil {
			return nil, errorf("uncertainty: %w", err)
		}
		out.add.Uncertainty = x.Uncertainty.clone()
	}
	if x.Verdicts != nil {
		if err := checkVerdicts(x.Verdicts, m.k); err != nil {
			return nil, errorf("verdicts: %w", err)
		}
		out.add.Verdicts = slices.Clone(x.Verdicts)
	}
	if x.Tokenizer != nil {
		if err := out.split(x.Tokenizer); err != nil {
			return nil, wrap(err)
		}
	}
	return &out, nil
}

// Additions returns copies of what the model holds besides its fit, with the topics numbered as in
// the model.
func (m *Model) Additions() Additions {
	x := m.add
	x.Names, x.Verdicts = slices.Clone(x.Names), slices.Clone(x.Verdicts)
	x.Documents, x.Uncertainty = x.Documents.clone(), x.Uncertainty.clone()
	return x
}
