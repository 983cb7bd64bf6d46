// Package metrics holds the measures by which the papers judge a factorisation
// C ≈ BABᵀ and its topics. Each is a plain function; Evaluate computes all of
// them at once.
//
// Symbols as everywhere in the library: N words, K topics; C (N×N) the word
// co-occurrence, C̄ the same with every row divided by its sum; S = s_1 … s_K the
// anchor words; B (N×K) with column b_k = p(word | topic k); B̆ (N×K here, one row
// a word) with row n = p(topic | word n); A (K×K) = p(topic, topic); c the row
// sums of C, the unigram distribution. ln is natural, KL₂ and H₂ are in bits.
// Deviations are sample deviations (n−1). Always measure against the original C,
// not the rectified one.
//
// # How well the model explains the data
//
//	Recovery       mean_i ‖C̄_i − Σ_k B̆_ik C̄_{s_k}‖₂            lower    do the anchors span the words?
//	Approximation  ‖C − BABᵀ‖_F                                lower    does the product give C back?
//	Legality       Σ_kl A_kl                                   near 1   is A a joint distribution?
//	Validity       ½(KL₂(a‖q) + KL₂(q‖a)), a = A·1             near 0   do A and B̆ agree on p(topic)?
//
// Recovery falls as K grows; compare it at equal K. Approximation alone can be
// small for useless anchors, for most of C lies in few frequent words.
//
// # How the topics relate
//
//	Dominancy      mean_k A_kk/Σ_l A_kl                        neither  how much is a topic by itself?
//	DominancyDiag  mean_k A_kk                                 neither  the same as a joint probability
//	Entropy        mean_n H₂(B̆_n)/lg K                         lower    is a word at home in one topic?
//
// The papers read these beside Gibbs sampling: close to it is good, extremes are
// not.
//
// # How good the topics are
//
//	Sparsity       mean_k (√N − ‖b_k‖₁/‖b_k‖₂)/(√N − 1)        higher   few words or all of them?
//	Specificity    mean_k KL₂(b_k‖c)                           higher   more than the unigram?
//	Dissimilarity  mean_k #{top words in no other top list}    higher   different from one another?
//	Coherence      mean_k Σ_{i>j} ln((D2(t_i,t_j)+ε)/D1(t_j))  higher*  do top words meet in documents?
//	NPMI           mean_k mean_{i>j} npmi(t_i, t_j)            higher   do they meet more than by chance?
//
// A warning on Coherence (u_mass): by itself it favours topics that repeat the
// corpus' most frequent words, for these meet in many documents whatever they
// mean. A model whose K topics are all the unigram distribution scores best of
// all. Read it only together with Specificity and Dissimilarity, which expose
// just that, or use NPMI, which sets co-occurrence against chance.
//
// # How good the anchors are
//
//	BasisRank      mean_k rank of s_k in topic k               lower    would a reader see the anchor?
//	SoftBasisRank  mean_k ln(max_n B_nk/B_{s_k,k})             lower    how improbable is it there?
//	BasisQuality   mean_k mean_{l≠k} rank of s_k in topic l    higher   is it foreign to the others?
//
// # Topics of any program
//
// Lists of top words are enough for TextCoherence (u_mass, c_npmi and c_v, in
// windows over texts), BagCoherence (the same in whole documents), SimCount and
// Diversity, so that topics from elsewhere are scored with the same measures.
//
//	UMass      mean_{i>j} ln((P(t_i, t_j)+ε)/P(t_j))           higher*  Coherence a pair
//	CNPMI      mean_{i>j} npmi(t_i, t_j) in windows of 10      higher   do top words stand together?
//	CV         mean cosine of the words' npmi vectors          higher   do they keep the same company?
//	SimCount   Σ_{k<l} #{words in both top lists}              lower    different from one another?
//	Diversity  different words of all lists/words of all lists higher   different from one another?
//
// # Models beside each other, and documents
//
// Align says which topic of one model is which of another, and how far they are
// apart; Labels ranks the words of a topic by probability, FREX, lift, relevance
// or saliency. From the weights of the topics in documents (W, M×K) and labels of
// the documents, ClustAcc tells how well the topics separate the classes, and
// Associate which topic goes with which class. Compositions compares such
// weights with others. BaseRecovery is Recovery over the words of a smaller
// vocabulary.
//
// # Sources
//
// lee-2020: Lee, Cho, Bindel, Mimno: Practical correlated topic modeling and analysis
// via the rectified anchor word algorithm, §4. lee-2018: Lee's thesis on
// joint-stochastic spectral inference, §1.4 (Entropy, Specificity,
// TopicDissimilarity, Coherence, the two ranks), §2.4 (Recovery, Approximation,
// Dominancy, Dissimilarity) and Appendix A.4 (Legality, Validity). fu-2018: Fu,
// Huang, Sidiropoulos, Shi, Hong: Anchor-free correlated topic modeling, §6.2 (SimCount,
// ClustAcc). dong-2019: Dong's thesis, §4.6 (BaseRecovery). Where the
// formulas differ from each other, or from the program that gave the published
// numbers, both forms are here and each says which it is. Figures in the papers
// show logarithms of some measures; values here are raw.
//
// # What is not defined
//
// Some values do not exist: Specificity of an empty topic, Dominancy of a topic
// with no mass, Recovery of a word that C does not know. Such a value is NaN in
// Stat.Values, counted in Stat.Undefined, and left out of the mean; each
// function says which. Input that no model can have (wrong sizes, NaN, negative
// probabilities, columns of B that do not sum to 1) is an error: a *ShapeError or
// a *ValueError.
package metrics
