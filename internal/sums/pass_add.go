package sums

import (
	"context"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/holdout"
)

// passAdder has the scratch space of a Pass. What it holds of documents grows with the longest
// alone.
type passAdder struct {
	p        *Pass
	w        *estep.Worker
	doc      holdout.Document
	ones     []float32 // as many as a document has words
	floor    []float32 // padded
	begin    float32   // the sum of Begin
	kept     Kept      // of the document
	carry    Carry
	theta    []float32 // K
	losses   Losses
	costs    []float64
	scales   []float32 // by word: 2^shift
	scoring  float64   // 2^shift of scores
	counting float64   // of documents
	tokens   float64   // of numbers of tokens
	weight   float64   // of doc
}

// Adder implements Plan.
func (p *Pass) Adder() Adder {
	k := p.Topics.K
	a := &passAdder{
		p: p, w: estep.NewWorker(k), carry: p.Carry(),
		floor: make([]float32, estep.Padded(k)),
		theta: make([]float32, k), costs: make([]float64, len(p.Pairs)), scales: make([]float32, p.Topics.N),
		scoring: math.Ldexp(1, p.scoreShift()), counting: math.Ldexp(1, p.docShift()), tokens: math.Ldexp(1, p.tokenShift()),
	}
	for t, v := range p.Begin {
		a.floor[t], a.begin = p.Floor, a.begin+v
	}
	for i := range a.scales {
		a.scales[i] = float32(math.Ldexp(1, p.wordShift(i)))
	}
	return a
}

// Add implements Adder.
func (a *passAdder) Add(ctx context.Context, b *corpus.Block, kept Kept, sum []int64) error {
	for d := range b.Docs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key := b.Key(d)
		compare := len(a.p.Pairs) > 0 && holdout.Sampled(key, a.p.Every)
		if a.p.Task == Compare && !compare {
			continue
		}
		words, counts := b.Doc(d)
		if len(words) == 0 {
			continue
		}
		if err := checkWords(b, d, a.p.Topics.N); err != nil {
			return err
		}
		var err error
		if a.weight, err = a.p.Weights.of(b, d); err != nil {
			return err
		}
		a.kept = kept.documents(a.carry, d, d+1)
		a.doc.Set(words, counts, a.p.Hide && holdout.Watches(key))
		if a.weight == 0 {
			a.skip(sum)
			continue
		}
		if err := a.add(compare, holdout.Sampled(key, a.p.Scored), sum); err != nil {
			return fmt.Errorf("document %s: %w", name(b, d), err)
		}
	}
	return nil
}

// skip counts the tokens of a document without weight.
func (a *passAdder) skip(sum []int64) {
	end := sum[len(sum)-passTail:]
	end[atTokens] += a.doc.Visible.Sum
	end[atHiddenTokens] += a.doc.Hidden.Sum
}

// Flush implements Adder.
func (a *passAdder) Flush(context.Context, []int64) error { return nil }

// add adds the document in a.doc, to the costs of pairs if compare, and to the log-likelihood
// if score.
func (a *passAdder) add(compare, score bool, sum []int64) error {
	p, doc := a.p, &a.doc.Visible
	total, err := a.weigh()
	if err != nil {
		return err
	}
	if compare {
		a.compare(sum[p.counts()+p.moments():])
	}
	var loglik float64
	switch p.Task {
	case Compare:
		return nil
	case Learn:
		if err = a.hidden(total, sum[len(sum)-passTail:]); err != nil {
			return err
		}
		loglik, err = a.learn(score, sum)
	case Finish:
		loglik, err = a.finish(total, sum)
	}
	if err != nil {
		return err
	}
	end := sum[len(sum)-passTail:]
	end[atTokens] += doc.Sum
	if score {
		end[atScored] += nearest(float64(doc.Sum) * a.weight * a.tokens)
		end[atLogLik] += nearest((loglik - float64(doc.Sum)*math.Log(total)) * a.weight * a.scoring)
	}
	return nil
}

// mostRise bounds the factor of which weigh takes the square.
const mostRise = 4

// weigh sets the worker's weights of the topics to the document's topic counts and α, and
// returns their sum. Each step is an over-relaxed one of EM: where that multiplies a weight by
// r, this multiplies it by r². The form is that of the document but in the first step from
// Begin.
func (a *passAdder) weigh() (total float64, err error) {
	p, doc := a.p, &a.doc.Visible
	k := p.Topics.K
	t := a.w.T[:k]
	all := float32(float64(doc.Sum) + float64(p.Alpha)*float64(k))
	if a.carry.Old == 0 {
		rescale(t, p.Begin, all/a.begin)
	} else if err := a.resume(t, all); err != nil {
		return 0, err
	}
	step := estep.Step{B: p.Topics, NoLikelihood: true, Floor: a.floor}
	for i := range p.Steps {
		if i > 0 || a.carry.Old > 0 {
			step.Form = a.form()
		}
		if _, err := a.w.Step(&step, doc.Words, doc.Counts); err != nil {
			return 0, err
		}
		rescale(t, t, all/a.relax(t))
	}
	return float64(all), nil
}

