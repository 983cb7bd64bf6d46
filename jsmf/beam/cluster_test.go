package beam

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
)

// A runner that Beam's flags name has the model of one machine, if it has its type of CPU.
func TestRunner(t *testing.T) {
	folder := os.Getenv("JSMF_BEAM_FOLDER")
	if *runners.Runner == "" || folder == "" {
		t.Skip("needs a cluster: its --runner, and JSMF_BEAM_FOLDER, a folder that it sees")
	}
	ctx, c := context.Background(), drawn(2000)
	p := jsmf.New(6).Words(150).Refine(refine.Batch{N: 3})
	folder = joinPath(folder, uniqueName("cluster"))
	here, f := wholeUCI(t, c)
	put := func(from, name string) string {
		path := joinPath(folder, name)
		if _, _, err := writePath(ctx, path, func(w io.Writer) error { _, err := io.WriteString(w, readText(t, from)); return err }); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	shard := put(here[0], "docword.gz")
	f.Vocabulary = put(f.Vocabulary, "vocab")
	o := Options{Format: f, State: joinPath(folder, "state")}
	m, err := Fit(ctx, p, []string{shard}, o)
	if err != nil {
		t.Fatal(err)
	}
	if string(bytesOf(t, m)) != string(bytesOf(t, one)) {
		t.Error("another model than that of one machine")
	}
	model := joinPath(folder, "model.jsmf")
	if err := SaveModel(ctx, m, model); err != nil {
		t.Fatal(err)
	}
	files, err := Transform(ctx, model, []string{shard}, joinPath(folder, "topics"), o)
	if err != nil || fmt.Sprint(files) != fmt.Sprint([]string{topicsFile(joinPath(folder, "topics"), shard)}) {
		t.Fatal(files, err)
	}
	t.Logf("what the test wrote stays in %s", folder)
}
