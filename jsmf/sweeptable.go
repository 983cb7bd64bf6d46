package jsmf

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/console"
)

// String returns the recommendation with its reason and a table of the models that fits on a screen
// of 24 lines and 100 columns: a line for each K, the first ones if there are too many, with what
// speaks for and against it. A star marks the K recommended.
func (s *Sweep) String() string {
	var head []string
	switch {
	case s.Recommendation != nil:
		head = append(head, s.Recommendation.String())
		head = append(head, console.Wrap(oneLine(s.Recommendation.Why), tableWidth)...)
	case s.RecommendationErr != nil:
		head = console.Wrap(oneLine(s.RecommendationErr.Error()), tableWidth)
	}
	lines := head[:min(len(head), tableLines/3)]
	for i, line := range lines {
		lines[i] = clip(line, tableWidth)
	}
	lines = append(lines, fmt.Sprintf("%5s %6s %19s %7s %8s %9s %8s", "K", "topics", "held out", "chosen", "NPMI", "diversity", "seconds"))
	points := s.Points
	if room := tableLines - len(lines); len(points) > room {
		points = points[:room-1]
	}
	for _, x := range points {
		lines = append(lines, s.line(x))
	}
	if more := len(s.Points) - len(points); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// line returns the line of a point.
func (s *Sweep) line(x SweepPoint) string {
	number, topics := strconv.Itoa(x.K), ""
	if r := s.Recommendation; r != nil && r.K == x.K {
		number = "*" + number
	}
	if x.Model != nil {
		topics = strconv.Itoa(x.Model.k)
	}
	score, chosen := "", ""
	if h := x.HeldOut; h != nil {
		score, chosen = "best", fmt.Sprintf("%.0f %%", 100*h.Chosen)
		if h.Behind > 0 {
			score = "−" + h.String()
		}
	}
	line := fmt.Sprintf("%5s %6s %19s %7s", number, topics, score, chosen)
	if r := x.Report; r != nil {
		line += console.Number(" %8.3f %9.3f %8.2f", r.NPMI.Mean, x.Diversity, x.Fit.Seconds())
	}
	line = strings.TrimRight(line, " ")
	words := ""
	if err := cmp.Or(x.Err, x.MeasureErr, x.ScoreErr); err != nil {
		words = err.Error()
	} else if x.HeldOut != nil {
		words = x.HeldOut.Why
	}
	if words != "" {
		line += "  " + clip(words, max(1, tableWidth-utf8.RuneCountInString(line)-2))
	}
	return line
}
