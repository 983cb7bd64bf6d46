package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// asked is what a namer is told of a topic, as JSON. It answers with an object that has a name.
type asked struct {
	Topic     int      `json:"topic"`
	Name      string   `json:"name"` // that it has without the namer
	Share     float64  `json:"share"`
	Words     []string `json:"words"`             // as people read it, best first
	Verdict   string   `json:"verdict,omitempty"` // sound, or why not
	Documents []string `json:"documents"`         // how the texts with most of it begin
	Taken     []string `json:"taken"`             // names of other topics
}

// name asks the namer at an address for a name of each topic, one after the other. The model keeps the names,
// which refits then have, too. An empty name leaves a topic its own, and so do topics that people have named.
// Names that settings have kept for this model are taken instead, unless the command line names a namer.
func (a *answers) name(ctx context.Context, o *options) (err error) {
	if o.namer == "" {
		return nil
	}
	if !o.given["namer"] && o.kept.Model == a.model.Fingerprint() {
		a.model, err = a.model.Edit(o.kept)
		return err
	}
	m, err := a.model.With(jsmf.Additions{Documents: a.topics})
	if err != nil {
		return err
	}
	rows := make(map[string]int, len(a.topics.IDs))
	for row, id := range a.topics.IDs {
		rows[id] = row
	}
	m, err = m.NameBy(ctx, func(ctx context.Context, t jsmf.Topic, documents, taken []string) (string, error) {
		x := asked{Topic: t.Number, Name: t.Name, Share: t.Share, Documents: []string{}, Taken: append([]string{}, taken...)}
		if t.Verdict != nil {
			x.Verdict = t.Verdict.String()
		}
		for _, w := range t.Words {
			x.Words = append(x.Words, readable(w.Word))
		}
		for _, id := range documents {
			text := []rune(a.describe(rows[id]).Text)
			x.Documents = append(x.Documents, string(text[:min(len(text), documentBegins)]))
		}
		return askNamer(ctx, o.namer, x)
	})
	if err != nil {
		return fmt.Errorf("-namer %s: %w", o.namer, err)
	}
	o.kept = jsmf.Edits{Model: m.Fingerprint(), Names: map[int]string{}}
	for k, s := range m.Additions().Names {
		if s != "" {
			o.kept.Names[k] = s
		}
	}
	a.model, err = a.model.With(jsmf.Additions{Names: m.Additions().Names})
	return err
}

const documentBegins = 500 // characters

// askNamer sends what is known of a topic, and returns the name that comes back.
func askNamer(ctx context.Context, url string, x asked) (string, error) {
	const patience, longest = 2 * time.Minute, 1 << 16 // a model on a small machine takes its time
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	body, err := json.Marshal(x)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the answer is %s", res.Status)
	}
	var out struct{ Name *string }
	if err := json.NewDecoder(io.LimitReader(res.Body, longest)).Decode(&out); err != nil || out.Name == nil {
		return "", fmt.Errorf(`the answer is not {"name": "..."} (%v)`, err)
	}
	return strings.Join(strings.Fields(*out.Name), " "), nil
}
