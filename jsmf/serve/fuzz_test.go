package serve

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a client sends is read or refused: nothing panics, and what is read
// is what encoding/json reads, except what that would repair.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{
		`{"text":"a"}`, `{"id":"x","words":["a","b"],"counts":[1,2]}`, `{"ids":[0,3]}`, `{"text":"\ud83d\ude00\ud800"}`, `[[[[[`, "{\"text\":\"\xff\"}",
		`{"text":null}`, `{"Text":"a"}`, `{"text":"a","text":"b"}`, `{"words":[null]}`, `{"text":"\`, `{"text":"\u12`,
	} {
		f.Add([]byte(s))
	}
	cfg, err := Settings{}.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, p := parseDocument(b, nil, cfg.Limits)
		if p != nil {
			if p.Status < 400 || p.Status > 499 || p.Detail == "" || !utf8.ValidString(p.Field) {
				t.Errorf("%q: %+v", b, p)
			}
			return
		}
		var want struct {
			ID, Text    string
			Words       []string
			IDs, Counts []int32
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q was read: %v", b, err)
		}
		if d.id != want.ID || d.text != want.Text || !slices.Equal(d.words, want.Words) || !slices.Equal(d.ids, want.IDs) || !slices.Equal(d.counts, want.Counts) {
			t.Errorf("%q was read as %+v", b, d)
		}
		if strings.ContainsRune(d.text, utf8.RuneError) && !strings.ContainsRune(string(b), utf8.RuneError) && !strings.Contains(strings.ToLower(string(b)), `\ufffd`) {
			t.Errorf("%q was repaired to %q", b, d.text)
		}
		words, counts, p := d.tokens(tokenizer, cfg.Limits)
		if p == nil && len(words) != len(counts) {
			t.Errorf("%q: %d words and %d counts", b, len(words), len(counts))
		}
		if p == nil && d.id != "" && d.kind != "ids" {
			keepable(t, d.id, words, counts)
		}
	})
}
