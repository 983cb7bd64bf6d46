package main

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat is a matrix of numbers, the first row at the top. The darker an entry is the
// larger it is; entries below 0 have another colour.
type heat struct {
	rows, cols []string
	values     [][]float64
	darkest    float64 // the absolute value of the darkest colour
}

// drawHeat adds the cells of a matrix with their numbers.
func drawHeat(p *plot.Plot, h *heat) {
	n, m := len(h.rows), len(h.cols)
	p.Add(heatCells{h})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(m), 0, float64(n)
	p.X.Padding, p.Y.Padding = 0, 0
	ticks := func(names []string, down bool) plot.ConstantTicks {
		var t plot.ConstantTicks
		for i, s := range names {
			at := float64(i) + 0.5
			if down {
				at = float64(len(names)) - at
			}
			t = append(t, plot.Tick{Value: at, Label: s})
		}
		return t
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks(h.cols, false), ticks(h.rows, true)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YTop
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
}

// heatCells draws a heat map.
type heatCells struct{ *heat }

func (h heatCells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := len(h.rows)
	digits := max(0, 2-int(math.Floor(math.Log10(h.darkest)))) // so that the darkest has three
	for i, r := range h.values {
		for j, v := range r {
			a, b := vg.Point{X: x(float64(j)), Y: y(float64(n - i - 1))}, vg.Point{X: x(float64(j + 1)), Y: y(float64(n - i))}
			w, full := min(math.Abs(v)/h.darkest, 1), blue
			if v < 0 {
				full = vermilion
			}
			shade := func(full uint8) uint8 { return uint8(255 - w*float64(255-full)) }
			c.FillPolygon(color.RGBA{shade(full.R), shade(full.G), shade(full.B), 255}, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
			t := textStyle(7.5, false)
			t.XAlign = draw.XCenter
			if w > 0.55 {
				t.Color = color.White
			}
			if math.Abs(v) < 0.5*math.Pow10(-digits) {
				v = 0 // and not −0.00
			}
			c.FillText(t, vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, strconv.FormatFloat(v, 'f', digits, 64))
		}
	}
}
