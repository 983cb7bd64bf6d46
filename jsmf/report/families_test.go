package report

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
	"github.com/jsmf-go/spectral/jsmf/report/internal/sample"
)

func split(t testing.TB, n int, sizes ...int) *jsmf.Model {
	t.Helper()
	m, err := sample.Split(n, sample.Words, sizes...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A page of a thousand topics has their tree, and draws a cut through it.
func TestThousandTopics(t *testing.T) {
	testutil.NotWithRace(t)
	m := split(t, 3000, 20, 200, 1000)
	page := write(t, m)
	if len(page) > 5<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	s := read(t, page)
	if len(s.Topics) != 1000 || s.Tree == nil || len(s.Tree.Levels) != 2 || s.Tree.Drawn != 1 {
		t.Fatalf("%d topics, tree %v", len(s.Topics), s.Tree != nil)
	}
	if len(s.Matrix.Topics) != 200 || s.Matrix.Topics[0] != 1020 || len(s.TopicMap.X) != 200 || len(s.TopicMap.Group) != 1000 {
		t.Errorf("%d groups in the matrix, %d on the map", len(s.Matrix.Topics), len(s.TopicMap.X))
	}
	tree, shares := m.Tree(), m.TopicShares()
	for level, l := range s.Tree.Levels {
		if !slices.Equal(l.Of, tree.Groups[level]) {
			t.Errorf("level %d: other groups", level)
		}
		names := m.Cut(level).Names()
		for g, topics := range tree.Members(level) {
			share := 0.0
			for _, k := range topics {
				share += shares[k]
			}
			if x := l.Groups[g]; x.Name != names[g] || math.Abs(float64(x.Share)-share) > 1e-5*share || len(x.Read) != 20 || level == 1 && len(x.With) != 8 {
				t.Errorf("level %d, group %d: %+v", level, g, x)
			}
		}
	}
	// Siblings go with each other more than with others.
	for g, x := range s.Tree.Levels[1].Groups {
		for i := 0; i < len(x.With); i += 2 {
			if other := int(x.With[i]) - 1020; other/10 != g/10 || other == g {
				t.Fatalf("group %d goes with group %d", g, other)
			}
		}
	}
	if rows := strings.Count(between(t, page, `id="families-table"`, "</table>"), "<tr>"); rows != 21 {
		t.Errorf("the table for print has %d rows", rows)
	}
}

// Without a tree, or without a cut of few groups, groups around the largest topics are drawn.
func TestManyTopicsWithoutTree(t *testing.T) {
	testutil.NotWithRace(t)
	for _, sizes := range [][]int{{270}, {260, 520}} {
		m := split(t, 900, sizes...)
		u, err := newDrawing(m)
		if err != nil {
			t.Fatal(err)
		}
		if !u.made || u.m.K() != maxDrawn || slices.Max(u.of) != maxDrawn-1 || slices.Min(u.of) != 0 {
			t.Fatalf("%v: %d groups", sizes, u.m.K())
		}
		shares, sums := m.TopicShares(), make([]float64, maxDrawn)
		for k, g := range u.of {
			sums[g] += shares[k]
		}
		for g, want := range u.m.TopicShares() {
			if !near(sums[g], want, 1e-12) {
				t.Fatalf("%v: group %d has a share of %g, want %g", sizes, g, want, sums[g])
			}
		}
		if s := read(t, write(t, m)); len(s.Tree.Levels) != 1 || len(s.Matrix.Topics) != maxDrawn || s.Tree.Drawn != 0 {
			t.Errorf("%v: the page has another tree", sizes)
		}
	}
}

// Few topics are drawn, with a tree or without.
func TestFewTopicsWithTree(t *testing.T) {
	s := read(t, write(t, split(t, 300, 5, 30)))
	if s.Tree == nil || s.Tree.Drawn != -1 || len(s.Matrix.Topics) != 30 || s.Matrix.Topics[29] != 29 {
		t.Errorf("tree %+v, %d topics in the matrix", s.Tree, len(s.Matrix.Topics))
	}
	if s := read(t, write(t, model(t, 300, 6))); s.Tree != nil {
		t.Error("a tree of a flat model")
	}
}

func BenchmarkThousandTopics(b *testing.B) {
	m := split(b, 20000, 20, 200, 1000)
	for b.Loop() {
		if err := Write(io.Discard, m, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(write(b, m))), "bytes")
}

// Of many topics the page shows the effects on the largest, and all that was asked for besides.
func TestEffectsOnManyTopics(t *testing.T) {
	testutil.NotWithRace(t)
	m := split(t, 900, 30, 300)
	e := sample.Effects(m, 5)
	asked := len(e.Quantities) - 300
	var d data
	p := &page{K: 300, names: m.Names(), say: speech(Nouns{}.phrases())}
	shares := m.TopicShares()
	p.effects(&d, e, shares)
	if len(d.Effects.Quantities) != maxDrawn+asked || len(p.Effects.Terms[0].Rows) != maxDrawn+asked || !strings.Contains(p.Effects.About, "Of the 300 topics, the 250 largest.") {
		t.Fatalf("%d quantities: %s", len(d.Effects.Quantities), p.Effects.About)
	}
	least := slices.Sorted(slices.Values(shares))[50]
	for i, q := range d.Effects.Quantities {
		at := q.Topic
		if i >= maxDrawn {
			at = 300 + i - maxDrawn
		} else if shares[at] < least || q.Name != p.names[at] {
			t.Errorf("quantity %d is topic %d, of share %g", i, at, shares[at])
		}
		for j, term := range d.Effects.Terms {
			for x := range term.Points {
				if got, want := float64(term.Predictions[3*(x*len(d.Effects.Quantities)+i)]), e.Terms[j].Predictions[x][at].Value; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("quantity %d, term %d, point %d: %g, want %g", i, j, x, got, want)
				}
			}
		}
	}
	if len(e.Quantities) != 300+asked || len(e.Terms[0].Differences[0]) != 300+asked {
		t.Error("the effects of the caller were written to")
	}
}
