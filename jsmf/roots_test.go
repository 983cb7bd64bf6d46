package jsmf

import (
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
)

// New finds few topics by anchors and splits them where many are asked for of enough documents, unless
// something else was asked for.
func TestStartTopics(t *testing.T) {
	const words, most = 20000, 1 << 40 // nonzeros
	flat := func(k int) int { return (k + k/4 + 15) / 16 * 16 }
	for name, x := range map[string]struct {
		p    Pipeline
		nnz  int64
		want int
	}{
		"few topics":                  {New(treeFrom - 1), most, flat(treeFrom - 1)},
		"many":                        {New(treeFrom), most, fewRoots},
		"up to more":                  {New(manyFrom - 1), most, fewRoots},
		"more":                        {New(manyFrom), most, manyRoots},
		"more, pointer":               {New(manyFrom).Refine(&refine.Passes{}), most, manyRoots},
		"of few documents":            {New(manyFrom), 1000, flat(manyFrom)},
		"most that are flat":          {New(flatUpTo), 1000, flat(flatUpTo)},
		"very many of few documents":  {New(flatUpTo + 1), 1000, manyRoots},
		"extra ones":                  {New(500).Extra(7), most, 507},
		"none extra":                  {New(500).Extra(0), most, 500},
		"the default number of extra": {New(500).Extra(-1), most, manyRoots},
		"anchors":                     {New(500).Anchors(anchor.QR{}), most, 500},
		"without anchors":             {New(500).AnchorFree(anchorfree.LP{}), most, 500},
		"no passes":                   {New(500).Refine(nil), most, 500},
		"on many machines":            {New(500).Refine(refine.Batch{}), most, manyRoots},
		"published":                   {Published(500), most, 500},
	} {
		if got := x.p.startTopics(words, x.nnz); got != x.want {
			t.Errorf("%s: %d topics, want %d", name, got, x.want)
		}
	}
	if got := New(100).startTopics(4*fewRoots-1, most); got != 100 {
		t.Errorf("of few words: %d topics", got)
	}
}
