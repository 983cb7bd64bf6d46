package bag

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, x := range []struct {
		from, to string
		want     []int32
	}{
		{"", "a", []int32{}},
		{"a b c", "c a", []int32{1, -1, 0}},
		{"a b a", "a b a", []int32{0, 1, 2}},
		{"b a a", "a b a", []int32{1, 0, 2}},
		{"a a a", "a b a", []int32{0, 2, 2}},
		{"a b", "a a b", []int32{0, 2}},
	} {
		if got := Match(strings.Fields(x.from), strings.Fields(x.to)); !slices.Equal(got, x.want) {
			t.Errorf("%q to %q: %v, want %v", x.from, x.to, got, x.want)
		}
	}
	if _, err := Index([]string{"a", "b", "a"}); err == nil || err.Error() != `words 0 and 2 of the vocabulary are both "a"` {
		t.Error(err)
	}
}

func TestUnique(t *testing.T) {
	v := []string{"a", "b", "a", "a"}
	if got := Unique(v); !slices.Equal(got, []string{"a", "b", "a\x002", "a\x003"}) || v[2] != "a" {
		t.Errorf("%q of %q", got, v)
	}
	if got := Unique(v[:2]); &got[0] != &v[0] {
		t.Error("different words were copied")
	}
}

// The counts are those of a map.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a Counter
	w := Words{Size: 6, To: []int32{2, -1, 0, 3, 1, Ignored}}
	for trial := range 500 {
		var d Document
		if trial%3 == 0 {
			d.Counts = []int32{}
		}
		want, unknown := map[int32]int32{}, int64(0)
		for range rng.IntN(12) {
			v, x := int32(rng.IntN(6)), int32(1)
			if d.Counts != nil {
				x = int32(rng.IntN(3))
				d.Counts = append(d.Counts, x)
			}
			d.Words = append(d.Words, v)
			switch k := w.To[v]; {
			case k >= 0 && x > 0:
				want[k] += x
			case k == Unknown:
				unknown += int64(x)
			}
		}
		if err := a.Read(&w, d, trial); err != nil {
			t.Fatal(err)
		}
		if err := a.Sorted(); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(a.Words) || len(a.Words) != len(want) || a.Unknown != unknown {
			t.Fatalf("%+v: %v of %v, %d unknown of %d", d, a.Words, want, a.Unknown, unknown)
		}
		for i, k := range a.Words {
			if a.Counts[i] != want[k] {
				t.Fatalf("%+v: word %d occurs %d times, want %d", d, k, a.Counts[i], want[k])
			}
		}
	}
}

func TestCounterErrors(t *testing.T) {
	var c Counter
	w := Words{Size: 2, Names: []string{"a", "b"}, Name: func(w int32) string { return string('a' + w) }}
	for want, d := range map[string]Document{
		"document 7: tokens are given where numbers":           {Tokens: []string{"a"}},
		"document 7: both Tokens and Words are given":          {Tokens: []string{"a"}, Words: []int32{0}},
		"document x: 1 counts for 2 words":                     {ID: "x", Words: []int32{0, 1}, Counts: []int32{1}},
		"document x: word 2 is not in [0, 1]":                  {ID: "x", Words: []int32{0, 2}},
		`count -1 of word "b" in document 7 is not an integer`: {Words: []int32{1}, Counts: []int32{-1}},
		`count 2147483648 of word "b" in document 7 is not an`: {Words: []int32{1, 1}, Counts: []int32{math.MaxInt32, 1}},
	} {
		err := c.Read(&w, d, 7)
		if err == nil {
			err = c.Sorted()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// What went wrong leaves no trace.
	if err := c.Read(&w, Document{Words: []int32{1, 0, 1}}, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.Sorted(); err != nil || !slices.Equal(c.Words, []int32{0, 1}) || !slices.Equal(c.Counts, []int32{1, 2}) {
		t.Errorf("%v %v, %v", c.Words, c.Counts, err)
	}
	if err := c.Read(&Words{Token: func(string) (int32, error) { return 0, nil }}, Document{Tokens: []string{""}}, 1); err == nil {
		t.Error("an empty token was taken")
	}
}
