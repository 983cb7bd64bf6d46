package effects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/jsmf"
)

// Run finds the effects of the terms on the topics of m, the model that p has made of in.
//
// The proportions of a document with the words n are
//
//	(BᵀDB)⁻¹ BᵀD n/Σn,  D = diag(1/p(word)),
//
// weighted least squares without bounds or a prior: right on average if the topics B are,
// however short the document. The terms explain them by a regression in which a document
// counts by its weight ([corpus.Corpus.WithWeights]), long and short ones alike. Shares and
// predictions are then the proportions, not negative and of sum 1, whose words are nearest to
// those of the regression. Differences are between these, and slopes come from the regression
// itself.
//
// An interval comes from the warm replicates of the Bootstrap, each with topics of its own, and from
// the drawn ones, in which the true effects are known: see [jsmf.Uncertainty]. A bias that these show
// for sure is taken off (Interval.Bias), and there is room for one as large. An interval is cut off
// where numbers end, and withheld where a topic changes more than half of its words when it is learned
// again. Three corrections keep few documents from seeming too certain, and of fewer than ten
// nothing is told (Point.Few). In replicates the distance of a document from the
// regression is enlarged by 1/(1 − its leverage), as in the standard errors HC3 (MacKinnon and
// White 1985), and in clusters by what the regression follows of all of the cluster (CV3, MacKinnon,
// Nielsen and Webb 2023). The variance of n documents at a point counts n − 1 times, and next to it that of
// all documents four times, as in moderated t-statistics (Smyth 2004); clusters have theirs alone. And t is
// the quantile of Student's distribution with n + 3 degrees of freedom, of n clusters n − 1, or one less than
// the replicates if that is fewer. Topics with nearly the same words are not told apart (Effects.Alike).
//
// How often intervals hold what was planted is counted in examples/experiments (doubt).
//
// The result is the same to the bit for any number of goroutines, and for any order of
// documents that are in memory and all have ids. Cost: P³ once, for P levels, bins and pairs of them; for
// each replicate, in addition to that of Bootstrap.Replicates, K times the nonzero counts, N·K² and P²·K.
// Memory: the documents, encoded, 24·N·K and 24·P² bytes.
//
// Errors: settings out of range; no documents, no metadata, or no document that counts; a term that
// cannot be told (Prune); topics that are linearly dependent; those of Bootstrap.Replicates, and ctx's.
func (s Study) Run(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input) (*Effects, error) {
	e, err := s.Begin(ctx, m, in)
	if err != nil {
		return nil, err
	}
	if err := s.replicate(ctx, p, m, in, e.docs, e.Add); err != nil {
		return nil, err
	}
	return e.Effects(), nil
}

// replicate passes the warm and the drawn replicates to add.
func (s Study) replicate(ctx context.Context, p jsmf.Pipeline, m *jsmf.Model, in jsmf.Input, docs *documents, add func(context.Context, *jsmf.Replicate) error) error {
	if again := docs.given; again.Corpus == nil {
		in = again.Input() // which need not be read again
	}
	s.Bootstrap.Cold = -1
	for x, err := range s.Bootstrap.Replicates(ctx, p, m, in) {
		if err == nil {
			err = add(ctx, x)
		}
		if err != nil {
			return errs.Wrap("effects", err)
		}
	}
	return nil
}

// Estimator finds the effects of a Study from replicates that are made elsewhere:
//
//	e, err := study.Begin(ctx, model, documents)
//	u, err := study.Bootstrap.Run(ctx, pipeline, model, documents, e.Add)
//	found := e.Effects()
//
// It is not safe for concurrent use.
type Estimator struct {
	docs *documents
	r    *regression
	sum  *summary

	level float64
}

// Begin reads the documents and finds the effects on the topics of m, without intervals. in is
// what the replicates are made of.
func (s Study) Begin(ctx context.Context, m *jsmf.Model, in jsmf.Input) (_ *Estimator, err error) {
	defer func() { err = errs.Wrap("effects", err) }()
	docs, err := s.read(ctx, m, in)
	if err != nil {
		return nil, err
	}
	designs, err := newDesigns(ctx, s.Terms, docs.meta, docs.own, s.Bootstrap.Cluster)
	if err != nil {
		return nil, err
	}
	e := &Estimator{docs: docs, r: newRegression(docs, designs), sum: newSummary(designs, m.K(), quantities(m)), level: cmp.Or(s.Bootstrap.Level, 0.95)}
	if err := e.r.of(ctx, mat.DenseCopyOf(m.Topics()), m.TopicShares(), docs.own, original); err != nil {
		return nil, err
	}
	if err := e.sum.estimate(ctx, e.r); err != nil {
		return nil, err
	}
	return e, nil
}

// read checks what is given and reads the documents.
func (s Study) read(ctx context.Context, m *jsmf.Model, in jsmf.Input) (*documents, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("no model")
	}
	if in == nil {
		return nil, errors.New("no documents")
	}
	return readDocuments(ctx, m, in)
}

