// Package jsmf finds the topics of a collection of documents and the correlations between them by
// Joint Stochastic Matrix Factorization.
//
// # The method
//
// Draw a document at random, and two words from it. The probabilities of all pairs form the
// co-occurrence matrix C, N×N for N words. If documents mix K topics, then C = BABᵀ: column k of B
// (N×K) is p(word | topic k), and A (K×K) holds the probability that the two words come from topics
// k and l, which shows how topics correlate. A fit estimates C from counts, gives it the structure
// of BABᵀ (rectification), finds for each topic an anchor, a word that occurs in no other topic,
// and computes B and A from the anchors. The default does this for the words that tell topics apart
// and for some topics more than K. Then it makes passes over the documents, which merge the surplus
// topics and place all words (package [refine]). Many topics, from K = 80 on, it finds by splitting
// few. There are no random starts and no samples: there
// is one answer.
//
// The method is from Lee, Cho, Bindel and Mimno, "Practical Correlated Topic Modeling and Analysis
// via the Rectified Anchor Word Algorithm" (lee-2020), and Lee's thesis (lee-2018); [New] composes
// it otherwise, and [Published] is theirs.
//
// # A first fit
//
//	c, err := corpus.ReadUCI(ctx, "docword.txt.gz", "vocab.txt") // or another reader
//	m, err := jsmf.New(50).Fit(ctx, c)
//	fmt.Println(m) // a table of the topics
//
// [New] needs no stop list. [corpus.Curate] leaves out words that are not wanted at all.
//
// # Choosing K
//
// [Grid.Run] fits models for several K and recommends one of those of which at least half of the topics
// come back in other documents, and that predict documents held out as well as any. To choose by hand, look at
// [Pipeline.Evaluate], at the fall of [Stats].Anchors.Norms, at topics that are nearly the same (K
// is too large) or of two subjects (too small), and at what a [Bootstrap] says of their stability.
// If the data has fewer dimensions than the spectral model has topics, the error is an
// [*anchor.RankError] with their number; with anchor.QR{AllowFewer: true} the model has as many
// topics, and a warning.
//
// # Stages
//
// A fit by [New] has these stages:
//
//   - cooc: C holds the tf-idf second moments of the best words of the documents
//     ([Pipeline.Words]);
//   - rectify, anchors and recover: a spectral model of these words, with a quarter more topics
//     ([Pipeline.Extra]), or with 24 or 32 topics where they are to be split;
//   - refine: passes over all documents improve it, split and merge topics, place all words and
//     weigh those that people read ([Model.Reading]).
//
// [Model.Topics] and [Model.Correlations] are those after the passes. [Model.Logits] is the
// logistic-normal prior of a document's topic proportions, which the last passes learn and which
// knows the topics that go together; [Model.Alpha] is the Dirichlet prior of the passes before.
// Pipeline.Refine(nil) makes no passes. Where topics were found by splitting few, they have no
// anchors; [Model.Tree] says which was split from which, and [Model.Cut] is the model of one level.
//
// Each stage can be another method of its package, or a type of the caller's own that implements
// the stage's interface ([rectify.Rectifier], [anchor.Finder], [recovery.Recoverer],
// [anchorfree.Learner], [refine.Refiner]):
//
//	jsmf.New(50).
//		Rectify(rectify.DR{Iterations: 5}).
//		Anchors(anchor.QR{MinDocFraction: 0.01}).
//		Recover(recovery.SCLS{Solver: scls.ADMM{}}).
//		Refine(refine.Passes{N: 20})
//
// [Pipeline.Seeds] asks for topics by some of their words. [Pipeline.Edit] names, merges, splits and drops topics.
//
// The zero value of every method is a good default. [Pipeline.Fit] and [Pipeline.Evaluate] take
// documents or a co-occurrence matrix, and [Grid.Run] takes documents: see [Input].
//
// # The published method
//
// [Published] counts all words, with equal weights, rectifies until that converges, and makes no
// passes:
//
//	c, _, err = corpus.Curate(c, corpus.Curation{Words: 5000, StopWords: stop})
//	m, err := jsmf.Published(50).Fit(ctx, c)
//
// Curation matters there: stop words and very rare words cost time and make poor topics. Published
// takes a co-occurrence matrix without documents, too. Topics that share all their words have no
// anchors. [Pipeline.AnchorFree] learns topics without anchors (fu-2018):
//
//	counts, err := cooc.NewMoments(ctx, c, cooc.Options{Weighting: cooc.TFIDF, DropUnused: true})
//	m, err := jsmf.Published(20).
//		Rectify(rectify.None{}).
//		AnchorFree(anchorfree.LP{}).
//		Fit(ctx, counts)
//
// # Documents
//
// A [Model] holds no documents. [Model.Transform] finds the topics of any documents, old or new,
// from a reader, a corpus or raw text:
//
//	docs, err := m.Transform(ctx, m.Texts("a text", "another"))
//	fmt.Println(docs.W.RawRowView(0)) // the topic proportions of the first
//
// A service makes an Inferer once ([Model.Inferer]), which infers document after document from many
// goroutines without allocating. Package [infer] has the methods; [infer.PADD] needs
// [Model.LearnDual].
//
// # What people see
//
// People recognise a topic by words that tell documents apart, not by its most probable words,
// which it shares with other topics and in plain text with all of them. A refined model keeps
// weights for these reading words ([Model.Reading]), by which [Model.TopWords] ranks. Every topic
// has a name of two or three such words ([Model.Names]) or one of the user's ([Model.With]).
// [Model.Edit] also merges topics, as somebody decided in the page of a report. [Model.Background]
// marks topics of function words and page furniture. [Pipeline.Verdicts] judges topics by
// documents. [Model.Summary] has all of it, and String is a table of it.
//
// # Documents that come and go
//
// A refit to other documents begins with the model of the earlier ones:
//
//	next, err := p.From(m).Fit(ctx, docs)
//
// It numbers its topics as in m. [Stats].Refit says how far each topic has drifted and which are new. [Align]
// compares any two models.
//
// # Progress, cancellation, determinism
//
// The package prints and logs nothing by itself. [Pipeline.Record] takes a function that receives
// the start, the progress, the warnings and the end of each stage, such as that of [NewPrinter] for
// a terminal. [Model.Stats] keeps what each stage did and what was left out of the input. When ctx
// ends, a fit returns soon and leaves no goroutine behind.
//
// The same input, settings and version give the same model to the last bit on every CPU,
// whatever GOMAXPROCS and [Pipeline.Workers]: [Model.Hash] compares two in a word. That holds for [New], for
// [Published] with AP, ENN or LR, and for the intervals of a [Bootstrap]. Other stages, such as t-SNE, PALM, the
// anchor-free method, PADD and TLI, are equal up to rounding between types of CPU. [Model.Provenance] records the
// program, the settings and the arithmetic. The default stages draw no random numbers.
//
// # Files
//
// [Model.Save] and [LoadModel] keep a model in a file, [Model.WriteTo] and [ReadModel] in a stream.
// FORMAT.md describes the format: versioned, checksummed, the same bytes for the same model.
//
// # Errors
//
// [Pipeline.Validate] and [Pipeline.Fit] report all bad settings at once. An error begins with the
// packages it passed ("jsmf: anchor: …") and names the place: a word, a row, a document. Errors to
// inspect with errors.As are [*anchor.RankError] and [*MemoryLimitError]; those of model files are
// [ErrNotModel] and its neighbours, for errors.Is. A solver that reaches its iteration limit is a
// warning and a status in [Stats], not an error.
//
// # Cost
//
// METHODS.md compares the methods, in time and memory. [Pipeline.Estimate] bounds the memory of a
// fit, and [Pipeline.MemoryLimit] limits it.
package jsmf
