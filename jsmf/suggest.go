package jsmf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/anchor"
)

// suggest fills in the suggestions.
func (s *Sweep) suggest() {
	add := func(k int, by, format string, args ...any) {
		s.Suggestions = append(s.Suggestions, Suggestion{k, by, fmt.Sprintf(format, args...)})
	}
	if k, why := fall(s.Spectrum, "the eigenvalues of C fall", "dimensions"); k > 0 {
		add(k, "spectrum", "%s", why)
	}
	if k, why := fall(s.Pivots, "the distances of the anchors from those before fall", "corners"); k > 0 {
		add(k, "pivots", "%s", why)
	}
	var ps []SweepPoint
	for _, x := range s.Points {
		if x.Report != nil {
			ps = append(ps, x)
		}
	}
	slices.SortStableFunc(ps, func(a, b SweepPoint) int { return a.Model.K() - b.Model.K() })
	if len(ps) < 2 {
		return
	}
	// best returns the point with the largest value, with the fewest topics among
	// equals, that value, and the values of the others in words.
	best := func(value func(SweepPoint) float64) (SweepPoint, float64, string) {
		at, others := -1, []string{}
		for i, x := range ps {
			if v := value(x); !math.IsNaN(v) && (at < 0 || v > value(ps[at])) {
				at = i
			}
		}
		if at < 0 {
			return SweepPoint{}, math.NaN(), ""
		}
		for i, x := range ps {
			if i != at {
				others = append(others, fmt.Sprintf("%.3g at %d", value(x), x.Model.K()))
			}
		}
		return ps[at], value(ps[at]), strings.Join(others, ", ")
	}
	npmi := func(x SweepPoint) float64 { return x.Report.NPMI.Mean }
	if x, v, others := best(npmi); x.Model != nil {
		add(x.Model.K(), "coherence", "the top words of its topics go together best: NPMI %.3g (%s); few broad topics often do", v, others)
	}
	quality := func(x SweepPoint) float64 { return x.Report.NPMI.Mean * x.Diversity }
	if x, v, others := best(quality); x.Model != nil && v > 0 {
		add(x.Model.K(), "quality", "its topics are coherent and different from each other: NPMI times the share of different words among the top words is %.3g (%s)", v, others)
	}
	// The fewest topics that approximate C nearly as well as any.
	const nearly = 1.05
	least := math.Inf(1)
	for _, x := range ps {
		least = min(least, x.Report.Approximation)
	}
	for i, x := range ps {
		if x.Report.Approximation <= nearly*least {
			if i == len(ps)-1 {
				add(x.Model.K(), "approximation", "more topics explain C better to the end of the sweep: ‖C − BABᵀ‖ is %.3g, and %.3g at K = %d", x.Report.Approximation, ps[i-1].Report.Approximation, ps[i-1].Model.K())
			} else {
				add(x.Model.K(), "approximation", "more topics hardly explain C better: ‖C − BABᵀ‖ is %.3g, and no less than %.3g with more", x.Report.Approximation, least)
			}
			break
		}
	}
	// A model whose A does not sum to 1 does not fit.
	const off = 0.1
	fits := func(x SweepPoint) bool { return math.Abs(x.Report.Legality-1) <= off }
	for i, x := range ps {
		if !fits(x) {
			if i > 0 {
				add(ps[i-1].Model.K(), "legality", "the largest K for which the model fits: ΣA is %.3g, and %.3g at K = %d, where it should be 1", ps[i-1].Report.Legality, x.Report.Legality, x.Model.K())
			}
			break
		}
	}
}

