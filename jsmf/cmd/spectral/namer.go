package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

// asked is what a namer is told of a topic, as JSON. It answers with an object that has a name.
type asked struct {
	Topic int      `json:"topic"`
	Name  string   `json:"name"` // that it has without the namer
	Share float64  `json:"share"`
	Words []string `json:"words"` // as people read it, best first
	Taken []string `json:"taken"` // names of other topics
}

// name asks the namer at an address for a name of each topic, one after the other. The model keeps the names,
// which refits then have, too. An empty name leaves a topic its own, and so do topics that people have named.
func (a *answers) name(ctx context.Context, url string) error {
	if url == "" {
		return nil
	}
	names := a.model.Additions().Names
	if names == nil {
		names = make([]string, a.model.K())
	}
	for _, t := range a.model.Summary(15) {
		if names[t.Number] != "" {
			continue
		}
		x := asked{Topic: t.Number, Name: t.Name, Share: t.Share, Taken: []string{}}
		for _, w := range t.Words {
			x.Words = append(x.Words, readable(w.Word))
		}
		for _, s := range names {
			if s != "" {
				x.Taken = append(x.Taken, s)
			}
		}
		s, err := askNamer(ctx, url, x)
		if err != nil {
			return fmt.Errorf("-namer %s: topic %d: %w", url, t.Number, err)
		}
		if s != "" && slices.Contains(names, s) {
			return fmt.Errorf("-namer %s: topic %d: %q is the name of another topic", url, t.Number, s)
		}
		names[t.Number] = s
	}
	var err error
	if a.model, err = a.model.With(jsmf.Additions{Names: names}); err != nil {
		return fmt.Errorf("-namer %s: %w", url, err)
	}
	return nil
}

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
