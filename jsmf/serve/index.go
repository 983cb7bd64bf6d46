package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/find"
)

// index is what a model says of the documents that were kept when it was made. It never
// changes: documents that were stored later are in the next one, and those that have gone
// since are not found.
type index struct {
	docs   *find.Documents    // nil: there was no document
	shares *jsmf.Compositions // their topics, for the report; nil likewise
	ids    []string
	at     []int64          // the times by which they are told from later ones of the same ids
	known  []bool           // whether the model knows words of them
	values [][]corpus.Value // shared with what is held
	bytes  int64
}

const (
	indexBytes   = 160 // of an index, for each document
	indexTopic   = 24  // and for each document and topic
	indexingMore = 8   // likewise, while it is made
)

var errTooManyDocuments = errors.New("they take too much memory to compare them")

// makeIndex finds the topics of the documents of a snapshot; docs is its corpus.
func (s *Service) makeIndex(ctx context.Context, m *jsmf.Model, snap *held.Snapshot, docs *corpus.Corpus) (*index, error) {
	n, k := int64(docs.NumDocs()), int64(m.K())
	x := &index{bytes: n * (indexBytes + indexTopic*k)}
	for i := range docs.NumDocs() {
		x.bytes += int64(len(snap.Document(i).ID))
	}
	if x.bytes > s.cfg.Limits.Memory-s.held.Stats().Bytes || x.bytes+indexingMore*n*k > s.cfg.Limits.Fit {
		return nil, errTooManyDocuments
	}
	if n == 0 {
		return x, nil
	}
	c, err := m.Transform(ctx, docs.Source())
	if err != nil {
		return nil, err
	}
	if x.docs, err = find.NewDocuments(m, c); err != nil {
		return nil, err
	}
	x.shares = c
	x.ids, x.at, x.known, x.values = c.IDs, make([]int64, n), make([]bool, n), make([][]corpus.Value, n)
	for i := range x.at {
		d := snap.Document(i)
		x.at[i], x.values[i], x.known[i] = d.At, d.Values, c.Docs[i].Tokens > 0
	}
	return x, nil
}

// size is the memory of an index, 0 for nil.
func (x *index) size() int64 {
	if x == nil {
		return 0
	}
	return x.bytes
}

// row returns the row of a document that is kept, if the index has it.
func (x *index) row(d held.Document) (int, bool) {
	if x.docs == nil {
		return 0, false
	}
	row, ok := x.docs.Index(d.ID)
	return row, ok && x.at[row] == d.At
}

// startIndex makes the index of the model that serves, in the background, unless a refit
// brings another model meanwhile.
func (s *Service) startIndex() {
	m := s.current.Load()
	if m == nil || s.ctx.Err() != nil {
		return
	}
	s.wg.Go(func() {
		end := s.background(s.ctx)
		if end == nil {
			return
		}
		defer s.startStudy()
		defer end()
		s.documents.Lock()
		snap := s.held.Snapshot()
		s.documents.Unlock()
		next := *m
		docs, err := snap.Corpus()
		switch {
		case errors.Is(err, corpus.ErrEmptyVocabulary):
			next.index = new(index)
		case err != nil:
			next.noIndex = s.noIndex(err)
		default:
			next.index, next.noIndex = s.indexOf(s.ctx, m.model, snap, docs)
		}
		if s.ctx.Err() == nil {
			s.current.CompareAndSwap(m, &next)
		}
	})
}

// indexOf makes an index, or says why there is none: the model serves without.
func (s *Service) indexOf(ctx context.Context, m *jsmf.Model, snap *held.Snapshot, docs *corpus.Corpus) (x *index, why *problem) {
	defer func() { // as for requests: one failure is not the end of the service
		if v := recover(); v != nil {
			x, why = nil, s.noIndex(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	x, err := s.makeIndex(ctx, m, snap, docs)
	if err != nil && ctx.Err() == nil {
		why = s.noIndex(err)
	}
	return x, why
}

// noIndex says why there is no index, to the log and to clients.
func (s *Service) noIndex(err error) *problem {
	s.cfg.Log.Warn("the documents cannot be compared by this model", "error", err)
	p := internal(err)
	if errors.Is(err, errTooManyDocuments) {
		p = fail(http.StatusInsufficientStorage, "the documents that are kept are too many to compare them in the memory there is for them")
	}
	return p
}
