package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"golang.org/x/sync/semaphore"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// Service is the model that serves, the documents that are kept, and the refit
// that is running. It is safe for concurrent use.
type Service struct {
	cfg     Settings
	store   *store.Store
	current atomic.Pointer[served] // nil: no model yet
	metrics metrics
	handler http.Handler

	// documents guards that held is what the records up to seq add up to.
	documents sync.Mutex
	held      *held.Accumulator
	seq       uint64

	columns []corpus.Column // of the documents; they do not change after the start

	waiting sync.Mutex
	queue   []*change     // that wait to be written; guarded by waiting
	writer  chan struct{} // a token for the one request that writes
	write   func([]store.Record) (last uint64, err error)
	newest  int64 // the latest time that a document has had; the writer's
	ages    *ages // gives documents their times

	ctx context.Context    // of what runs in the background
	end context.CancelFunc // ends it

	mu     sync.Mutex
	refit  refitStatus
	closed func() error   // close, once
	wg     sync.WaitGroup // what runs in the background

	fitting   chan struct{}      // a token for a refit or a study
	stopStudy context.CancelFunc // of the last one; guarded by mu

	stopping atomic.Bool
	requests chan struct{} // a token for each request in progress
	work     chan struct{} // a token for each document being read or inferred

	bodies   *pool               // memory of requests: see hold
	uploads  *uploads            // large bodies in progress: see admit
	reading  *semaphore.Weighted // and turn
	limiting sync.Mutex
	limited  int64 // what MemoryLimit was told last; guarded by limiting

	clients clients
	conns   connections
}

// Open opens the folder dir, which is made if it is missing, and loads the newest good model and the
// documents in it. No other process may have the folder open. The caller calls Close in the end.
func Open(ctx context.Context, dir string, cfg Settings) (*Service, error) {
	return openFolder(ctx, dir, cfg, store.Options{})
}

func openFolder(ctx context.Context, dir string, cfg Settings, opt store.Options) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	opt.KeepModels, opt.Log = cfg.KeepModels, cfg.Log
	st, err := store.Open(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	s, err := newService(ctx, st, cfg)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return s, nil
}

// newService loads what a store holds.
func newService(ctx context.Context, st *store.Store, cfg Settings) (*Service, error) {
	s := &Service{
		cfg: cfg, store: st,
		requests: make(chan struct{}, cfg.Limits.Requests),
		bodies:   newPool(cfg.Limits.Work / 4),
		reading:  semaphore.NewWeighted(cfg.Limits.Work / 2),
		work:     make(chan struct{}, cfg.Limits.Inferring),
		writer:   make(chan struct{}, 1),
		fitting:  make(chan struct{}, 1),
		write:    st.Append,
		ages:     newAges(cfg),
	}
	s.uploads = newUploads(s.bodies, cfg.Limits.Request)
	s.conns.most = cfg.Limits.Connections
	s.clients = clients{most: cfg.Limits.PerClient, of: make(map[string]int)}
	s.refit.State, s.stopStudy = refitIdle, func() {}
	s.handler, s.closed = s.newHandler(), sync.OnceValue(s.close)
	if err := s.loadDocuments(ctx); err != nil {
		return nil, err
	}
	s.limitMemory()
	saved, ok, err := st.LoadModel(ctx)
	if err != nil {
		return nil, err
	}
	var m *served
	if ok {
		if m, err = serve(ctx, saved.Model); err != nil {
			return nil, err
		}
	}
	if err := s.measure(cfg.Meter); err != nil { // of what there is from here on
		return nil, fmt.Errorf("serve: %w", err)
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	if !ok {
		return s, nil
	}
	if _, err = s.swap(m, saved); err != nil {
		return nil, err
	}
	s.startIndex()
	return s, nil
}

// Import makes m the first model of a store that has none. Otherwise it does
// nothing and returns false.
func (s *Service) Import(ctx context.Context, m *jsmf.Model) (bool, error) {
	if s.current.Load() != nil {
		return false, nil
	}
	ready, err := serve(ctx, m)
	if err != nil {
		return false, err
	}
	saved, err := s.store.SaveModel(m)
	if err != nil {
		return false, err
	}
	if _, err = s.swap(ready, saved); err != nil {
		return true, err
	}
	s.startIndex()
	return true, nil
}

// swap makes a saved model the one that serves. Requests in progress finish with
// the previous one.
func (s *Service) swap(ready *served, saved store.Saved) (*served, error) {
	m, err := ready.named(saved)
	if err != nil {
		return nil, err
	}
	m.study = newStudy(s.columns)
	s.current.Store(m)
	s.metrics.swaps(1)
	s.limitMemory()
	s.cfg.Log.Info("model serves", "version", m.name.Version, "checksum", m.name.Checksum, "topics", m.model.K(), "words", m.model.N())
	return m, nil
}

// stop stops a refit and takes no other.
func (s *Service) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping.Store(true)
	s.end()
}

