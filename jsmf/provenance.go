package jsmf

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/linalg"
	"github.com/jsmf-go/spectral/internal/modelfile"
)

// Provenance records how a model was made. The same input, settings and type of CPU give the same
// model to the last bit; a model that follows another ([Pipeline.From]) also needs that one.
type Provenance struct {
	Version       string   `json:"version"`        // of this library; "(devel)" in a checkout, "unknown" without build information
	FormatVersion int      `json:"format_version"` // of the file a model was read from, or else of the file it would be written to
	Go            string   `json:"go"`             // release of Go, as runtime.Version
	OS            string   `json:"os"`             // as runtime.GOOS
	Arch          string   `json:"arch"`           // as runtime.GOARCH
	Kernel        string   `json:"kernel"`         // the matrix-product kernel chosen at run time
	Seed          uint64   `json:"seed"`
	Stages        []string `json:"stages"` // a description of each stage with all its settings, in their order

	// Text says how the texts of the fit were split into words ([corpus.Info].Text); nil where that
	// is not known, as for documents that were not text.
	Text *text.Setting `json:"-"`
}

const modulePath = "github.com/jsmf-go/spectral"

// newProvenance describes the running program.
func newProvenance(seed uint64, stages []string, set *text.Setting) Provenance {
	return Provenance{
		Version: moduleVersion(), FormatVersion: modelfile.Version,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: linalg.KernelName(), Seed: seed, Stages: stages, Text: set,
	}
}

// clone returns a copy that shares no memory with p, except within Text.
func (p Provenance) clone() Provenance {
	p.Stages = slices.Clone(p.Stages)
	if p.Text != nil {
		set := *p.Text
		p.Text = &set
	}
	return p
}

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		return cmp.Or(m.Version, "(devel)") // a replacement by a folder has none
	}
	return "unknown"
}

// Provenance returns how the model was made.
func (m *Model) Provenance() Provenance { return m.prov.clone() }
