package serve

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// openWith opens a service on a folder with small segments, which the test closes.
func openWith(t testing.TB, dir string, cfg Settings, step func(string)) *Service {
	t.Helper()
	return openStore(t, dir, cfg, store.Options{SegmentSize: 4 << 10, Step: step})
}

// heldBytes is all that a service holds of documents.
func heldBytes(t *testing.T, s *Service) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.held.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stored returns which of the documents d0, d1, … are stored.
func stored(s *Service, n int) (out []int) {
	for i := range n {
		if s.held.Has(fmt.Sprintf("d%d", i)) {
			out = append(out, i)
		}
	}
	return out
}

func span(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// The documents that stay are those that the flags of each start say, with those
// of all starts before.
func TestWindow(t *testing.T) {
	dir := t.TempDir()
	docs := texts(400, 3)
	next := 0
	var s *Service
	post := func(n int) {
		t.Helper()
		want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[next:next+n], next), 200)
		next += n
	}
	check := func(want []int) {
		t.Helper()
		if got := stored(s, next); !slices.Equal(got, want) {
			t.Fatalf("of %d documents %d are there, from %v on; want %d from %v on", next, len(got), got[:min(1, len(got))], len(want), want[:1])
		}
	}
	reopen := func(cfg Settings) {
		t.Helper()
		if s != nil {
			closed(t, s)
		}
		cfg.MinDocs = 1 // the few documents in the end are to have words
		s = openWith(t, dir, cfg, nil)
	}
	reopen(Settings{Window: 150})
	post(100)
	check(span(0, 100))
	post(100)
	check(span(50, 200))
	refit(t, s)
	if st := s.refitStatus(); st.Documents != 150 {
		t.Errorf("learned from %d documents, want 150", st.Documents)
	}
	if out := want(t, s, "GET", "/v1/documents", "", "", 200); !strings.Contains(out, `"window":150,"evicted":50}`) {
		t.Errorf("%s", out)
	}
	if out := want(t, s, "GET", "/metrics", "", "", 200); !strings.Contains(out, "topics_documents_evicted_total 50") {
		t.Error("the metrics do not count the documents that went")
	}
	want(t, s, "DELETE", "/v1/documents/d7", "", "", 404) // gone long ago
	// More at once than there is room for.
	post(160)
	check(span(210, 360))
	// One that has gone can be stored again, one that has not cannot.
	if out := want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(docs[:1], 0)+ndjson(docs[300:301], 300), 200); out != "{\"stored\":1,\"already_there\":[\"d300\"]}\n" {
		t.Errorf("%s", out)
	}
	all := append([]int{0}, span(211, 360)...)
	check(all)
	reopen(Settings{Window: 150})
	check(all)
	reopen(Settings{Window: 10}) // narrower, at once
	tail := append([]int{0}, span(351, 360)...)
	check(tail)
	reopen(Settings{}) // wider: nothing comes back
	check(tail)
	records := s.store.Last()
	reopen(Settings{})
	if s.store.Last() != records {
		t.Error("the same flags again have made a record")
	}
	post(20)
	check(append(tail, span(360, 380)...))

	// By time, which a clock that goes back does not turn round.
	c := &testClock{wall: time.Unix(4e9, 0)}
	reopen(Settings{MaxAge: time.Hour, clock: c.read, TrustClock: true})
	check(append(tail, span(360, 380)...)) // none is too old for the newest
	post(1)
	check([]int{380})
	for range 3 {
		c.pass(25 * time.Minute)
		post(1)
	}
	check([]int{381, 382, 383})
	c.wall = c.wall.Add(-100 * time.Hour)
	post(2)
	check(span(381, 386))
	reopen(Settings{MaxAge: time.Hour, clock: c.read})
	check(span(381, 386))
	post(1)
	check(span(381, 387))
	c.wall = c.wall.Add(100 * time.Hour)
	c.pass(15 * time.Minute)
	post(1)
	check(span(382, 388))
	c.pass(20 * time.Minute)
	post(1)
	check(span(383, 389)) // those that were stored while the clock was behind are as old as 383

	// A half-life: the weights of a refit.
	reopen(Settings{HalfLife: 20 * time.Minute, clock: c.read})
	held, err := s.held.Snapshot().Corpus()
	if err != nil {
		t.Fatal(err)
	}
	weights := held.Weights()
	if len(weights) != 6 || weights[5] != 1 || math.Abs(weights[4]-0.5) > 1e-12 || math.Abs(weights[3]-math.Exp2(-1.75)) > 1e-6 {
		t.Errorf("weights %v", weights)
	}
	closed(t, s)
}

