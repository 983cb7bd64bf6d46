// Package effects finds how topics depend on what is known of documents besides their
// words: when they were written, by which party, with how many stars. Such values are
// columns of metadata, which the readers of package corpus fill ([corpus.Metadata]).
//
// A [Study] names the columns as its terms. Run returns the answers with intervals, which
// Rows lists and WriteCSV writes:
//
//	s := effects.Study{Terms: []effects.Term{
//		effects.Category("party"),
//		effects.Time("date", effects.Year),
//	}}
//	e, err := s.Run(ctx, pipeline, model, documents)
//
// Run fits the topics anew to a hundred replicates of the documents. Begin returns an
// [Estimator] for the replicates of a [jsmf.Bootstrap] that is measured anyway.
//
// # What is estimated
//
// A term has an effect at each of its points: the levels of a category, the bins of a
// time, a grid of numbers. At a point there is for each topic
//
//   - a prediction: its average share of the documents there;
//   - a difference: the prediction less the average over all documents.
//
// A number also has a slope, the change per unit averaged over the documents. In a study of several
// columns each term has these numbers twice: from the documents as they are, and adjusted for the other
// columns (TermEffects.AdjustedFor), by one linear regression on all terms, as if parties had written in
// the same years. Read them in this order: the first say what there was, the others what would be left.
// They can go in opposite directions, and columns that go together leave little to adjust:
// [Effects.Notes] says so. An [Interaction] lets each party have years of its own. These are
// comparisons, not causes: parties also differ in what no column holds.
//
// Study.Wording tells which words a group uses more within the same topic.
//
// # Why proportions are not those of a model
//
// Model.Transform pulls the proportions of a document to what is usual, and the more so the
// fewer words it has. That is best for one document, but it understates how groups of
// documents differ, and no bootstrap mends it, because all replicates are pulled alike: the
// method of composition (Treier and Jackman 2008; estimateEffect of the R package stm) with
// these proportions finds 93 % of the effects in documents of 30 tokens in a test of this
// package. So proportions here are solved for without a prior. Their averages are unbiased if
// the topics are right; those of one document say little. For long documents and distinct
// topics both methods agree to 5 %.
//
// # What an interval holds
//
// It holds what would change with other documents of the same kind, and what the topics
// themselves would be if they had been learned from those: each replicate of
// [jsmf.Bootstrap] weighs the documents anew and learns its own topics. It has room for the bias
// that fits to documents drawn from the model show. Documents of an author
// that resemble each other should get their weights together (Bootstrap.Cluster).
// It does not hold that another number of topics may be better. And each interval is about
// one number: of twenty effects that are not there, one looks as if it were, at a Level of
// 0.95.
//
// # When not to believe it
//
//   - If many replicates lack a topic (Effects.Unmatched): it is not one thing.
//   - If documents are copies of each other. They count as independent. Drop them
//     ([corpus.Curation]), or give them one weight.
//   - If the first or the last bin of time is incomplete (Point.Incomplete).
//   - If documents are short and topics share most of their words. The learned topics are
//     then too distinct, for which intervals have room in part.
//   - If no document is nearly of one topic. The learned topics are then mixtures of the true
//     ones, and effects come out too large, which no interval shows.
package effects
