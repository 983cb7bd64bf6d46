package metrics_test

import (
	"context"
	"fmt"
	"log"

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
	if c, err = cooc.NewMoments(context.Background(), docs, cooc.Options{}); err != nil {
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
	pairs, err := cooc.CountPairs(ctx, docs, metrics.TopUnion(b, top))
	if err != nil {
		log.Fatal(err)
	}
	r, err := metrics.Evaluate(ctx, metrics.Factors{C: c, B: b, WordTopics: breve, A: a, Anchors: anchors, Pairs: pairs, TopN: top})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r)
	// Output:
	// recovery                0.11812 ± 0.115
	// approximation          0.064334
	// legality                      1
	// validity              −0.010194
	// dominancy                  0.98 ± 0
	// dominancy_diag             0.49 ± 0
	// entropy                 0.28799 ± 0.432
	// sparsity                0.41411 ± 0.0658
	// specificity              0.6464 ± 0.0787
	// dissimilarity                 2 ± 0
	// coherence              −0.33701 ± 0.49
	// coherence_ordered       −1.3672 ± 0.00118
	// npmi                    0.26416 ± 0.0978
	// basis_rank                    1 ± 0
	// soft_basis_rank               0 ± 0
	// basis_quality               4.5 ± 0.707
	// basis_quality_share           1 ± 0
	// verdicts            2 few documents
}

// The words to show for a topic, and how coherent they are.
func ExampleFactors() {
	docs, _, b, _, _, _ := sample()
	pairs, err := cooc.CountPairs(context.Background(), docs, metrics.TopUnion(b, 3))
	if err != nil {
		log.Fatal(err)
	}
	r, err := metrics.Evaluate(context.Background(), metrics.Factors{B: b, Pairs: pairs, TopN: 3})
	if err != nil {
		log.Fatal(err)
	}
	lists, err := metrics.TopLists(b, 3)
	if err != nil {
		log.Fatal(err)
	}
	for k, v := range r.NPMI.Values {
		fmt.Printf("%.2f", v)
		for _, w := range lists[k] {
			fmt.Print(" ", docs.Word(w))
		}
		fmt.Println()
	}
	// Output:
	// 0.19 ship sail salt
	// 0.33 pan salt oven
}

// Values of single words point at what a model fails to explain.
func ExampleReport() {
	docs, c, b, breve, _, anchors := sample()
	r, err := metrics.Evaluate(context.Background(), metrics.Factors{C: c, B: b, WordTopics: breve, Anchors: anchors})
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range r.Recovery.Values {
		fmt.Printf("%-5s %.3f\n", docs.Word(i), v)
	}
	fmt.Printf("mean  %.3f\n", r.Recovery.Mean)
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
	r, err := metrics.Evaluate(context.Background(), metrics.Factors{B: empty})
	if err != nil {
		log.Fatal(err)
	}
	s := r.Sparsity
	fmt.Printf("%.3f, undefined for %d topic: %.3f\n", s.Mean, s.Undefined, s.Values)
	// Output:
	// 0.135, undefined for 1 topic: [0.135 NaN]
}

// Which topic of one model is which of another, whose words are in another order.
func ExampleMatch() {
	_, _, b, _, _, _ := sample()
	other := mat.NewDense(3, 2, []float64{
		.40, 0,
		.40, 0,
		.20, 1,
	})
	a, err := metrics.Match(context.Background(), b, other, metrics.MatchOptions{
		WordsA: []string{"ship", "sail", "salt", "pan", "oven"},
		WordsB: []string{"oven", "pan", "ship"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for k, l := range a.Of {
		fmt.Printf("topic %d is topic %d: ℓ₁ %.2f, %d top words in common\n", k, l, a.L1.Values[k], a.Overlap[k])
	}
	// Output:
	// topic 0 is topic 1: ℓ₁ 1.20, 1 top words in common
	// topic 1 is topic 0: ℓ₁ 0.70, 2 top words in common
}

// Do the topics tell the classes of the documents apart? Each document is in the cluster of its largest topic.
func ExampleAgree() {
	clusters := []int{0, 0, 0, 1, 1, 0}
	labels := []string{"sea", "sea", "sea", "kitchen", "kitchen", "kitchen"}
	a, err := metrics.Agree(clusters, labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.2f, purity %.2f, NMI %.2f\n", a.Accuracy, a.Purity, a.NMI)
	// Output:
	// accuracy 0.83, purity 0.83, NMI 0.48
}
