package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// killable is a service that a test kills: in a folder, with further settings in JSON, and with a
// clock in a file, if they are not empty.
type killable struct{ dir, settings, clock string }

// open opens the service: of small models, so that refits follow each other fast, and small segments.
func (k killable) open(log io.Writer, step func(string)) (*Service, error) {
	cfg := Settings{Topics: 3, MaxWords: 200, MinDocs: 2, KeepModels: 3, Columns: []corpus.Column{{Name: "n", Kind: corpus.Number}}}
	if k.settings != "" {
		if err := json.Unmarshal([]byte(k.settings), &cfg); err != nil {
			return nil, err
		}
	}
	if k.clock != "" {
		cfg.clock = fileClock(k.clock)
	}
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	return openFolder(context.Background(), k.dir, cfg, store.Options{SegmentSize: 8 << 10, Step: step})
}

// limitFiles bounds the size of every file this process writes: to the program a disk that is full.
// It is nil where the system has no such bound.
var limitFiles func(bytes uint64) error

// child runs the service in this process, which the test will kill; killAt names
// the step of the store at which it kills itself, and the how manieth one.
func child(k killable, killAt string) {
	if n, err := strconv.ParseUint(os.Getenv("SERVICE_TEST_FSIZE"), 10, 64); err == nil {
		if err := limitFiles(n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	step, nth, _ := strings.Cut(killAt, "#")
	left, _ := strconv.Atoi(nth)
	var mu sync.Mutex
	s, err := k.open(os.Stderr, func(name string) {
		mu.Lock() // nothing goes on at the moment of the kill
		if name == step {
			if left--; left == 0 {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Kill()
				}
				fmt.Fprintln(os.Stderr, err)
				select {}
			}
		}
		mu.Unlock()
	})
	if err == nil {
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			fmt.Printf("listening on http://%s\n", l.Addr())
			err = s.Serve(context.Background(), l, 0)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// maxHeld is from how many documents on clients store no more until some are deleted, so that
// refits and checks take the same time in all rounds, however fast documents are stored.
const maxHeld = 1000

// ledger is what the clients of a service were told of their documents.
type ledger struct {
	mu      sync.Mutex
	there   map[string]bool // acknowledged as stored, or as deleted
	unsure  map[string]bool // asked for, and no answer came
	version int             // the newest model that was named
	next    int
	oldest  int // no document before it is left to delete
	held    int // documents that are there
	acks    int

	// The service is killed after left more acknowledgements, as soon as a model of
	// version from or later has answered.
	left, from int
	kill       func()
}

func (l *ledger) ask(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.unsure[id] = true
	}
}

func (l *ledger) told(ids []string, there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.unsure, id)
		l.there[id] = there
		l.acks++
		if l.held--; there {
			l.held += 2
		}
		if l.kill != nil && l.version >= l.from {
			if l.left--; l.left == 0 {
				l.kill()
			}
		}
	}
}

// clients load a service until it is gone, and write down what it says.
func (l *ledger) clients(base string, seed uint64) (wait func()) {
	var wg sync.WaitGroup
	loop := func(name uint64, f func(c *http.Client, rng *rand.Rand) error) {
		wg.Go(func() {
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			rng := rand.New(rand.NewPCG(seed, name))
			for c := (&http.Client{Transport: tr}); f(c, rng) == nil; {
			}
		})
	}
	idle := func(c *http.Client) error {
		time.Sleep(time.Millisecond)
		_, err := send(c, "GET", base+"/healthz", "", "", 200)
		return err
	}
	store := func(size int, c *http.Client, rng *rand.Rand) error {
		l.mu.Lock()
		full, first := l.held >= maxHeld, l.next
		if !full {
			l.next += size
		}
		l.mu.Unlock()
		if full {
			return idle(c)
		}
		var ids []string
		var b strings.Builder
		for i := range size {
			id := fmt.Sprintf("d%d", first+i)
			ids = append(ids, id)
			fmt.Fprintf(&b, "{\"id\":%q,\"values\":{\"n\":%d},\"text\":%q}\n", id, first+i, drawn(rng, 3, 15))
		}
		l.ask(ids)
		if _, err := send(c, "POST", base+"/v1/documents", typeNDJSON, b.String(), 200); err != nil {
			return err
		}
		l.told(ids, true)
		return nil
	}
	loop(1, func(c *http.Client, rng *rand.Rand) error { return store(10, c, rng) })
	for name := range uint64(3) { // so that one write to the log is for several
		loop(5+name, func(c *http.Client, rng *rand.Rand) error { return store(1, c, rng) })
	}
	loop(2, func(c *http.Client, rng *rand.Rand) error { // deletes some of the oldest
		var id string
		l.mu.Lock()
		for id == "" && l.oldest < l.next-300 {
			if d := fmt.Sprintf("d%d", l.oldest); l.there[d] && !l.unsure[d] {
				id = d
			}
			l.oldest++
		}
		l.mu.Unlock()
		if id == "" {
			return idle(c)
		}
		l.ask([]string{id})
		if _, err := send(c, "DELETE", base+"/v1/documents/"+url.PathEscape(id), "", "", 200); err != nil {
			return err
		}
		l.told([]string{id}, false)
		return nil
	})
	loop(3, func(c *http.Client, rng *rand.Rand) error { // refits, one after the other
		_, err := send(c, "POST", base+"/v1/refit", "", "", 202, 409)
		time.Sleep(2 * time.Millisecond)
		return err
	})
	loop(4, func(c *http.Client, rng *rand.Rand) error { // infers
		b, err := send(c, "POST", base+"/v1/infer", "application/json", `{"text":"topicaworda topicbworda"}`, 200, 503)
		if err != nil {
			return err
		}
		var a struct{ Model struct{ Version int } }
		if err := json.Unmarshal(b, &a); err != nil {
			return err
		}
		l.mu.Lock()
		l.version = max(l.version, a.Model.Version)
		l.mu.Unlock()
		return nil
	})
	return wg.Wait
}

