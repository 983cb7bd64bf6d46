package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A refit takes edits of the topics that serve and words that topics are to have; later refits and
// starts keep what was decided.
func TestSteer(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Settings{})
	want(t, s, "POST", "/v1/refit", typeJSON, `{"edits":{"model":"none yet"}}`, 503)
	want(t, s, "POST", "/v1/documents", typeNDJSON, ndjson(texts(200, 1), 0), 200)
	refit(t, s)
	steer := func(body string) refitStatus {
		t.Helper()
		want(t, s, "POST", "/v1/refit", typeJSON, body, 202)
		s.wg.Wait()
		return s.refitStatus()
	}
	topics := func() (print string, named map[string]int) {
		t.Helper()
		list := decode[struct {
			Fingerprint string
			Topics      []topicAnswer
		}](t, want(t, s, "GET", "/v1/topics", "", "", 200))
		named = map[string]int{}
		for _, x := range list.Topics {
			named[x.Name] = x.Topic
		}
		return list.Fingerprint, named
	}
	print, _ := topics()
	of := func(k int) string { return planted(s.current.Load().labels[k][0]) }
	gone, hidden := of(3), s.current.Load().labels[4][0]
	for body, status := range map[string]int{
		`{"edits":{"model":"of another"}}`:                     409,
		fmt.Sprintf(`{"edits":{"model":%q,"mrge":[]}}`, print): 400,
		`{"seed":[]}`:    400,
		`{} {}`:          400,
		`[`:              400,
		`{"seeds":null}`: 400,
		`{"seeds":[` + strings.Repeat(" ", 1<<20) + `]}`: 413,
	} {
		want(t, s, "POST", "/v1/refit", typeJSON, body, status)
	}
	want(t, s, "POST", "/v1/refit", typeNDJSON, "{}", 415)
	if st := steer(fmt.Sprintf(`{"edits":{"model":%q,"names":{"9":"no such"}}}`, print)); st.State != refitFailed || !strings.Contains(st.Error, "9") {
		t.Errorf("a topic that is not there: %+v", st)
	}
	if st := steer(fmt.Sprintf(`{"edits":{"model":%q,"names":{"2":"The second"},"drop":[3],"hide":[%q]}}`, print, hidden)); st.State != refitDone {
		t.Fatalf("edits: %+v", st)
	}
	check := func(when string, most int) {
		t.Helper()
		m := s.current.Load()
		_, named := topics()
		if k, ok := named["The second"]; !ok || k != 2 || len(named) != most {
			t.Errorf("%s: the topics are %v", when, named)
		}
		for k, label := range m.labels {
			if slices.Contains(label, hidden) {
				t.Errorf("%s: topic %d is read by %q", when, k, hidden)
			}
		}
	}
	check("edited", 4)
	refit(t, s)
	check("refitted", 4)
	// The topic that was dropped comes back by its words; a word that nobody has is warned of.
	st := steer(fmt.Sprintf(`{"seeds":[{"name":"Back","words":["%swordb","%[1]swordc","nowhere"],"strength":0.2}]}`, gone))
	if st.State != refitDone || !slices.ContainsFunc(st.Warnings, func(w string) bool { return strings.Contains(w, "nowhere") }) {
		t.Fatalf("seeds: %+v", st)
	}
	check("seeded", 5)
	if _, named := topics(); of(named["Back"]) != gone {
		t.Errorf("the seeded topic has the words %v, want those of %s", s.current.Load().labels[named["Back"]], gone)
	}
	closed(t, s)
	s = open(t, dir, Settings{})
	defer closed(t, s)
	refit(t, s)
	check("after a start", 5)
	if seeds := s.current.Load().model.Stats().Seeds; len(seeds) != 1 || seeds[0].Name != "Back" {
		t.Errorf("after a start the seeds are %+v", seeds)
	}
}
