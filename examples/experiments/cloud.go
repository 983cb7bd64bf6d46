package main

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pointsGroup are the words of pictures, by their places.
var pointsGroup = &group{
	name: "points", version: 1,
	labels: []string{"corpus", "picture", "word"},
	// mark is "anchor" for an anchor, and empty for other words.
	measures: []string{"x", "y", "z", "mark"},
}

// maxPoints is about how many words a picture has besides those that matter.
const maxPoints = 400

// pointRows returns the places of some words in an embedding of two or three
// dimensions: those with a mark, those of keep, and others at equal distances in the
// vocabulary.
func pointRows(corpus, picture string, at *mat.Dense, word func(int) string, mark map[int]string, keep []int) []row {
	n, d := at.Dims()
	step := max(1, n/maxPoints)
	var rows []row
	for i := range n {
		p := at.RawRowView(i)
		_, marked := mark[i]
		if math.IsNaN(p[0]) || !marked && i%step > 0 && !slices.Contains(keep, i) {
			continue
		}
		r := row{"corpus": corpus, "picture": picture, "word": word(i)}
		if marked {
			r["mark"] = mark[i]
		}
		for j := range d {
			r[[]string{"x", "y", "z"}[j]] = strconv.FormatFloat(p[j], 'g', 4, 64)
		}
		rows = append(rows, r)
	}
	return rows
}

// cloud is a picture of words as points, some of them marked and named.
type cloud struct {
	points, marked plotter.XYs
	names          []string        // of those marked
	edges          [][2]plotter.XY // between those marked
	outline        plotter.XYs     // of all points
}

// planeCloud makes the picture of rows of pointsGroup in which the words whose mark is
// chosen are joined by the outline of their hull.
func planeCloud(rows []row, chosen func(mark string) bool) *cloud {
	c := new(cloud)
	for _, r := range rows {
		p := plotter.XY{X: r.num("x"), Y: r.num("y")}
		c.points = append(c.points, p)
		if chosen(r["mark"]) {
			c.marked, c.names = append(c.marked, p), append(c.names, r["word"])
		}
	}
	if around := outline(c.marked); len(around) > 1 {
		for i, p := range around {
			c.edges = append(c.edges, [2]plotter.XY{p, around[(i+1)%len(around)]})
		}
	}
	c.outline = outline(c.points)
	return c
}

// spaceCloud makes the picture of points in space as they are seen from a side, with
// the edges that are in front of the hull of those marked.
func spaceCloud(rows []row) *cloud {
	const aside, down = math.Pi / 6, math.Pi / 9 // angles
	c := new(cloud)
	var hull [][3]float64
	for _, r := range rows {
		x, y, z := r.num("x"), r.num("y"), r.num("z")
		x, z = x*math.Cos(aside)-z*math.Sin(aside), x*math.Sin(aside)+z*math.Cos(aside)
		y, z = y*math.Cos(down)-z*math.Sin(down), y*math.Sin(down)+z*math.Cos(down)
		c.points = append(c.points, plotter.XY{X: x, Y: y})
		if r["mark"] != "" {
			c.marked, c.names = append(c.marked, plotter.XY{X: x, Y: y}), append(c.names, r["word"])
			hull = append(hull, [3]float64{x, y, z})
		}
	}
	for _, f := range frontFacets(hull) {
		for i := range f {
			c.edges = append(c.edges, [2]plotter.XY{c.marked[f[i]], c.marked[f[(i+1)%3]]})
		}
	}
	return c
}

// frontFacets returns the triangles of the hull of points in space that face the
// direction of the third coordinate. All points are vertices, no four in a plane.
func frontFacets(p [][3]float64) [][3]int {
	var out [][3]int
	for i := range p {
		for j := range i {
			for k := range j {
				n := normal(p[i], p[j], p[k])
				if n[2] < 0 {
					n = [3]float64{-n[0], -n[1], -n[2]}
				}
				above := func(q [3]float64) bool {
					return n[0]*(q[0]-p[i][0])+n[1]*(q[1]-p[i][1])+n[2]*(q[2]-p[i][2]) > 0
				}
				facet := true
				for l := range p {
					if l != i && l != j && l != k && above(p[l]) {
						facet = false
						break
					}
				}
				if facet {
					out = append(out, [3]int{i, j, k})
				}
			}
		}
	}
	return out
}

