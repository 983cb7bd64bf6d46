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
//   - [MAP]: a few dozen deterministic steps under a Dirichlet prior. Fast, and
//     nearest to the truth on long and short documents. Use it.
//   - [PADD]: prior-aware dual decomposition, the method of lee-2018: least squares
//     that keeps to the topic correlations A. It learns from a collection once,
//     and then takes a single document too.
//   - [LeastSquares]: the same without a prior; for long documents.
//   - [SPI]: the mean of p(topic | word) over the tokens. The fastest; all topics
//     get some share.
//   - [TLI]: a thresholded linear inverse. Slow to prepare.
//   - [Gibbs]: sampling with the topics fixed; the reference for quality.
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
