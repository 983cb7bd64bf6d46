package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/jsmf"
)

func TestSeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seeds.txt")
	for text, want := range map[string]string{"courts: judge trial\r\n\n the sea :boat": "", "": "no topics", "a: b\nc": ":2: want a name", "a:\n": ":1: want a name"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Seeds(path)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v; want %q", text, err, want)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, []jsmf.Seed{{Name: "courts", Words: []string{"judge", "trial"}}, {Name: "the sea", Words: []string{"boat"}}}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := Seeds(""); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	if _, err := Seeds(path + "x"); err == nil {
		t.Error("a file that is missing: no error")
	}
}