func send(c *http.Client, method, u, contentType, body string, want ...int) ([]byte, error) {
	r, err := http.NewRequest(method, u, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for _, s := range want {
		if resp.StatusCode == s {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%s %s: %s: %s", method, u, resp.Status, b)
}

// reopen opens a folder after a kill, for f to look at.
func (k killable) reopen(t *testing.T, f func(get func(path string) *httptest.ResponseRecorder)) {
	t.Helper()
	s, err := k.open(io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	f(func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	})
}

// check looks at a folder after a kill: the last model that anybody has heard of,
// or a newer one, loads, and every document is there or not, as was acknowledged.
// The few of which nobody knows are looked up.
func (l *ledger) check(t *testing.T, k killable) {
	t.Helper()
	k.reopen(t, func(get func(string) *httptest.ResponseRecorder) { l.compare(t, get) })
}

func (l *ledger) compare(t *testing.T, get func(path string) *httptest.ResponseRecorder) {
	t.Helper()
	for id := range l.unsure {
		l.there[id] = get("/v1/documents/"+id).Code == 200
	}
	clear(l.unsure)
	n := 0
	for id, there := range l.there {
		if there {
			n++
		}
		w := get("/v1/documents/" + id)
		if got := w.Code == 200; got != there {
			t.Errorf("document %s: there is %v, acknowledged was %v", id, got, there)
		}
		if want := fmt.Sprintf(`{"id":%q,"values":{"n":%s}}`, id, id[1:]); there && strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("document %s is %s, want %s", id, w.Body, want)
		}
	}
	var count struct{ Documents int }
	if err := json.Unmarshal(get("/v1/documents").Body.Bytes(), &count); err != nil || count.Documents != n {
		t.Errorf("%d documents, want %d; %v", count.Documents, n, err)
	}
	l.held = n
	// Of those deleted long ago the count is enough.
	for id, there := range l.there {
		if !there && len(l.there) > 2000 {
			delete(l.there, id)
		}
	}
	var ready struct{ Model struct{ Version int } }
	if err := json.Unmarshal(get("/readyz").Body.Bytes(), &ready); err != nil || ready.Model.Version < l.version {
		t.Errorf("model %d, but %d has answered; %v", ready.Model.Version, l.version, err)
	}
	l.version = ready.Model.Version
}

// victim is a service in a process of its own, to be killed.
type victim struct {
	cmd  *exec.Cmd
	base string
	errs bytes.Buffer
}

// launch starts a service, to be killed some time after its start, 0: not at all.
// It may be gone before it listens: then base is empty.
func (k killable) launch(t *testing.T, killAt string, killAfter time.Duration) *victim {
	t.Helper()
	p := &victim{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "SERVICE_TEST_DATA="+k.dir, "SERVICE_TEST_SETTINGS="+k.settings, "SERVICE_TEST_CLOCK="+k.clock, "SERVICE_TEST_KILL_AT="+killAt)
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if killAfter > 0 {
		time.AfterFunc(killAfter, func() { p.cmd.Process.Kill() })
	}
	sc := bufio.NewScanner(out)
	if sc.Scan() {
		p.base, _ = strings.CutPrefix(sc.Text(), "listening on ")
	}
	return p
}

// end waits for a process that was killed, and fails if it ended otherwise.
func (p *victim) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.Exited() && runtime.GOOS != "windows" { // where a kill is an exit too
		t.Fatalf("the service ended by itself: %v\n%s", err, p.errs.String())
	}
	if bytes.Contains(p.errs.Bytes(), []byte("level=ERROR")) {
		t.Errorf("the service logged errors:\n%s", p.errs.String())
	}
}

// A service that is killed at random moments, while it stores, deletes, saves,
// refits and swaps, loses nothing that it has acknowledged.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	if testutil.Race {
		rounds = 4
	}
	k := killable{dir: t.TempDir()}
	rng := rand.New(rand.NewPCG(7, 1))
	l := &ledger{there: map[string]bool{}, unsure: map[string]bool{}}
	early, unfinished := 0, 0
	for round := range rounds {
		// Some are killed while they start or soon after, most after some
		// acknowledgements, a part of these after a new model.
		atStart := time.Duration(0)
		if rng.IntN(10) == 0 {
			atStart = time.Duration(1+rng.IntN(60)) * time.Millisecond
		}
		l.left, l.from, l.kill = 1+rng.IntN(200), l.version+round%3/2, nil
		p := k.launch(t, "", atStart)
		if p.base == "" {
			early++
		} else {
			if atStart == 0 {
				l.kill = func() { p.cmd.Process.Kill() }
			}
			l.clients(p.base, uint64(round))()
		}
		p.end(t)
		files, err := filepath.Glob(filepath.Join(k.dir, "*", ".*.tmp"))
		if err != nil {
			t.Fatal(err)
		}
		unfinished += len(files)
		l.check(t, k)
		if t.Failed() {
			t.Fatalf("after kill %d\n%s", round, p.errs.String())
		}
	}
	t.Logf("%d kills, %d of them before the service listened; %d files were unfinished; %d acknowledged documents; model %d", rounds, early, unfinished, l.acks, l.version)
	if !testutil.Race && (l.acks < rounds || l.version < 2) {
		t.Errorf("%d acknowledgements and %d models are too few to tell anything", l.acks, l.version)
	}
}