// A refit of documents that decay learns from the newer ones.
func TestHalfLife(t *testing.T) {
	c := &testClock{wall: time.Unix(2e9, 0)}
	s := openWith(t, t.TempDir(), Settings{HalfLife: time.Hour, clock: c.read}, nil)
	defer closed(t, s)
	old := texts(200, 1)
	for i := range old {
		old[i] = strings.ReplaceAll(old[i], "topic", "former")
	}
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(old, 0), 200)
	c.pass(24 * time.Hour)
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 2), 200), 200)
	refit(t, s)
	for k, label := range s.current.Load().labels {
		if !strings.HasPrefix(label[0], "topic") {
			t.Errorf("topic %d is of documents that have decayed: %v", k, label)
		}
	}
}

func TestWindowSettings(t *testing.T) {
	for want, cfg := range map[string]Settings{
		"Window is -1":              {Window: -1},
		"HalfLife -1s":              {HalfLife: -time.Second},
		"MaxAge is 10ns":            {MaxAge: 10},
		"Limits.Upload is 13421772": {Limits: Limits{Upload: maxUpload + 1}},
	} {
		if _, err := Open(context.Background(), t.TempDir(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// What the service holds is, to the byte, what its files give, at any moment at
// which it may be killed: a copy of the folder, made between two changes on disk,
// has what was held before the request that was being served or after it.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(4, 4))
	clock := &testClock{wall: time.Unix(1e9, 0)}
	var copies []string
	armed := false
	step := func(name string) {
		if armed && rng.IntN(3) == 0 {
			c := t.TempDir()
			if err := os.CopyFS(c, os.DirFS(dir)); err != nil {
				t.Error(err)
			}
			copies = append(copies, c)
		}
	}
	configs := []Settings{{Window: 60}, {MaxAge: 3 * time.Hour}, {}, {Window: 90, MaxAge: 2 * time.Hour, HalfLife: time.Hour}}
	docs := texts(300, 8)
	rounds, each := 2*len(configs), 8
	if testing.Short() {
		rounds = len(configs)
	}
	next, opened, refits, evicted := 0, 0, 0, int64(0)
	var last []byte
	for round := range rounds {
		cfg := configs[round%len(configs)]
		cfg.Topics, cfg.MinDocs, cfg.clock = 3, 2, clock.read
		s := openWith(t, dir, cfg, step)
		if b := heldBytes(t, s); round > 0 && windowOf(s.held.Options()) == configs[(round-1)%len(configs)].window() && !bytes.Equal(b, last) {
			t.Fatalf("round %d: other documents than before the stop", round)
		}
		for op := range each {
			clock.pass(time.Duration(rng.IntN(32)) * time.Minute)
			if rng.IntN(5) == 0 { // it is set, on or back
				clock.set(time.Duration(rng.IntN(32)-16) * time.Minute)
			}
			before := heldBytes(t, s)
			armed = true
			switch rng.IntN(4) {
			case 0:
				var ids []string
				for i := range next {
					if id := fmt.Sprintf("d%d", i); s.held.Has(id) {
						ids = append(ids, id)
					}
				}
				if len(ids) > 0 {
					want(t, s, "DELETE", "/v1/documents/"+ids[rng.IntN(len(ids))], "", "", 200)
				}
			default:
				n := 1 + rng.IntN(15)
				first := max(0, next-rng.IntN(30)) // some again
				part := slices.Clone(docs[:n])
				for i := range part {
					part[i] = docs[(first+i)%len(docs)]
				}
				want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(part, first), 200)
				next = max(next, first+n)
			}
			if op == each/2 {
				want(t, s, "POST", "/v1/refit", "", "", 202)
				s.wg.Wait()
				if s.refitStatus().State == refitDone {
					refits++
				}
			}
			armed = false
			after := heldBytes(t, s)
			for _, c := range copies {
				r := openWith(t, c, cfg, nil)
				if b := heldBytes(t, r); !bytes.Equal(b, before) && !bytes.Equal(b, after) {
					t.Fatalf("round %d, request %d: a copy holds neither what was held before nor after", round, op)
				}
				closed(t, r)
				opened++
			}
			copies = nil
		}
		last = heldBytes(t, s)
		evicted = max(evicted, s.held.Stats().Evicted)
		closed(t, s)
	}
	t.Logf("%d copies, %d refits, %d documents of %d went", opened, refits, evicted, next)
	if opened < 5*rounds || refits < rounds/2 || evicted < int64(next)/4 {
		t.Errorf("%d copies, %d refits and %d of %d documents that went are too few to tell anything", opened, refits, evicted, next)
	}
}

// Requests at the same time: the log has their order, and gives what is held.
func TestReplayConcurrent(t *testing.T) {
	dir := t.TempDir()
	cfg := Settings{Window: 50}
	s := openWith(t, dir, cfg, nil)
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(6, uint64(c)))
			for range 25 {
				// The same few ids from all.
				if rng.IntN(3) == 0 {
					call(t, s, "DELETE", fmt.Sprintf("/v1/documents/d%d", rng.IntN(100)), "", "")
				} else {
					want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(4, rng.Uint64()), rng.IntN(100)), 200)
				}
			}
		})
	}
	wg.Wait()
	b, st := heldBytes(t, s), s.held.Stats()
	closed(t, s)
	if st.Docs < 30 || st.Docs > 50 || st.Evicted < 20 {
		t.Errorf("%+v", st)
	}
	s = openWith(t, dir, cfg, nil)
	defer closed(t, s)
	if !bytes.Equal(heldBytes(t, s), b) {
		t.Error("the log gives other documents than were held")
	}
}

