package jsmf

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// String returns the recommendation with its reason and a table of the models that fits on
// a screen of 24 lines and 100 columns: a line for each K, the first ones if there are too
// many, with what speaks for and against it. A star marks the K recommended.
func (s *Sweep) String() string {
	var head []string
	switch {
	case s.Recommendation != nil:
		head = append(head, s.Recommendation.String())
		head = append(head, wrapped(s.Recommendation.Why, tableWidth)...)
	case s.Unrecommended != nil:
		head = wrapped(s.Unrecommended.Error(), tableWidth)
	}
	head = head[:min(len(head), tableLines/3)]
	for i, line := range head {
		head[i] = clip(line, tableWidth)
	}
	head = append(head, fmt.Sprintf("%5s %6s %19s %7s %8s %9s %8s", "K", "topics", "held out", "chosen", "NPMI", "diversity", "seconds"))
	points := s.Points
	if most := tableLines - len(head); len(points) > most {
		points = points[:most-1]
	}
	for _, x := range points {
		head = append(head, s.line(x))
	}
	if more := len(s.Points) - len(points); more > 0 {
		head = append(head, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(head, "\n")
}

// line returns the line of a point.
func (s *Sweep) line(x SweepPoint) string {
	line := fmt.Sprintf("%5d", x.K)
	if r := s.Recommendation; r != nil && r.K == x.K {
		line = fmt.Sprintf("%5s", fmt.Sprint("*", x.K))
	}
	if x.Model != nil {
		line += fmt.Sprintf(" %6d", x.Model.K())
	} else {
		line += fmt.Sprintf(" %6s", "")
	}
	score, chosen := "", ""
	if h := x.HeldOut; h != nil {
		score, chosen = "best", fmt.Sprintf("%.0f %%", 100*h.Chosen)
		if h.Behind > 0 {
			score = "−" + h.String()
		}
	}
	line += fmt.Sprintf(" %19s %7s", score, chosen)
	if r := x.Report; r != nil {
		line += fmt.Sprintf(" %8.3f %9.3f %8.2f", r.NPMI.Mean, x.Diversity, x.Fit.Seconds())
	}
	line = strings.TrimRight(line, " ")
	words := ""
	if err := cmp.Or(x.Err, x.Unmeasured, x.Unscored); err != nil {
		words = err.Error()
	} else if x.HeldOut != nil {
		words = x.HeldOut.Why
	}
	if words != "" {
		line += "  " + clip(words, max(1, tableWidth-utf8.RuneCountInString(line)-2))
	}
	return line
}
