package refine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/parallel"
	"github.com/jsmf-go/spectral/internal/sums"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// A topic is divided as a corpus is: its share of the documents is a corpus of its own, whose
// topics are found by anchors among the words that tell these documents apart.
const (
	// dividedWords, or manyWords for each topic asked for, are the words that take part, at most.
	dividedWords, manyWords = 400, 20
	// fewWords for each topic asked for have to take part.
	fewWords = 4
	// dividedTokens of the topic are the least that a document of the part has.
	dividedTokens = 10
	// leastDocs have a word that takes part.
	leastDocs = 2
	// leastChild over the number of children is the least share of one.
	leastChild = 0.1
	// dividedRounds of rectification are made, to dividedTol.
	dividedRounds, dividedTol = 1, 0.01
)

// momentBytes bounds what the sum of a plan takes that counts words together, unless that of one topic
// takes more.
const momentBytes = 128 << 20

// child is a topic that is a part of another.
type child struct {
	words []int32   // ascending
	b     []float64 // their probabilities, of sum 1; those of other words are the parent's
	share float64   // of the parent's tokens, about
}

// divided divides the topics into k in all; those without children stay as they are. One plan counts the
// words of the parts that topics have of the documents, and others count those together that tell the
// documents of a part apart. pass finds the tokens by topic, and sum adds up a plan.
func (s *topics) divided(ctx context.Context, k int, pass *sums.Pass, sum func(*sums.Parts) ([]int64, error)) ([][]child, error) {
	plan := func() *sums.Parts { return &sums.Parts{Pass: pass, Least: s.leastTokens()} }
	counts := plan()
	counted, err := sum(counts)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, s.k)
	for t := range weights {
		if weights[t] = arith.Pow(counts.Tokens(counted, t), splitPower); t < s.seeded {
			weights[t] = -1
		}
	}
	asked, bound := apportion(k, weights), slices.Repeat([]int{s.seen.all.Docs}, s.n) // of documents with a word
	times := max(1, s.seen.unit)                                                      // documents of small weights alone are documents nevertheless
	words, moments, known := make([][]int32, s.k), make([]*sums.Moment, s.k), make([][]int64, s.k)
	err = parallel.Chunks(ctx, s.k, 1, s.workers, func(_, t, _, _ int) (err error) {
		f := frequencies{df: make([]float64, s.n), shares: make([]float64, s.n)}
		f.docs = times * counts.Frequencies(counted, t, f.df, f.shares)
		floats.Scale(times, f.df)
		var idf []float64
		if words[t], idf = f.telling(asked[t], s.function); len(words[t]) >= 2*fewWords {
			moments[t], err = sums.NewMoment(bound, idf, words[t], false, nil)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for t := 0; t < s.k; {
		p := plan()
		for size := 0; t < s.k; t++ {
			if m := moments[t]; m != nil {
				if size += 8 * m.Len(); size > momentBytes && len(p.Of) > 0 {
					break
				}
				p.Of = append(p.Of, sums.PartMoment{Topic: t, Moment: m})
			}
		}
		if len(p.Of) == 0 {
			break
		}
		all, err := sum(p)
		if err != nil {
			return nil, err
		}
		for i, x := range p.Sums(all) {
			known[p.Of[i].Topic] = x
		}
	}
	return s.children(ctx, weights, k, func(t, k int) ([]child, error) {
		if moments[t] == nil {
			return nil, nil
		}
		x, _, err := moments[t].Matrix(known[t])
		if errors.Is(err, cooc.ErrNoDocuments) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return divide(ctx, x, words[t], k)
	})
}

// divide finds at most k topics by the co-occurrence of words.
func divide(ctx context.Context, x *cooc.Dense, words []int32, k int) ([]child, error) {
	if k = min(k, len(words)/fewWords); k < 2 {
		return nil, nil
	}
	rect, err := rectify.AP{Iterations: dividedRounds, EigenTol: dividedTol}.Rectify(ctx, x, k, rectify.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	rows, err := rect.Rows(ctx, 1)
	if err != nil {
		return nil, err
	}
	found, err := anchor.QR{MinDocs: 1, AllowFewer: true}.Find(ctx, rows, k, anchor.Options{Workers: 1})
	if err != nil || len(found.Anchors) < 2 {
		return nil, err
	}
	rec, err := recovery.SCLS{}.Recover(ctx, rows, found.Anchors, recovery.Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	children := make([]child, len(found.Anchors))
	for t := range children {
		c := child{words: words, b: make([]float64, len(words))}
		sum := 0.0
		for i := range words {
			c.b[i] = max(0, rec.B.At(i, t))
			sum += c.b[i]
		}
		for i := range words {
			c.b[i] /= sum
		}
		for j := range children {
			c.share += max(0, rec.A.At(t, j))
		}
		c.share = max(c.share, leastChild/float64(k))
		children[t] = c
	}
	return children, nil
}

// frequencies are those of the words in the part that a topic has of the documents.
type frequencies struct {
	docs       float64
	df, shares []float64 // by word: documents, and the sum of its shares of their tokens
}

// telling returns the words that tell the documents of the part apart, ascending, at most as many as
// take part where k topics are asked for, and the idf of all words. function are Options.Function.
func (f *frequencies) telling(k int, function []bool) ([]int32, []float64) {
	var words []int32
	idf, best := make([]float64, len(f.df)), make([]float64, len(f.df))
	for w, v := range f.df {
		if v >= leastDocs && v < f.docs {
			idf[w] = arith.Log(f.docs / v)
			best[w] = f.shares[w] * idf[w]
			if function == nil || !function[w] {
				words = append(words, int32(w))
			}
		}
	}
	slices.SortFunc(words, func(a, b int32) int { return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(a, b)) })
	words = words[:min(len(words), max(dividedWords, manyWords*k))]
	slices.Sort(words)
	return words, idf
}
