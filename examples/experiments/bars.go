package main

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars are stacked bars side by side.
type bars struct {
	names []string // of the parts
	cols  []bar
}

// bar is a stacked bar: the parts sum to at most 1.
type bar struct {
	label string
	width float64 // relative to the others
	parts []float64
}

// drawBars adds stacked bars. A part shows the first letter of its name, where there is
// room, so that it is known without its colour.
func drawBars(p *plot.Plot, b *bars, style map[string]look) {
	p.Add(barCells{b, style})
	var ticks plot.ConstantTicks
	at := 0.0
	for _, x := range b.cols {
		ticks = append(ticks, plot.Tick{Value: at + x.width/2, Label: x.label})
		at += x.width
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, at, 0, 1
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Marker, p.X.Tick.Length = ticks, 0
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}}
}

// barCells draws stacked bars.
type barCells struct {
	*bars
	style map[string]look
}

func (b barCells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := 0.0
	for _, bar := range b.cols {
		left, right := x(at), x(at+bar.width)
		at += bar.width
		low := 0.0
		for i, part := range bar.parts {
			bottom, top := y(low), y(low+part)
			low += part
			if part == 0 {
				continue
			}
			fill := b.style[b.names[i]].color
			edges := []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
			c.FillPolygon(fill, edges)
			c.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(0.7)}, append(edges, edges[0]))
			letter := textStyle(7, true)
			letter.XAlign = draw.XCenter
			if int(fill.R)+int(fill.G)+int(fill.B) < 330 {
				letter.Color = color.White
			}
			if right-left > vg.Points(8) && top-bottom > vg.Points(8) {
				c.FillText(letter, vg.Point{X: (left + right) / 2, Y: (bottom + top) / 2}, strings.ToUpper(b.names[i][:1]))
			}
		}
	}
}
