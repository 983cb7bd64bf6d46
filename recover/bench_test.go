package recovery_test

import (
	"fmt"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
)

// The methods on the co-occurrence matrix of a planted model, with the time and
// the mean ℓ₁ distance from the planted topics.
func BenchmarkRecover(b *testing.B) {
	const n, k = 1000, 20
	m := testutil.NewPlanted(n, k, 0, 4)
	r := rowsOf(b, dense(b, m.C))
	for _, x := range []struct {
		name string
		s    recovery.Recoverer
	}{{"activeset", recovery.SCLS{}}, {"l2", recovery.L2()}, {"kl", recovery.KL{}}, {"inverse", recovery.Inverse{Project: true}}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("method=%s/N=%d/K=%d/workers=%d", x.name, n, k, workers), func(b *testing.B) {
				l1 := 0.0
				for b.Loop() {
					res, err := x.s.Recover(ctx, r, m.Anchors, recovery.Options{Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					l1, _ = errorsL1(b, m, m.Anchors, res)
				}
				b.ReportMetric(l1, "l1")
			})
		}
	}
}
