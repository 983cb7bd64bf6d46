package sums

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/holdout"
	"github.com/jsmf-go/spectral/internal/logisticnormal"
)

// Correlated is a Pass that learns or finishes under a logistic-normal prior. A document's logits
// begin with the prior's mean. Learn adds up the moments of the logits, too. There are no Pairs.
//
// With Families a document's topics and their tokens are those of the Pass before its logits begin with
// them.
type Correlated struct {
	Pass  *Pass // Steps are those of a document without logits; Least is 0 without Families
	Prior *logisticnormal.Prior
	// Families is that of each topic, which have the logits; nil: the topics have them.
	Families []int
	Turn     int32 // the noise of each is another
	// Informs is of how many documents one adds to the information.
	Informs int64
}

// Before the sum of the Pass, Learn has the upper triangle of the second moments of the logits
// about the prior's mean by rows, their K first moments, and these.
const (
	atWeight = iota
	atObserved
	atFull
	logitTail
)

// maxSquare bounds what a document adds to a moment of the logits.
const maxSquare = 2 * logisticnormal.Widest * logisticnormal.Widest

func (c *Correlated) own() int {
	if c.Pass.Task != Learn {
		return 0
	}
	k := c.Prior.K()
	return triangle(k) + k + logitTail
}

// pass returns the Pass with the families.
func (c *Correlated) pass() *Pass {
	p := *c.Pass
	p.of, p.families = c.Families, c.Prior.K()
	return &p
}

func (c *Correlated) Len() int     { return c.own() + c.pass().Len() }
func (c *Correlated) Shared() bool { return false }

// logitShift is the shift of the moments of the logits.
func (c *Correlated) logitShift() int { return shift(maxSquare * max(c.Pass.Docs, 1)) }

// LogitMoments are the moments of the documents' logits.
type LogitMoments struct {
	Weight         float64 // of the documents
	Observed, Full float64 // information
	Mean           []float64
	Second         *mat.SymDense
}

// Read reads a sum as Pass.Read does.
func (c *Correlated) Read(sum []int64) (*Answer, *LogitMoments, error) {
	if len(sum) != c.Len() {
		return nil, nil, fmt.Errorf("a pass has %d sums, want %d", len(sum), c.Len())
	}
	a, err := c.pass().Read(sum[c.own():])
	if err != nil || c.own() == 0 {
		return a, nil, err
	}
	k, s, t := c.Prior.K(), c.logitShift(), c.Pass.tokenShift()-1
	m := &LogitMoments{Mean: make([]float64, k), Second: mat.NewSymDense(k, nil)}
	for i := range k {
		for j := i; j < k; j++ {
			m.Second.SetSym(i, j, unfix(sum[0], s))
			sum = sum[1:]
		}
	}
	for i := range k {
		m.Mean[i] = unfix(sum[i], s)
	}
	end := sum[k:]
	m.Weight, m.Observed, m.Full = unfix(end[atWeight], s), unfix(end[atObserved], t), unfix(end[atFull], t)
	return a, m, nil
}

// correlatedAdder has the scratch space of a Correlated.
type correlatedAdder struct {
	*passAdder
	c      *Correlated
	x      *logisticnormal.Document
	eta, n []float32 // n are tokens by topic
	theta  [2][]float64
	scale  float64 // 2^logitShift
	half   float64 // 2^(tokenShift − 1)
}

func (c *Correlated) Adder() Adder {
	k := c.Prior.K()
	return &correlatedAdder{
		passAdder: c.pass().adder(), c: c, x: logisticnormal.NewDocument(c.Prior),
		eta: make([]float32, k), n: make([]float32, c.Pass.Topics.Stride), theta: [2][]float64{make([]float64, k), make([]float64, k)},
		scale: power(c.logitShift()), half: power(c.Pass.tokenShift() - 1),
	}
}

func (a *correlatedAdder) Add(ctx context.Context, b *corpus.Block, sum []int64) error {
	own, rest := sum[:a.c.own()], sum[a.c.own():]
	to := docstep.Sums{Each: a.each(rest)}
	return a.documents(ctx, b, rest[len(rest)-passTail:], func(key uint64) error { return a.add(key, to, own, rest) })
}

// begin sets η to the logits to begin with, and returns how many steps they need.
func (a *correlatedAdder) begin() (steps int, err error) {
	if a.c.Families == nil {
		for k, v := range a.c.Prior.Mean {
			a.eta[k] = float32(v)
		}
		return a.p.Steps, nil
	}
	if _, err := a.weigh(); err != nil {
		return 0, err
	}
	a.n = append(a.n[:0], a.byTopic()...)
	a.rule.Families.Count(a.eta, a.n)
	a.c.Prior.Begin(a.eta, float64(a.doc.Visible.Sum))
	return logisticnormal.Beginning, nil
}

// add adds a.doc.
func (a *correlatedAdder) add(key uint64, to docstep.Sums, own, rest []int64) error {
	steps, err := a.begin()
	if err != nil {
		return err
	}
	noise := logisticnormal.Key(key, int(a.c.Turn))
	if a.p.Task == Finish {
		loglik, err := a.doc.FinishCorrelated(a.rule, a.x, a.eta, a.n, steps, noise, &to, a.theta)
		if err != nil {
			return err
		}
		a.leading(a.n, rest[a.p.counts():])
		if at := a.p.second(rest); a.thetas != nil {
			a.thetas.Document(a.n, a.blocks, a.theta, a.weight, at)
		} else {
			a.moments(at)
		}
		a.count(rest[len(rest)-passTail:], &a.doc.Visible, loglik, true, atTokens, atLogLik, atScored)
		return nil
	}
	scored := holdout.Sampled(key, a.p.Scored)
	var n []float32
	if a.c.Families != nil {
		n = a.n
	}
	loglik, hidden, err := a.doc.Correlate(a.rule, a.x, a.eta, n, steps, noise, to, scored)
	if err != nil {
		return err
	}
	a.logits(own)
	if holdout.Sampled(key, a.c.Informs) {
		if err := a.inform(n, own[len(own)-logitTail:]); err != nil {
			return err
		}
	}
	end := rest[len(rest)-passTail:]
	a.count(end, &a.doc.Visible, loglik, scored, atTokens, atLogLik, atScored)
	a.count(end, &a.doc.Hidden, hidden, true, atHiddenTokens, atHidden, atHiddenScored)
	return nil
}

