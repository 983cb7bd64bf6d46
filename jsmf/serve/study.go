package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/effects"
	"github.com/jsmf-go/spectral/recover/refine"
)

// study holds how the topics of a model depend on the columns of the documents. It is made in
// the background, one column after the other, when the model serves.
type study struct {
	mu      sync.Mutex
	columns []studied
}

// studied is the result of a study for one column: effects, or why there are none.
type studied struct {
	column corpus.Column
	found  *effects.Effects // nil: nothing yet, or else
	why    string           // not
}

// Bounds of what is asked about one column.
const (
	maxLevels = 100 // of categories, beyond which a column names documents rather than groups them
	maxBins   = 60  // of times
	equalBins = 20  // of times that no calendar cuts into so few
)

func newStudy(columns []corpus.Column) *study {
	st := new(study)
	for _, c := range columns {
		st.columns = append(st.columns, studied{column: c})
	}
	return st
}

// all returns what there is now.
func (st *study) all() []studied {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.columns)
}

func (st *study) set(i int, found *effects.Effects, why string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.columns[i].found, st.columns[i].why = found, why
}

func (c *studied) done() bool { return c.found != nil || c.why != "" }

// bytes is the memory of what was found.
func (st *study) bytes() (n int64) {
	for _, c := range st.all() {
		if c.found != nil {
			n += int64(len(c.found.Rows())) * 24
		}
	}
	return n
}

// startStudy studies the columns by the model that serves, in the background. A refit
// has precedence: it stops the study, and starts another when it ends.
func (s *Service) startStudy() {
	m := s.current.Load()
	if m == nil || s.ctx.Err() != nil || !slices.ContainsFunc(m.study.all(), func(c studied) bool { return !c.done() }) {
		return
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopStudy()
	s.stopStudy = stop
	s.wg.Go(func() {
		defer stop()
		if end := s.background(ctx); end != nil {
			defer end()
			s.learnEffects(ctx, m)
		}
	})
}

// background waits until nothing else that takes the memory of a refit is being done; nil
// means that ctx has ended. The caller calls end.
func (s *Service) background(ctx context.Context) (end func()) {
	select {
	case s.fitting <- struct{}{}:
		s.limitMemory()
		return func() { <-s.fitting; s.limitMemory() }
	case <-ctx.Done():
		return nil
	}
}

// learnEffects studies the columns that are left, within Limits.Effects.
func (s *Service) learnEffects(all context.Context, m *served) {
	ctx, stop := context.WithTimeout(all, s.cfg.Limits.Effects)
	defer stop()
	begun := time.Now()
	s.documents.Lock()
	snap := s.held.Snapshot()
	s.documents.Unlock()
	docs, err := snap.Corpus()
	for i, c := range m.study.all() {
		if c.done() {
			continue
		}
		var found *effects.Effects
		why := err
		if err == nil {
			found, why = s.effectsOf(ctx, m.model, docs, c.column)
		}
		switch {
		case all.Err() != nil:
			return // another time
		case ctx.Err() != nil:
			why = fmt.Errorf("it was not done after %v", s.cfg.Limits.Effects)
			fallthrough
		case why != nil:
			s.cfg.Log.Warn("how topics depend on a column is not known", "column", c.column.Name, "reason", why)
			m.study.set(i, nil, shortenTo(why.Error(), 300))
		default:
			m.study.set(i, found, "")
		}
	}
	s.cfg.Log.Info("columns studied", "model", m.name.Version, "columns", len(s.columns), "took", time.Since(begun))
}

// effectsOf measures how the topics depend on one column.
func (s *Service) effectsOf(ctx context.Context, m *jsmf.Model, docs *corpus.Corpus, c corpus.Column) (_ *effects.Effects, err error) {
	defer func() { // as for requests: one failure is not the end of the service
		if v := recover(); v != nil {
			s.cfg.Log.Error("panic in a study", "column", c.Name, "panic", v, "stack", string(debug.Stack()))
			err = errors.New("the service failed; its log says why")
		}
	}()
	if m.Stats().Refine.Passes == 0 {
		return nil, errors.New("the model was not made by passes over documents, which are what is repeated")
	}
	term, err := termOf(docs.Metadata(), c)
	if err != nil {
		return nil, err
	}
	replicates := int64(min(s.cfg.Workers, 8)) // that are made at once
	need := replicates*refine.Bytes(refine.Passes{}, docs.NumDocs(), m.N(), int64(docs.NNZ()), m.K()) + 24*int64(m.N())*int64(m.K())
	if need > s.cfg.Limits.Fit {
		return nil, fmt.Errorf("it would take %d bytes of memory, more than %d", need, s.cfg.Limits.Fit)
	}
	return effects.Study{Terms: []effects.Term{term}, Bootstrap: s.cfg.bootstrap}.Run(ctx, jsmf.New(s.cfg.Topics).Workers(s.cfg.Workers), m, docs)
}

// termOf says how a column can explain topics, if it can.
func termOf(meta *corpus.Metadata, c corpus.Column) (t effects.Term, err error) {
	few := errors.New("no two documents have different values in it")
	switch c.Kind {
	case corpus.Number:
		x, known, err := meta.Numbers(c.Name)
		if err != nil {
			return t, err
		}
		least, most, ok := extremes(x, known, func(a, b float64) bool { return a < b })
		if !ok || least == most {
			return t, few
		}
		return effects.Number(c.Name), nil
	case corpus.Time:
		x, known, err := meta.Times(c.Name)
		if err != nil {
			return t, err
		}
		first, last, ok := extremes(x, known, time.Time.Before)
		if !ok || first.Equal(last) {
			return t, few
		}
		return effects.Time(c.Name, binsOf(last.Sub(first))), nil
	}
	levels, names, err := meta.Categories(c.Name)
	if err != nil {
		return t, err
	}
	has := make([]bool, len(names))
	n := 0
	for _, l := range levels {
		if l >= 0 && !has[l] {
			has[l] = true
			n++
		}
	}
	switch {
	case n < 2:
		return t, few
	case n > maxLevels:
		return t, fmt.Errorf("the documents have %d categories in it, more than %d", n, maxLevels)
	}
	return effects.Category(c.Name), nil
}

// extremes returns the least and the most of what is known; ok is false if nothing is.
func extremes[T any](x []T, known []bool, less func(a, b T) bool) (least, most T, ok bool) {
	for i, v := range x {
		if !known[i] {
			continue
		}
		if !ok || less(v, least) {
			least = v
		}
		if !ok || less(most, v) {
			most = v
		}
		ok = true
	}
	return least, most, ok
}

// binsOf cuts a time into days, weeks, months or years, the shortest that are not too many.
func binsOf(span time.Duration) effects.Bins {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		bins  effects.Bins
		least time.Duration
	}{{effects.Day, day}, {effects.Week, 7 * day}, {effects.Month, 28 * day}, {effects.Quarter, 90 * day}, {effects.Year, 365 * day}} {
		if span < (maxBins-1)*unit.least {
			return unit.bins
		}
	}
	return effects.Equal(equalBins)
}
