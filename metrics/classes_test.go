package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// documents of as many classes, each with most weight on one topic.
func classed(m, k int, noise float64, seed uint64) (*mat.Dense, []string) {
	rng := rand.New(rand.NewPCG(seed, 7))
	w, labels := mat.NewDense(m, k, nil), make([]string, m)
	for i := range m {
		c := rng.IntN(k)
		labels[i] = fmt.Sprintf("class %d", (c*7+3)%k) // not in the order of the topics, where 7 does not divide k
		row := w.RawRowView(i)
		for j := range row {
			row[j] = noise * rng.Float64()
		}
		row[c]++
		floats.Scale(1/floats.Sum(row), row)
	}
	return w, labels
}

// By hand.
func TestAgree(t *testing.T) {
	//          a a a b b b b c, one without a label, one without a cluster
	clusters := []int{0, 0, 1, 1, 1, 1, 0, 2, 2, -1}
	labels := []string{"a", "a", "a", "b", "b", "b", "b", "c", "", "a"}
	a, err := Agree(clusters, labels)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(a.Counts) != "[[2 1 0] [1 3 0] [0 0 1]]" || fmt.Sprint(a.Label) != "[a b c]" || a.Docs != 9 {
		t.Errorf("%+v", a)
	}
	near(t, "accuracy", a.Accuracy, 6.0/9, 1e-15)
	near(t, "purity", a.Purity, 6.0/9, 1e-15)
	near(t, "inverse purity", a.InversePurity, 6.0/9, 1e-15)
	// Of the eight with cluster and label: rows 3, 4, 1 and columns 3, 4, 1 of 8.
	h := -(3.0/8*math.Log(3.0/8) + 4.0/8*math.Log(4.0/8) + 1.0/8*math.Log(1.0/8))
	mi := 2.0/8*math.Log(2*8/9.0) + 1.0/8*math.Log(8/12.0) + 1.0/8*math.Log(8/12.0) + 3.0/8*math.Log(3*8/16.0) + 1.0/8*math.Log(8)
	near(t, "NMI", a.NMI, mi/h, 1e-12)

	// More clusters than labels: one gets none, though purity counts it.
	a, err = Agree([]int{0, 1, 2, 2}, []string{"x", "x", "y", "y"})
	if err != nil || a.Accuracy != 0.75 || a.Purity != 1 || a.Label[0] != "x" && a.Label[1] != "x" || a.Label[2] != "y" {
		t.Errorf("%+v, %v", a, err)
	}
	// One label: nothing to tell apart.
	if a, err = Agree([]int{0, 1}, []string{"x", "x"}); err != nil || a.NMI != 0 || a.Accuracy != 0.5 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = Agree([]int{-1}, []string{"x"}); err != nil || a.Accuracy != 0 || a.Docs != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// agreeSlowly returns ARI by pairs of documents and AMI by all permutations of the labels.
func agreeSlowly(clusters, labels []int) (ari, ami float64) {
	n := len(clusters)
	entropy := func(of func(m int) int) float64 {
		count, h := make(map[int]int), 0.0
		for m := range n {
			count[of(m)]++
		}
		for _, c := range count {
			h -= float64(c) / float64(n) * math.Log(float64(c)/float64(n))
		}
		return h
	}
	hc, hl := entropy(func(m int) int { return clusters[m] }), entropy(func(m int) int { return labels[m] })
	measure := func(labels []int) (both, mi float64) {
		for m := range n {
			for o := range m {
				if clusters[m] == clusters[o] && labels[m] == labels[o] {
					both++
				}
			}
		}
		return both, hc + hl - entropy(func(m int) int { return 10*clusters[m] + labels[m] })
	}
	both, mi := measure(labels)
	var bothSum, miSum, all float64
	permuted := slices.Clone(labels)
	var permute func(k int)
	permute = func(k int) {
		if k == n {
			b, i := measure(permuted)
			bothSum, miSum, all = bothSum+b, miSum+i, all+1
			return
		}
		for j := k; j < n; j++ {
			permuted[k], permuted[j] = permuted[j], permuted[k]
			permute(k + 1)
			permuted[k], permuted[j] = permuted[j], permuted[k]
		}
	}
	permute(0)
	inCluster, inLabel := 0.0, 0.0
	for m := range n {
		for o := range m {
			if clusters[m] == clusters[o] {
				inCluster++
			}
			if labels[m] == labels[o] {
				inLabel++
			}
		}
	}
	return (both - bothSum/all) / ((inCluster+inLabel)/2 - bothSum/all), (mi - miSum/all) / ((hc+hl)/2 - miSum/all)
}

// What chance gives is taken off exactly. 1e-12: sums of at most 5040 terms in another order.
func TestAgreeByChance(t *testing.T) {
	name := func(l []int) []string {
		out := make([]string, len(l))
		for m, x := range l {
			out[m] = fmt.Sprint(x)
		}
		return out
	}
	for _, x := range []struct{ clusters, labels []int }{
		{[]int{0, 0, 0, 1, 1, 1, 1}, []int{0, 0, 1, 1, 1, 2, 2}},
		{[]int{0, 1, 2, 3, 3, 3, 0}, []int{0, 0, 0, 0, 1, 1, 1}},
		{[]int{0, 1, 0, 1, 0, 1}, []int{0, 0, 1, 1, 2, 2}},
		{[]int{2, 2, 0, 0, 1}, []int{0, 0, 1, 1, 2}},
	} {
		a, err := Agree(x.clusters, name(x.labels))
		if err != nil {
			t.Fatal(err)
		}
		ari, ami := agreeSlowly(x.clusters, x.labels)
		near(t, "ARI", a.ARI, ari, 1e-12)
		near(t, "AMI", a.AMI, ami, 1e-12)
		b, err := Agree(x.labels, name(x.clusters)) // labels and clusters change places
		if err != nil {
			t.Fatal(err)
		}
		near(t, "AMI the other way round", b.AMI, ami, 1e-12)
		near(t, "inverse purity", a.InversePurity, b.Purity, 1e-15)
		near(t, "harmonic purity", a.HarmonicPurity, 2/(1/a.Purity+1/b.Purity), 1e-15)
	}
	// Clusters at random: NMI and Purity grow with their number, the adjusted ones are 0 but for some
	// thousandths, the deviation of 2,000 documents.
	rng := rand.New(rand.NewPCG(2, 3))
	clusters, labels := make([]int, 2000), make([]int, 2000)
	for m := range clusters {
		clusters[m], labels[m] = rng.IntN(200), rng.IntN(5)
	}
	a, err := Agree(clusters, name(labels))
	if err != nil || math.Abs(a.ARI) > 0.005 || math.Abs(a.AMI) > 0.02 || a.NMI < 0.05 || a.Purity < 0.35 {
		t.Errorf("clusters at random: %v, ARI %g, AMI %g, NMI %g, purity %g", err, a.ARI, a.AMI, a.NMI, a.Purity)
	}
	// Nothing to tell apart, and documents each with a label of its own.
	for _, x := range []struct{ clusters, labels []int }{{[]int{0, 0, 0}, []int{0, 1, 1}}, {[]int{0, 1, 2}, []int{0, 1, 1}}, {[]int{0, 1, 2}, []int{2, 1, 0}}, {[]int{0}, []int{0}}} {
		if a, err := Agree(x.clusters, name(x.labels)); err != nil || math.Abs(a.ARI)+math.Abs(a.AMI) > 1e-12 {
			t.Errorf("%v: ARI %g, AMI %g, %v", x, a.ARI, a.AMI, err)
		}
	}
}

func TestAssociate(t *testing.T) {
	w := mat.NewDense(6, 2, []float64{
		.75, .25,
		.25, .75,
		1, 0,
		0, 1,
		0, 0, // nothing known
		.5, .5, // no label
	})
	labels := []string{"b", "b", "a", "b", "a", ""}
	a, err := Associate(w, labels)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Labels, []string{"a", "b"}) || !slices.Equal(a.Docs, []int{1, 3}) {
		t.Errorf("labels %v of %v documents", a.Labels, a.Docs)
	}
	want := mat.NewDense(2, 2, []float64{1, 1.0 / 3, 0, 2.0 / 3})
	if !mat.EqualApprox(a.Weight, want, 1e-15) {
		t.Errorf("weights\n%v", mat.Formatted(a.Weight))
	}
	near(t, "lift", a.Lift.At(0, 0), 2, 1e-15) // 1 of a mean of (.75+.25+1+0)/4
	near(t, "accuracy by the main topic", a.Main.Accuracy, 3.0/5, 1e-15)
}

func TestClusterErrors(t *testing.T) {
	w, labels := classed(10, 3, 0.5, 1)
	neg := mat.DenseCopyOf(w)
	neg.Set(3, 1, -1)
	for what, f := range map[string]func() error{
		"W[3, 1]: -1 is negative":  func() error { _, err := Associate(neg, labels); return err },
		"W is 0×0":                 func() error { _, err := Associate(nil, labels); return err },
		"of 1 documents":           func() error { _, err := Agree([]int{1}, labels); return err },
		"document 0 is in cluster": func() error { _, err := Agree([]int{-2}, labels[:1]); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
