package serve

import (
	"bytes"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// description is the part of OpenAPI that openapi.json uses.
type description struct {
	OpenAPI string
	Info    struct{ Title, Description string }
	Paths   map[string]map[string]*operation

	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	Summary, Description string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
		Schema                *schema
	}
	Responses map[string]struct {
		Description string
		Headers     map[string]any
		Content     map[string]media
	}
	RequestBody *struct{ Content map[string]media }
}

type media struct{ Schema *schema }

// schema is the part of JSON Schema that openapi.json uses.
type schema struct {
	Ref                  string             `json:"$ref"`
	Description          string             `json:"description"`
	Type                 kinds              `json:"type"`
	Required             []string           `json:"required"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *bool              `json:"additionalProperties"`
	Items                *schema            `json:"items"`
	Enum                 []string           `json:"enum"`
	Const                *string            `json:"const"`
}

// Name returns the name of the schema that a reference leads to.
func (s *schema) Name() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// Needs reports whether a property must be there.
func (s *schema) Needs(name string) bool { return slices.Contains(s.Required, name) }

// kinds are the types that a value may have; JSON has one, or a list.
type kinds []string

func (k *kinds) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(k))
	}
	*k = kinds{""}
	return json.Unmarshal(b, &(*k)[0])
}

func (k kinds) String() string { return strings.Join(k, " or ") }

// documented is a route as the page of the interface shows it.
type documented struct {
	Method, Path string
	*operation
}

// ID is the place of a route in the page.
func (d documented) ID() string {
	return strings.ToLower(d.Method) + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(d.Path)
}

// api answers with openapi.json as a page to read.
func (s *Service) api(w http.ResponseWriter, r *http.Request) *problem {
	b, err := files.ReadFile("openapi.json")
	if err != nil {
		return internal(err)
	}
	var page struct {
		description
		Routes []documented
	}
	if err := json.Unmarshal(b, &page.description); err != nil {
		return internal(err)
	}
	for _, rt := range routes() {
		for _, method := range slices.Sorted(maps.Keys(rt.methods)) {
			if op := page.Paths[rt.path][strings.ToLower(method)]; op != nil && !slices.Contains(assets, rt.path) {
				page.Routes = append(page.Routes, documented{method, rt.path, op})
			}
		}
	}
	t, err := template.ParseFS(files, "web/api.html")
	if err != nil {
		return internal(err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return internal(err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes())
	return nil
}