// fall returns a number of topics for a falling curve, and the reason: the index of its
// steepest fall if that stands out, or else where its logarithm bends most. 0 if the curve
// is too short. what names the curve with its verb, and of what it counts.
func fall(curve []float64, what, of string) (k int, why string) {
	const (
		clear = 0.3   // the least relative fall that stands out
		twice = 2     // the least ratio of its logarithm to that of any other
		noise = 1e-12 // relative to the first value
	)
	if len(curve) < 3 {
		return 0, ""
	}
	end := len(curve)
	for i, v := range curve {
		if !(v > noise*curve[0]) {
			end = i
			break
		}
	}
	positive := slices.Clone(curve[:end])
	if end < len(curve) {
		positive = append(positive, 0) // the end is a fall, too
	}
	k, drop, err := anchor.SuggestK(positive)
	if err != nil {
		return 0, ""
	}
	second := 0.0
	for i := 1; i+1 < len(positive); i++ {
		if i+1 != k {
			second = max(second, (positive[i]-positive[i+1])/positive[i])
		}
	}
	if drop >= clear && math.Log1p(-drop) <= twice*math.Log1p(-second) { // both below 0
		return k, fmt.Sprintf("%s by %.0f %% after the %d%s, and by %.0f %% at most after any other but the first: as many %s stand out", what, 100*drop, k, ordinal(k), 100*second, of)
	}
	if positive = curve[:end]; len(positive) < 4 {
		return k, fmt.Sprintf("%s most, by %.0f %%, after the %d%s", what, 100*drop, k, ordinal(k))
	}
	// The point farthest below the line from the second value to the last.
	last := len(positive) - 1
	lo, hi := math.Log(positive[1]), math.Log(positive[last])
	most := math.Inf(-1)
	bend := 2
	for i := 1; i < last; i++ {
		if d := lo + (hi-lo)*float64(i-1)/float64(last-1) - math.Log(positive[i]); d > most {
			most, bend = d, i+1
		}
	}
	return bend, fmt.Sprintf("%s without a clear step (at most by %.0f %%, after the %d%s); the curve bends most at %d, after which each further one adds less", what, 100*drop, k, ordinal(k), bend)
}

func ordinal(k int) string {
	switch {
	case k%100 >= 11 && k%100 <= 13:
	case k%10 == 1:
		return "st"
	case k%10 == 2:
		return "nd"
	case k%10 == 3:
		return "rd"
	}
	return "th"
}

// String returns a table of the models that fits on a screen of 24 lines and 100 columns: a
// line for each K, the first ones if there are too many, and the suggestions, cut to a line
// each where there is no room for more.
func (s *Sweep) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5s %6s %8s %9s %13s %8s %8s", "K", "topics", "NPMI", "diversity", "‖C−BABᵀ‖", "ΣA", "seconds")
	points, suggestions := s.Points, s.Suggestions[:min(len(s.Suggestions), tableLines/2)]
	if most := tableLines - 1 - len(suggestions); len(points) > most {
		points = points[:most-1]
	}
	for _, x := range points {
		line := fmt.Sprintf("%5d", x.K)
		if x.Model != nil {
			line += fmt.Sprintf(" %6d", x.Model.K())
		}
		if r := x.Report; r != nil {
			line += fmt.Sprintf(" %8.3f %9.3f %13.4g %8.3f %8.2f", r.NPMI.Mean, x.Diversity, r.Approximation, r.Legality, x.Fit.Seconds())
		}
		if err := cmp.Or(x.Err, x.Unmeasured); err != nil {
			line += "  " + clip(err.Error(), tableWidth-utf8.RuneCountInString(line)-2)
		}
		b.WriteString("\n" + line)
	}
	if more := len(s.Points) - len(points); more > 0 {
		fmt.Fprintf(&b, "\n… and %d more", more)
	}
	var long []string
	for _, x := range suggestions {
		long = append(long, wrapped(x.String(), tableWidth)...)
	}
	if strings.Count(b.String(), "\n")+1+len(long) > tableLines {
		long = nil
		for _, x := range suggestions {
			long = append(long, clip(x.String(), tableWidth))
		}
	}
	for _, line := range long {
		b.WriteString("\n" + line)
	}
	return b.String()
}
