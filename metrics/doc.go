// Package metrics measures a factorisation C ≈ BABᵀ and its topics, of this
// library or of any other program.
//
// N words, K topics: C is the N×N co-occurrence, always the original and not the
// rectified one; C̄ is C with each row divided by its sum; S = s_1 … s_K are the
// anchors; B (N×K) has the columns b_k = p(word | topic k); B̆ (N×K) has the rows
// p(topic | word n); A (K×K) is p(topic, topic); c holds the row sums of C, in
// proportion to p(word). ln is natural; KL₂ and H₂ are in bits. Deviations are
// sample deviations (n−1).
//
// # Which measure to use
//
// [Evaluate] computes all measures of the tables below, except SimCount and Diversity, as
// the fields of a [Report].
//
// Does the model fit at all? Legality, ΣA, is near 1 if it does. Which of two models of the
// same data is better? Compare Recovery and Approximation at equal K, NPMI and
// Dissimilarity at any K. Which is easier to read? NPMI for topics whose words occur
// together, Specificity for topics that are not the corpus as a whole, Dissimilarity,
// Diversity or SimCount for topics that differ. Coherence alone misleads: K topics that all
// are the unigram distribution score best. Read it with Specificity and Dissimilarity.
//
// For topics of other programs, lists of words are enough: [SimCount] and [Diversity]. For labelled documents see [Agree],
// and for people who judge topics package metrics/judge. To find which topic of one model is which of another, use [Match].
//
// # How well the model fits
//
//	                range    better
//	Recovery        ≥ 0      lower      mean_i ‖C̄_i − Σ_k B̆_ik C̄_{s_k}‖₂      anchors span the words
//	Approximation   ≥ 0      lower      ‖C − BABᵀ‖_F                          the product gives C
//	Legality        real     near 1     Σ_kl A_kl                             A is a joint distribution
//	Validity        bits     near 0     ½(KL₂(a‖q) + KL₂(q‖a)), a = A·1       A and B̆ agree on p(topic)
//
// Recovery falls as K grows. Most of the mass of C lies in a few frequent words, so
// that Approximation can be small for bad anchors.
//
// # How topics relate
//
//	Dominancy       [0, 1]   neither    mean_k A_kk/Σ_l A_kl                  topics are by themselves
//	Entropy         [0, 1]   lower      mean_n H₂(B̆_n)/lg K                   words belong to many topics
//
// # How good topics are
//
//	Sparsity        [0, 1]   higher     mean_k (√N − ‖b_k‖₁/‖b_k‖₂)/(√N − 1)  topics of few words
//	Specificity     bits     higher     mean_k KL₂(b_k‖c)                     topics unlike the unigram
//	Dissimilarity   [0, n]   higher     mean_k #{top words in no other list}  topics unlike each other
//	Coherence       ≤ 0      higher     Σ_{i>j} ln((D2(t_i,t_j)+ε)/D1(t_j))   top words meet
//	NPMI            [−1, 1]  higher     mean_{i>j} npmi(t_i, t_j)             … more than by chance
//	SimCount        ≥ 0      lower      Σ_{k<l} #{words in both lists}        topics share words
//	Diversity       (0, 1]   higher     #{different words}/#{words of lists}  topics unlike each other
//
// # How good anchors are
//
//	BasisRank       [1, N]   lower      mean_k rank of s_k in topic k         anchors show in their topic
//	SoftBasisRank   ≥ 0      lower      mean_k ln(max_n B_nk/B_{s_k,k})       … by probability
//	BasisQuality    [1, N]   higher     mean_k mean_{l≠k} rank of s_k in l    anchors are foreign elsewhere
//
// Recovery from anchors sets them to 0 in all topics except their own. BasisQuality is then
// a rank among ties, and BasisQualityShare, which counts them, is 1.
//
// # Undefined values
//
// Values that are not defined, such as the Specificity of an empty topic, are NaN in
// Stat.Values, counted in Stat.Undefined and left out of the mean. Input that no model can
// have (wrong sizes, NaN, negative probabilities, columns of B that do not sum to 1) is an
// error, which names the matrix and the place. All functions are safe for concurrent use and
// leave their arguments alone. Results do not depend on the number of workers.
//
// # Sources
//
// lee-2020: Lee, Cho, Bindel, Mimno: Practical correlated topic modeling and analysis
// via the rectified anchor word algorithm. lee-2018: Lee's thesis on
// joint-stochastic spectral inference. fu-2018: Fu, Huang, Sidiropoulos, Shi, Hong:
// Anchor-free correlated topic modeling. dong-2019: Dong's thesis. Where their
// formulas differ from each other, or from the program behind the published numbers,
// Report has both. Figures in the papers often show logarithms; values here are raw.
package metrics
