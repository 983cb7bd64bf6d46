package rectify_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/rectify"
)

// BenchmarkMethods reports, in addition to the time, how near the result is to the
// matrix, ‖C − C_0‖_F/‖C_0‖_F, and what is left of the constraints.
func BenchmarkMethods(b *testing.B) {
	m := moments(b, "synth")
	for _, k := range []int{10, 50} {
		for _, r := range []struct {
			name string
			r    rectify.Rectifier
		}{
			{"ap", rectify.AP{}}, {"dr", rectify.DR{}}, {"dc", rectify.DC{}},
			{"palm", rectify.PALM{}},
		} {
			b.Run(fmt.Sprintf("corpus=synth/N=600/K=%d/method=%s", k, r.name), func(b *testing.B) {
				var res *rectify.Result
				for range b.N {
					var err error
					if res, err = r.r.Rectify(ctx, m, k, rectify.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(distance(b, res.C, m), "distance")
				b.ReportMetric(float64(res.Products), "products")
				if v := res.Violations; v != nil {
					b.ReportMetric(v.RankResidual, "rankresidual")
					b.ReportMetric(math.Abs(v.SumError), "sumerror")
				}
			})
		}
	}
}