// Close stops a refit, waits for the requests in progress and closes the folder. Requests that come
// later are refused.
func (s *Service) Close() error { return s.closed() }

func (s *Service) close() error {
	s.stop()
	s.wg.Wait()
	for range cap(s.requests) {
		s.requests <- struct{}{}
	}
	if err := s.locked(func() error { return s.saveTime(false) }); err != nil {
		s.cfg.Log.Warn("the time since the last document could not be saved, and will not be counted", "error", err)
	}
	return s.store.Close()
}

// States of a refit.
const (
	refitIdle      = "idle" // there has been none since the start
	refitRunning   = "running"
	refitDone      = "done"
	refitFailed    = "failed"
	refitCancelled = "cancelled" // the service is stopping
)

// refitStatus describes the refit that runs, or else the last one.
type refitStatus struct {
	State     string     `json:"state"`
	Started   *time.Time `json:"started,omitempty"`
	Finished  *time.Time `json:"finished,omitempty"`
	Documents int        `json:"documents,omitempty"` // that it learns from
	Words     int        `json:"words,omitempty"`     // of the vocabulary
	Stage     string     `json:"stage,omitempty"`     // the step it is at
	Done      int        `json:"done,omitempty"`      // units of work of this step
	Total     int        `json:"total,omitempty"`     // units of work of this step in all; 0: not known
	From      *modelName `json:"from,omitempty"`      // the model it began with
	Model     *modelName `json:"model,omitempty"`     // what came out
	Drift     []*float64 `json:"drift,omitempty"`     // of each topic from that of From; null: it has none there
	Warnings  []string   `json:"warnings,omitempty"`
	Error     string     `json:"error,omitempty"`
}

func (s *Service) refitStatus() refitStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refit
}

// startRefit begins a refit in the background, unless one is running.
func (s *Service) startRefit(ask steering) (refitStatus, *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refit.State == refitRunning {
		return s.refit, fail(http.StatusConflict, "a refit is running")
	}
	if s.stopping.Load() {
		return s.refit, stopping()
	}
	now := time.Now().UTC()
	s.refit = refitStatus{State: refitRunning, Started: &now}
	from := s.current.Load()
	if from != nil {
		s.refit.From = from.called()
	}
	s.stopStudy()
	s.wg.Go(func() {
		var next *served
		err := s.ctx.Err()
		if end := s.background(s.ctx); end != nil {
			next, err = s.fit(s.ctx, from, ask)
			end()
		}
		defer s.startStudy()
		s.mu.Lock()
		defer s.mu.Unlock()
		end := time.Now().UTC()
		r := &s.refit
		r.Finished, r.Stage, r.Done, r.Total = &end, "", 0, 0
		took := end.Sub(now)
		switch {
		case err == nil:
			stats := next.model.Stats()
			r.State, r.Model, r.Drift, r.Warnings = refitDone, next.called(), next.drift, stats.Warnings
			for _, x := range stats.Edited.Splits {
				if !x.BorneOut() {
					r.Warnings = append(r.Warnings, x.String())
				}
			}
			s.cfg.Log.Info("refit done", "model", next.name.Version, "documents", r.Documents, "took", took)
		case s.ctx.Err() != nil:
			r.State = refitCancelled
			s.cfg.Log.Info("refit cancelled", "took", took)
		default:
			r.State, r.Error = refitFailed, refitError(err)
			level := slog.LevelError
			if errors.As(err, new(*dataError)) {
				level = slog.LevelWarn // the documents make no model
			}
			s.cfg.Log.Log(s.ctx, level, "refit failed", "error", err, "took", took)
		}
		s.metrics.refits(1, r.State)
		s.metrics.refitSeconds(took.Seconds())
	})
	return s.refit, nil
}