// inform adds the information of the document.
func (a *correlatedAdder) inform(n []float32, end []int64) error {
	observed, full := 0.0, 0.0
	err := a.doc.Information(a.rule, a.x, a.eta, n, &observed, &full)
	end[atObserved] += nearest(observed * a.weight * a.half)
	end[atFull] += nearest(full * a.weight * a.half)
	return err
}

// logits adds the moments of the document's logits.
func (a *correlatedAdder) logits(own []int64) {
	mean, noise := a.theta[0], a.x.Noise
	for k, v := range a.eta {
		mean[k] = float64(v) - a.c.Prior.Mean[k]
	}
	scale := a.scale * a.weight
	for i, x := range mean {
		y := noise[i]
		to := own[:len(mean)-i]
		own = own[len(mean)-i:]
		for j := range to {
			to[j] += nearest((float64(x*mean[i+j]) + float64(y*noise[i+j])) * scale)
		}
	}
	for k, v := range mean {
		own[k] += nearest(v * scale)
	}
	own[len(mean)+atWeight] += nearest(scale)
}

// moments adds the proportions' second moments.
func (a *correlatedAdder) moments(at []int64) {
	x, y := a.theta[0], a.theta[1]
	scale := a.counting * a.weight
	for i, v := range x {
		to := at[:len(x)-i]
		at = at[len(x)-i:]
		for j := range to {
			to[j] += nearest((float64(v*x[i+j]) + float64(y[i]*y[i+j])) * scale)
		}
	}
}

// The body of a Correlated: the header, Mean, Own, TopicShares, the factors, Families, and the encoded Pass.
type correlatedHeader struct {
	Turn                 int32
	K, Factors, Families uint32
	Informs              int64
	Share                float64
}

func (c *Correlated) MarshalBinary() ([]byte, error) {
	pass, err := c.Pass.MarshalBinary()
	if err != nil {
		return nil, err
	}
	factors := c.Prior.Factors()
	h := correlatedHeader{Turn: c.Turn, K: uint32(c.Prior.K()), Factors: uint32(len(factors)), Families: uint32(len(c.Families)), Informs: c.Informs, Share: c.Prior.Share()}
	families := make([]uint32, len(c.Families))
	for t, f := range c.Families {
		families[t] = uint32(f)
	}
	var b []byte
	for _, x := range []any{&h, c.Prior.Mean, c.Prior.Own, c.Prior.TopicShares(), factors, families} {
		if b, err = binary.Append(b, binary.LittleEndian, x); err != nil {
			return nil, err
		}
	}
	return seal(kindCorrelated, append(b, pass...)), nil
}

// readCorrelated decodes a body.
func readCorrelated(b []byte) (*Correlated, error) {
	var h correlatedHeader
	n, err := binary.Decode(b, binary.LittleEndian, &h)
	if err != nil {
		return nil, errors.New("the header of a pass is cut off")
	}
	b = b[n:]
	if uint64(h.K)*24+uint64(h.Factors)*8+uint64(h.Families)*4 > uint64(len(b)) || h.K == 0 || h.Factors%h.K != 0 {
		return nil, fmt.Errorf("a pass has %d logits, %d numbers of factors and %d topics in families in %d bytes", h.K, h.Factors, h.Families, len(b))
	}
	mean, own, shares, factors, of := make([]float64, h.K), make([]float64, h.K), make([]float64, h.K), make([]float64, h.Factors), make([]uint32, h.Families)
	for _, x := range []any{mean, own, shares, factors, of} {
		n, err := binary.Decode(b, binary.LittleEndian, x)
		if err != nil {
			return nil, err
		}
		b = b[n:]
	}
	p, err := ReadPlan(b)
	if err != nil {
		return nil, err
	}
	pass, ok := p.(*Pass)
	topics, families := h.K, []int(nil)
	if h.Families > 0 {
		topics = h.Families
	}
	for t, f := range of {
		if f >= h.K {
			return nil, fmt.Errorf("topic %d of a pass is of family %d of %d", t, f, h.K)
		}
		families = append(families, int(f))
	}
	switch {
	case !ok || pass.Task == Compare || pass.Topics.K != int(topics) || len(pass.Pairs) > 0 || pass.Least > 0 && families == nil || families != nil && pass.Alpha == 0:
		return nil, errors.New("a pass under a logistic-normal prior has another pass in it")
	case h.Informs < 1 || !(h.Share > 0 && h.Share <= 1):
		return nil, fmt.Errorf("a pass has a share %v of information, found of one document in %d", h.Share, h.Informs)
	case slices.ContainsFunc(slices.Concat(mean, own, shares, factors), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) || slices.Min(own) <= 0 || slices.Min(shares) < 0:
		return nil, errors.New("a pass has a prior that is not finite")
	}
	return &Correlated{Pass: pass, Prior: logisticnormal.Decoded(mean, own, shares, factors, h.Share), Families: families, Turn: h.Turn, Informs: h.Informs}, nil
}
