package anchor_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/anchor"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

var animals = []string{"horse", "house", "mouse", "moose", "goose", "ghost", "Zebra", "zebra", "horse"}

// shared is 9 words of full rank and all positive.
func shared(t testing.TB) (cooc.Rows, *mat.Dense) {
	rng := rand.New(rand.NewPCG(8, 8))
	c := mat.NewDense(9, 9, nil)
	for i := range 9 {
		for j := range i + 1 {
			v := rng.ExpFloat64()
			if i == j {
				v += 4
			}
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
	}
	return rowsOf(t, dense(t, c)), c
}

func TestFixed(t *testing.T) {
	r, _ := shared(t)
	opt := anchor.Options{Vocabulary: animals}
	res := mustFind(t, anchor.Fixed{Words: []string{"ghost", "horse"}}, r, 2, opt)
	if !slices.Equal(res.Anchors, []int{5, 0}) || res.Candidates != 9 || res.Groups != nil {
		t.Errorf("%+v", res)
	}
	byNumber := mustFind(t, anchor.Fixed{Numbers: []int{5, 0}}, r, 2, opt)
	if !slices.Equal(res.Norms, byNumber.Norms) || !slices.Equal(res.Anchors, byNumber.Anchors) {
		t.Errorf("by number %+v, by word %+v", byNumber, res)
	}
	// Without names the number is the name.
	if res := mustFind(t, anchor.Fixed{Words: []string{"5", "0"}}, r, 2, anchor.Options{}); !slices.Equal(res.Anchors, []int{5, 0}) {
		t.Errorf("by number as a name: %v", res.Anchors)
	}
	for _, f := range []anchor.Finder{anchor.QR{}, anchor.SNPA{}, anchor.XRAY{}, anchor.Projected{}} {
		res := mustFind(t, anchor.Fixed{Words: []string{"moose"}, Complete: f}, r, 5, opt)
		if len(res.Anchors) != 5 || res.Anchors[0] != 3 {
			t.Errorf("%v: %v", f, res.Anchors)
		}
	}
	// Rows known to the caller by other numbers.
	opt = anchor.Options{Numbers: []int{1, 2, 3, 5, 8, 13, 21, 34, 55}}
	if res := mustFind(t, anchor.Fixed{Numbers: []int{13, 1}}, r, 2, opt); !slices.Equal(res.Anchors, []int{5, 0}) {
		t.Errorf("numbers of the caller: %v", res.Anchors)
	}
	for w, want := range map[int]string{
		4: "word 4 has an empty co-occurrence row", 0: "word 0 has an empty co-occurrence row",
		-1: "there is no word -1; numbers go from 0 to 55", 56: "there is no word 56; numbers go from 0 to 55",
	} {
		if _, err := (anchor.Fixed{Numbers: []int{13, w}}).Find(ctx, r, 2, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("number %d: %v", w, err)
		}
	}
	for _, bad := range []anchor.Options{{Vocabulary: animals[:8]}, {Numbers: []int{1, 2}}, {Numbers: []int{9, 8, 7, 6, 5, 4, 3, 2, 1}}} {
		if _, err := (anchor.Fixed{Numbers: []int{1, 2}}).Find(ctx, r, 2, bad); err == nil || !strings.Contains(err.Error(), "for 9 rows") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestUnknownWords(t *testing.T) {
	r, _ := shared(t)
	opt := anchor.Options{Vocabulary: animals}
	var ue *anchor.UnknownWordError
	_, err := anchor.Fixed{Words: []string{"hosre", "zebra", "MOUSE", "elephant", "zebr", "gosth"}}.Find(ctx, r, 6, opt)
	if !errors.As(err, &ue) {
		t.Fatal(err)
	}
	want := anchor.UnknownWordError{
		Words: []string{"hosre", "MOUSE", "elephant", "zebr", "gosth"},
		// Neighbours exchanged; once, though twice in the vocabulary.
		Near: [][]string{{"horse"}, {"mouse", "house", "moose"}, nil, {"Zebra", "zebra"}, nil},
	}
	if !reflect.DeepEqual(*ue, want) {
		t.Errorf("%q, want %q", *ue, want)
	}
	if s := err.Error(); s != `anchor: not in the vocabulary: "hosre" (near: "horse"), "MOUSE" (near: "mouse", "house", "moose"), "elephant", "zebr" (near: "Zebra", "zebra"), "gosth"` {
		t.Error(s)
	}
	_, err = anchor.Tandem{Groups: [][]string{{"horse", "hose"}, {"mous"}}}.Find(ctx, r, 2, opt)
	if !errors.As(err, &ue) || len(ue.Words) != 2 || ue.Words[0] != "hose" || ue.Words[1] != "mous" {
		t.Errorf("Tandem: %v", err)
	}
	if _, err := (anchor.Fixed{Words: []string{"9", "01"}}).Find(ctx, r, 2, anchor.Options{}); !errors.As(err, &ue) || len(ue.Words) != 2 {
		t.Errorf("numbers as names: %v", err)
	}
}

// Words with the same row cannot be two anchors, and the error calls them by
// name.
func TestFixedTwins(t *testing.T) {
	c := mat.NewDense(4, 4, []float64{
		2, 2, 1, 0,
		2, 2, 1, 0,
		1, 1, 3, 1,
		0, 0, 1, 5,
	})
	r := rowsOf(t, dense(t, c))
	_, err := anchor.Fixed{Words: []string{"a", "b"}}.Find(ctx, r, 2, anchor.Options{Vocabulary: []string{"a", "b", "c", "d"}})
	if err == nil || !strings.Contains(err.Error(), "given anchor 1, word 1: ") || !strings.Contains(err.Error(), `("b")`) {
		t.Errorf("twins: %v", err)
	}
}

// The combined row against the formula, and what goes with it.
func TestTandem(t *testing.T) {
	r, c := shared(t)
	opt := anchor.Options{Vocabulary: animals}
	f := anchor.Tandem{Groups: [][]string{{"mouse", "moose", "goose"}, {"zebra"}, {"mouse", "house"}}, Complete: anchor.QR{}}
	res := mustFind(t, f, r, 6, opt)
	if !slices.Equal(res.Anchors[:3], []int{3, 7, 1}) {
		t.Errorf("anchors %v, want 3 7 1 first: mouse is in two groups", res.Anchors)
	}
	if fmt.Sprint(res.Groups) != "[[2 3 4] [] [2 1] [] [] []]" || len(res.Points) != 6 || res.Points[1] != nil || res.Points[3] != nil {
		t.Errorf("groups %v, points %v", res.Groups, res.Points)
	}
	for _, w := range res.Anchors[3:] {
		if slices.Contains([]int{1, 2, 3, 4, 7}, w) {
			t.Errorf("word %d of a group is another topic's anchor", w)
		}
	}
	for topic, words := range map[int][]int{0: {2, 3, 4}, 2: {2, 1}} {
		sum := 0.0
		mean := make([]float64, 9)
		for j := range mean {
			for _, w := range words {
				mean[j] += mat.Sum(c.RowView(w)) / c.At(w, j)
			}
			mean[j] = float64(len(words)) / mean[j]
			sum += mean[j]
		}
		for j, v := range mean {
			if math.Abs(res.Points[topic][j]-v/sum) > 1e-15 {
				t.Errorf("topic %d: point %d = %.17g, want %.17g", topic, j, res.Points[topic][j], v/sum)
			}
		}
	}
	// The norm of a group is its own, from the span of those before.
	first := mat.Norm(mat.NewVecDense(9, res.Points[0]), 2)
	if math.Abs(res.Norms[0]-first) > 1e-15 {
		t.Errorf("r_1 = %g, the point is %g long", res.Norms[0], first)
	}
	// Groups of one word are the words.
	single := mustFind(t, anchor.Tandem{Groups: [][]string{{"ghost"}, {"house"}}}, r, 2, opt)
	fixed := mustFind(t, anchor.Fixed{Words: []string{"ghost", "house"}}, r, 2, opt)
	if single.Groups != nil || single.Points != nil || !slices.Equal(single.Anchors, fixed.Anchors) || !slices.Equal(single.Norms, fixed.Norms) {
		t.Errorf("groups of one word: %+v, want %+v", single, fixed)
	}
	// Which word stands for a group.
	for _, x := range []struct {
		groups string
		want   []int
	}{
		{"house horse/horse", []int{1, 0}},
		{"horse house/house mouse/mouse horse", []int{0, 1, 2}},
	} {
		var groups [][]string
		for s := range strings.SplitSeq(x.groups, "/") {
			groups = append(groups, strings.Fields(s))
		}
		if got := mustFind(t, anchor.Tandem{Groups: groups}, r, len(groups), opt); !slices.Equal(got.Anchors, x.want) {
			t.Errorf("%s: %v, want %v", x.groups, got.Anchors, x.want)
		}
	}
	// Every greedy finder goes on from groups.
	for _, g := range []anchor.Finder{anchor.Projected{NoCleanUp: true}, anchor.SPA{}, anchor.SNPA{}, anchor.XRAY{}} {
		f.Complete = g
		if got := mustFind(t, f, r, 5, opt); !slices.Equal(got.Anchors[:3], res.Anchors[:3]) || len(got.Anchors) != 5 || len(got.Points) != 5 {
			t.Errorf("%v: %+v", f, got)
		}
	}
}

func TestTandemBad(t *testing.T) {
	c := mat.NewDense(5, 5, []float64{
		3, 1, 0, 0, 0,
		1, 2, 0, 0, 0,
		0, 0, 2, 1, 0,
		0, 0, 1, 3, 0,
		0, 0, 0, 0, 0,
	})
	r := rowsOf(t, dense(t, c))
	opt := anchor.Options{Vocabulary: []string{"a", "b", "c", "d", "e"}}
	for _, x := range []struct {
		groups [][]string
		group  int
		want   string
	}{
		{[][]string{{"a", "b"}, {"b", "c"}}, 1, "group 1 (b c): its words share nothing"},
		{[][]string{{"a", "e"}}, 0, "row of word 4 sums to 0"},
		{[][]string{{"a"}, {"b"}, {"a", "b"}}, 2, "stands for another group"},
		{[][]string{{"a"}, {"b"}, {"a", "b", "c"}}, 2, "share nothing"},
		{[][]string{{"d"}, {"c"}, {"c", "d", "b"}}, 2, "share nothing"},
	} {
		if _, err := (anchor.Tandem{Groups: x.groups}).Find(ctx, r, len(x.groups), opt); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Tandem: group %d (", x.group)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.groups, err, x.want)
		}
	}
	// A third word in two dimensions.
	m := testutil.NewPlanted(30, 2, 0, 4)
	r = rowsOf(t, dense(t, m.C))
	other := 0
	for slices.Contains(m.Anchors, other) {
		other++
	}
	s := fmt.Sprint(m.Anchors[0])
	three := [][]string{{s}, {fmt.Sprint(m.Anchors[1])}, {fmt.Sprint(other)}}
	if _, err := (anchor.Tandem{Groups: three}).Find(ctx, r, 3, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "Tandem: group 2 (") || !strings.Contains(err.Error(), "in the span") {
		t.Errorf("three words in two dimensions: %v", err)
	}
	low, err := cooc.NewLowRankSparse(m.Y(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	law, err := low.LAW(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (anchor.Tandem{Groups: [][]string{{fmt.Sprint(other), "29"}, {s}}}).Find(ctx, law, 2, anchor.Options{}); err == nil || !strings.Contains(err.Error(), "rectify.AP") {
		t.Errorf("low-rank rows: %v", err)
	}
	// The entries of a low-rank matrix are at hand where it is asked for them.
	mustFind(t, anchor.Tandem{Groups: [][]string{{fmt.Sprint(other), "29"}, {s}}}, rowsOf(t, low), 2, anchor.Options{})
}

// AP of a matrix that has rank K already leaves the number r that it adds at zero or at
// rounding of either sign: the rows are explicit whichever it is, and the groups can be
// combined.
func TestTandemExactRank(t *testing.T) {
	shifts := map[bool]int{}
	for seed := range uint64(12) {
		m := testutil.NewPlanted(40, 4, 0.3, seed)
		res, err := rectify.AP{}.Rectify(ctx, dense(t, m.C), 4, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shifts[res.Shift > 0]++
		rows, err := res.Rows(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		other := 0
		for slices.Contains(m.Anchors, other) {
			other++
		}
		f := anchor.Tandem{Groups: [][]string{{fmt.Sprint(m.Anchors[0]), fmt.Sprint(other)}}, Complete: anchor.QR{}}
		if found, err := f.Find(ctx, rows, 4, anchor.Options{}); err != nil || len(found.Anchors) != 4 {
			t.Errorf("seed %d, r = %g: %+v, %v", seed, res.Shift, found, err)
		}
	}
	t.Logf("r is positive in %d cases, and not in %d", shifts[true], shifts[false])
}

// withGiven returns opt with anchors to complete.
func withGiven(opt anchor.Options, anchors []int, points [][]float64) anchor.Options {
	opt.Given = &anchor.Given{Anchors: anchors, Points: points}
	return opt
}

// frequent is a finder of the caller's own: after what is given it takes the words of the
// largest marginals.
type frequent struct{}

func (frequent) String() string { return "frequent" }

func (frequent) Find(_ context.Context, rows cooc.Rows, k int, opt anchor.Options) (*anchor.Result, error) {
	var found []int
	if opt.Given != nil {
		found = slices.Clone(opt.Given.Anchors)
	}
	c := rows.Marginals()
	order := make([]int, len(c))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c[j], c[i]) })
	for _, w := range order {
		if len(found) < k && !slices.Contains(found, w) && !slices.Contains(opt.Exclude, w) {
			found = append(found, w)
		}
	}
	return &anchor.Result{Anchors: found}, nil
}

func TestOwnFinderCompletes(t *testing.T) {
	r, _ := shared(t)
	opt := anchor.Options{Vocabulary: animals}
	alone := mustFind(t, frequent{}, r, 9, opt).Anchors
	last, before := animals[alone[8]], animals[alone[7]]
	for name, f := range map[string]anchor.Finder{
		"Fixed":  anchor.Fixed{Words: []string{last}, Complete: frequent{}},
		"Tandem": anchor.Tandem{Groups: [][]string{{last}}, Complete: frequent{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := mustFind(t, f, r, 4, opt).Anchors, append([]int{alone[8]}, alone[:3]...); !slices.Equal(got, want) {
				t.Errorf("anchors %v, want the word given and then the most frequent: %v", got, want)
			}
		})
	}
	t.Run("takes no notice", func(t *testing.T) {
		_, err := anchor.Fixed{Words: []string{last, before}, Complete: heedless{}}.Find(ctx, r, 4, opt)
		if err == nil || !strings.Contains(err.Error(), "Options.Given") {
			t.Errorf("error %v, want one that names Options.Given", err)
		}
	})
}

// heedless takes no notice of what is given.
type heedless struct{ frequent }

func (heedless) Find(ctx context.Context, rows cooc.Rows, k int, _ anchor.Options) (*anchor.Result, error) {
	return frequent{}.Find(ctx, rows, k, anchor.Options{})
}
