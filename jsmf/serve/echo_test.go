package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What a client sends comes back in few bytes, in answers and in the log, and in quotes.
func TestEcho(t *testing.T) {
	var log bytes.Buffer
	s := start(t, Settings{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	long := strings.Repeat("9", 500_000)
	for _, body := range []string{`{"id":` + long + `}`, `{"id":"a","counts":[` + long + `],"words":["x"]}`, `{"` + long + `":1}`, `{"id":"a","text":` + long + `}`, `{"id":-` + long + `.5e7}`, `[` + long} {
		for _, path := range []string{"/v1/infer", "/v1/documents", "/v1/explain", "/v1/similar"} {
			log.Reset()
			w := call(t, s, "POST", path, typeJSON, body)
			if w.Code != 400 || w.Body.Len() > 500 || log.Len() > 2000 {
				t.Errorf("%s %.30s: %d, an answer of %d bytes, %d in the log", path, body, w.Code, w.Body.Len(), log.Len())
			}
		}
	}
	for _, path := range []string{"/v1/topics/x" + long[:5000], "/v1/topics/x" + long[:5000] + "/documents", "/v1/documents/" + long[:5000] + "/similar", "/v1/effects/" + long[:5000], "/v1/documents/" + long[:5000], "/" + long[:5000]} {
		if w := call(t, s, "GET", path, "", ""); w.Code != 404 || w.Body.Len() > 500 || !strings.Contains(w.Body.String(), `\"`) {
			t.Errorf("%.30s: %d, %d bytes", path, w.Code, w.Body.Len())
		}
	}
	for _, n := range []string{"+1", "01", "-0", "1.0", "0x1"} {
		want(t, s, "GET", "/v1/topics/"+n, "", "", 404)
	}
	want(t, s, "GET", "/v1/topics/1", "", "", 200)
	if w := call(t, s, "POST", "/", "", ""); w.Code != 405 || strings.Contains(w.Body.String(), "$") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, junk := range []string{"x", "\x00", "\x1f", "\x1f\x8b", "junk after the end", strings.Repeat("\x00", 1000)} {
		for _, path := range []string{"/v1/infer", "/v1/documents"} {
			for _, kind := range []string{typeJSON, typeNDJSON} {
				w := call(t, s, "POST", path, kind, zipped(t, `{"id":"z","text":"topicaworda"}`)+junk, "Content-Encoding", "gzip")
				if w.Code == 200 && !strings.Contains(w.Body.String(), `"problem"`) {
					t.Errorf("%s %s: %q after the end: %s", path, kind, junk, w.Body)
				}
			}
		}
	}
}
