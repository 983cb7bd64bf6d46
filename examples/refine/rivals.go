package main

// rivals are the scores of other programs on a split of UCI KOS (a tenth of the
// documents held out, 5000 words), by K, in the columns of the table; "" where
// nothing was measured. Seconds are CPU seconds of training with one thread on one
// machine. Most are of one seed.
var rivals = map[int][][10]string{
	50: {
		{"MALLET, priors optimised", "-7.160", "", ".186", "8.8", "3.30", ".860", ".66", "", "44"},
		{"MALLET, priors fixed", "-7.178", "", ".178", "8.6", "3.65", ".865", ".70", "", "41"},
		{"tomotopy LDA", "-7.177", "", ".181", "9.5", "4.00", ".880", ".72", "", "38"},
		{"scikit-learn NMF, tf-idf", "-7.218", "", ".200", "9.9", "2.97", ".843", ".96", "", "7"},
		{"scikit-learn LDA, batch", "-7.235", "", ".134", "7.3", "2.18", ".778", ".64", "", "12"},
		{"gensim LDA, 10 passes", "-7.278", "", ".088", "8.8", "2.95", ".822", ".64", "", "54"},
		{"james-bowman/nlp LDA", "-7.204", "", ".182", "6.9", "1.96", ".710", ".56", "", "53"},
		{"ankura", "-7.266", "", ".133", "5.1", "1.82", ".79", ".54", "", "14"},
	},
	100: {
		{"MALLET, priors optimised", "-7.122", "", ".167", "7.7", "", "", "", "", "51"},
		{"tomotopy LDA", "-7.153", "", ".176", "8.2", "", "", "", "", "56"},
		{"scikit-learn NMF, tf-idf", "-7.189", "", ".153", "8.5", "", "", "", "", "20"},
		{"gensim LDA, 10 passes", "-7.262", "", ".036", "9.0", "", "", "", "", "110"},
	},
}
