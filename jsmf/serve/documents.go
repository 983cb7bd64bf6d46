package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// The kinds of records in the log. Number 1 was of documents without a time.
const (
	opDelete store.Op = 2 // an id
	opPut    store.Op = 3 // a time, 8 bytes, and then a logged document
	opWindow store.Op = 4 // a window
	opTime   store.Op = 5 // the time, and what the clock says beyond it

	opColumns store.Op = 6 // columns that documents have from here on, in addition to those before
)

// logged is a document in the log. Its time is when it was stored, in microseconds (see
// ages): later than that of every document before it.
type logged struct {
	ID     string          `json:"id"`
	Words  []string        `json:"words"` // each once
	Counts []int32         `json:"counts"`
	Values json.RawMessage `json:"values,omitempty"` // as parseValues reads them
}

const timeBytes = 8

// window says which documents are held, and their weights. It is a record of the log, so that a
// replay drops the same documents at the same places.
type window struct {
	Documents int     `json:"documents"`
	MaxAge    int64   `json:"max_age"` // in the units of times
	HalfLife  float64 `json:"half_life"`
}

func (c Settings) window() window {
	return window{c.Window, c.MaxAge.Microseconds(), float64(c.HalfLife.Nanoseconds()) / 1e3}
}

func windowOf(o held.Options) window { return window{o.Window, o.MaxAge, o.HalfLife} }