// relax sets to to the worker's weights, over-relaxed as its counts say, and returns their sum.
func (a *passAdder) relax(to []float32) (sum float32) {
	alpha, t, n := a.p.Alpha, a.w.T[:len(to)], a.w.N[:len(to)]
	for i, v := range n {
		v += alpha
		v = max(v*min(v/t[i], mostRise), alpha)
		to[i] = v
		sum += v
	}
	return sum
}

// resume sets t to the weights that an earlier pass has left, with the sum all.
func (a *passAdder) resume(t []float32, all float32) error {
	clear(t)
	sum := float32(0)
	for i, v := range a.kept.Old {
		if !(v > 0) || v > math.MaxFloat32 {
			return fmt.Errorf("topic %d has the weight %v", i, v)
		}
		t[a.p.Columns[i]] += v
		sum += v
	}
	rescale(t, t, all/sum)
	return nil
}

// form returns the form of the steps of the document.
func (a *passAdder) form() estep.Form {
	if a.doc.Hidden.Sum > 0 {
		return estep.Plain
	}
	return a.p.Form
}

// rescale sets to to from times c.
func rescale(to, from []float32, c float32) {
	from = from[:len(to)]
	for i, v := range from {
		to[i] = v * c
	}
}

// hidden scores the hidden tokens.
func (a *passAdder) hidden(total float64, end []int64) error {
	h, s := &a.doc.Hidden, a.p.Smoothing
	if h.Sum == 0 {
		return nil
	}
	loglik, err := a.w.ScoreMixed(a.p.Topics, a.p.Unigram, float32(s/(1-s)*total), h.Words, h.Counts)
	if err != nil {
		return err
	}
	end[atHidden] += nearest((loglik - float64(h.Sum)*math.Log(total/(1-s))) * a.weight * a.scoring)
	end[atHiddenScored] += nearest(float64(h.Sum) * a.weight * a.tokens)
	end[atHiddenTokens] += h.Sum
	return nil
}

// compare adds to the costs of pairs.
func (a *passAdder) compare(sum []int64) {
	clear(a.costs)
	a.losses.Add(a.costs, a.p.Pairs, a.p.Totals, a.w.T, a.p.Topics, a.doc.Visible.Words, a.doc.Visible.Counts)
	for i, v := range a.costs {
		sum[i] += nearest(v * a.weight * a.scoring)
	}
}

// learn counts the tokens of the document's words by topic.
func (a *passAdder) learn(score bool, sum []int64) (float64, error) {
	step := estep.Step{Form: a.form(), B: a.p.Topics, Floor: a.floor, NoLikelihood: !score, Count: a.p.Keep}
	loglik, err := a.share(&step, a.doc.Visible.Counts, sum)
	if err == nil && a.p.Keep {
		a.relax(a.kept.New)
	}
	return loglik, err
}

// ahead is how many words before its turn a row of a sum is fetched from memory.
const ahead = 6

// share adds the responsibilities of the document's words, times these counts and its weight, to
// the counts by word and topic.
func (a *passAdder) share(step *estep.Step, counts []float32, sum []int64) (float64, error) {
	k, words := a.p.Topics.K, a.doc.Visible.Words
	row := func(i int) []int64 { return sum[int(words[i])*k:][:k] }
	return a.w.Share(step, words, counts, func(i int, out []float32, all float32) {
		x := counts[i] * float32(a.weight) * a.scales[words[i]]
		addNearest(row(i), out, x/all, 2*x, &row(min(i+ahead, len(words)-1))[0])
	})
}

// finish scores the document, adds its moments, and counts it for each of its words by topic.
//
//	E[θθᵀ] = (s·θθᵀ + diag θ)/(s + 1)
//
// with s the document's tokens and Σα, and θ the weights divided by s.
func (a *passAdder) finish(total float64, sum []int64) (float64, error) {
	doc := &a.doc.Visible
	loglik, err := a.w.Score(a.p.Topics, doc.Words, doc.Counts)
	if err != nil {
		return 0, err
	}
	for t := range a.theta {
		a.theta[t] = float32(float64(a.w.T[t]) / total)
	}
	scale := a.counting * a.weight / (total + 1)
	at := sum[a.p.counts():]
	for t, v := range a.theta {
		addNearest(at[:len(a.theta)-t], a.theta[t:], float32(scale*total*float64(v)), float32(2*a.counting), &at[0])
		at[0] += nearest(scale * float64(v))
		at = at[len(a.theta)-t:]
	}
	for len(a.ones) < len(doc.Words) {
		a.ones = append(a.ones, 1)
	}
	ones := a.ones[:len(doc.Words)]
	_, err = a.share(&estep.Step{B: a.p.Topics, NoLikelihood: true}, ones, sum)
	return loglik, err
}
