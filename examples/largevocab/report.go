package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jsmf-go/spectral/examples/internal/cli"
)

// result is one size, as -json prints it.
type result struct {
	Factor int `json:"factor"`
	Corpus struct {
		N      int   `json:"n"`
		M      int   `json:"m"`
		Tokens int64 `json:"tokens"`
	} `json:"corpus"`
	K             int        `json:"k"`
	Rectify       string     `json:"rectify"`
	BaseRecovery  cli.Number `json:"base_recovery"`
	AnchorQuality cli.Number `json:"anchor_quality"`
	Sparsity      cli.Number `json:"sparsity"`
	Recovery      cli.Number `json:"recovery"`
	Seconds       seconds    `json:"seconds"`
	PeakRSS       int64      `json:"peak_rss_bytes,omitempty"`
	Topics        []topic    `json:"topics"`
}

type seconds struct {
	Curate  float64 `json:"curate"`
	Cooc    float64 `json:"cooc"`
	Rectify float64 `json:"rectify"`
	Anchors float64 `json:"anchors"`
	Recover float64 `json:"recover"`
	Metrics float64 `json:"metrics"`
	Total   float64 `json:"total"`
}

type topic struct {
	Topic  int      `json:"topic"`
	Anchor string   `json:"anchor"`
	Words  []string `json:"words"`
	*Change
}

// Change is how a topic differs from the one of the base size.
type Change struct {
	BaseTopic  int      `json:"base_topic"`
	BaseAnchor string   `json:"base_anchor"`
	Cosine     float64  `json:"cosine"`
	Gained     []string `json:"gained"`
	Lost       []string `json:"lost"`
	New        []string `json:"new"`
}

// tableWriter prints the sizes for people, each as soon as it is there.
type tableWriter struct {
	w     io.Writer
	peak  bool
	begun bool
}

func (t *tableWriter) row(r *result) error {
	if !t.begun {
		t.begun = true
		head := fmt.Sprintf("%8s %8s %9s  %12s %13s %8s %8s  %9s %9s %9s", "size", "N", "documents", "BaseRecovery", "AnchorQuality", "Sparsity", "Recovery", "rectify s", "model s", "total s")
		if t.peak {
			head += fmt.Sprintf(" %8s", "peak MB")
		}
		if _, err := fmt.Fprintln(t.w, head); err != nil {
			return err
		}
	}
	s := r.Seconds
	line := fmt.Sprintf("%7d× %8d %9d  %12.6f %13.1f %8.4f %8.5f  %9.2f %9.2f %9.2f", r.Factor, r.Corpus.N, r.Corpus.M,
		float64(r.BaseRecovery), float64(r.AnchorQuality), float64(r.Sparsity), float64(r.Recovery), s.Rectify, s.Curate+s.Cooc+s.Rectify+s.Anchors+s.Recover, s.Total)
	if t.peak {
		line += fmt.Sprintf(" %8d", r.PeakRSS>>20)
	}
	_, err := fmt.Fprintln(t.w, line)
	return err
}

// topicTables prints how the topics of each size differ from the base's.
func topicTables(w io.Writer, o options, results []*result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	base := results[0]
	fmt.Fprintf(t, "\nTopics of %d words\n", base.Corpus.N)
	fmt.Fprintf(t, "   \tanchor\ttop %d words\n", o.top)
	for _, x := range base.Topics {
		fmt.Fprintf(t, "%3d\t%s\t%s\n", x.Topic, x.Anchor, strings.Join(x.Words, " "))
	}
	t.Flush()
	for _, r := range results[1:] {
		gained, lost := 0, 0
		for _, x := range r.Topics {
			gained, lost = gained+len(x.Gained), lost+len(x.Lost)
		}
		fmt.Fprintf(t, "\nFrom %d to %d words: top words gained (+%d) and lost (−%d)\n", base.Corpus.N, r.Corpus.N, gained, lost)
		fmt.Fprintf(t, "   \tcosine\tanchor\ttop %d words, and those lost\tmost probable new words\n", o.top)
		for k, x := range r.Topics {
			var words []string
			for _, v := range x.Words {
				if slices.Contains(x.Gained, v) {
					v = "+" + v
				}
				words = append(words, v)
			}
			for _, v := range x.Lost {
				words = append(words, "−"+v)
			}
			anchor := x.Anchor
			if anchor != x.BaseAnchor {
				anchor = x.BaseAnchor + " → " + anchor
			}
			fmt.Fprintf(t, "%3d\t%.3f\t%s\t%s\t%s\n", k, x.Cosine, anchor, strings.Join(words, " "), strings.Join(x.New, " "))
		}
		t.Flush()
	}
	return nil
}
