package jsmf

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/console"
)

// String returns the recommendation and a table of the numbers tried that fits on a screen of 24
// lines and 100 columns: a line for each K, the first ones if there are too many, with what speaks for
// or against it. A star marks the K recommended.
func (s *Sweep) String() string {
	lines := console.Wrap(oneLine(s.Why), tableWidth)
	lines = lines[:min(len(lines), tableLines/3)]
	lines = append(lines, fmt.Sprintf("%5s %19s %11s %8s %8s", "K", "held out", "come back", "NPMI", "seconds"))
	points := s.Points
	if room := tableLines - len(lines); len(points) > room {
		points = points[:room-1]
	}
	for _, x := range points {
		lines = append(lines, x.line(x.K == s.K))
	}
	if more := len(s.Points) - len(points); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// line returns the line of a point.
func (x SweepPoint) line(star bool) string {
	number := fmt.Sprint(x.K)
	if star {
		number = "*" + number
	}
	score := "best"
	if x.Behind > 0 {
		score = console.Number("−%.4f ± %.4f", x.Behind, x.Error)
	}
	line, words := fmt.Sprintf("%5s", number), x.Why
	if x.Err != nil {
		words = x.Err.Error()
	} else {
		back := fmt.Sprintf("%4.0f of %3d", x.Back, x.K)
		if math.IsNaN(x.Back) {
			back = "–"
		}
		line += fmt.Sprintf(" %19s %11s", score, back) + console.Number(" %8.3f %8.2f", x.NPMI, x.Time.Seconds())
	}
	return line + "  " + clip(words, tableWidth-utf8.RuneCountInString(line)-2)
}
