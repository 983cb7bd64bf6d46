// Package infer finds the topic proportions of single documents: a share for each of K
// topics, for documents that the topics were learned from and for new ones. Spectral
// methods learn topics from the co-occurrence of words and keep nothing of the
// documents, so that this is a step of its own (lee-2018, chapter 4).
//
//	p, err := infer.MAP{}.Prepare(ctx, topics, infer.Options{})
//	...
//	doc, err := p.InferTo(w, ids, counts) // one document: no allocation, safe for concurrent use
//	batch, err := p.Infer(ctx, corpus, infer.Options{}) // many documents: W, M×K
//
// # Which method
//
//   - [MAP]: some thirty deterministic steps under a Dirichlet prior. Fast, and nearest
//     to the true proportions of long and short documents. Use it.
//   - [PADD]: prior-aware dual decomposition, the method of lee-2018: least squares
//     that keeps to the topic correlations A, learned from a collection once.
//   - [LeastSquares]: the same without a prior; for long documents.
//   - [SPI]: the mean of p(topic | word) over the tokens. The fastest, but gives most
//     topics some share however long the document.
//   - [TLI]: a thresholded linear inverse. Slow to prepare.
//   - [Gibbs]: sampling with the topics fixed; the reference for quality.
//
// [MAP] and Gibbs take a Dirichlet prior from Topics.Alpha or else from
// [recovery.FitAlpha] of Topics.A.
// [Completion] measures the probability of held-out documents, package metrics how near topic
// proportions are to others. [Draw] draws proportions from the posterior distribution of MAP.
//
// # Documents
//
// A document is a list of word numbers and counts over the words of the model. Words
// in no topic are left out and counted in Doc.Unknown. A document without any other
// word gets the topic shares of the model and the status [NoTokens], one that no topic explains the
// status [NoTopic]: [Doc.Explained] tells both. A number that the
// model does not have is an error, since it means another vocabulary.
//
// Topic proportions depend on the model, the settings and the document alone, to the bit, on
// one type of CPU: not on the number of goroutines, nor on other documents of a batch.
package infer
