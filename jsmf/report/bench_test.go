package report

import (
	"fmt"
	"io"
	"testing"
)

func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct{ n, k int }{{3000, 30}, {20000, 100}} {
		b.Run(fmt.Sprintf("N=%d/K=%d", c.n, c.k), func(b *testing.B) {
			m := model(b, c.n, c.k)
			b.ResetTimer()
			for b.Loop() {
				if err := Write(io.Discard, m, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(write(b, m))), "bytes")
		})
	}
}
