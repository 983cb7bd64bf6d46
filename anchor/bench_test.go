package anchor_test

import (
	"fmt"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/golden"
	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

// BenchmarkFinders times the finders after 15 iterations of alternating
// projection, and reports how far the rows are from mixtures of the anchors'
// (mean residual of the recovery, in thousandths) and how many of QR's anchors
// are among them. Run
//
//	JSMF_DATA=… go test ./anchor -run '^$' -bench Finders -benchtime 1x
func BenchmarkFinders(b *testing.B) {
	for _, s := range []struct {
		corpus string
		n, k   int
	}{{"kos", 1500, 20}, {"nips17", 5000, 50}} {
		b.Run(fmt.Sprintf("corpus=%s/N=%d/K=%d", s.corpus, s.n, s.k), func(b *testing.B) { benchFinders(b, s.corpus, s.n, s.k) })
	}
}

func benchFinders(b *testing.B, name string, n, k int) {
	c := golden.Curated(b, testutil.Data(b, name, "docword."+name+".txt.gz"), testutil.Data(b, name, "vocab."+name+".txt"), testutil.Data(b, "stopwords.en.txt"), n)
	m, err := cooc.NewMoments(ctx, c, cooc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	rect, err := rectify.AP{Iterations: 15}.Rectify(ctx, m, k, rectify.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := rowsOf(b, rect.C)
	qr := make(map[int]bool)
	for _, w := range find(b, anchor.QR{}, r, k, anchor.Options{}).Anchors {
		qr[w] = true
	}
	for _, f := range []anchor.Finder{
		anchor.QR{}, anchor.QR{CleanUp: true}, anchor.Projected{}, anchor.Projected{Sparse: true},
		anchor.SPA{Unnormalised: true}, anchor.SNPA{}, anchor.XRAY{}, anchor.XRAY{Unnormalised: true},
	} {
		b.Run(fmt.Sprintf("finder=%v", f), func(b *testing.B) {
			var res *anchor.Result
			for b.Loop() {
				res = mustFind(b, f, r, k, anchor.Options{})
			}
			b.StopTimer()
			rec, err := recovery.SCLS{}.Recover(ctx, r, res.Anchors, recovery.Options{})
			if err != nil {
				b.Fatal(err)
			}
			mean, same := 0.0, 0
			for _, v := range rec.Residuals {
				mean += v / float64(n)
			}
			for _, w := range res.Anchors {
				if qr[w] {
					same++
				}
			}
			b.ReportMetric(mean*1e3, "residual/1000")
			b.ReportMetric(float64(same), "of-QR")
		})
	}
}
