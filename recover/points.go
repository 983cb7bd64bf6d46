package recovery

import (
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// checkPoints returns the points where there are any, else nil.
func checkPoints(rows cooc.Rows, points [][]float64, anchors []int) ([][]float64, error) {
	_, d := rows.Dims()
	if points != nil && len(points) != len(anchors) {
		return nil, fmt.Errorf("recovery: %d points for %d anchors", len(points), len(anchors))
	}
	any := false
	for t, p := range points {
		if p == nil {
			continue
		}
		any = true
		if len(p) != d {
			return nil, &AnchorError{t, anchors[t], fmt.Sprintf("its point has %d coordinates, the rows have %d", len(p), d)}
		}
		for j, v := range p {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &AnchorError{t, anchors[t], fmt.Sprintf("coordinate %d of its point is %g", j, v)}
			}
		}
	}
	if !any {
		return nil, nil
	}
	if !rows.Explicit() {
		return nil, fmt.Errorf("recovery: points are given for anchors, but low-rank rows do not have the entries of C̄")
	}
	return points, nil
}

// noPoints is for methods that do not heed them.
func noPoints(method string, opt Options) error {
	for t, p := range opt.Points {
		if p != nil {
			return fmt.Errorf("recovery: %s takes anchor words, but topic %d has a point in place of one; SCLS takes it", method, t)
		}
	}
	return nil
}
