package serve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// clockFile holds the time of a service in a process of its own, which the test sets.
type clockFile struct {
	path string
	now  time.Duration // true
	off  time.Duration // by which the wall clock is wrong
}

// set writes the clock for the service to read.
func (c *clockFile) set(t *testing.T) {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, uint64(c.now))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.off))
	if err := errors.Join(os.WriteFile(c.path+".new", b, 0o666), os.Rename(c.path+".new", c.path)); err != nil {
		t.Fatal(err)
	}
}

// fileClock reads what set has written. Running time is the true time.
func fileClock(path string) func() (time.Time, time.Duration) {
	return func() (time.Time, time.Duration) {
		b, err := os.ReadFile(path)
		if err != nil || len(b) != 16 {
			panic(fmt.Sprint("no clock: ", err))
		}
		now, off := time.Duration(binary.LittleEndian.Uint64(b)), time.Duration(binary.LittleEndian.Uint64(b[8:]))
		return time.Unix(2e9, 0).Add(now + off), now
	}
}

// A service whose clock is set to and fro, and which is killed again and again, loses
// nothing that -max-age keeps by the true time, and lets older documents go.
func TestKillClock(t *testing.T) {
	t.Parallel()
	rounds := 24
	if testing.Short() || testutil.Race {
		rounds = 10
	}
	const maxAge = 300 * time.Hour
	clock := &clockFile{path: filepath.Join(t.TempDir(), "clock")}
	clock.set(t)
	k := killable{t.TempDir(), fmt.Sprintf(`{"MaxAge":%d,"HalfLife":%d}`, maxAge, 100*time.Hour), clock.path}
	rng := rand.New(rand.NewPCG(11, 1))
	c := &http.Client{}
	defer c.CloseIdleConnections()
	type doc struct {
		id string
		at time.Duration // true time
	}
	var there []doc // acknowledged, and there at the last look
	stored, acknowledged, lost, gone := 0, 0, 0, 0
	const year = 365 * 24 * time.Hour
	turn := func() { // some time passes, and the clock may be set
		clock.now += time.Duration(rng.Int64N(int64(3 * time.Hour)))
		switch rng.IntN(6) {
		case 0:
			clock.off = []time.Duration{0, year, -year, time.Minute}[rng.IntN(4)]
		case 1:
			clock.off = time.Duration(rng.Int64N(int64(20*year)) - int64(10*year))
		}
		clock.set(t)
	}
	for round := range rounds {
		step := []string{"log written", "log synced", "log marked", "segment begun", ".acc in place", ".jsmf synced"}[rng.IntN(6)]
		p := k.launch(t, fmt.Sprintf("%s#%d", step, 1+rng.IntN(8)), 0)
		for n := 0; p.base != ""; n++ {
			turn()
			var b strings.Builder
			var part []doc
			for range 1 + rng.IntN(4) {
				d := doc{fmt.Sprintf("d%d", stored), clock.now}
				stored++
				part = append(part, d)
				fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q}\n", d.id, drawn(rng, 3, 15))
			}
			if _, err := send(c, "POST", p.base+"/v1/documents", typeNDJSON, b.String(), 200); err != nil {
				break
			}
			there = append(there, part...)
			acknowledged += len(part)
			if n%3 == 2 {
				if _, err := send(c, "POST", p.base+"/v1/refit", "", "", 202, 409); err != nil {
					break
				}
			}
		}
		p.end(t)
		clock.now += time.Duration(rng.Int64N(int64(5 * time.Hour))) // it is down
		turn()
		k.reopen(t, func(get func(string) *httptest.ResponseRecorder) {
			there = slices.DeleteFunc(there, func(d doc) bool {
				if get("/v1/documents/"+d.id).Code == 200 {
					return false
				}
				gone++
				if clock.now-d.at < maxAge {
					lost++
					t.Errorf("round %d, killed at %q: document %s of %v is gone at %v", round, step, d.id, d.at, clock.now)
				}
				return true
			})
		})
		if t.Failed() {
			t.Fatalf("%d documents lost\n%s", lost, p.errs.String())
		}
	}
	t.Logf("%d kills in %v: of %d documents %d have gone, none too early", rounds, clock.now, acknowledged, gone)
	if acknowledged < 5*rounds || rounds == 24 && gone < 10 {
		t.Errorf("of %d documents %d have gone: too few to tell anything", acknowledged, gone)
	}
}
