package main

import "fmt"

// The methods of lee-2018 Figure 3.1 and lee-2020 Figure 3 with anchors.
const (
	baselineExpGrad = "Baseline+ExpGrad"
	apExpGrad       = "AP+ExpGrad"
	apActiveSet     = "AP+ActiveSet"
)

// tensorMeasures are those of the two figures that need no anchors.
var tensorMeasures = []string{"approximation", "dominancy", "specificity", "dissimilarity", "coherence", "sparsity", "entropy"}

// tensorRows are the rows of a method, whatever the table.
func tensorRows(t *tables, method string) []row {
	switch method {
	case baselineExpGrad:
		return curveRows(t, baseline, "ExpGrad")
	case apExpGrad:
		return curveRows(t, "AP", "ExpGrad")
	case apADMM:
		return curveRows(t, "AP", "ADMM")
	case apActiveSet:
		return curveRows(t, "AP", "ActiveSet")
	case gibbs:
		return curveRows(t, gibbs, "")
	}
	return where(t.rows["tensor"], "method", method)
}

var tensors = experiment{
	name: "tensor", title: "Matrices and tensors",
	repeats: []string{"lee-2018 Figure 3.1", "lee-2020 Figure 3"},
	what: "Topics by tensor decomposition (whitening, power iterations from 10 starts with deflation, Σα = 1 unless another is given) and by online variational inference (OVI), compared with Baseline and AP, " +
		"both with ExpGrad, and Gibbs. nips17 is the papers' NIPS; kos stands in for their blogs, and Yelp and NYTimes are left out. The papers give neither Σα nor the settings of OVI; OVI has those of the package they name (batches of 2,000 documents, one pass), and also makes 10 passes in batches of 256. " +
		"“Trimmed” is without the documents of which one word is more than half. Tensor has no anchors and so no Recovery; its negative probabilities are projected to the simplex. “Nearer to Gibbs” is by seven measures: Approximation, Dominancy, Specificity, Dissimilarity, Coherence, Sparsity, Entropy. " +
		"The papers' programs decompose by alternating least squares; here it is by the power iterations of the paper they cite.",
	groups:  []*group{tensorGroup, curvesGroup},
	plan:    planTensor,
	figures: tensorFigures,
	claims: []claim{
		{"lee-2018 Figure 3.1", "Tensor is nearer to Gibbs than Baseline", nearerToGibbs(tensorName, baselineExpGrad)},
		{"lee-2018 Figure 3.1", "AP+ExpGrad is nearer to Gibbs than Tensor", nearerToGibbs(apExpGrad, tensorName)},
		{"lee-2018 Figure 3.1", "the Entropy of Tensor is larger with the most topics than with the fewest, by corpora", largerWithK(true, "entropy", tensorName)},
		{"lee-2018 Figure 3.1", "that of Baseline, AP+ExpGrad and Gibbs is not", largerWithK(false, "entropy", baselineExpGrad, apExpGrad, gibbs)},
		{"lee-2018 Figure 3.1", "the Sparsity of Tensor turns more often along K than that of AP+ExpGrad, by corpora", turnsMore("sparsity")},
		{"lee-2020 Figure 3", "Tensor is nearer to Gibbs than Baseline", nearerToGibbs(tensorName, baselineExpGrad)},
		{"lee-2020 Figure 3", "Tensor is nearer to Gibbs than OVI", nearerToGibbs(tensorName, oviName)},
		{"lee-2020 Figure 3", "AP+ExpGrad is nearer to Gibbs than Tensor", nearerToGibbs(apExpGrad, tensorName)},
		{"lee-2020 Figure 3", "the measures of Tensor turn more often along K than those of AP+ExpGrad, by corpora and measures that turn", turnsMore(tensorMeasures...)},
	},
	tables: tensorTables,
}

