//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	limitFiles = func(bytes uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
	}
}

// Where the disk is full the service says so, stores nothing, and goes on
// answering; what it acknowledged before is there.
func TestDiskFull(t *testing.T) {
	k := killable{dir: t.TempDir()}
	l := &ledger{there: map[string]bool{}, unsure: map[string]bool{}}
	c := &http.Client{}
	defer c.CloseIdleConnections()
	rng := rand.New(rand.NewPCG(5, 5))
	part := func() (ids []string, body string) {
		var b strings.Builder
		for range 20 {
			id := fmt.Sprintf("d%d", l.next)
			l.next++
			ids = append(ids, id)
			fmt.Fprintf(&b, "{\"id\":%q,\"values\":{\"n\":%s},\"text\":%q}\n", id, id[1:], drawn(rng, 3, 15))
		}
		return ids, b.String()
	}
	refit := func(base string) (state, reason string) {
		t.Helper()
		b, err := send(c, "POST", base+"/v1/refit", "", "", 202)
		for err == nil {
			var st struct{ State, Error string }
			if err = json.Unmarshal(b, &st); err == nil && st.State != "running" {
				return st.State, st.Error
			}
			time.Sleep(5 * time.Millisecond)
			b, err = send(c, "GET", base+"/v1/refit", "", "", 200)
		}
		t.Fatal(err)
		return
	}
	for _, limit := range []string{"", "6000"} { // segments have 8 kB, models more than 6
		os.Setenv("SERVICE_TEST_FSIZE", limit)
		p := k.launch(t, "", 0)
		os.Unsetenv("SERVICE_TEST_FSIZE")
		if p.base == "" {
			t.Fatal(p.errs.String())
		}
		stored, refused := 0, 0
		for range 20 {
			ids, body := part()
			if _, err := send(c, "POST", p.base+"/v1/documents", typeNDJSON, body, 200); err == nil {
				l.told(ids, true)
				stored++
			} else if strings.Contains(err.Error(), "507") && strings.Contains(err.Error(), "the disk is full") {
				l.told(ids, false)
				refused++
			} else {
				t.Fatal(err)
			}
		}
		state, reason := refit(p.base)
		if limit == "" && (state != "done" || refused > 0) || limit != "" && (state != "failed" || reason != "the disk is full" || refused < 10) {
			t.Errorf("limit %q: %d parts stored, %d refused, refit %s %s", limit, stored, refused, state, reason)
		}
		b, err := send(c, "POST", p.base+"/v1/infer", "application/json", `{"text":"topicaworda"}`, 200)
		if err != nil || !strings.Contains(string(b), `"version":1,`) {
			t.Errorf("limit %q: %s, %v", limit, b, err)
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.cmd.Wait()
		l.check(t, k)
	}
	if l.version != 1 {
		t.Errorf("model %d, want 1", l.version)
	}
}
