package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/plotter"

	"github.com/jsmf-go/spectral/internal/testutil"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/rectify"
)

func TestHulls(t *testing.T) {
	if testing.Short() || testutil.Race {
		t.Skip("some seconds of fits")
	}
	out := t.TempDir()
	mustRun(t, small(out, "-run", "hulls,rectified", "-hulls", "synth", "-k", "5,8", "-n", "150")...)
	rows := readTable(t, filepath.Join(out, "hulls.csv"))
	for _, r := range rows {
		if r["error"] != "" || !(r.num("held_out") < 0) || !(r.num("soft_rank") >= 0) {
			t.Errorf("%v", r)
		}
	}
	// The greedy search finds the first anchors first: the same model by itself.
	h := &hullCorpus{l: &lab{options: options{words: 150, seed: 1, topics: []int{5, 8}}}}
	var err error
	if h.s, err = findSource(testutil.Path(), "synth", testutil.Path("synth", "synth.stops")); err != nil {
		t.Fatal(err)
	}
	if err := h.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := asPublished(5).Rectify(rectify.None{}).Anchors(hullFinder(greedy, 0)).Recover(recovery.L2()).Seed(1)
	_, rep, err := fitted(t.Context(), p, h.train)
	if err != nil {
		t.Fatal(err)
	}
	got := where(rows, "method", greedy, "k", 5)
	if len(got) != 1 || got[0].num("recovery") != rep.Recovery.Mean || got[0].num("distance") != rep.TopicDissimilarity {
		t.Errorf("Greedy, K = 5: %v; want Recovery %v, distance %v", got, rep.Recovery.Mean, rep.TopicDissimilarity)
	}
	// A corpus drawn from eight topics: eight explain it better than the words' shares.
	if r := where(rows, "method", greedy, "k", 8); len(r) != 1 || !(r[0].num("held_out") > r[0].num("unigram")) {
		t.Errorf("eight topics: %v", r)
	}

	// Pictures mark the vertices and no others, and tables speak of the same anchors.
	shapes, points := readTable(t, filepath.Join(out, "hulls-shapes.csv")), readTable(t, filepath.Join(out, "points.csv"))
	for _, x := range hullPictures {
		n := 0
		for _, r := range where(points, "picture", x.name()) {
			if r["mark"] != "" {
				n++
			}
		}
		if s := where(shapes, "method", x.way, "dims", x.dims, "trial", 1); len(s) != 1 || s[0].num("vertices") != float64(n) {
			t.Errorf("%s: %d words are marked, of %v", x.name(), n, s)
		}
	}
	topics := readTable(t, filepath.Join(out, "hulls-topics.csv"))
	for _, r := range where(topics, "method", tSNE) {
		for _, way := range []string{pca, greedy} {
			if len(where(topics, "method", way, "topic", r["closest_"+way])) != 1 {
				t.Errorf("the topic of %s nearest to %v is %q", way, r["anchor"], r["closest_"+way])
			}
		}
		if first := strings.HasPrefix(r["words"], r["anchor"]+" "); first != (r["hard_rank"] == "0") {
			t.Errorf("%q is of rank %s among %q", r["anchor"], r["hard_rank"], r["words"])
		}
	}

	// A of the picture is that of the counts, and a joint distribution after AP.
	a, numbers := readTable(t, filepath.Join(out, "rectified-a.csv")), readTable(t, filepath.Join(out, "rectified.csv"))
	for _, way := range rectifiedWays {
		sum := 0.0
		for _, r := range where(a, "method", way) {
			sum += r.num("a")
		}
		if r := where(numbers, "method", way, "k", pictured); len(r) != 1 || math.Abs(r[0].num("sum")-sum) > 1e-9 {
			t.Errorf("%s: A sums to %v; %v", way, sum, r)
		}
	}
	for _, r := range where(numbers, "method", "AP") {
		if r.num("least") < -rounding || math.Abs(r.num("sum")-1) > 0.05 || !(r.num("area_rectified") > 0) || r.num("area_rectified") > 1 {
			t.Errorf("AP: %v", r)
		}
	}
	if n := len(where(readTable(t, filepath.Join(out, "rectified-topics.csv")), "method", gibbs)); n != pictured {
		t.Errorf("%d topics of Gibbs", n)
	}
	page, err := os.ReadFile(filepath.Join(out, pageName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(hulls-points.png)", "(hulls.png)", "(rectified-planes.png)", "(rectified-a.png)"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestOutline(t *testing.T) {
	points := plotter.XYs{{X: 1, Y: 1}, {X: 0, Y: 0}, {X: 2, Y: 0}, {X: 1, Y: 0}, {X: 2, Y: 2}, {X: 0, Y: 2}, {X: 0.5, Y: 1.5}, {X: 2, Y: 2}}
	want := plotter.XYs{{X: 0, Y: 0}, {X: 2, Y: 0}, {X: 2, Y: 2}, {X: 0, Y: 2}}
	got := outline(points)
	if !slices.Equal(got, want) {
		t.Errorf("outline %v; want %v", got, want)
	}
	if area(got) != 4 {
		t.Errorf("area %v; want 4", area(got))
	}
	for _, c := range []struct {
		x, y float64
		want bool
	}{{1, 1, true}, {2, 1, true}, {2, 2, true}, {2.01, 1, false}, {-1, -1, false}} {
		if inside(got, plotter.XY{X: c.x, Y: c.y}) != c.want {
			t.Errorf("%v %v inside: %t", c.x, c.y, !c.want)
		}
	}
	if inside(outline(points[:2]), points[0]) {
		t.Error("a line has no inside")
	}
}

// An octahedron shows four of its eight sides, and none of its lowest vertex.
func TestFrontFacets(t *testing.T) {
	p := [][3]float64{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0.1, 0.2, 1}, {0.2, -0.1, -1}}
	got := frontFacets(p)
	if len(got) != 4 {
		t.Errorf("%d sides: %v", len(got), got)
	}
	for _, f := range got {
		if !slices.Contains(f[:], 4) || slices.Contains(f[:], 5) {
			t.Errorf("side %v", f)
		}
	}
}

func TestDescribe(t *testing.T) {
	r := describe(row{}, mat.NewDense(2, 2, []float64{3, -1, -1, 3}))
	if r.num("least") != -1 || r.num("sum") != 4 || r.num("off_diagonal") != 0.25 || math.Abs(r.num("least_eigenvalue")-0.5) > 1e-12 {
		t.Errorf("%v", r)
	}
	if s := singleTops([][]int{{1, 2}, {1, 3}, {2, 1}, {4, 1}}); s != 0.5 {
		t.Errorf("%v of the lists begin with a word of their own; want half", s)
	}
}