// normal is the cross product of b − a and c − a.
func normal(a, b, c [3]float64) [3]float64 {
	u := [3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}
	v := [3]float64{c[0] - a[0], c[1] - a[1], c[2] - a[2]}
	return [3]float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
}

// turn is twice the area of the triangle a b c, above 0 if it goes round to the left.
func turn(a, b, c plotter.XY) float64 {
	return (b.X-a.X)*(c.Y-a.Y) - (b.Y-a.Y)*(c.X-a.X)
}

// outline returns the vertices of the convex hull of points in the plane, to the left
// round.
func outline(points plotter.XYs) plotter.XYs {
	p := slices.Clone(points)
	slices.SortFunc(p, func(a, b plotter.XY) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	p = slices.Compact(p)
	if len(p) < 3 {
		return p
	}
	half := func(p plotter.XYs) plotter.XYs {
		var h plotter.XYs
		for _, q := range p {
			for len(h) > 1 && turn(h[len(h)-2], h[len(h)-1], q) <= 0 {
				h = h[:len(h)-1]
			}
			h = append(h, q)
		}
		return h[:len(h)-1]
	}
	lower := half(p)
	slices.Reverse(p)
	return append(lower, half(p)...)
}

// area is that of a polygon that goes round to the left.
func area(polygon plotter.XYs) float64 {
	sum := 0.0
	for i, p := range polygon {
		sum += turn(polygon[0], p, polygon[(i+1)%len(polygon)]) / 2
	}
	return sum
}

// inside reports whether a convex polygon that goes round to the left holds a point.
func inside(polygon plotter.XYs, q plotter.XY) bool {
	for i, p := range polygon {
		if turn(p, polygon[(i+1)%len(polygon)], q) < 0 {
			return false
		}
	}
	return len(polygon) > 2
}

// drawCloud adds the points, the edges and as many names as there is room for.
func drawCloud(p *plot.Plot, c *cloud) {
	xs, ys := span{}, span{}
	for _, q := range c.points {
		xs.add(q.X)
		ys.add(q.Y)
	}
	xs.axis(&p.X, false, nil, nil)
	ys.axis(&p.Y, false, nil, nil)
	p.Add(cloudPainter{c})
}

type cloudPainter struct{ *cloud }

func (c cloudPainter) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	at := func(q plotter.XY) vg.Point { return vg.Point{X: x(q.X), Y: y(q.Y)} }
	path := func(s draw.LineStyle, from, to plotter.XY) {
		a, b := at(from), at(to)
		canvas.StrokeLine2(s, a.X, a.Y, b.X, b.Y)
	}
	for i, q := range c.outline {
		path(draw.LineStyle{Color: grey, Width: vg.Points(0.6), Dashes: dotted}, q, c.outline[(i+1)%len(c.outline)])
	}
	for _, q := range c.points {
		canvas.DrawGlyph(draw.GlyphStyle{Color: sky, Radius: vg.Points(0.9), Shape: draw.CircleGlyph{}}, at(q))
	}
	for _, e := range c.edges {
		path(draw.LineStyle{Color: vermilion, Width: vg.Points(0.7)}, e[0], e[1])
	}
	for _, q := range c.marked {
		canvas.DrawGlyph(draw.GlyphStyle{Color: vermilion, Radius: vg.Points(2), Shape: draw.BoxGlyph{}}, at(q))
	}
	// A name goes next to its point, on the inner side, where no other name is.
	var taken []vg.Rectangle
	style := textStyle(7, false)
	middle := canvas.Center()
	for i, q := range c.marked {
		style.XAlign = draw.XLeft
		box := vg.Rectangle{Min: at(q), Max: at(q)}
		width := style.Width(c.names[i])
		box.Min.X += vg.Points(3)
		if at(q).X > middle.X {
			style.XAlign = draw.XRight
			box.Min.X -= width + vg.Points(6)
		}
		box.Max.X = box.Min.X + width
		box.Min.Y -= vg.Points(3.5)
		box.Max.Y += vg.Points(3.5)
		if slices.ContainsFunc(taken, func(o vg.Rectangle) bool {
			return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
		}) {
			continue
		}
		taken = append(taken, box)
		from := box.Min.X
		if style.XAlign == draw.XRight {
			from = box.Max.X
		}
		style.Color = color.Black
		canvas.FillText(style, vg.Point{X: from, Y: at(q).Y}, c.names[i])
	}
}
