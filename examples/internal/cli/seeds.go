package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/jsmf-go/spectral/jsmf"
)

// SeedsHelp says what a file of seeds holds.
const SeedsHelp = "words that the first topics are to have: a `file`, a line a topic, as in \"courts: judge trial appeal\""

// Seeds reads a file of seeds. A line is the name of a topic, a colon and its words, with blanks between; empty
// lines are skipped. There are none without a file.
func Seeds(path string) (seeds []jsmf.Seed, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for line := 1; s.Scan(); line++ {
		name, words, found := strings.Cut(strings.TrimPrefix(s.Text(), "\ufeff"), ":")
		switch x := (jsmf.Seed{Name: strings.TrimSpace(name), Words: strings.Fields(words)}); {
		case strings.TrimSpace(s.Text()) == "":
		case !found || len(x.Words) == 0:
			return nil, fmt.Errorf("%s:%d: want a name, a colon and words, as in \"courts: judge trial appeal\"", path, line)
		default:
			seeds = append(seeds, x)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if seeds == nil {
		return nil, fmt.Errorf("%s: no topics", path)
	}
	return seeds, nil
}
