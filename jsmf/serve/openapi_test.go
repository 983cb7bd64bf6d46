package serve

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

var readDescription = sync.OnceValues(func() (d description, err error) {
	b, err := files.ReadFile("openapi.json")
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(b, &d)
})

func described(t testing.TB) description {
	t.Helper()
	d, err := readDescription()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The description has the routes and methods that there are, and no others.
func TestRoutes(t *testing.T) {
	d := described(t)
	var there, told []string
	for _, rt := range routes() {
		for m := range rt.methods {
			there = append(there, strings.ToLower(m)+" "+strings.TrimSuffix(rt.path, "{$}"))
		}
	}
	for path, ops := range d.Paths {
		for m, op := range ops {
			told = append(told, m+" "+path)
			n := strings.Count(path, "{")
			for _, p := range op.Parameters {
				if strings.Contains(path, "{"+p.Name+"}") != (p.In == "path") {
					t.Errorf("%s %s: the parameter %s is in %s", m, path, p.Name, p.In)
				}
				if p.In == "path" {
					n--
				}
			}
			if n != 0 {
				t.Errorf("%s %s: its parameters are %v", m, path, op.Parameters)
			}
		}
	}
	slices.Sort(there)
	slices.Sort(told)
	if !slices.Equal(there, told) {
		t.Errorf("the routes are\n%s\nand the description has\n%s", strings.Join(there, "\n"), strings.Join(told, "\n"))
	}
	if d.OpenAPI != "3.1.0" {
		t.Errorf("version %s", d.OpenAPI)
	}
	// Every reference leads somewhere.
	b, err := files.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if d.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}

// checkAnswer compares an answer with the description of its route.
func checkAnswer(t testing.TB, method, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	d := described(t)
	path, _, _ = strings.Cut(path, "?")
	var op *operation
	for p, ops := range d.Paths {
		if matches(p, path) {
			op = ops[strings.ToLower(method)]
		}
	}
	status := fmt.Sprint(w.Code)
	contentType, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	switch {
	case w.Code == http.StatusNotFound && op == nil, w.Code == http.StatusMethodNotAllowed, w.Code == http.StatusMisdirectedRequest:
		if contentType != "application/problem+json" {
			t.Errorf("%s %s: %s as %s", method, path, status, contentType)
		}
		return // by all routes alike
	case op == nil:
		t.Errorf("%s %s is not described", method, path)
		return
	case err != nil && w.Body.Len() > 0:
		t.Errorf("%s %s: Content-Type: %v", method, path, err)
		return
	}
	r, ok := op.Responses[status]
	if !ok {
		t.Errorf("%s %s: the status %s is not described", method, path, status)
		return
	}
	for h := range r.Headers {
		if w.Header().Get(h) == "" {
			t.Errorf("%s %s: the header %s is missing", method, path, h)
		}
	}
	for ct, m := range r.Content {
		if ct, _, _ = mime.ParseMediaType(ct); ct != contentType {
			continue
		}
		parts := []string{w.Body.String()}
		switch {
		case ct == typeNDJSON:
			parts = strings.Split(strings.TrimSpace(parts[0]), "\n")
		case !strings.HasSuffix(ct, "json"):
			return
		}
		for _, part := range parts {
			if part != "" && !strings.HasPrefix(part, `{"problem":`) {
				d.check(t, method+" "+path, m.Schema, []byte(part))
			}
		}
		return
	}
	t.Errorf("%s %s: answers of type %q are not described", method, path, contentType)
}

// matches reports whether a path is one of a route.
func matches(route, path string) bool {
	parts := strings.Split(path, "/")
	want := strings.Split(route, "/")
	if len(parts) != len(want) {
		return false
	}
	for i, w := range want {
		if w != parts[i] && !(strings.HasPrefix(w, "{") && parts[i] != "") {
			return false
		}
	}
	return true
}

func (d description) check(t testing.TB, what string, s *schema, b []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Errorf("%s: %v in %.200s", what, err, b)
		return
	}
	if err := d.valid(s, v, "the answer"); err != nil {
		t.Errorf("%s: %v in %.400s", what, err, b)
	}
}

