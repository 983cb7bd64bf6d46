package main

import (
	"math"
	"slices"
)

// What lee-2018 §4.4 says of the methods. PADD is that with the A of the prior, or of
// the model, not the other A.
var inferenceClaims = []claim{
	{"lee-2018 Figure 4.3", "SPI is the best of SPI, TLI and PADD for K ≥ 25, by each of seven measures", func(t *tables) (yes, of int) {
		return best(fromK(inferenceRows(t, semiSynthetic), 25), spi, []string{spi, tli, padd}, figureMeasures)
	}},
	{"lee-2018 Figure 4.3", "SPI has the best recall of all", func(t *tables) (yes, of int) {
		return best(inferenceRows(t, semiSynthetic), spi, []string{random, spi, tli, padd, gibbs}, []string{"recall"})
	}},
	{"lee-2018 Figure 4.3", "SPI loses precision: it is below TLI, PADD and Gibbs sampling", func(t *tables) (yes, of int) {
		return worst(inferenceRows(t, semiSynthetic), spi, []string{spi, tli, padd, gibbs}, []string{"precision"})
	}},
	{"lee-2018 Figure 4.3", "PADD is better than TLI, by each of seven measures", func(t *tables) (yes, of int) {
		return best(inferenceRows(t, semiSynthetic), padd, []string{tli, padd}, figureMeasures)
	}},
	{"lee-2018 Figure 4.3", "PADD is similar to Gibbs sampling: F1 at least 0.9 of it", nearGibbs(semiSynthetic, padd)},
	{"lee-2018 Figure 4.3", "TLI performs well only for tiny models: its L1 error and F1 are better with the fewest topics than with any more", func(t *tables) (yes, of int) {
		return fewestTopics(inferenceRows(t, semiSynthetic), tli, "l1", "f1")
	}},
	{"lee-2018 Figure 4.3", "even Gibbs sampling has a larger L1 error with more topics than with the fewest", func(t *tables) (yes, of int) {
		return fewestTopics(inferenceRows(t, semiSynthetic), gibbs, "l1")
	}},
	{"lee-2018 Figure 4.4", "SPI has less precision than TLI, PADD and Gibbs sampling", func(t *tables) (yes, of int) {
		return worst(inferenceRows(t, semiReal), spi, []string{spi, tli, padd, gibbs}, []string{"precision"})
	}},
	{"lee-2018 Figure 4.4", "PADD is better than SPI and TLI, by F1 and four errors", func(t *tables) (yes, of int) {
		return best(inferenceRows(t, semiReal), padd, []string{spi, tli, padd}, overall)
	}},
	{"lee-2018 Figure 4.4", "PADD is comparable to Gibbs sampling: F1 at least 0.9 of it", nearGibbs(semiReal, padd)},
	{"lee-2018 Figure 4.4", "TLI performs poorly: worse than PADD and Gibbs sampling, by F1 and four errors", func(t *tables) (yes, of int) {
		return worst(inferenceRows(t, semiReal), tli, []string{tli, padd, gibbs}, overall)
	}},
	{"lee-2018 Figure 4.4", "more documents change little: F1 of SPI, TLI and PADD within 0.05 of that with a thousand", stable},
	{"lee-2018 Table 4.1", "PADD is the best of Random, SPI, TLI and PADD on training documents, by all measures but recall", func(t *tables) (yes, of int) {
		return bestReal(t, training)
	}},
	{"lee-2018 Table 4.1", "the same on unseen documents", func(t *tables) (yes, of int) {
		return bestReal(t, unseen)
	}},
	{"lee-2018 Table 4.1", "SPI has the best recall", func(t *tables) (yes, of int) {
		return best(overK(inferenceRows(t, fullyReal), tableMeasures), spi, []string{random, spi, tli, padd}, []string{"recall"})
	}},
	{"lee-2018 Table 4.1", "TLI puts more than half of its mass on topics that are not prominent", func(t *tables) (yes, of int) {
		for _, r := range where(overK(inferenceRows(t, fullyReal), tableMeasures), "method", tli) {
			if of++; r.num("non_support") > 0.5 {
				yes++
			}
		}
		return yes, of
	}},
	{"here", "with the A of the real corpus for PADD, SPI is the best of the three on semi-synthetic documents for K ≥ 25, by each of seven measures", func(t *tables) (yes, of int) {
		return best(fromK(inferenceRows(t, semiSynthetic), 25), spi, []string{spi, tli, paddOther}, figureMeasures)
	}},
	{"here", "the same with the A of the prior and documents of ten tokens", func(t *tables) (yes, of int) {
		return best(fromK(where(t.rows["inference"], "variant", inferenceShort[0].Variant), 25), spi, []string{spi, tli, padd}, figureMeasures)
	}},
	{"here", "SPI of the exact word probabilities has at least 0.9 of the L1 error of SPI of drawn documents", func(t *tables) (yes, of int) {
		rows := append(inferenceRows(t, semiSynthetic), inferenceRows(t, semiReal)...)
		return compareRows(where(rows, "method", spiExact), where(rows, "method", spi), []string{"corpus", "setting", "k"}, "l1", func(a, b float64) bool { return a >= 0.9*b })
	}},
	{"here", "the likelihood alone, on semi-real documents, has an F1 of at least 0.9 of that of Gibbs sampling", nearGibbs(semiReal, likelihood)},
	{"here", "the same on semi-synthetic documents", nearGibbs(semiSynthetic, likelihood)},
	{"here", "on real documents PADD with the model's A is worse than least squares without A, by F1 and four errors", func(t *tables) (yes, of int) {
		return worst(inferenceRows(t, fullyReal), padd, []string{padd, plainSquares}, overall)
	}},
	{"here", "and with the A of the sampled compositions it is better than least squares", func(t *tables) (yes, of int) {
		return best(inferenceRows(t, fullyReal), paddOther, []string{paddOther, plainSquares}, overall)
	}},
	{"lee-2018 §4.4", "SPI takes the least time of all", func(t *tables) (yes, of int) {
		for _, m := range []string{tli, padd, gibbs} {
			y, o := quicker(t, spi, m)
			yes, of = yes+y, of+o
		}
		return yes, of
	}},
	{"lee-2018 §4.4", "PADD takes less time than TLI", func(t *tables) (yes, of int) { return quicker(t, padd, tli) }},
	{"lee-2018 §4.4", "PADD takes less time than Gibbs sampling of 1,200 sweeps", func(t *tables) (yes, of int) { return quicker(t, padd, gibbs) }},
}

