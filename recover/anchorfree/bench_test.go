package anchorfree

import (
	"fmt"
	"math"
	"testing"

	"github.com/jsmf-go/spectral/internal/synth"
)

// BenchmarkLearn learns the models of fu-2018's Table 3, of which 15 topics have
// anchor words. lg-error is the decimal logarithm of ‖B − B̂‖_F².
func BenchmarkLearn(b *testing.B) {
	for _, k := range []int{10, 30} {
		topics, corr := synth.Scattered(1000, k, 15, 1)
		c := dense(b, synth.Cooccurrence(topics, corr))
		for _, l := range []struct {
			name string
			Learner
		}{{"LP", LP{}}, {"PDS", PDS{}}} {
			b.Run(fmt.Sprintf("K=%d/method=%s", k, l.name), func(b *testing.B) {
				var r *Result
				for b.Loop() {
					r = learn(b, l, c, k, Options{Workers: 1})
				}
				errB, _, err := synth.Errors(topics, corr, r.B, r.A)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(math.Log10(errB), "lg-error")
				b.ReportMetric(float64(r.Iterations), "iterations")
			})
		}
	}
}