// Add takes a replicate of the model into the intervals. Cold ones do not count.
func (e *Estimator) Add(ctx context.Context, x *jsmf.Replicate) error {
	switch {
	case x.Cold:
		return nil
	case x.Drawn != nil:
		if err := e.addDrawn(ctx, x); err != nil {
			return fmt.Errorf("drawn replicate %d: %w", x.Number, err)
		}
		return nil
	}
	err := e.r.of(ctx, mat.DenseCopyOf(x.Model.Topics()), x.Model.TopicShares(), e.docs.given.In(x.Weights), x.Number)
	if err == nil {
		err = e.sum.add(e.r, x.Matched)
	}
	if err != nil {
		return fmt.Errorf("replicate %d: %w", x.Number, err)
	}
	return nil
}

// addDrawn compares what is found in drawn documents with what they hold.
func (e *Estimator) addDrawn(ctx context.Context, x *jsmf.Replicate) error {
	docs, err := e.docs.redrawn(ctx, x.Model, x.Drawn.Documents)
	if err != nil {
		return err
	}
	found := *e.r
	found.docs = docs
	if err := found.of(ctx, mat.DenseCopyOf(x.Model.Topics()), x.Model.TopicShares(), docs.own, original); err != nil {
		return err
	}
	truth := found
	truth.docs, truth.theta = e.docs, x.Drawn.Proportions
	if err := truth.regress(ctx, docs.own, original); err != nil {
		return err
	}
	return e.sum.addDrawn(&found, &truth, x)
}

// Effects returns what is found, with intervals from the replicates that were added.
func (e *Estimator) Effects() *Effects {
	out, all := e.sum.effects(e.level), e.r.fits[0]
	out.Documents, out.Missing, out.Alike = len(all.docs), len(e.docs.own)-len(all.docs), e.r.alike
	out.Units = all.units
	return out
}

// quantities are the topics of m and the coarsest families of its tree.
func quantities(m *jsmf.Model) (out []Quantity) {
	for k, name := range m.Names() {
		out = append(out, Quantity{name, []int{k}})
	}
	if tree := m.Tree(); tree != nil {
		names := m.Cut(0).Names()
		for g, topics := range tree.Members(0) {
			out = append(out, Quantity{fmt.Sprintf("%s (all %d)", names[g], len(topics)), topics})
		}
	}
	return out
}

// Study asks how topic proportions depend on what is known of documents: on columns of
// their metadata.
type Study struct {
	// Terms are at least one. Adjusted effects add up: each holds while the columns of the
	// others stay as they are. There are at most 5000 levels, bins and pairs of them.
	Terms []Term

	// Bootstrap makes the replicates for the intervals. Warm, Drawn, Cluster, Level and Seed count;
	// no cold replicates are made.
	Bootstrap jsmf.Bootstrap
}

// Validate reports all settings that are out of range, joined into one error. What depends
// on the model and the metadata is checked by Run.
func (s Study) Validate() error {
	var list []error
	add := func(format string, args ...any) { list = append(list, fmt.Errorf("effects: "+format, args...)) }
	if len(s.Terms) == 0 {
		add("no terms")
	}
	columns := map[string]part{}
	for i, t := range s.Terms {
		if err := t.validate(); err != nil {
			add("term %d: %w", i+1, err)
			continue
		}
		for j, u := range s.Terms[:i] {
			if slices.Equal(t.parts, u.parts) {
				add("terms %d and %d are the same: %v", j+1, i+1, t)
			}
		}
		for _, p := range t.parts {
			if other, ok := columns[p.column]; ok && other != p {
				add("term %d, %v: column %q is already in another term in another form", i+1, t, p.column)
			}
			columns[p.column] = p
		}
	}
	if s.Bootstrap.Warm < 0 {
		add("Bootstrap.Warm = %d; want 0 for 100, or more", s.Bootstrap.Warm)
	} else if err := s.Bootstrap.Validate(); err != nil {
		add("%w", err)
	}
	return errors.Join(list...)
}

// Prune returns the study without the terms that documents with this metadata cannot tell, with a
// sentence for each: one whose column holds one value only, or of which nothing is left when the terms
// before it are known. It needs no model and can be asked before a fit. All terms may go. Begin and Run
// return such a term as an error.
func (s Study) Prune(ctx context.Context, meta *corpus.Metadata) (Study, []string, error) {
	if err := s.Validate(); err != nil {
		return s, nil, err
	}
	var notes []string
	for len(s.Terms) > 0 {
		_, err := newDesigns(ctx, s.Terms, meta, slices.Repeat([]float64{1}, meta.NumDocs()), "")
		var u *untold
		if !errors.As(err, &u) {
			return s, notes, err
		}
		notes = append(notes, fmt.Sprintf("%v is left out: %s", s.Terms[u.term], u.why))
		s.Terms = slices.Delete(slices.Clone(s.Terms), u.term, u.term+1)
	}
	return s, notes, nil
}
