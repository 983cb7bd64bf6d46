// Package jsmf finds the topics of a collection of documents and how the topics
// go together, by Joint Stochastic Matrix Factorization.
//
// # What it does
//
// Draw a document at random and two words from it. The probabilities of all
// pairs form the co-occurrence matrix C, N×N for a vocabulary of N words. If
// documents mix K topics, then C = BABᵀ: column k of B (N×K) is p(word | topic
// k), and A (K×K) holds the probability that the two words come from topics k
// and l, which is where correlations between topics show. The method
// estimates C from counts, gives it the structure that BABᵀ has
// (rectification), finds for each topic an anchor, a word that occurs in no
// other topic, and from the anchors computes B and A. There are no random
// starts and no sampling: the default pipeline has one answer. The method is
// from Lee, Cho, Bindel and Mimno, "Practical Correlated Topic Modeling and Analysis
// via the Rectified Anchor Word Algorithm" (here lee-2020), and Lee's thesis
// (lee-2018).
//
// # A first fit
//
//	c, err := corpus.ReadUCI(ctx, "docword.txt.gz", "vocab.txt") // or another reader
//	c, report, err := corpus.Curate(c, corpus.Curation{Words: 5000, StopWords: stop})
//	m, err := jsmf.New(50).Fit(ctx, c)
//	for k := range m.K() {
//		fmt.Println(m.AnchorWords()[k], m.TopWords(k, 10))
//	}
//	fmt.Println(m.CorrelatedPairs(5))
//
// Curation matters: stop words and words of a handful of documents cost time
// and make poor topics. The example of the package is a whole program.
//
// # Choosing K
//
// Pipeline.Fit wants K given. Pipeline.Sweep fits models for several K at less
// than the price of each by itself, measures them, and says in words which K the
// spectrum of C, the anchors and the measures speak for. By hand, four things help:
//
//   - Model.AnchorNorms: the distance of each new anchor from the span of those
//     before it. A steep fall after the k-th says that there is little more.
//     Without rectification (rectify.None) the anchors for K topics are the
//     first K of those for more; with it each K has a matrix of its own.
//   - Pipeline.Evaluate: Recovery and Approximation say how well the model
//     explains C, Coherence and Dissimilarity how the topics read, Legality (it
//     should be near 1) whether the model fits at all. Package metrics explains
//     each.
//   - Reading the topics. Doubles mean that K is too large, topics of two
//     subjects that it is too small. Model.Labels ranks their words by more than
//     probability.
//   - MeasureStability: topics that do not come back from samples of the documents are
//     too many.
//
// If the data has fewer than K dimensions, the error is an *anchor.RankError
// that tells how many there are; anchor.QR{AllowFewer: true} takes those
// instead, with a warning.
//
// # Stages
//
// Each of the three steps after C can be replaced, by a method of its package or
// by one's own type with the same methods:
//
//	jsmf.New(50).
//		Rectify(rectify.AP{Iterations: 30}).
//		Anchors(anchor.QR{MinDocFraction: 0.01}).
//		Recover(recovery.Solver(scls.ADMM{}))
//
// Topics that share all their words have no anchors. Pipeline.AnchorFree learns
// them without, in place of the last two steps (fu-2018; package anchorfree),
// and Pipeline.Weighting has tf-idf weights for it and for the others:
//
//	jsmf.New(20).
//		Weighting(cooc.TFIDF).
//		Rectify(rectify.None{}).
//		AnchorFree(anchorfree.LP{})
//
// The zero value of every method is a good default. Pipelines are values, so
// that a variant leaves the one it came from as it was. FitMatrix begins with a
// matrix C instead of documents.
//
// # Going back to the documents
//
// What the spectral stages find from pairs of words can be improved by a few
// passes over the documents themselves, which bring it to the likelihood of a
// long Gibbs chain for a fraction of the fit's cost:
//
//	jsmf.New(50).Refine(refine.Passes{N: 10})
//
// Model.Topics and Model.Correlations are then the refined ones, Model.Spectral
// gives those before, and Model.Alpha the prior of a document's topics. A topic
// keeps its number and its anchor, though the anchor's row of Model.WordTopics is
// no unit row any more. With Swaps: K/10 the passes may also merge topics and split
// others, for which anchors and numbers then mean nothing. examples/refine measures what
// the passes buy.
//
// # Documents
//
// The fit forgets the documents. Model.Transform finds the topics of any, old or
// new, from a reader, a corpus or raw text (Model.Texts):
//
//	docs, err := m.Transform(ctx, m.Texts("a text", "another"))
//	fmt.Println(docs.W.RawRowView(0)) // the share of each topic in the first
//
// In a service, prepare an Inferer once (Model.Inferer) and give it one document
// after the other: it allocates nothing and may be used by many goroutines. Package
// infer has the methods. Model.LearnAlpha learns a prior for the default one, and
// Model.LearnDual what infer.PADD needs; both read documents once, and what they
// learn is kept in the model's file.
//
// # Documents that come and go
//
// A cooc.Accumulator holds documents, takes new ones, removes old ones by id or by
// a sliding window, lets them decay, and lets its vocabulary grow by a rule. A
// snapshot of it is fitted while others are added:
//
//	d, err := p.PrepareSnapshot(ctx, held.Snapshot())
//	next, err := p.From(m).FitPrepared(ctx, d) // p has Resumable(true), as m was made
//
// The refit goes on from where the fit of m ended, for a quarter or so of its cost
// where a hundredth of the documents is new. Topic 7 remains topic 7, and
// Model.Stats().Refit says how far each has drifted and what is new. Align compares any two
// models, and Model.Reorder numbers the topics anew.
//
// # Watching and cancelling
//
// Nothing is printed or logged by itself. Pipeline.Record takes a Recorder,
// which hears of the start, the progress and the end of each stage, and of
// warnings: NewPrinter writes them to a terminal, Pipeline.Log to a slog.Logger.
// Model.Stats keeps what each stage did, and what was left out of the input.
// When ctx ends, each goroutine finishes the chunk of work it is at, of some
// milliseconds at most; when Fit has returned, none is left.
//
// # Saving
//
// Model.Save and LoadModel keep a model in a file (atomically), Model.WriteTo
// and ReadModel in any stream. SaveTo writes an accumulator as Save does a model. FORMAT.md describes the format: versioned,
// checksummed, the same bytes for the same model.
//
// # Determinism
//
// The same input, settings and program give the same model to the last bit on
// one type of CPU, whatever GOMAXPROCS and Pipeline.Workers. Between types of
// CPU, which may fuse multiplications with additions, numbers differ by
// rounding; an eigenproblem solved to rectify.AP's default tolerance of 1e-5 may
// let that grow to as much in the result. Model.Provenance records the program,
// the settings and the kernel that was used. Seed is for stages that draw random
// numbers; the default ones draw none.
//
// # Errors
//
// Validate and Fit report all bad settings at once. Every error says where it
// comes from ("jsmf: anchor: …") and names the place: a word, a row, a document.
// Those to ask for with errors.As and errors.Is are *TopicsError (K and N),
// *anchor.RankError, *anchor.CandidateError (too few words frequent enough),
// *recovery.AnchorError, *anchorfree.RankError and *anchorfree.InfeasibleError,
// cooc.ErrNoDocuments, *MemoryLimitError and *rectify.MemoryError, and, for files,
// *FormatError. A solver that hits its iteration limit is no error but a warning and
// a status in Stats.
//
// # Cost
//
// For T iterations of the rectification and nnz counts: the first eigenproblem
// takes about 2K+20 products with C of 4·nnz operations each, an iteration N²K
// operations in the default form of rectify.AP, which is most of the time, the
// anchors K products, the recovery some K² to K³ operations a word. Memory is
// 24·nnz bytes for C, a few blocks of 8·N·K bytes, and 12 bytes for each entry
// that the rectification lifts to zero, 1 to 20 % of N² on texts, more with more
// topics. Only rectify.Dykstra forms N×N arrays.
// Pipeline.Estimate bounds the memory of a fit, and Pipeline.MemoryLimit refuses one
// that would take too much.
package jsmf
