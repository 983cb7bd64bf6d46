package serve

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Memory of requests. Limits.Work is what all requests in progress may take, not counting
// the documents and the model that are held. A quarter is for bodies and for what is
// kept of them until they are answered, half for documents that are being read: a
// request takes its part before it reads, as if the document were the worst of its
// length. The rest is for connections and for memory that waits to be collected.

const (
	// The most bytes that reading a document may allocate, from JSON to the counts of
	// its words, by byte of it; tests try the worst. Wide bytes are those beyond ASCII,
	// of which Unicode normal forms can make eleven times as many. An escape counts as
	// one, \uXXXX as three: it may be such a character.
	plainBytes = 64
	wideBytes  = 255
	readBytes  = 32 << 10 // whatever the length

	bodyBytes = 96 << 10 // of any body: buffers and a gzip reader
	gzipBytes = 64 << 10 // of a gzipped one in addition: the header of a member
)

// readCost bounds the memory that reading a document takes.
func readCost(b []byte) int64 {
	wide := int64(0)
	for i, c := range b {
		switch {
		case c >= 0x80:
			wide++
		case c == '\\' && i+1 < len(b) && b[i+1] == 'u':
			wide += 3
		case c == '\\':
			wide++
		}
	}
	return readBytes + plainBytes*int64(len(b)) + (wideBytes-plainBytes)*wide
}

// worstCost is the memory that the worst document of this size takes.
func worstCost(bytes int64) int64 { return readBytes + wideBytes*bytes }

// pool is the memory for bodies. Requests that wait for their first part let those
// pass that have one and need more.
type pool struct {
	mu    sync.Mutex
	most  int64
	taken int64
	of    map[string]int64 // by client: no more than half
	freed chan struct{}    // closed when memory is given back
}

func newPool(most int64) *pool {
	return &pool{most: most, of: make(map[string]int64), freed: make(chan struct{})}
}

// take takes n bytes for a client if it can. If not, it is worth another try once freed is closed.
func (p *pool) take(client string, n int64) (ok bool, freed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken+n > p.most || p.of[client]+n > p.most/2 {
		return false, p.freed
	}
	p.taken += n
	p.of[client] += n
	return true, nil
}

// has reports whether n bytes are free for a client, and all bytes for it and others.
func (p *pool) has(client string, n, all int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken+all <= p.most && p.of[client]+n <= p.most/2
}

func (p *pool) free(client string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken -= n
	if p.of[client] -= n; p.of[client] == 0 {
		delete(p.of, client)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

// hold is what one request has taken of the memory for bodies.
type hold struct {
	of     *pool
	client string
	n      int64
}

// hold takes memory for a body before it is read, and waits for it.
func (s *Service) hold(ctx context.Context, client string, n int64) (*hold, *problem) {
	h := &hold{of: s.bodies, client: client}
	if n > h.of.most/2 {
		return nil, noMemory(true)
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.Limits.Wait)
	defer cancel()
	for {
		ok, freed := h.of.take(h.client, n)
		if ok {
			h.n = n
			return h, nil
		}
		select {
		case <-freed:
		case <-limited.Done():
			if ctx.Err() != nil {
				return nil, late(ctx)
			}
			return nil, noMemory(false)
		}
	}
}

// take takes more without waiting: others might be waiting for what this request holds.
func (h *hold) take(n int64) *problem {
	if h.n+n > h.of.most/2 {
		return noMemory(true)
	}
	if ok, _ := h.of.take(h.client, n); !ok {
		return noMemory(false)
	}
	h.n += n
	return nil
}

func (h *hold) free() {
	h.of.free(h.client, h.n)
	h.n = 0
}

func noMemory(ever bool) *problem {
	if ever {
		return fail(http.StatusRequestEntityTooLarge, "the request takes more memory than one client may have")
	}
	return busy(http.StatusServiceUnavailable, "the requests in progress, or those of this client, take all the memory there is for them")
}

// turn waits until a document may be read and inferred. Reading needs memory, and both need a
// processor. The caller calls end afterwards.
func (s *Service) turn(ctx context.Context, cost int64, wait time.Duration) (end func(), p *problem) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case s.work <- struct{}{}:
		if s.reading.Acquire(limited, cost) == nil {
			return func() { s.reading.Release(cost); <-s.work }, nil
		}
		<-s.work
	case <-limited.Done():
	}
	if ctx.Err() != nil || wait <= 0 {
		return nil, late(ctx)
	}
	return nil, busy(http.StatusServiceUnavailable, "too many or too large documents are being read")
}

// limitMemory says how much memory the process should take now.
func (s *Service) limitMemory() {
	if s.cfg.MemoryLimit == nil {
		return
	}
	const step = 16 << 20 // less is not worth a change
	n := s.held.Stats().Bytes + s.cfg.Limits.Work
	if m := s.current.Load(); m != nil {
		n += m.bytes()
	}
	if len(s.fitting) > 0 {
		n += s.cfg.Limits.Fit
	}
	n = (n + step - 1) / step * step
	s.limiting.Lock()
	defer s.limiting.Unlock()
	if n != s.limited {
		s.limited = n
		s.cfg.MemoryLimit(n)
	}
}

// bytes estimates the memory of a model, the tables of its inference, its answers, its
// index and its study.
func (s *served) bytes() int64 {
	n, k := int64(s.model.N()), int64(s.model.K())
	return 56*n*k + 256*(n+k*k) + s.index.size() + s.study.bytes()
}
