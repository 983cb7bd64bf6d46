// Package scls solves simplex-constrained least-squares problems in blocks.
//
// A word's row v of the co-occurrence matrix is nearly a convex combination of
// the rows of the K anchor words, the columns of U. Its coefficients y solve
//
//	minimise ½‖Uy − v‖²  over the simplex {y : y ≥ 0, Σy = 1}.
//
// U is long and there are thousands of words, but the problem needs U only
// through the K×K matrix G = UᵀU, common to all words, and f = Uᵀv of each:
// ½‖Uy − v‖² = ½ yᵀGy − fᵀy + ½‖v‖². The caller forms G and the n×K matrix of all f
// once; the solvers never see U.
//
// # Which solver
//
//   - [ActiveSet] is exact to rounding and the fastest. Use it.
//   - [ADMM] is the method of lee-2018 and lee-2020. With γ from the spectrum of
//     G it comes close to the optimum; with the papers' γ = 3 ([PaperADMM]) most
//     words of real data reach the limit of 500 sweeps, a few per cent above it.
//   - [ExpGrad] is the method of arora-2013, with a line search. With the fixed
//     step of later programs ([PaperExpGrad]) it may not converge if G is large.
//
// # How good is a solution
//
// Let ∇ = Gy − f be the gradient. y is optimal exactly if ∇_k ≥ ∇ᵀy for all k. The gap
// ∇ᵀy − min ∇ is at least the distance of the objective from its minimum, for any y
// of the simplex. Every solver returns it for every problem: see [Result].
//
// # Singular G
//
// G may be singular, with two equal anchors or K above the rank of U. The optimal
// objective and Uy stay unique, y does not; every solver returns one optimal y.
package scls
