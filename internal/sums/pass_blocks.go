package sums

import (
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
)

// A document that keeps some blocks of topics finds them first: each block is a topic, the mean of its
// own, in which each counts as much as documents begin with it.

// coarsen makes these topics.
func (a *passAdder) coarsen() {
	p := a.p
	k := p.Topics.Stride / estep.BlockSize
	rows, columns := estep.NewRows(p.Topics.N, k), make([]int, k)
	a.coarse, a.coarseT = docstep.NewDocument(k), make([]float32, k)
	for t, v := range p.Begin {
		a.coarseT[t/estep.BlockSize] += v
	}
	for i := range rows.N {
		to := rows.Row(i)
		for t, v := range p.Topics.Row(i) {
			b := t / estep.BlockSize
			to[b] += float32(v * (p.Begin[t] / a.coarseT[b]))
		}
	}
	for b := range columns {
		columns[b] = b
	}
	a.coarseRule = docstep.NewRule(rows, 0, columns, p.Unigram)
	a.coarseRule.Leave = p.Leave
	for t := range p.Begin {
		a.coarseRule.Prior[t/estep.BlockSize] += p.Alpha
	}
}

// settleBlocks sets t to weights of all topics, with the sum all: those of each block as documents begin
// with them.
func (a *passAdder) settleBlocks(t []float32, all float32) error {
	c := a.coarse
	c.Visible, c.Hidden = a.doc.Visible, a.doc.Hidden
	docstep.Rescale(c.T[:len(a.coarseT)], a.coarseT, all/a.begin)
	if err := c.Settle(&a.coarseRule, all, a.p.Steps); err != nil {
		return err
	}
	for i, v := range a.p.Begin {
		b := i / estep.BlockSize
		t[i] = v * (c.T[b] / a.coarseT[b])
	}
	return nil
}

// choose sets the blocks of topics that the document keeps: those with Least tokens in a.weights or,
// without any, the first of those with most. The document gets their weights.
func (a *passAdder) choose() {
	a.blocks = a.blocks[:0]
	best, most := 0, float32(-1)
	for b := range len(a.weights) / estep.BlockSize {
		sum := float32(0)
		for _, v := range a.weights[estep.BlockSize*b:][:estep.BlockSize] {
			sum += max(v-a.p.Alpha, 0)
		}
		if sum >= a.p.Least {
			a.blocks = append(a.blocks, uint16(b))
		}
		if sum > most {
			best, most = b, sum
		}
	}
	if len(a.blocks) == 0 {
		a.blocks = append(a.blocks, uint16(best))
	}
	a.rule = a.doc.Within(&a.all, a.blocks)
	estep.Pick(a.doc.T[:0], a.weights, a.blocks)
}

// topics returns how many topics the blocks have.
func (a *passAdder) topics() int {
	n := estep.BlockSize * len(a.blocks)
	if last := a.blocks[len(a.blocks)-1]; int(last) == len(a.weights)/estep.BlockSize-1 {
		n -= len(a.weights) - a.p.Topics.K
	}
	return n
}

// byTopic returns the document's tokens of the topics that it has, once it has its weights.
func (a *passAdder) byTopic() []float32 {
	n := a.weights[:len(a.doc.T)]
	for i, v := range a.doc.T {
		n[i] = max(v-a.rule.Prior[i], 0)
	}
	return n
}
