package report

import (
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/infer"
	"github.com/jsmf-go/spectral/internal/console"
	"github.com/jsmf-go/spectral/jsmf"
)

// mostUnexplained is how many documents that no topic explains are listed.
const mostUnexplained = 200

// Why topics do not explain a document.
const (
	fewKnown = "few known {words}"
	unlikely = "{words} that are unlikely in all topics"
	dropped  = "{words} of topics that were dropped, or of none"
)

// unexplainedDoc is a document that no topic explains.
type unexplainedDoc struct{ Title, Known, Why string }

// unexplained returns which documents no topic explains, by why. c may be nil.
func unexplained(c *jsmf.Compositions) map[string][]int {
	out := map[string][]int{}
	if c == nil {
		return out
	}
	for d := range c.IDs {
		switch x := &c.Docs[d]; {
		case c.Explained(d):
		case x.Unknown > 9*x.Tokens && x.Status != infer.NoTokens:
			out[dropped] = append(out[dropped], d)
		case x.Tokens == 0 || !infer.Doc{Tokens: x.Tokens}.Explained(float64(c.Unknown[d])):
			out[fewKnown] = append(out[fewKnown], d)
		default:
			out[unlikely] = append(out[unlikely], d)
		}
	}
	return out
}

// unexplained lists the first documents that no topic explains.
func (p *page) unexplained(o *Options, docs map[string][]int) {
	c := o.Documents
	p.NoTopic = len(docs[fewKnown]) + len(docs[unlikely]) + len(docs[dropped])
	for _, why := range []string{fewKnown, unlikely, dropped} {
		for _, d := range docs[why][:min(len(docs[why]), mostUnexplained-len(p.NoTopicDocs))] {
			x := &c.Docs[d]
			known := fmt.Sprintf("%s of %s", count(int64(x.Tokens)), count(int64(math.Round(x.Tokens+x.Unknown))+c.Unknown[d]))
			p.NoTopicDocs = append(p.NoTopicDocs, unexplainedDoc{o.Describe(d).Title, known, p.Say(why)})
		}
	}
}

// unexplained tells how many documents no topic explains, and why.
func (f *finder) unexplained(c *jsmf.Compositions, docs map[string][]int) {
	all := 0
	var parts []string
	for _, why := range []string{fewKnown, unlikely, dropped} {
		if n := len(docs[why]); n > 0 {
			parts, all = append(parts, fmt.Sprintf("%s with %s", count(int64(n)), why)), all+n
		}
	}
	if all > 0 {
		f.add(Finding{Place: "#unexplained"}, "No topic explains %s of %s {documents}: "+console.And(parts)+". They are left out of lists of {documents} and of effects.", count(int64(all)), count(int64(len(c.IDs))))
	}
}
