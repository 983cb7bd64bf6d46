package serve

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// uploads are the large bodies that are being read to be stored. They share the service equally,
// so with too many of them all would be late. One more is let in only if it and those before it
// can end in time at the present speed of the service, and if there will be memory for what is
// kept of all. Slow clients keep nobody out: an upload counts by the part of its time in which
// the service did not wait for its client.
type uploads struct {
	bodies *pool         // what memory there is
	within time.Duration // in which each should be read
	free   float64       // number that is let in at once whatever the speed
	mu     sync.Mutex
	of     map[*large]struct{}

	// Of those that are there, and that were there before them without a pause; guarded by mu.
	active int           // are being worked at: they do not wait for their clients
	since  time.Time     // when one came or changed last
	worked time.Duration // some were worked at
	done   int64         // bytes in that time
}

// large is a body that has been let in.
type large struct {
	in     *uploads
	client string
	size   int64
	begun  time.Time
	got    int64         // of which the service is done
	last   int           // bytes that came last, and are not in got
	kept   int64         // bytes of memory, of what was got
	waited time.Duration // for the client
	since  time.Time     // it waits for the client; zero: it does not
}

// newUploads leaves two thirds of the time of a request for storing what was read, one upload
// after the other, which takes up to twice as long as reading it.
func newUploads(bodies *pool, request time.Duration) *uploads {
	return &uploads{bodies: bodies, within: request / 3, free: float64(runtime.GOMAXPROCS(0)), of: make(map[*large]struct{})}
}

// settling is the time after which the speed of an upload is known. Until then it counts as one
// that does not wait for its client, and no more can settle at once than have settled: the first
// moments of the service say too little to let in many.
const settling = 100 * time.Millisecond

// usualKept is the memory that a byte of an upload takes, assumed before one is measured.
const usualKept = 1.25

// enter lets a body of the given size in; nil if it must wait.
func (u *uploads) enter(client string, size int64) *large {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if len(u.of) == 0 {
		u.worked, u.done = 0, 0
	}
	u.note(now, 0)
	next := &large{in: u, client: client, size: size, begun: now}
	busy, young, longest := 0.0, 0.0, size
	kept, more, own := -1.0, float64(size), float64(size) // memory by byte; bytes to come of all, and of this client
	for b := range u.of {
		waited := b.waited
		if !b.since.IsZero() {
			waited += now.Sub(b.since)
		}
		there := max(now.Sub(b.begun), settling)
		part := (there - waited).Seconds() / there.Seconds()
		busy += part
		if now.Sub(b.begun) < settling {
			young += part
		}
		longest = max(longest, b.size)
		if b.got >= 1<<20 {
			kept = max(kept, 1.1*float64(b.kept)/float64(b.got))
		}
		rest := part * float64(max(0, b.size-b.got))
		more += rest
		if b.client == client {
			own += rest
		}
	}
	if kept < 0 {
		kept = usualKept
	}
	speed := float64(u.done) / max(u.worked, settling).Seconds()
	late := busy >= u.free && (young >= busy/2 || float64(longest)*(busy+1) > speed*u.within.Seconds())
	if late || len(u.of) > 0 && !u.bodies.has(client, int64(kept*own), int64(kept*more)) {
		return nil
	}
	u.of[next] = struct{}{}
	u.active++
	return next
}

// note counts what has been done until now: n bytes more, and the time if any was worked at.
// What is long ago counts less.
func (u *uploads) note(now time.Time, n int64) {
	if u.active > 0 {
		u.worked += now.Sub(u.since)
	}
	u.since = now
	u.done += n
	if u.worked > u.within/4 {
		u.worked, u.done = u.worked/2, u.done/2
	}
}

// wait notes that the service is done with what has come, and waits for the client.
func (b *large) wait() {
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	b.since = time.Now()
	b.in.note(b.since, int64(b.last))
	b.in.active--
	b.got, b.last = b.got+int64(b.last), 0
}

// come notes that n bytes have come.
func (b *large) come(n int) {
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	now := time.Now()
	b.in.note(now, 0)
	b.in.active++
	b.waited += now.Sub(b.since)
	b.since = time.Time{}
	b.last = n
}

// keep notes that n bytes of memory are kept of what has come.
func (b *large) keep(n int64) {
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	b.kept += n
}

// leave notes that the body was stored, or was not.
func (b *large) leave() {
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	b.in.note(time.Now(), 0)
	if b.since.IsZero() {
		b.in.active--
	}
	delete(b.in.of, b)
}

// admit lets a body of the given size in. It waits for that at most so long that the answer
// can be there after Limits.Wait.
func (s *Service) admit(ctx context.Context, client string, size int64) (*large, *problem) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Limits.Wait/2)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if b := s.uploads.enter(client, size); b != nil {
			return b, nil
		}
		select {
		case <-again.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return nil, late(ctx)
			}
			p := busy(http.StatusServiceUnavailable, "the uploads in progress leave no time or no memory for another of %d bytes", size)
			p.retry = 5
			return nil, p
		}
	}
}
