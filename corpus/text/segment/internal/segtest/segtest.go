// Package segtest tests what every segmenter must do.
package segtest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/jsmf-go/spectral/corpus/text"
)

// Suite says what is expected of a segmenter.
type Suite struct {
	Segmenter func() (text.Segmenter, error) // the same each time
	Name      string
	Scripts   []string
	Runs      []Words // some short sentences
	Appended  string  // a word of its own
	Text      Words   // of which the rest is split as ever
	Long      string  // a run without words or end
}

// Words are the words of a run or a text, with "|" between them.
type Words struct{ In, Words string }

func (s Suite) get(t testing.TB) text.Segmenter {
	t.Helper()
	seg, err := s.Segmenter()
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// Test tests the segmenter.
func (s Suite) Test(t *testing.T) {
	seg := s.get(t)
	same := func(t *testing.T, in string, got []string, want string) {
		t.Helper()
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%s: %s, want %s", in, joined, want)
		}
	}
	t.Run("Segment", func(t *testing.T) {
		if seg.Name() != s.Name || !slices.Equal(seg.Scripts(), s.Scripts) {
			t.Errorf("%q for %q", seg.Name(), seg.Scripts())
		}
		for _, x := range s.Runs {
			same(t, x.In, seg.Segment(nil, x.In), x.Words)
		}
		same(t, "appended", seg.Segment([]string{"before"}, s.Appended), "before|"+s.Appended)
	})
	t.Run("Tokenizer", func(t *testing.T) {
		tok, err := text.Setting{Segmenters: []string{seg.Name()}}.Tokenizer(seg)
		if err != nil {
			t.Fatal(err)
		}
		same(t, s.Text.In, tok.Tokenize(nil, s.Text.In), s.Text.Words)
	})
	// The time grows with the length of a run, not with its square: otherwise this takes
	// minutes.
	t.Run("LongRun", func(t *testing.T) {
		if got := seg.Segment(nil, s.Long); strings.Join(got, "") != s.Long {
			t.Error("not the run, but other text")
		}
	})
	t.Run("Concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					for _, x := range s.Runs {
						same(t, x.In, seg.Segment(nil, x.In), x.Words)
					}
				}
			})
		}
		wg.Wait()
	})
}

// Fuzz tests that the words are those of the run, that none is empty, and that they are the
// same each time.
func (s Suite) Fuzz(f *testing.F) {
	for _, x := range s.Runs {
		f.Add(x.In)
	}
	f.Add("𠮷野家々龘\u0301 a")
	seg := s.get(f)
	var scripts []*unicode.RangeTable
	for _, name := range s.Scripts {
		scripts = append(scripts, unicode.Scripts[name])
	}
	f.Fuzz(func(t *testing.T, in string) {
		run := strings.Map(func(r rune) rune { // as the Tokenizer finds it
			if unicode.In(r, scripts...) || unicode.IsMark(r) {
				return r
			}
			return -1
		}, strings.ToValidUTF8(in, ""))
		got := seg.Segment(nil, run)
		if strings.Join(got, "") != run || slices.Contains(got, "") && run != "" || !slices.Equal(got, seg.Segment(nil, run)) {
			t.Fatalf("%q gives %q", run, got)
		}
	})
}
