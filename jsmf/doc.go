// Package jsmf finds the topics of a collection of documents and the correlations
// between them by Joint Stochastic Matrix Factorization.
//
// # The method
//
// Draw a document at random, and two words from it. The probabilities of all pairs
// form the co-occurrence matrix C, N×N for N words. If documents mix K topics, then
// C = BABᵀ: column k of B (N×K) is p(word | topic k), and A (K×K) holds the
// probability that the two words come from topics k and l, which shows how topics
// correlate. A fit estimates C from counts, gives it the structure of BABᵀ
// (rectification), finds for each topic an anchor, a word that occurs in no other
// topic, and computes B and A from the anchors. It makes no random starts and draws
// no samples, so that the default pipeline has one answer.
//
// The method is from Lee, Cho, Bindel and Mimno, "Practical Correlated Topic Modeling
// and Analysis via the Rectified Anchor Word Algorithm" (lee-2020), and Lee's thesis
// (lee-2018).
//
// # A first fit
//
//	c, err := corpus.ReadUCI(ctx, "docword.txt.gz", "vocab.txt") // or another reader
//	c, report, err := corpus.Curate(c, corpus.Curation{Words: 5000, StopWords: stop})
//	m, err := jsmf.New(50).Fit(ctx, c)
//	fmt.Println(m) // a table of the topics
//
// Curation matters: stop words and very rare words cost time and make poor topics.
//
// # Choosing K
//
// Pipeline.Sweep fits models for several K at less than the price of each by itself,
// measures them, and suggests those K that the spectrum of C, the anchors and the
// measures speak for. To choose by hand, look at
//
//   - Stats.Anchors.Norms: the distance of each anchor from the span of those before
//     it. A steep fall after the k-th means that there is little more.
//   - Pipeline.Evaluate: Recovery and Approximation tell how well the model explains
//     C, Coherence and Dissimilarity how the topics read, and Legality, which should
//     be near 1, whether the model fits at all. See package metrics.
//   - the topics: duplicates mean that K is too large, topics of two subjects that it
//     is too small. Model.Labels ranks words by more than probability.
//   - Resampling: topics that do not come back from samples of the documents are too
//     many.
//
// If the data have fewer than K dimensions, the error is an *anchor.RankError that
// tells how many they have; anchor.QR{AllowFewer: true} takes those instead, with a
// warning.
//
// # Stages
//
// Each step after C can be replaced by another method of its package, or by a type of
// the caller's own that implements the same interface:
//
//	jsmf.New(50).
//		Rectify(rectify.AP{Iterations: 30}).
//		Anchors(anchor.QR{MinDocFraction: 0.01}).
//		Recover(recovery.SCLS{Solver: scls.ADMM{}})
//
// Topics that share all their words have no anchors. Pipeline.AnchorFree learns them
// without, in place of the last two steps (fu-2018):
//
//	jsmf.New(20).
//		Weighting(cooc.TFIDF).
//		Rectify(rectify.None{}).
//		AnchorFree(anchorfree.LP{})
//
// The zero value of every method is a good default. A Pipeline is a value: a variant
// leaves the one it was made from as it was. Fit, Evaluate and Sweep take a corpus or
// a co-occurrence matrix; see Input.
//
// # Refinement
//
// A few passes over the documents improve what was found from pairs of words, to
// about the likelihood of a long Gibbs chain:
//
//	jsmf.New(50).Refine(refine.Passes{N: 10})
//
// Model.Topics and Model.Correlations are then the refined ones, Model.Spectral
// returns the model before, and Model.Alpha the prior of a document's topics. A topic
// keeps its number and its anchor. If the passes may merge and split topics
// (Swaps), anchors and numbers lose their meaning.
//
// # Documents
//
// A Model holds no documents. Model.Transform finds the topics of any documents, old
// or new, from a reader, a corpus or raw text:
//
//	docs, err := m.Transform(ctx, m.Texts("a text", "another"))
//	fmt.Println(docs.W.RawRowView(0)) // the proportions of the topics in the first
//
// A service prepares an Inferer once (Model.Inferer), which takes one document after
// the other without allocating, from many goroutines. Package infer has the methods.
// Model.LearnAlpha makes the default method predict better, and infer.PADD needs
// Model.LearnDual; both read documents once, and the file of the model keeps what
// they learn.
//
// # Documents that come and go
//
// A cooc.Accumulator holds documents, takes new ones and removes old ones. A snapshot
// of it is fitted while others are added:
//
//	docs, err := held.Snapshot().Corpus()
//	next, err := p.From(m).Fit(ctx, docs) // p has Resumable(true), as m was made
//
// The refit goes on from where the fit of m ended, and numbers its topics as in m.
// Stats.Refit tells how far each topic has drifted and which are new. Align compares
// any two models, and Model.Reorder renumbers topics.
//
// # Progress and cancellation
//
// The package prints and logs nothing by itself. Pipeline.Record takes a Recorder,
// such as a Printer for a terminal, which is told of the start, the progress and the
// end of each stage and of warnings; Pipeline.Log takes a slog.Logger. Model.Stats
// keeps what each stage did and what was left out of the input. When ctx ends, a fit
// returns within some milliseconds, and leaves no goroutine behind.
//
// # Files
//
// Model.Save and LoadModel keep a model in a file, Model.WriteTo and ReadModel in a
// stream. FORMAT.md describes the format: versioned, checksummed, the same bytes for
// the same model.
//
// # Determinism
//
// The same input, settings and program give the same model to the last bit on one
// type of CPU, whatever GOMAXPROCS and Pipeline.Workers. Between types of CPU numbers
// differ by rounding, which the tolerance of an eigenproblem (1e-5 in rectify.AP) may
// enlarge. Model.Provenance records the program, the settings and the kernel. The seed
// is for stages that draw random numbers; the default ones draw none.
//
// # Errors
//
// Validate and Fit report all bad settings at once. An error begins with the package
// it left, then the one it came from ("jsmf: anchor: …"), each once, and names the
// place: a word, a row, a document. Those to inspect with errors.As and errors.Is are
// *TopicsError (K and N), *anchor.RankError, *MemoryLimitError and, for files,
// *FormatError. A solver that reaches its iteration limit is no error, but a warning
// and a status in Stats.
//
// # Cost
//
// METHODS.md compares the methods. For T iterations of rectify.AP and nnz counts, the
// first eigenproblem takes about 2K+20 products with C of 4·nnz operations each, each
// iteration N²K operations, which is most of the time, the anchors K products, and
// the recovery K² to K³ operations per word. Memory is 24·nnz bytes for C, a few
// blocks of 8·N·K bytes, and 12 bytes for each negative entry that the rectification
// sets to 0, 1 to 20 % of N² on texts. Pipeline.Estimate bounds the memory of a fit,
// and Pipeline.MemoryLimit refuses one that would take too much.
package jsmf
