package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// testClock is a clock whose wall clock can be set.
type testClock struct {
	mu      sync.Mutex
	wall    time.Time
	running time.Duration
}

func (c *testClock) read() (time.Time, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall, c.running
}

// pass lets time pass, as the process sees it.
func (c *testClock) pass(d time.Duration) {
	c.set(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running += d
}

// set sets the wall clock on; while no process runs time passes so too.
func (c *testClock) set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

const year = 365 * 24 * time.Hour

// uncounted is what /healthz says of the clock.
func uncounted(t *testing.T, s *Service) time.Duration {
	t.Helper()
	h := decode[struct {
		Clock float64 `json:"clock_uncounted_seconds"`
	}](t, want(t, s, "GET", "/healthz", "", "", 200))
	return time.Duration(h.Clock * float64(time.Second)).Round(time.Second)
}

// A clock that is set on by a year lets no document go and takes no weight from any; those
// that were stored meanwhile have their true ages after it is put back.
func TestClockJump(t *testing.T) {
	c := &testClock{wall: time.Unix(2e9, 0)}
	dir := t.TempDir()
	var log bytes.Buffer
	cfg := Settings{MaxAge: 720 * time.Hour, HalfLife: 168 * time.Hour, clock: c.read, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := openWith(t, dir, cfg, nil)
	docs := texts(1100, 1)
	n := 0
	post := func(k int) {
		t.Helper()
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[n:n+k], n), 200)
		n += k
	}
	post(999)
	c.pass(time.Hour)
	c.set(year)
	if got := uncounted(t, s); got != year {
		t.Errorf("health says %v before a document came, want a year", got)
	}
	post(1)
	c.pass(time.Hour)
	post(1)
	check := func(what string) {
		t.Helper()
		if st := s.held.Stats(); st.Docs != n || st.Evicted != 0 {
			t.Fatalf("%s: %d documents of %d, %d have gone", what, st.Docs, n, st.Evicted)
		}
		corpus, err := s.held.Snapshot().Corpus()
		if err != nil {
			t.Fatal(err)
		}
		if w := corpus.Weights(); math.Abs(w[0]-math.Exp2(-2./168)) > 1e-6 || math.Abs(w[999]-math.Exp2(-1./168)) > 1e-6 {
			t.Errorf("%s: weights %g and %g", what, w[0], w[999])
		}
	}
	check("a year ahead")
	if out := want(t, s, "GET", "/metrics", "", "", 200); uncounted(t, s) != year || !strings.Contains(out, "topics_clock_uncounted_seconds 3.1536e+07") {
		t.Errorf("health says %v", uncounted(t, s))
	}
	if got := strings.Count(log.String(), "-trust-clock"); got != 1 {
		t.Errorf("the log has the jump %d times", got)
	}
	closed(t, s)
	s = openWith(t, dir, cfg, nil)
	check("after a restart")
	if got := uncounted(t, s); got != year {
		t.Errorf("health says %v after a restart", got)
	}
	c.set(-year)
	if got := uncounted(t, s); got != 0 {
		t.Errorf("health says %v after the clock was put back", got)
	}
	post(1)
	check("put back")
	if !strings.Contains(log.String(), "put back") {
		t.Error("nobody is told")
	}
	closed(t, s)
	// There is nothing left that trust could count.
	cfg.TrustClock = true
	s = openWith(t, dir, cfg, nil)
	check("trusted")
	// By the time that the service sees pass they go.
	for range 30 {
		c.pass(23*time.Hour + 59*time.Minute)
		post(1)
	}
	if st := s.held.Stats(); st.Docs != 32 { // the first thousand are of 720 hours and more
		t.Errorf("%d documents are left", st.Docs)
	}
	closed(t, s)
}

// Time in which the service was stopped counts once a start confirms it; documents that
// were stored before that keep their own ages.
func TestTrustClock(t *testing.T) {
	c := &testClock{wall: time.Unix(2e9, 0)}
	dir := t.TempDir()
	cfg := Settings{MaxAge: 720 * time.Hour, clock: c.read}
	s := openWith(t, dir, cfg, nil)
	docs := texts(400, 1)
	post := func(first int) {
		t.Helper()
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[first:first+100], first), 200)
	}
	post(0)
	closed(t, s)
	c.set(1000 * time.Hour) // true: it did not run
	s = openWith(t, dir, cfg, nil)
	post(100)
	c.pass(time.Hour)
	refit(t, s) // so that the start is from a snapshot
	post(200)
	if st := s.held.Stats(); st.Docs != 300 || uncounted(t, s) != 1000*time.Hour {
		t.Errorf("%d documents, %v", st.Docs, uncounted(t, s))
	}
	closed(t, s)
	cfg.TrustClock = true
	s = openWith(t, dir, cfg, nil)
	if got := stored(s, 400); len(got) != 200 || got[0] != 100 || uncounted(t, s) != 0 {
		t.Errorf("%d documents are left, %v not counted", len(got), uncounted(t, s))
	}
	closed(t, s)
	cfg.TrustClock = false
	records := 0
	for range 2 { // the log has it
		s = openWith(t, dir, cfg, nil)
		if got := stored(s, 400); len(got) != 200 || got[0] != 100 || uncounted(t, s) != 0 {
			t.Errorf("again: %d documents are left, %v not counted", len(got), uncounted(t, s))
		}
		if last := int(s.store.Last()); records > 0 && last != records {
			t.Errorf("%d records more for nothing", last-records)
		} else {
			records = last
		}
		closed(t, s)
	}
}

// Whatever the wall clock does, a document is never older than it truly is, and the log
// gives after each start what was there.
func TestClockRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := &testClock{wall: time.Unix(2e9, 0)}
	dir := t.TempDir()
	const maxAge = 500 * time.Hour
	cfg := Settings{MaxAge: maxAge, clock: c.read}
	s := openWith(t, dir, cfg, nil)
	docs := texts(600, 1)
	var stored []time.Duration // true times
	now, offset := time.Duration(0), time.Duration(0)
	for range 240 {
		switch rng.IntN(8) {
		case 0: // a stop
			closed(t, s)
			d := time.Duration(rng.Int64N(int64(100 * time.Hour)))
			now += d
			c.set(d)
			s = openWith(t, dir, cfg, nil)
		case 1, 2: // the clock is set
			to := []time.Duration{0, year, -year, 30 * time.Second, time.Duration(rng.Int64N(int64(year)))}[rng.IntN(5)]
			c.set(to - offset)
			offset = to
		default:
			d := time.Duration(rng.Int64N(int64(20 * time.Hour)))
			now += d
			c.pass(d)
		}
		k := 1 + rng.IntN(2)
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[len(stored):len(stored)+k], len(stored)), 200)
		for range k {
			stored = append(stored, now)
		}
		for i, at := range stored {
			if now-at < maxAge && !s.held.Has(fmt.Sprintf("d%d", i)) {
				t.Fatalf("document %d has gone, which is %v old", i, now-at)
			}
		}
	}
	st := s.held.Stats()
	t.Logf("%d documents, %d have gone; %d gaps", st.Docs, st.Evicted, len(s.ages.at.Gaps))
	if st.Evicted < 80 {
		t.Errorf("%d documents have gone: too few to tell anything", st.Evicted)
	}
	closed(t, s)
}
