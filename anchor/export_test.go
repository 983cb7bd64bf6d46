package anchor

// WithGiven returns opt with anchors to complete, as Fixed and Tandem give them.
func WithGiven(opt Options, anchors []int, points [][]float64) Options {
	opt.given = &given{anchors, points}
	return opt
}
