package effects

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// No setting of a study makes it panic, go on after ctx, or take memory without end.
func TestExtremes(t *testing.T) {
	c := texts(t, 60, 20, 3)
	var values [][]corpus.Value
	for m := range c.NumDocs() {
		values = append(values, []corpus.Value{corpus.NumberOf(float64(m % 7)), corpus.TimeOf(time.Date(2020, 1, 1+20*m, 0, 0, 0, 0, time.UTC))})
	}
	meta, err := corpus.NewMetadata([]corpus.Column{{Name: "size", Kind: corpus.Number}, {Name: "day", Kind: corpus.Time}}, values)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithMetadata(meta); err != nil {
		t.Fatal(err)
	}
	p := jsmf.New(3).Words(c.NumWords()).Rectify(rectify.None{}).Refine(refine.Passes{N: 3})
	m, err := p.Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	s := Study{
		Terms:     []Term{Number("size")},
		Bootstrap: jsmf.Bootstrap{Warm: 2, Level: .9},
	}
	testutil.Extremes(t, s, func(ctx context.Context, s Study) error {
		_, err := s.Run(ctx, p, m, c)
		return err
	})
	type args struct {
		DF   int
		Bins Bins
	}
	testutil.Extremes(t, args{3, Equal(4)}, func(ctx context.Context, a args) error {
		for _, term := range []Term{Spline("size", a.DF), Time("day", a.Bins), Time("day", Equal(int(a.Bins)))} {
			s.Terms = []Term{term}
			if _, err := s.Begin(ctx, m, c); err != nil {
				return err
			}
		}
		return nil
	})
	type value struct{ Size float64 }
	testutil.Extremes(t, value{1}, func(ctx context.Context, x value) error {
		values := slices.Clone(values)
		values[5] = []corpus.Value{corpus.NumberOf(x.Size), values[5][1]}
		meta, err := corpus.NewMetadata(meta.Columns(), values)
		if err != nil {
			return err
		}
		c, err := c.WithMetadata(meta)
		if err != nil {
			return err
		}
		s.Terms = []Term{Number("size")}
		_, err = s.Run(ctx, p, m, c)
		return err
	})
}
