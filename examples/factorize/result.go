package main

import (
	"github.com/jsmf-go/spectral/examples/internal/cli"
	"github.com/jsmf-go/spectral/metrics"
	recovery "github.com/jsmf-go/spectral/recover"
)

type seconds struct {
	Read    float64 `json:"read"`
	Curate  float64 `json:"curate"`
	Cooc    float64 `json:"cooc"`
	Rectify float64 `json:"rectify"`
	Anchors float64 `json:"anchors"`
	Recover float64 `json:"recover"`
	Topics  float64 `json:"topics,omitempty"` // of -anchor-free
	Refine  float64 `json:"refine,omitempty"`
	Reading float64 `json:"reading,omitempty"`
	Metrics float64 `json:"metrics"`
	Infer   float64 `json:"infer,omitempty"`
	Total   float64 `json:"total"`
}

// result is what -json prints.
type result struct {
	Corpus struct {
		N      int   `json:"n"`
		M      int   `json:"m"`
		Tokens int64 `json:"tokens"`
	} `json:"corpus"`
	K             int             `json:"k"`
	Method        string          `json:"method"`
	Rectify       string          `json:"rectify,omitempty"`
	RectifyMethod string          `json:"rectify_method,omitempty"`
	RectifyReason string          `json:"rectify_reason,omitempty"`
	Finder        string          `json:"finder,omitempty"`
	Recover       string          `json:"recover,omitempty"`
	AnchorFree    string          `json:"anchor_free,omitempty"`
	Weights       string          `json:"weights,omitempty"`
	Anchors       []anchorWord    `json:"anchors"`
	Topics        []topic         `json:"topics"`
	Alpha         *prior          `json:"alpha,omitempty"`
	Tree          *recovery.Tree  `json:"tree,omitempty"`
	Hierarchy     []level         `json:"hierarchy,omitempty"`
	Metrics       *metrics.Report `json:"metrics"`
	ObjectiveMean cli.Number      `json:"objective_mean"`
	Infer         *inferred       `json:"infer,omitempty"`
	Refine        *refinement     `json:"refine,omitempty"`
	Seconds       seconds         `json:"seconds"`
	CPU           float64         `json:"cpu_seconds,omitempty"`
	PeakRSS       int64           `json:"peak_rss_bytes,omitempty"`
}

type topic struct {
	Name       string     `json:"name"`
	Share      cli.Number `json:"share"`
	Background bool       `json:"background"`
	Words      []string   `json:"words"`
}

type refinement struct {
	Method string    `json:"method"`
	Passes int       `json:"passes"`
	LogLik []float64 `json:"loglik"`
}

type anchorWord struct {
	Index      int      `json:"index"`
	Word       string   `json:"word"`
	InputIndex int      `json:"input_index"`
	Facet      []string `json:"facet,omitempty"`
}
