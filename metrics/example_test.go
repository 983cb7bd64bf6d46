package metrics_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/metrics"
)

// Six short documents over five words, and two topics found in them, the first
// about the sea, the second about the kitchen.
func sample() (docs *corpus.Corpus, c cooc.Matrix, b, breve, a *mat.Dense, anchors []int) {
	words := []string{"ship", "sail", "salt", "pan", "oven"}
	h := sparse.NewDOK(6, 5)
	for m, row := range [][]float64{
		{2, 2, 1, 0, 0},
		{1, 3, 2, 0, 0},
		{3, 1, 1, 0, 0},
		{0, 0, 2, 2, 2},
		{0, 0, 1, 3, 1},
		{0, 1, 2, 2, 1},
	} {
		for w, n := range row {
			if n > 0 {
				h.Set(m, w, n)
			}
		}
	}
	docs, err := corpus.FromCSR(h.ToCSR(), words, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	if c, err = cooc.NewMoments(docs, cooc.Options{}); err != nil {
		log.Fatal(err)
	}
	b = mat.NewDense(5, 2, []float64{
		.40, 0,
		.40, .05,
		.20, .30,
		0, .40,
		0, .25,
	})
	breve = mat.NewDense(5, 2, []float64{
		1, 0,
		.9, .1,
		.4, .6,
		0, 1,
		0, 1,
	})
	a = mat.NewDense(2, 2, []float64{
		.49, .01,
		.01, .49,
	})
	return docs, c, b, breve, a, []int{0, 3}
}

// All measures of a model at once.
func ExampleEvaluate() {
	ctx := context.Background()
	docs, c, b, breve, a, anchors := sample()
	const top = 3
	pairs, err := cooc.CountPairs(ctx, docs, metrics.TopUnion(b, top), 0)
	if err != nil {
		log.Fatal(err)
	}
	r, err := metrics.Evaluate(ctx, metrics.Input{C: c, B: b, Breve: breve, A: a, Anchors: anchors, Pairs: pairs, TopN: top})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range r.Keyed() {
		if m.Single {
			fmt.Printf("%-18s %8.4f\n", m.Key, m.Mean)
		} else {
			fmt.Printf("%-18s %8.4f ± %.4f\n", m.Key, m.Mean, m.Std)
		}
	}
	// Output:
	// recovery             0.1181 ± 0.1145
	// approximation        0.0643
	// legality             1.0000
	// validity            -0.0102
	// dominancy            0.9800 ± 0.0000
	// dominancy_diag       0.4900 ± 0.0000
	// entropy              0.2880 ± 0.4324
	// sparsity             0.4141 ± 0.0658
	// specificity          0.6464 ± 0.0787
	// dissimilarity        2.0000 ± 0.0000
	// coherence           -0.3370 ± 0.4895
	// coherence_ordered   -1.3672 ± 0.0012
	// npmi                 0.2642 ± 0.0978
	// basis_rank           1.0000 ± 0.0000
	// soft_basis_rank      0.0000 ± 0.0000
	// basis_quality        4.5000 ± 0.7071
}

// The words to show for a topic, and how coherent they are.
func ExampleNPMI() {
	docs, _, b, _, _, _ := sample()
	pairs, err := cooc.CountPairs(context.Background(), docs, metrics.TopUnion(b, 3), 0)
	if err != nil {
		log.Fatal(err)
	}
	npmi, err := metrics.NPMI(b, pairs, 3)
	if err != nil {
		log.Fatal(err)
	}
	for k, v := range npmi.Values {
		fmt.Printf("%.2f", v)
		for _, w := range metrics.TopWords(b, k, 3) {
			fmt.Print(" ", docs.Word(w))
		}
		fmt.Println()
	}
	// Output:
	// 0.19 ship sail salt
	// 0.33 pan salt oven
}

// Values of single words point at what a model fails to explain.
func ExampleRecovery() {
	docs, c, _, breve, _, anchors := sample()
	r, err := metrics.Recovery(context.Background(), c, breve, anchors, 0)
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range r.Values {
		fmt.Printf("%-5s %.3f\n", docs.Word(i), v)
	}
	fmt.Printf("mean  %.3f\n", r.Mean)
	// Output:
	// ship  0.000
	// sail  0.136
	// salt  0.212
	// pan   0.000
	// oven  0.242
	// mean  0.118
}

// A measure that is not defined for some of the topics says so.
func ExampleStat() {
	empty := mat.NewDense(3, 2, []float64{
		.50, 0,
		.25, 0,
		.25, 0,
	})
	s, err := metrics.Specificity(empty, []float64{1, 1, 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f, undefined for %d topic: %.3f\n", s.Mean, s.Undefined, s.Values)
	// Output:
	// 0.250, undefined for 1 topic: [0.250 NaN]
}

// Topics of any program, as lists of words, scored against texts.
func ExampleTextCoherence() {
	texts := func(yield func([]string, error) bool) {
		for _, t := range []string{
			"the ship set sail with salt and rope",
			"a sail and a rope on every ship",
			"salt the pan before the oven is hot",
			"the oven is hot and the pan is too",
			"rope for the sail of the ship",
		} {
			if !yield(strings.Fields(t), nil) {
				return
			}
		}
	}
	topics := [][]string{{"ship", "sail", "rope"}, {"pan", "oven", "hot"}, {"ship", "oven", "salt"}}
	r, err := metrics.TextCoherence(context.Background(), topics, texts)
	if err != nil {
		log.Fatal(err)
	}
	for k, t := range topics {
		fmt.Printf("c_npmi %+.2f  c_v %.2f  u_mass %6.2f  %v\n", r.CNPMI.Values[k], r.CV.Values[k], r.UMass.Values[k], t)
	}
	// Output:
	// c_npmi +1.00  c_v 1.00  u_mass   0.00  [ship sail rope]
	// c_npmi +1.00  c_v 1.00  u_mass   0.00  [pan oven hot]
	// c_npmi -0.31  c_v 0.34  u_mass  -9.64  [ship oven salt]
}

// Which topic of one model is which of another, whose words are in another order.
func ExampleAlign() {
	_, _, b, _, _, _ := sample()
	other := mat.NewDense(3, 2, []float64{
		.40, 0,
		.40, 0,
		.20, 1,
	})
	a, err := metrics.Align(context.Background(), b, other, metrics.AlignOptions{
		WordsA: []string{"ship", "sail", "salt", "pan", "oven"},
		WordsB: []string{"oven", "pan", "ship"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range a.Matches {
		fmt.Printf("topic %d is topic %d: ℓ₁ %.2f, %d top words in common\n", m.A, m.B, m.L1, m.Overlap)
	}
	// Output:
	// topic 0 is topic 1: ℓ₁ 1.20, 1 top words in common
	// topic 1 is topic 0: ℓ₁ 0.70, 2 top words in common
}

// Words that label a topic.
func ExampleLabels() {
	docs, c, b, _, _, _ := sample()
	for _, r := range []metrics.Ranking{metrics.ByProbability{}, metrics.ByFREX{}, metrics.ByLift{}} {
		labels, err := metrics.Labels(b, c.Marginals(), r, 3)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(r)
		for _, l := range labels[1] {
			fmt.Print(" ", docs.Word(l.Word))
		}
		fmt.Println()
	}
	// Output:
	// probability pan salt oven
	// FREX(ω=0.5) pan oven salt
	// lift oven pan salt
}

// Do the topics tell the classes of the documents apart?
func ExampleClustAcc() {
	w := mat.NewDense(6, 3, []float64{
		.8, .1, .1,
		.7, .3, 0,
		.9, 0, .1,
		.1, .5, .4,
		.2, .4, .4,
		.6, .2, .2,
	})
	labels := []string{"sea", "sea", "sea", "kitchen", "kitchen", "kitchen"}
	a, _, err := metrics.ClustAcc(context.Background(), w, labels, metrics.KMeans{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.2f, purity %.2f, NMI %.2f\n", a.Accuracy, a.Purity, a.NMI)
	// Output:
	// accuracy 0.83, purity 0.83, NMI 0.48
}