// Uploads and deletions that come while another is being written share one write
// to the disk, and none is answered before it is done.
func TestGroupCommit(t *testing.T) { synctest.Test(t, groupCommit) }

func groupCommit(t *testing.T) {
	var armed atomic.Bool
	entered, gate := make(chan struct{}, 1), make(chan struct{})
	var answered, synced atomic.Int64
	var early atomic.Bool
	s := openWith(t, t.TempDir(), Settings{}, func(step string) {
		switch {
		case !armed.Load():
		case step == "log written":
			if synced.Load() == 0 {
				entered <- struct{}{}
				<-gate
			}
		case step == "log synced":
			// The first write is for the first upload alone.
			if n := answered.Load(); n > synced.Load() {
				early.Store(true)
			}
			synced.Add(1)
		}
	})
	defer closed(t, s)
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(3, 1), 0), 200)
	armed.Store(true)
	type request struct {
		method, path, body string
		status             int
		want               string
	}
	var wg sync.WaitGroup
	send := func(r request) {
		wg.Go(func() {
			w := call(t, s, r.method, r.path, typeNDJSON, r.body)
			answered.Add(1)
			if w.Code != r.status || !strings.Contains(w.Body.String(), r.want) {
				t.Errorf("%s %s: %d %s, want %d %s", r.method, r.path, w.Code, w.Body, r.status, r.want)
			}
		})
	}
	send(request{"POST", "/v1/documents", ndjson(texts(1, 2), 10), 200, `"stored":1}`})
	<-entered
	// In this order: what one changes the next one sees.
	for _, r := range []request{
		{"POST", "/v1/documents", ndjson(texts(2, 3), 10), 200, `{"stored":1,"already_there":["d10"]}`}, // of what is being written
		{"POST", "/v1/documents", ndjson(texts(2, 4), 11), 200, `{"stored":1,"already_there":["d11"]}`},
		{"DELETE", "/v1/documents/d12", "", 200, `{"deleted":"d12"}`},
		{"DELETE", "/v1/documents/d12", "", 404, "there is no document"},
		{"POST", "/v1/documents", ndjson(texts(2, 5), 12), 200, `{"stored":2}`},
		{"DELETE", "/v1/documents/d0", "", 200, `{"deleted":"d0"}`},
		{"DELETE", "/v1/documents/d99", "", 404, "there is no document"},
		{"POST", "/v1/documents", "", 200, `{"stored":0}`},
	} {
		send(r)
		synctest.Wait() // it is in the queue
	}
	if n := answered.Load(); n != 0 {
		t.Errorf("%d requests were answered before anything was on the disk", n)
	}
	close(gate)
	wg.Wait()
	if n := synced.Load(); n != 2 || early.Load() {
		t.Errorf("%d writes, want 2; answered too early: %v", n, early.Load())
	}
	if got := stored(s, 20); !slices.Equal(got, []int{1, 2, 10, 11, 12, 13}) {
		t.Errorf("held: %v", got)
	}
}

