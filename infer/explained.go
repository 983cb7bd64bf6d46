package infer

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/vec"
)

// evidence tells which documents the topics explain, by ln(N·p(word)) of their tokens: how many times as likely a
// word is as if all N were alike.
type evidence struct {
	b *mat.Dense
	// The mean and the standard deviation over the tokens of documents that have the topic shares, which others
	// exceed on average.
	mean, deviation float64
}

func newEvidence(c *checked) evidence {
	e, squares := evidence{b: c.B}, 0.
	for w := range c.n {
		if p := vec.Dot(c.mean, c.B.RawRowView(w)); p > 0 {
			x := arith.Log(float64(c.n) * p)
			e.mean += float64(p * x)
			squares += float64(p * x * x)
		}
	}
	e.deviation = math.Sqrt(max(squares-float64(e.mean*e.mean), 0))
	return e
}

// explains reports whether the proportions theta explain a document: see [NoTopic].
func (e *evidence) explains(theta []float64, d *document) bool {
	const enough = 50 // words
	words := float64(len(e.b.RawMatrix().Data) / len(theta))
	sum, n := 0., 0.
	for j := range min(len(d.ids), enough) {
		i := j
		if len(d.ids) > enough {
			i = j * len(d.ids) / enough
		}
		n += d.x[i]
		// Methods without a prior give no topic to some words.
		sum += float64(d.x[i] * arith.Log(max(words*vec.Dot(theta, e.b.RawRowView(int(d.ids[i]))), 1e-3)))
	}
	expected := float64(e.mean * n)
	return sum >= max(arith.Log(n/100), expected-float64(max(expected/2, 3*e.deviation*math.Sqrt(n))))
}

// Explained reports whether topics explain the document: its status is not [NoTokens], [NoTopic] or [AllZero], and a
// tenth of its tokens or more are known. lacking is the number of tokens whose words the model does not have.
func (d Doc) Explained(lacking float64) bool {
	return d.Status != NoTokens && d.Status != NoTopic && d.Status != AllZero && lacking <= 9*d.Tokens
}
