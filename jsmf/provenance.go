package jsmf

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// Provenance records how a model was made. The same input, settings and type of
// CPU give the same model to the last bit; a model that follows another
// (Pipeline.From) also needs that one.
type Provenance struct {
	Version       string   `json:"version"`        // of this library; "(devel)" in a checkout, "unknown" without build information
	FormatVersion int      `json:"format_version"` // of the file a model was read from, or else of the file it would be written to
	Go            string   `json:"go"`             // release of Go, as runtime.Version
	OS            string   `json:"os"`             // as runtime.GOOS
	Arch          string   `json:"arch"`           // as runtime.GOARCH
	Kernel        string   `json:"kernel"`         // the matrix-product kernel chosen at run time
	Seed          uint64   `json:"seed"`
	Stages        []string `json:"stages"` // a description of each stage with all its settings, in their order
}

const modulePath = "github.com/jsmf-go/spectral"

// newProvenance describes the running program.
func newProvenance(kernel string, seed uint64, stages []string) Provenance {
	return Provenance{
		Version: moduleVersion(), FormatVersion: formatVersion,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel: kernel, Seed: seed, Stages: slices.Clone(stages),
	}
}

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	version := func(m *debug.Module) string {
		if m.Version == "" {
			return "(devel)" // a replacement by a folder has none
		}
		return m.Version
	}
	if info.Main.Path == modulePath {
		return version(&info.Main)
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			if m.Replace != nil {
				m = m.Replace
			}
			return version(m)
		}
	}
	return "unknown"
}

// Provenance returns how the model was made.
func (m *Model) Provenance() Provenance {
	p := m.prov
	p.Stages = slices.Clone(p.Stages)
	return p
}
