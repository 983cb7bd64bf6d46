package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// Names come from a namer, and stay in the model.
func TestNamer(t *testing.T) {
	path, model := messages(t), filepath.Join(t.TempDir(), "m.jsmf")
	answer := func(x asked) string { return fmt.Sprintf(`{"name": " About  %s"}`, x.Words[0]) }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var x asked
		if err := json.NewDecoder(r.Body).Decode(&x); err != nil || len(x.Words) < 10 || len(x.Taken) != x.Topic || x.Name == "" || x.Verdict == "" || len(x.Documents) != 10 || x.Documents[9] == "" {
			t.Errorf("asked for %+v (%v)", x, err)
		}
		fmt.Fprint(w, answer(x))
	}))
	defer s.Close()
	args := columns(path, "-k", "4", "-fast", "-quiet", "-report", none, "-namer", s.URL)
	invoke(t, 0, append(args, "-save", model)...)
	if out, _ := invoke(t, 0, "show", model); strings.Count(out, "  About ") != 4 {
		t.Errorf("show:\n%s", out)
	}
	// A run that is repeated takes the names that it has kept, unless it is told to ask.
	settings := filepath.Join(t.TempDir(), "settings")
	invoke(t, 0, append(args, "-keep-settings", settings)...)
	answer = func(asked) string { t.Error("asked again"); return "" }
	if out, _ := invoke(t, 0, "topics", "-settings", settings, "-quiet"); strings.Count(out, "  About ") != 4 {
		t.Errorf("repeated:\n%s", out)
	}
	for said, wrong := range map[string]string{`"x" is the name of another topic`: `{"name": "x"}`, "the answer is not": `{"title": "x"}`} {
		answer = func(x asked) string { return wrong }
		if _, errs := invoke(t, 1, args...); !strings.Contains(errs, said) {
			t.Errorf("the answer %s: %s", wrong, errs)
		}
	}
}