// refitError says to clients why a refit failed. Errors of the disk are for the log only.
func refitError(err error) string {
	if store.IsFull(err) {
		return "the disk is full"
	}
	var data *dataError
	if errors.As(err, &data) {
		return data.Error()
	}
	return "the service failed; its log says why"
}

// dataError is a failure that the documents cause.
type dataError struct{ err error }

func (e *dataError) Error() string { return e.err.Error() }
func (e *dataError) Unwrap() error { return e.err }

// ofData blames the documents for the error of a fit, unless it was cancelled.
func ofData(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return &dataError{err}
}

// fit learns a model from the documents that are kept, saves it and lets it serve.
func (s *Service) fit(ctx context.Context, from *served, ask steering) (_ *served, err error) {
	defer func() { // as for requests: one failure is not the end of the service
		if v := recover(); v != nil {
			err = fmt.Errorf("serve: panic: %v\n%s", v, debug.Stack())
		}
	}()
	s.documents.Lock()
	snap, seq := s.held.Snapshot(), s.seq
	s.documents.Unlock()
	docs, err := snap.Corpus()
	if err != nil {
		return nil, ofData(ctx, err)
	}
	s.mu.Lock()
	s.refit.Documents, s.refit.Words = docs.NumDocs(), docs.NumWords()
	s.mu.Unlock()
	p, err := s.pipeline(ctx, from, docs, ask)
	if err != nil {
		return nil, ofData(ctx, err)
	}
	m, err := p.Fit(ctx, docs)
	if err != nil {
		return nil, ofData(ctx, err)
	}
	if m, err = judged(ctx, p, m, docs); err != nil {
		return nil, ofData(ctx, err)
	}
	ready, err := serve(ctx, m)
	if err != nil { // such as correlations that are no probabilities
		return nil, ofData(ctx, err)
	}
	ready.index, ready.noIndex = s.indexOf(ctx, m, snap, docs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	saved, err := s.store.SaveModel(m)
	if err != nil {
		return nil, err
	}
	next, err := s.swap(ready, saved)
	if err != nil {
		return nil, err
	}
	err = s.locked(func() error { return s.saveTime(true) }) // snapshots do not hold it
	if err == nil {
		err = s.saveSnapshot(snap, seq)
	}
	if err != nil { // the log has it all
		s.cfg.Log.Warn("the documents could not be saved in one file; the log grows on", "error", err)
	}
	return next, nil
}

// saveSnapshot writes what the records up to number seq add up to.
func (s *Service) saveSnapshot(snap *held.Snapshot, seq uint64) error {
	return s.store.SaveSnapshot(seq, func(w io.Writer) error {
		_, err := snap.WriteTo(w)
		return err
	})
}

// locked calls f while nobody else writes to the log.
func (s *Service) locked(f func() error) error {
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	return f()
}

// follow keeps the status of the refit up to date.
func (s *Service) follow(e jsmf.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.refit
	switch e.Kind {
	case jsmf.EventStart:
		st.Stage, st.Done, st.Total = string(e.Stage), 0, 0
	case jsmf.EventProgress:
		st.Done, st.Total = e.Done, e.Total
	case jsmf.EventWarning:
		s.cfg.Log.Warn("refit", "stage", e.Stage, "warning", e.Message)
	}
}
