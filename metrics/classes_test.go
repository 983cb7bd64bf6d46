package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

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

func TestClusterErrors(t *testing.T) {
	labels := []string{"a", "b", "a"}
	for what, f := range map[string]func() error{
		"of 1 documents":           func() error { _, err := Agree([]int{1}, labels); return err },
		"document 0 is in cluster": func() error { _, err := Agree([]int{-2}, labels[:1]); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