// The same at every point between two changes on disk.
func TestKillAtEachStep(t *testing.T) {
	t.Parallel()
	var steps []string
	for _, what := range []string{".jsmf", ".acc"} {
		for _, at := range []string{"written", "synced", "in place", "removed"} {
			steps = append(steps, what+" "+at)
		}
	}
	steps = append(steps, "log written", "log synced", "log marked", "segment written", "segment begun", "segment removed")
	if testing.Short() || testutil.Race {
		steps = []string{".jsmf synced", ".jsmf in place", ".acc synced", "log written", "log synced", "segment removed"}
	}
	k := killable{dir: t.TempDir()}
	l := &ledger{there: map[string]bool{}, unsure: map[string]bool{}}
	for i, step := range steps {
		for _, nth := range []int{1, 3} {
			if nth > 1 && testing.Short() {
				continue
			}
			p := k.launch(t, fmt.Sprintf("%s#%d", step, nth), 0)
			if p.base != "" {
				l.clients(p.base, uint64(10*i+nth))()
			}
			p.end(t)
			l.check(t, k)
			if t.Failed() {
				t.Fatalf("killed at %q, number %d\n%s", step, nth, p.errs.String())
			}
		}
	}
}

// With a window a service that was killed holds exactly the last documents, as
// if it had gone on: those it had let go do not come back, no other goes, also
// where the window changes from one start to the next.
func TestKillWindow(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() || testutil.Race {
		rounds = 4
	}
	k := killable{dir: t.TempDir()}
	rng := rand.New(rand.NewPCG(9, 1))
	c := &http.Client{}
	defer c.CloseIdleConnections()
	const part = 7
	stored := 0
	var want []int // the documents held
	for round := range rounds {
		size := []int{100, 100, 60, 150}[round%4]
		k.settings = fmt.Sprintf(`{"Window":%d,"HalfLife":%d}`, size, time.Hour)
		step := []string{"log written", "log synced", "log marked", "segment begun"}[rng.IntN(4)]
		p := k.launch(t, fmt.Sprintf("%s#%d", step, 1+rng.IntN(25)), 0)
		first, acknowledged := stored, stored
		for p.base != "" {
			var b strings.Builder
			for i := range part {
				fmt.Fprintf(&b, "{\"id\":\"d%d\",\"values\":{\"n\":%d},\"text\":%q}\n", stored+i, stored+i, drawn(rng, 3, 15))
			}
			stored += part
			if _, err := send(c, "POST", p.base+"/v1/documents", typeNDJSON, b.String(), 200); err != nil {
				break
			}
			acknowledged = stored
		}
		p.end(t)
		with := func(end int) []int {
			docs := slices.Clone(want)
			for i := first; i < end; i++ {
				docs = append(docs, i)
			}
			return docs[max(0, len(docs)-size):]
		}
		var got []int
		k.reopen(t, func(get func(string) *httptest.ResponseRecorder) {
			for i := range stored {
				if get(fmt.Sprintf("/v1/documents/d%d", i)).Code == 200 {
					got = append(got, i)
				}
			}
		})
		if !slices.Equal(got, with(acknowledged)) && !slices.Equal(got, with(stored)) {
			t.Fatalf("round %d, killed at %q: of %d documents, %d acknowledged, these are held: %v\nwant %v", round, step, stored, acknowledged, got, with(acknowledged))
		}
		want = got
	}
	if stored < 10*part*rounds/2 || len(want) < 60 {
		t.Errorf("%d documents are too few to tell anything", stored)
	}
}

// drawn draws a document of some of k topics.
func drawn(rng *rand.Rand, k, words int) string {
	a, b := rng.IntN(k), rng.IntN(k)
	s := make([]string, words)
	for i := range s {
		t := a
		if rng.IntN(2) == 0 {
			t = b
		}
		s[i] = fmt.Sprintf("topic%cword%c", 'a'+t, 'a'+min(int(rng.ExpFloat64()*3), 25))
	}
	return strings.Join(s, " ")
}
