package serve

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
)

// A gzip stream may have several members, which are one text; what is wrong with a later
// one is wrong with the body, of which nothing is stored then.
func TestGzipMembers(t *testing.T) {
	s := start(t, Settings{Limits: Limits{Document: 4 << 10, Upload: 512 << 10, Stream: 512 << 10}})
	doc := func(id string) string { return fmt.Sprintf(`{"id":%q,"text":"topicaworda"}`, id) + "\n" }
	first, second := zipped(t, doc("m1")), zipped(t, doc("m2"))
	sum := len(second) - 8 // of the second member, and its length after it
	flipped := func(at int) string {
		b := []byte(second)
		b[at] ^= 0x55
		return string(b)
	}
	var named bytes.Buffer
	z := gzip.NewWriter(&named)
	z.Name, z.Comment, z.Extra = "a name", "a comment", make([]byte, 60<<10)
	if _, err := z.Write([]byte(doc("m2"))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	n := s.held.Stats().Docs
	for name, c := range map[string]struct {
		body   string
		kind   string
		status int
	}{
		"a good one":          {second, typeNDJSON, 200},
		"of one document":     {second, typeJSON, 400},
		"a blank one":         {zipped(t, " \n"), typeJSON, 200},
		"an empty one":        {zipped(t, ""), typeJSON, 200},
		"with a long header":  {named.String(), typeNDJSON, 200},
		"cut in the header":   {second[:5], typeNDJSON, 400},
		"cut in the data":     {second[:sum-3], typeNDJSON, 400},
		"cut in the checksum": {second[:sum+2], typeNDJSON, 400},
		"another checksum":    {flipped(sum), typeNDJSON, 400},
		"another length":      {flipped(sum + 4), typeNDJSON, 400},
		"another method":      {flipped(2), typeNDJSON, 400},
		"damaged":             {flipped(sum / 2), typeNDJSON, 400},
		"junk after it":       {second + "junk", typeNDJSON, 400},
		"zeros after it":      {second + strings.Repeat("\x00", 512), typeNDJSON, 400},
		"a bomb":              {zipped(t, strings.Repeat("\n", 1<<20)), typeNDJSON, 413},
		"many empty ones":     {strings.Repeat(zipped(t, ""), 40_000), typeNDJSON, 413},
	} {
		w := call(t, s, "POST", "/v1/documents", c.kind, first+c.body, "Content-Encoding", "gzip")
		if w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.status)
		}
		got := s.held.Stats().Docs - n
		if stored := strings.Count(c.body, second); c.status != 200 && got != 0 || c.status == 200 && got < 1+stored {
			t.Errorf("%s: %d documents were stored", name, got)
		}
		for _, id := range []string{"m1", "m2"} {
			call(t, s, "DELETE", "/v1/documents/"+id, "", "")
		}
		// Of a stream, what comes before is answered, and what is wrong is the last line.
		w = call(t, s, "POST", "/v1/infer", typeNDJSON, first+c.body, "Content-Encoding", "gzip")
		if last := w.Body.String(); c.kind == typeNDJSON && c.status != 200 && w.Code == 200 && !strings.Contains(last, `{"problem":`) {
			t.Errorf("%s: %s", name, last)
		}
	}
	if s.bodies.taken != 0 {
		t.Errorf("%d bytes are still taken", s.bodies.taken)
	}
}