func tensorFigures(_ *lab, t *tables) []figure {
	var out []figure
	for _, c := range values(t.rows["tensor"], "corpus") {
		var kinds []kind
		for _, m := range []string{baselineExpGrad, apExpGrad, tensorName, oviName, gibbs} {
			kinds = append(kinds, kind{m, where(tensorRows(t, m), "corpus", c)})
		}
		out = append(out, figure{"tensor-" + c, c + ": matrices, tensors and online variational inference (lee-2018 Figure 3.1, lee-2020 Figure 3)", 4,
			panels("", kinds, "k", "K", true, numbersOf(t.rows["tensor"], "k"), append([]string{"npmi"}, tensorMeasures...)...)})
	}
	return out
}

// nearerToGibbs counts the corpora, K and measures of which a is nearer to Gibbs.
func nearerToGibbs(a, b string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, m := range tensorMeasures {
			y, o := nearerBy(t, a, b, m)
			yes, of = yes+y, of+o
		}
		return yes, of
	}
}

// nearerBy is nearerRows for two methods.
func nearerBy(t *tables, a, b, measure string) (yes, of int) {
	return nearerRows(tensorRows(t, gibbs), tensorRows(t, a), tensorRows(t, b), measure)
}

// alongK returns the rows of a method for each corpus, in the order of the K of Tensor.
func alongK(t *tables, method string) map[string][]row {
	out := make(map[string][]row)
	for _, r := range where(t.rows["tensor"], "method", tensorName) {
		c := r["corpus"]
		out[c] = append(out[c], where(tensorRows(t, method), "corpus", c, "k", r["k"], "error", "")...)
	}
	return out
}

// largerWithK counts the corpora and methods of which the measure is larger with the most
// topics than with the fewest, or is not.
func largerWithK(larger bool, measure string, methods ...string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		for _, m := range methods {
			for _, r := range alongK(t, m) {
				if len(r) > 1 {
					yes, of = yes+oneIf((r[len(r)-1].num(measure) > r[0].num(measure)) == larger), of+1
				}
			}
		}
		return yes, of
	}
}

// turnsMore counts the corpora and measures in which the curve of Tensor turns more
// often than that of AP+ExpGrad. Where neither turns there is nothing to see.
func turnsMore(measures ...string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		ours := alongK(t, apExpGrad)
		for c, r := range alongK(t, tensorName) {
			for _, m := range measures {
				if a, b := turns(r, m), turns(ours[c], m); a+b > 0 {
					yes, of = yes+oneIf(a > b), of+1
				}
			}
		}
		return yes, of
	}
}

// tensorTables shows for each measure who is nearer to Gibbs, also with other Σα and
// more passes.
func tensorTables(_ *lab, t *tables) []table {
	pairs := [][2]string{{tensorName, baselineExpGrad}, {tensorLow, baselineExpGrad}, {tensorHigh, baselineExpGrad}, {tensorName, oviName}, {tensorName, oviMore},
		{apExpGrad, tensorName}, {apExpGrad, tensorLow}, {apExpGrad, tensorHigh}, {apADMM, tensorName}, {tensorName + trimmed, tensorName}}
	x := table{caption: "In how many of the corpora and K the first is nearer to Gibbs than the second:", head: append([]string{"", ""}, tensorMeasures...)}
	for _, p := range pairs {
		line := []string{p[0], p[1]}
		for _, m := range tensorMeasures {
			yes, of := nearerBy(t, p[0], p[1], m)
			line = append(line, fmt.Sprintf("%d of %d", yes, of))
		}
		x.rows = append(x.rows, line)
	}
	y := table{caption: "Specificity of Tensor and of Gibbs against K:", head: append([]string{"corpus", "method"}, values(where(t.rows["tensor"], "method", tensorName), "k")...)}
	for _, c := range values(t.rows["tensor"], "corpus") {
		for _, m := range []string{tensorName, tensorName + trimmed, gibbs} {
			line := []string{c, m}
			for _, r := range alongK(t, m)[c] {
				line = append(line, fmt.Sprintf("%.2f", r.num("specificity")))
			}
			y.rows = append(y.rows, line)
		}
	}
	return []table{x, y}
}