// Where the disk has no room for all that waits, what fits is stored.
func TestGroupFull(t *testing.T) { synctest.Test(t, groupFull) }

func groupFull(t *testing.T) {
	s := openWith(t, t.TempDir(), Settings{}, nil)
	defer closed(t, s)
	entered, gate := make(chan struct{}), make(chan struct{})
	calls := 0
	s.write = func(recs []store.Record) (uint64, error) {
		if calls++; calls == 1 {
			close(entered)
			<-gate
		}
		n := 0
		for _, r := range recs {
			n += len(r.Data)
		}
		if n > 3000 {
			return 0, fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		return s.store.Append(recs)
	}
	var wg sync.WaitGroup
	status := make([]int, 6)
	for i := range status {
		wg.Go(func() {
			size := 1
			if i%2 == 1 {
				size = 20 // more than there is room for
			}
			status[i] = call(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(size, uint64(i)), 100*i)).Code
		})
		if i == 0 {
			<-entered
		}
	}
	synctest.Wait() // the others are in the queue
	close(gate)
	wg.Wait()
	for i, code := range status {
		if (code == 200) != (i%2 == 0) {
			t.Errorf("upload %d: status %d", i, code)
		}
	}
	if got := stored(s, 600); !slices.Equal(got, []int{0, 200, 400}) {
		t.Errorf("held: %v", got)
	}
}

// Whatever is read of a document can be kept: after it is in the log it is too
// late to refuse it. (FuzzDocument does the same with what no one thinks of.)
func TestKept(t *testing.T) {
	s := openWith(t, t.TempDir(), Settings{}, nil)
	defer closed(t, s)
	for i, d := range []string{
		`"text":""`, `"words":[]`, `"words":["\u0000","<&>","\u2028","the"],"counts":[1,2,3,4]`, `"text":"\u0000 é 日本"`,
		`"words":["a","a"],"counts":[500000,500000]`,
	} {
		want(t, s, "POST", "/v1/documents", typeJSON, fmt.Sprintf(`{"id":"d%d",%s}`, i, d), 200)
	}
	if err := s.replay(store.Record{Op: 1, Data: []byte("{}")}); err == nil || !strings.Contains(err.Error(), "kind 1") {
		t.Errorf("a record of another version: %v", err)
	}
	if err := s.replay(store.Record{Op: opPut, Data: []byte("{}")}); err == nil {
		t.Error("a document without a time")
	}
}

func keepable(t *testing.T, id string, words []string, counts []int32) {
	t.Helper()
	if err := new(held.Accumulator).AddAt(corpus.Document{ID: id, Tokens: words, Counts: counts}, 1); err != nil {
		t.Errorf("%q, %q, %v was read and cannot be kept: %v", id, words, counts, err)
	}
}

// One upload after the other of each client, one document each.
func BenchmarkUpload(b *testing.B) {
	for _, clients := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			ctx := context.Background()
			s, err := Open(ctx, b.TempDir(), Settings{})
			if err != nil {
				b.Fatal(err)
			}
			docs := texts(100, 1)
			var next, failed atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= b.N {
							return
						}
						r := httptest.NewRequest("POST", "/v1/documents", strings.NewReader(ndjson(docs[i%100:i%100+1], i)))
						r.Header.Set("Content-Type", typeNDJSON)
						w := httptest.NewRecorder()
						s.ServeHTTP(w, r)
						if w.Code != 200 {
							failed.Add(1)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
			if n := failed.Load(); n > 0 || s.held.Stats().Docs != b.N {
				b.Errorf("%d of %d uploads failed, %d documents are held", n, b.N, s.held.Stats().Docs)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