func (d description) valid(s *schema, v any, where string) error {
	if s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	is := "null"
	switch v := v.(type) {
	case bool:
		is = "boolean"
	case float64:
		is = "number"
		if v == float64(int64(v)) {
			is = "integer"
		}
	case string:
		is = "string"
		if s.Enum != nil && !slices.Contains(s.Enum, v) || s.Const != nil && v != *s.Const {
			return fmt.Errorf("%s is %q", where, v)
		}
	case []any:
		is = "array"
		for i, x := range v {
			if err := d.valid(s.Items, x, fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		is = "object"
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s lacks %s", where, name)
			}
		}
		for name, x := range v {
			p := s.Properties[name]
			if p == nil && s.AdditionalProperties != nil && !*s.AdditionalProperties {
				return fmt.Errorf("%s has %s", where, name)
			}
			if p != nil {
				if err := d.valid(p, x, where+"."+name); err != nil {
					return err
				}
			}
		}
	}
	if s.Type != nil && !slices.Contains(s.Type, is) && !(is == "integer" && slices.Contains(s.Type, "number")) { // else enum and const say it all
		return fmt.Errorf("%s is of type %s, want %v", where, is, s.Type)
	}
	return nil
}

// The checker finds what is wrong.
func TestChecker(t *testing.T) {
	d := described(t)
	s := d.Components.Schemas["Pair"]
	for b, want := range map[string]string{
		`{"topics":[0,1],"correlation":null,"joint":0.5,"lift":1}`:         "",
		`{"topics":[0,1],"correlation":0.5,"joint":"x","lift":1}`:          "joint is of type string",
		`{"topics":[0,1.5],"correlation":0.5,"joint":1,"lift":1}`:          "topics[1] is of type number",
		`{"topics":[0,1],"correlation":0.5,"joint":1}`:                     "lacks lift",
		`{"topics":[0,1],"correlation":0.5,"joint":1,"lift":1,"other":[]}`: "has other",
		`[]`: "is of type array",
	} {
		var v any
		if err := json.Unmarshal([]byte(b), &v); err != nil {
			t.Fatal(err)
		}
		if _, ok := v.([]any); ok {
			s.Items = &schema{}
		}
		err := d.valid(s, v, "x")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", b, err, want)
		}
	}
}

// tiny returns a matrix of two topics without names of words.
func tiny(t *testing.T) cooc.Matrix {
	t.Helper()
	c, err := cooc.NewDense(mat.NewDense(4, 4, []float64{
		0.2, 0.1, 0, 0,
		0.1, 0.2, 0, 0,
		0, 0, 0.1, 0.1,
		0, 0, 0.1, 0.1,
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The page of the interface has every route and every schema, and its links lead somewhere.
func TestAPI(t *testing.T) {
	s := open(t, t.TempDir(), Settings{})
	defer closed(t, s)
	page := want(t, s, "GET", "/api", "", "", 200)
	d := described(t)
	for name := range d.Components.Schemas {
		if !strings.Contains(page, `id="`+name+`"`) {
			t.Errorf("the schema %s is not told", name)
		}
	}
	for path, ops := range d.Paths {
		for method, op := range ops {
			if id := (documented{Method: method, Path: path}).ID(); !slices.Contains(assets, path) && path != "/" && !(strings.Contains(page, `id="`+id+`"`) && strings.Contains(page, op.Summary)) {
				t.Errorf("%s is not told", id)
			}
		}
	}
	for _, part := range strings.Split(page, `href="#`)[1:] {
		if to, _, _ := strings.Cut(part, `"`); !strings.Contains(page, `id="`+to+`"`) {
			t.Errorf("a link leads to %s, which is not there", to)
		}
	}
}
