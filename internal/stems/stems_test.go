package stems_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/stems"
)

// cut takes the last letter off words of three letters or more that end in s; "s" has no stem.
type cut struct{}

func (cut) Name() string { return "cut" }

func (cut) Stem(word string) string {
	if word == "s" || len(word) > 2 {
		return strings.TrimSuffix(word, "s")
	}
	return word
}

func TestMerge(t *testing.T) {
	vocab := []string{"nets", "tea", "net", "teas", "deep_nets", "deep_net", "deeps_net", "s", "is", "_"}
	shown, to := stems.Merge(cut{}, vocab, []int64{5, 2, 3, 2, 1, 1, 4, 1, 1, 1})
	if want := []string{"nets", "tea", "deeps_net", "s", "is", "_"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
	if want := []int32{0, 1, 0, 1, 2, 2, 2, 3, 4, 5}; !slices.Equal(to, want) {
		t.Errorf("to %v, want %v", to, want)
	}

	x := stems.NewIndex(cut{}, shown)
	for i, w := range vocab {
		if n, ok := x.Find(w); !ok || n != to[i] {
			t.Errorf("%q is found at %d, %v; want %d", w, n, ok, to[i])
		}
	}
	if n, ok := x.Find("deeps_nets"); !ok || n != 2 {
		t.Errorf("a form that is new is found at %d, %v", n, ok)
	}
	if n, ok := x.Find("coffee"); ok {
		t.Errorf("a word that is not there is found at %d", n)
	}
	if n, _ := stems.NewIndex(cut{}, []string{"nets", "net"}).Find("net"); n != 0 {
		t.Errorf("of two words of one stem number %d is found, not the first", n)
	}
}