// nearGibbs counts the corpora and K in which the F1 of a method is at least 0.9 of that
// of Gibbs sampling.
func nearGibbs(setting, method string) func(t *tables) (yes, of int) {
	return func(t *tables) (yes, of int) {
		rows := inferenceRows(t, setting)
		return compareRows(where(rows, "method", method), where(rows, "method", gibbs), []string{"corpus", "k"}, "f1", func(a, b float64) bool { return a >= 0.9*b })
	}
}

// fromK keeps the rows of at least k topics.
func fromK(rows []row, k float64) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.num("k") < k })
}

// best counts the measures, and the rows of a method, in which it is better than each
// of the others in the same case.
func best(rows []row, method string, among, measures []string) (yes, of int) {
	return first(rows, method, among, measures, func(better bool) bool { return better })
}

// worst is best the other way round.
func worst(rows []row, method string, among, measures []string) (yes, of int) {
	return first(rows, method, among, measures, func(better bool) bool { return !better })
}

func first(rows []row, method string, among, measures []string, want func(better bool) bool) (yes, of int) {
	for _, r := range where(rows, "method", method) {
		same := where(rows, "corpus", r["corpus"], "part", r["part"], "k", r["k"])
		for _, m := range inferenceMeasures {
			if !slices.Contains(measures, m.key) || math.IsNaN(r.num(m.key)) {
				continue
			}
			ahead, others := true, 0
			for _, o := range same {
				if o["method"] == method || !slices.Contains(among, o["method"]) || math.IsNaN(o.num(m.key)) {
					continue
				}
				others++
				ahead = ahead && want(m.better(r.num(m.key), o.num(m.key)))
			}
			if others > 0 {
				of++
				if ahead {
					yes++
				}
			}
		}
	}
	return yes, of
}

// bestReal says that PADD has the best means over all K.
func bestReal(t *tables, which string) (yes, of int) {
	measures := slices.DeleteFunc(slices.Clone(tableMeasures), func(s string) bool { return s == "recall" })
	return best(where(overK(inferenceRows(t, fullyReal), tableMeasures), "part", which), padd, []string{random, spi, tli, padd}, measures)
}

// fewestTopics counts the corpora, K and measures for which a method is better with
// the fewest topics.
func fewestTopics(rows []row, method string, measures ...string) (yes, of int) {
	for _, c := range values(rows, "corpus") {
		of1 := where(rows, "corpus", c, "method", method)
		for _, m := range inferenceMeasures {
			if !slices.Contains(measures, m.key) {
				continue
			}
			for i := 1; i < len(of1); i++ {
				of++
				if m.better(of1[0].num(m.key), of1[i].num(m.key)) {
					yes++
				}
			}
		}
	}
	return yes, of
}

// stable compares SR with the usual number of documents and with more.
func stable(t *tables) (yes, of int) {
	for _, m := range []string{spi, tli, padd} {
		y, o := compareRows(where(t.rows["inference"], "variant", inferenceMany.Variant, "method", m), where(inferenceRows(t, semiReal), "method", m), []string{"corpus", "k"}, "f1",
			func(a, b float64) bool { return math.Abs(a-b) <= 0.05 })
		yes, of = yes+y, of+o
	}
	return yes, of
}

// quicker compares the seconds of two methods on the documents of SS, with those of
// their preparation.
func quicker(t *tables, a, b string) (yes, of int) {
	rows := inferenceRows(t, semiSynthetic)
	total := func(r row) float64 { return r.num("seconds_prepare") + r.num("documents")*documentSeconds(r) }
	for _, r := range where(rows, "method", a) {
		for _, o := range where(rows, "corpus", r["corpus"], "k", r["k"], "method", b) {
			if x, y := total(r), total(o); !math.IsNaN(x) && !math.IsNaN(y) {
				of++
				if x < y {
					yes++
				}
			}
		}
	}
	return yes, of
}

// documentSeconds are the seconds a document, of Gibbs sampling those of as many
// sweeps as the truth of FR has.
func documentSeconds(r row) float64 {
	s := r.num("seconds_document")
	if r["method"] == gibbs {
		here, full := inferenceUsual.Gibbs, inferenceUsual.Truth
		s *= float64(full.BurnIn+full.Sweeps) / float64(here.BurnIn+here.Sweeps)
	}
	return s
}
