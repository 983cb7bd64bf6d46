package metrics

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/arith"
	"github.com/jsmf-go/spectral/internal/assign"
)

// Agreement says how well clusters of documents agree with their labels.
type Agreement struct {
	Clusters []int    // of each document, −1 for none
	Labels   []string // the different labels, sorted
	Counts   [][]int  // Counts[c][l] is the number of documents of cluster c with label l
	Docs     int      // the labelled documents, including those in no cluster
	// Label is the label of each cluster in the best assignment of different labels, "" for
	// none. Accuracy is the share of the labelled documents whose cluster has their label.
	Label    []string
	Accuracy float64
	// Purity is the share of the labelled documents that have the most frequent
	// label of their cluster. It grows with the number of clusters. InversePurity is the share of
	// those that are in the most frequent cluster of their label, which falls with it, and
	// HarmonicPurity is the harmonic mean of the two (Amigó et al. 2009).
	Purity, InversePurity, HarmonicPurity float64
	// The others are over the documents in a cluster, and 0 where cluster or label are the same for all of
	// them, or different for each. NMI is the mutual information of cluster and label divided by the
	// mean of their entropies, in [0, 1]. It grows with the number of clusters.
	NMI float64
	// AMI is (I − E)/(H − E) with the mutual information I, the mean H of the entropies, and the
	// expectation E of I over all permutations of the labels (Vinh, Epps and Bailey 2010): 1 for
	// clusters that are the labels, 0 by chance, whatever the number of clusters.
	AMI float64
	// ARI is the same with the pairs of documents that have both cluster and label in common in place of I, and
	// the mean of those that have one in common in place of H (Hubert and Arabie 1985).
	ARI float64
}

// Agree compares clusters, numbered from 0, with the labels of the same
// documents. A document in no cluster (−1) counts as wrong in Accuracy and
// Purity; documents with the label "" are left out. Errors: lists of different
// lengths, a cluster below −1, no label at all.
func Agree(clusters []int, labels []string) (*Agreement, error) {
	if len(clusters) != len(labels) {
		return nil, fmt.Errorf("metrics: clusters of %d documents and labels of %d", len(clusters), len(labels))
	}
	names, err := distinctLabels(labels)
	if err != nil {
		return nil, err
	}
	a := &Agreement{Clusters: slices.Clone(clusters), Labels: names}
	for m, c := range clusters {
		if c < -1 {
			return nil, fmt.Errorf("metrics: document %d is in cluster %d", m, c)
		}
		for c >= len(a.Counts) {
			a.Counts = append(a.Counts, make([]int, len(names)))
		}
		l, labelled := slices.BinarySearch(names, labels[m])
		if !labelled {
			continue
		}
		a.Docs++
		if c >= 0 {
			a.Counts[c][l]++
		}
	}
	a.Label = make([]string, len(a.Counts))
	if len(a.Counts) == 0 {
		return a, nil
	}
	gain := mat.NewDense(len(a.Counts), len(names), nil)
	pure, together := 0, make([]int, len(names))
	for c, row := range a.Counts {
		for j, n := range row {
			gain.Set(c, j, float64(n))
			together[j] = max(together[j], n)
		}
		pure += slices.Max(row)
	}
	a.Purity = float64(pure) / float64(a.Docs)
	for _, n := range together {
		a.InversePurity += float64(n) / float64(a.Docs)
	}
	if a.Purity > 0 {
		a.HarmonicPurity = 2 * a.Purity * a.InversePurity / (a.Purity + a.InversePurity)
	}
	of, err := assign.Best(gain)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	right := 0
	for c, j := range of {
		if j >= 0 {
			a.Label[c] = names[j]
			right += a.Counts[c][j]
		}
	}
	a.Accuracy = float64(right) / float64(a.Docs)
	a.adjust()
	return a, nil
}

// distinctLabels returns the different labels except "", sorted.
func distinctLabels(labels []string) ([]string, error) {
	names := slices.Sorted(slices.Values(labels))
	names = slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
	if len(names) == 0 {
		return nil, fmt.Errorf("metrics: no document has a label")
	}
	return names, nil
}

// adjust sets NMI, AMI and ARI by Counts. O(Σ min(r, c)) over the sums r of rows and c of columns of the table.
func (a *Agreement) adjust() {
	rows, cols, all := make([]int, len(a.Counts)), make([]int, len(a.Labels)), 0
	for c, row := range a.Counts {
		for l, n := range row {
			rows[c] += n
			cols[l] += n
			all += n
		}
	}
	total := float64(all)
	entropy := func(x []int) (h, pairs float64) {
		for _, n := range x {
			if n > 0 {
				h -= float64(float64(n) / total * arith.Log(float64(n)/total))
				pairs += float64(float64(n) * float64(n-1) / 2)
			}
		}
		return h, pairs
	}
	hr, pr := entropy(rows)
	hc, pc := entropy(cols)
	logs := make([]float64, all+1) // of factorials
	for n := 1; n <= all; n++ {
		logs[n] = logs[n-1] + arith.Log(float64(n))
	}
	var mi, expected, both float64
	for c, row := range a.Counts {
		for l, n := range row {
			r, s := rows[c], cols[l]
			product := float64(r) * float64(s)
			if n > 0 {
				mi += float64(float64(n) / total * arith.Log(float64(n)*total/product))
				both += float64(float64(n) * float64(n-1) / 2)
			}
			// n of a table with the same sums at random is hypergeometric.
			for n := max(1, r+s-all); n <= min(r, s); n++ {
				p := arith.Exp(logs[r] + logs[s] + logs[all-r] + logs[all-s] - logs[all] - logs[n] - logs[r-n] - logs[s-n] - logs[all-r-s+n])
				expected += float64(p * float64(n) / total * arith.Log(float64(n)*total/product))
			}
		}
	}
	h := float64((hr + hc) / 2)
	if !(h > 0) {
		return
	}
	a.NMI = min(max(mi/h, 0), 1)
	if h-expected > float64(1e-9*h) { // else each document is a cluster and has a label of its own
		a.AMI = (mi - expected) / (h - expected)
		chance := float64(pr * pc / (total * (total - 1) / 2))
		a.ARI = (both - chance) / (float64((pr+pc)/2) - chance)
	}
}
