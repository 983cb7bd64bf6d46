package rectify

// Violations says by how much a rectified matrix misses non-negativity, the
// sum of 1 and the rank. All are those of the result as it is returned.
type Violations struct {
	// MinEntry is the most negative entry and NegativeSum the sum of all
	// negative ones; both 0 where there are none. The mean entry is 1/N².
	MinEntry, NegativeSum float64
	// SumError is ΣC − 1.
	SumError float64
	// RankResidual is ‖C − Z‖_F/‖C‖_F for a positive semidefinite Z of rank at
	// most K: the last projection on these matrices, scaled as C is. It is
	// thus an upper bound on the distance to the nearest of them, relative to
	// C, and tight to the first order; for DC, which does not project, Z is
	// the nearest.
	RankResidual float64
}
