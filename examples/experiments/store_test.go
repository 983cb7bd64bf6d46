package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDamagedRecords(t *testing.T) {
	for _, text := range []string{"no JSON\n", `{"key":"0","group":"curves","version":1,"settings":[],"rows":[],"seconds":0}` + "\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, recordsName), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var e bytes.Buffer
		if status := run(t.Context(), small(dir, "-run", "curves"), io.Discard, &e); status != 1 || !strings.Contains(e.String(), recordsName+":1:") {
			t.Errorf("status %d: %s", status, e.String())
		}
	}
}