func (s *Service) loadDocuments(ctx context.Context) error {
	// Without MaxBytes: plan sees to it, so that what was acknowledged can be
	// loaded under any limit. Without the window: the log has it.
	set := tokenizer.Setting()
	want := held.Options{Text: &set, StopWords: s.cfg.StopWords, MinDocs: s.cfg.MinDocs, MaxWords: s.cfg.MaxWords}
	seq, err := s.store.LoadSnapshot(ctx, func(r io.Reader) error {
		s.held = new(held.Accumulator)
		_, err := s.held.ReadFrom(r)
		return err
	})
	if err != nil {
		return err
	}
	if seq == 0 {
		if s.held, err = held.New(want); err != nil {
			return err
		}
	} else if have := s.held.Options(); have.MinDocs != want.MinDocs || have.MaxWords != want.MaxWords || !slices.Equal(have.StopWords, want.StopWords) {
		return fmt.Errorf("serve: the documents were gathered with MinDocs %d, MaxWords %d and %d stop words, not %d, %d and %d (or others): these cannot change afterwards",
			have.MinDocs, have.MaxWords, len(have.StopWords), want.MinDocs, want.MaxWords, len(want.StopWords))
	}
	if have := s.held.Options().Text; have == nil || !have.Equal(set) {
		return fmt.Errorf("serve: the texts of the documents were split into words by the setting %v, not by %v: this cannot change afterwards", have, set)
	}
	s.newest, s.columns = s.held.Stats().Newest, s.held.Options().Columns
	n := 0
	err = s.store.Replay(ctx, seq, func(seq uint64, r store.Record) error {
		n++
		if err := s.replay(r); err != nil {
			return fmt.Errorf("serve: record %d of the log: %w", seq, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.seq = s.store.Last()
	if err := s.countTime(); err != nil {
		return err
	}
	if err := s.setWindow(); err != nil {
		return err
	}
	if err := s.setColumns(); err != nil {
		return err
	}
	stats := s.held.Stats()
	s.cfg.Log.Info("documents loaded", "documents", stats.Docs, "words", stats.Words, "snapshot", seq, "replayed", n)
	return nil
}

// replay does what a record says.
func (s *Service) replay(r store.Record) error {
	switch r.Op {
	case opPut:
		if len(r.Data) < timeBytes {
			return errors.New("it has no time")
		}
		at := int64(binary.LittleEndian.Uint64(r.Data))
		s.newest = max(s.newest, at)
		var d logged
		if err := json.Unmarshal(r.Data[timeBytes:], &d); err != nil {
			return err
		}
		var values []corpus.Value
		if d.Values != nil {
			var p *problem
			if values, p = parseValues(json.NewDecoder(bytes.NewReader(d.Values)), s.columns); p != nil {
				return p
			}
		}
		return s.held.AddAt(corpus.Document{ID: d.ID, Tokens: d.Words, Counts: d.Counts, Values: values}, at)
	case opDelete:
		s.held.Remove(string(r.Data)) // it may have gone by itself: see commit
		return nil
	case opWindow:
		var w window
		if err := json.Unmarshal(r.Data, &w); err != nil {
			return err
		}
		_, err := s.held.SetWindow(w.Documents, w.MaxAge, w.HalfLife)
		return err
	case opTime:
		var at ageRecord
		if err := json.Unmarshal(r.Data, &at); err != nil {
			return err
		}
		for _, g := range at.Counted {
			if _, err := s.held.Backdate(g.Before, g.By); err != nil {
				return err
			}
		}
		at.Counted, s.ages.at = nil, at
		return nil
	case opColumns:
		var added []corpus.Column
		if err := json.Unmarshal(r.Data, &added); err != nil {
			return err
		}
		return s.addColumns(added)
	}
	return fmt.Errorf("it is of kind %d: was it written by another version?", r.Op)
}

// setWindow switches to the window of the configuration if it is not that of the log.
func (s *Service) setWindow() error {
	want := s.cfg.window()
	if windowOf(s.held.Options()) == want {
		return nil
	}
	b, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if s.seq, err = s.store.Append([]store.Record{{Op: opWindow, Data: b}}); err != nil {
		return err
	}
	gone, err := s.held.SetWindow(want.Documents, want.MaxAge, want.HalfLife)
	if err != nil {
		return err
	}
	s.cfg.Log.Info("another window than before", "documents", s.cfg.Window, "max age", s.cfg.MaxAge, "half-life", s.cfg.HalfLife, "let go", gone)
	return nil
}

// incoming is a document that is ready to be kept, as the log has it. Its time is
// still to come.
type incoming struct {
	id   string
	data []byte
}

// readIncoming reads a document to keep.
func readIncoming(raw []byte, columns []corpus.Column, lim Limits) (in incoming, p *problem) {
	d, p := parseDocument(raw, columns, lim)
	switch {
	case p != nil:
		return in, p
	case d.id == "":
		return in, inField("id", "a document to keep needs an id")
	case d.kind == "ids":
		return in, inField("ids", "word numbers are those of one model; want text or words")
	}
	words, counts, p := d.tokens(tokenizer, lim)
	if p != nil {
		return in, p
	}
	values, err := encodeValues(columns, d.values)
	if err != nil {
		return in, internal(err)
	}
	if len(values) > maxValues {
		return in, inField("values", "the values have %d bytes, more than %d", len(values), maxValues)
	}
	b, err := json.Marshal(logged{d.id, words, counts, values})
	if err != nil {
		return in, internal(err)
	}
	return incoming{strings.Clone(d.id), append(make([]byte, timeBytes, timeBytes+len(b)), b...)}, nil
}

// bytes is about the memory it takes until it is stored and answered.
func (d *incoming) bytes() int64 { return int64(len(d.data)+2*len(d.id)) + 512 }

// change is what one request wants of the documents.
type change struct {
	put    []incoming // to keep these,
	remove string     // or else, where it is not empty, to delete this one

	// The outcome, once done is closed.
	stored int
	there  []string // ids that were there before
	p      *problem
	done   chan struct{}
}

// add stores all documents or none. It leaves out those whose id is already stored, and returns
// these ids. When it returns, the documents are on the disk.
func (s *Service) add(docs []incoming) (stored int, there []string, p *problem) {
	c := &change{put: docs}
	s.change(c)
	return c.stored, c.there, c.p
}

// remove deletes a document, durably.
func (s *Service) remove(id string) *problem {
	c := &change{remove: id}
	s.change(c)
	return c.p
}

// change makes a change. One request at a time writes, for all that are waiting:
// so they share one fsync. The others wait until theirs has been written or it is
// their turn to write.
func (s *Service) change(c *change) {
	c.done = make(chan struct{})
	s.waiting.Lock()
	s.queue = append(s.queue, c)
	s.waiting.Unlock()
	for {
		select {
		case <-c.done:
			return
		case s.writer <- struct{}{}:
		}
		func() {
			defer func() { <-s.writer }()
			s.commit(s.next())
		}()
	}
}

// maxBatch bounds the bytes of what is written at once, unless it is one change.
const maxBatch = 64 << 20

// next takes the changes that are to be written together off the queue.
func (s *Service) next() []*change {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	n, size := 0, 0
	for ; n < len(s.queue); n++ {
		for _, d := range s.queue[n].put {
			size += len(d.data)
		}
		if n > 0 && size > maxBatch {
			break
		}
	}
	batch := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n) // which forgets them
	return batch
}

// commit writes changes to the log, with one fsync, and then makes them, in the
// order of the log: a replay does the same. The caller is the writer.
func (s *Service) commit(batch []*change) {
	defer func() { // whatever comes, nobody waits for ever
		for _, c := range batch {
			select {
			case <-c.done:
			default:
				c.stored, c.there, c.p = 0, nil, internal(errors.New("the change was not made"))
				close(c.done)
			}
		}
	}()
	var recs []store.Record
	size := s.held.Stats().Bytes
	if m := s.current.Load(); m != nil {
		size += m.index.size()
	}
	there := make(map[string]bool) // of the ids in this batch, whether they are there after it
	newest, now := s.newest, s.readTime()
	for _, c := range batch {
		c.stored, c.there, c.p = 0, nil, nil
		if c.remove != "" {
			// A document that has left the window by an earlier change of the batch is deleted
			// all the same, which has no effect.
			if is, ok := there[c.remove]; !(is || !ok && s.held.Has(c.remove)) {
				c.p = noDocument(c.remove)
				continue
			}
			there[c.remove] = false
			recs = append(recs, store.Record{Op: opDelete, Data: []byte(c.remove)})
			continue
		}
		if size >= s.cfg.Limits.Memory {
			c.p = fail(http.StatusInsufficientStorage, "the documents take %d bytes of memory, the most there may be; nothing was stored", size)
			continue
		}
		for i := range c.put {
			d := &c.put[i]
			if is, ok := there[d.id]; is || !ok && s.held.Has(d.id) {
				c.there = append(c.there, d.id)
				continue
			}
			there[d.id] = true
			newest = max(newest+1, now)
			binary.LittleEndian.PutUint64(d.data, uint64(newest))
			recs = append(recs, store.Record{Op: opPut, Data: d.data})
			size += int64(len(d.data)) // about what it will take
			c.stored++
		}
	}
	written, aged, last := recs, false, uint64(0)
	var err error
	if len(recs) > 0 { // the time alone can wait
		var age store.Record
		if age, aged, err = s.ages.record(false); aged {
			written = append([]store.Record{age}, recs...)
		}
	}
	if err == nil {
		last, err = s.write(written)
	}
	if err != nil {
		if len(batch) > 1 { // those that there is room for are not to suffer for the others
			for _, c := range batch {
				s.commit([]*change{c})
			}
			return
		}
		for _, c := range batch {
			if c.p == nil {
				c.stored, c.there, c.p = 0, nil, s.storageProblem(err)
			}
		}
	} else if p := s.apply(recs, last); p != nil {
		for _, c := range batch {
			c.p = p
		}
	} else if s.newest = newest; len(recs) > 0 {
		s.metrics.commits(1)
		s.ages.written(now, aged)
		s.limitMemory()
	}
	for _, c := range batch {
		close(c.done)
	}
}

// apply does what has been written, as a replay does: one document at a time is
// decoded.
func (s *Service) apply(recs []store.Record, last uint64) *problem {
	s.documents.Lock()
	defer s.documents.Unlock()
	evicted := s.held.Stats().Evicted
	defer func() { s.metrics.evicted(float64(s.held.Stats().Evicted - evicted)) }()
	for _, r := range recs {
		// All that replay refuses was refused when the document was read.
		if err := s.replay(r); err != nil {
			return internal(err)
		}
	}
	s.seq = last
	return nil
}

func (s *Service) storageProblem(err error) *problem {
	p := fail(http.StatusInsufficientStorage, "the disk is full; nothing was stored")
	if !store.IsFull(err) {
		p = fail(http.StatusServiceUnavailable, "the disk does not take what is to be stored")
	}
	p.retry, p.cause = 60, err
	return p
}
