// Package infer finds what single documents are about: the composition w, a
// share for each of K topics, of documents the topics were learned from and of
// new ones. Spectral methods learn topics from word co-occurrence and forget the
// documents; this package brings them back (lee-2018, chapter 4).
//
//	p, err := infer.MAP{}.Prepare(ctx, topics, infer.Options{})
//	...
//	doc, err := p.InferTo(w, ids, counts) // one document: no allocation, safe for concurrent use
//	batch, err := p.Infer(ctx, corpus, infer.Options{}) // many: W, M×K
//
// # Which method
//
//   - [MAP]: some twenty deterministic steps under a Dirichlet prior. Fast, and
//     nearest to the truth on long and short documents. Use it.
//   - [PADD]: prior-aware dual decomposition, the method of lee-2018: least squares
//     that keeps to the topic correlations A. It learns from a collection once,
//     and then takes a single document too. As good as its A is true of the documents.
//   - [LeastSquares]: the same without a prior; for long documents.
//   - [SPI]: the mean of p(topic | word) over the tokens. The fastest, and finds
//     every topic; but nearly all topics get some share, however long the document.
//   - [TLI]: a thresholded linear inverse. Slow to prepare.
//   - [Gibbs]: sampling with the topics fixed; the reference for quality.
//
// # What was measured
//
// By examples/inference, on topics of UCI KOS (127 tokens a document), BBC news
// and NIPS papers (1050): in all settings MAP is nearest to the truth by every
// distance, about as near as sampling, and nearly always by F1. Two results are
// not as in lee-2018; these are the reasons. Numbers are of KOS and K = 25 unless
// others are given.
//
// SPI is said there to be first on sparse, uncorrelated compositions
// (Dirichlet(5/K), K ≥ 25). It has by far the best recall (.97; MAP .86, least
// squares .62), and of the methods without a Dirichlet prior the best KL
// divergence on short documents (.74; PADD 1.35), for it alone gives no true
// topic a zero. By ℓ₁ it is last: 1.01, least squares .75, MAP .48. That is
// bias: the mean of B̆h̃ is B̆ᵀBw, the shares smeared over all topics with words
// in common, and off by 1.00 itself. Longer documents do not mend it (2000
// tokens: SPI 1.00, least squares .22, MAP .13). SPI is ahead of TLI,
// LeastSquares and PADD by ℓ₁ where noise is more than that: up to some 20
// tokens (at K = 100, 5), or where many topics are in every document (Σα ≥ K;
// compositions as correlated as those of KOS, K = 100). And PADD with the A of
// the real corpus, as in the paper, instead of that of the compositions drawn,
// falls behind SPI by recall and all distances (ℓ₁ 1.04; with the paper's fixed
// number of sweeps .89, and by all others). Ahead of sampling with the true
// topics and α, in mean squared distance or KL, nothing can be: the posterior
// mean minimises both.
//
// PADD is said to be nearest to sampling on real documents. It is ahead of least
// squares with the second moment of the sampled compositions for A (ℓ₁ .53 and
// .56; K = 50: .60 and .65), but up to K = 50 behind with the model's A (.64;
// .69). That A is more concentrated than the compositions: its trace is .49,
// their mean Σw² .40 (.35 and .34 at K = 50; NIPS: .48 and .38), and they are
// .31·‖A‖ away from it. The dual steps go past them, to .11·‖A‖: to documents of
// too few topics. PADD{Tol: 0.3} stops near them, and is then level with least
// squares or a little ahead (F1 .742 and .738); on NIPS least squares is as near
// to A as the sampled compositions from the start, and there is nothing to gain.
// The paper's fixed number of sweeps has a like effect: its 15 steps end at
// .21·‖A‖, with an F1 of .751.
//
// The probability of held-out documents is in [Completion] and [LeftToRight].
// Package metrics measures how near compositions are to others.
//
// # Documents
//
// A document is a list of word numbers and counts over the words of the model.
// Words that are in no topic tell nothing and are left out; Doc.Unknown counts
// them. A document of which nothing is left has the mean composition and the
// status NoTokens. Numbers that the model does not have are an error, for they
// mean another vocabulary.
//
// # Determinism
//
// A composition depends on the model, the settings and the document alone, to the
// bit, on one type of CPU: not on the number of goroutines, nor on whether it is
// inferred alone or in a batch.
package infer
