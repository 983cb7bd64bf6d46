package main

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// figure is a grid of panels with one legend.
type figure struct {
	name, caption string // the file's, without extension; what the page says below it
	cols          int    // panels in a row
	panels        []panel
}

// panel is one plot: lines, a heat map, words as points, or bars.
type panel struct {
	title, x, y string
	logX, logY  bool
	ticks       []float64          // of x; nil: chosen
	names       map[float64]string // of ticks, where they are no numbers
	lines       []line
	heat        *heat
	cloud       *cloud
	bars        *bars
}

// entries are the names in the legend.
func (p panel) entries() []string {
	if p.bars != nil {
		return p.bars.names
	}
	var out []string
	for _, l := range p.lines {
		if len(l.xy) > 0 {
			out = append(out, l.name)
		}
	}
	return out
}

// line is a series. Values of y that are not defined are left out.
type line struct {
	name string
	xy   plotter.XYs
}

// The look. Colours are those of Okabe and Ito and greys, which people with any
// colour vision tell apart; a name has the same look in all figures.
const (
	panelWidth  = 2.35 * vg.Inch
	panelHeight = 1.75 * vg.Inch
	rowHeight   = 0.24 * vg.Inch // of the legend
	dpi         = 110
)

type look struct {
	color  color.RGBA
	glyph  draw.GlyphDrawer
	dashes []vg.Length
}

var (
	black     = color.RGBA{0, 0, 0, 255}
	orange    = color.RGBA{230, 159, 0, 255}
	sky       = color.RGBA{86, 180, 233, 255}
	green     = color.RGBA{0, 158, 115, 255}
	blue      = color.RGBA{0, 114, 178, 255}
	vermilion = color.RGBA{213, 94, 0, 255}
	purple    = color.RGBA{204, 121, 167, 255}
	grey      = color.RGBA{120, 120, 120, 255}
	olive     = color.RGBA{150, 140, 40, 255}

	dashed = []vg.Length{4, 2}
	dotted = []vg.Length{1.5, 2}
)

var looks = map[string]look{
	baseline: {black, draw.RingGlyph{}, nil},
	"DC":     {orange, draw.TriangleGlyph{}, nil},
	"AP":     {vermilion, draw.BoxGlyph{}, nil},
	"DR":     {sky, draw.PlusGlyph{}, dashed},
	"ENN":    {green, draw.PyramidGlyph{}, nil},
	"PALM":   {purple, draw.CrossGlyph{}, nil},
	"LR":     {blue, draw.CircleGlyph{}, dashed},
	passes:   {olive, draw.SquareGlyph{}, nil},
	gibbs:    {grey, draw.CrossGlyph{}, dotted},

	"AP+ExpGrad":   {orange, draw.TriangleGlyph{}, nil},
	"AP+ADMM":      {blue, draw.PyramidGlyph{}, nil},
	"AP+ActiveSet": {vermilion, draw.BoxGlyph{}, dashed},

	baselineExpGrad: {black, draw.RingGlyph{}, nil},
	tensorName:      {vermilion, draw.BoxGlyph{}, nil},
	oviName:         {blue, draw.CircleGlyph{}, dashed},

	"L2": {black, draw.PlusGlyph{}, nil}, formedL2: {orange, draw.TriangleGlyph{}, dashed},
	"inverse": {orange, draw.TriangleGlyph{}, nil}, "KL": {blue, draw.CircleGlyph{}, dashed}, "uniform": {sky, draw.PlusGlyph{}, dotted},
	"variance 1": {vermilion, draw.BoxGlyph{}, nil}, "variance 4": {green, draw.PyramidGlyph{}, dashed},

	"Baseline+inverse": {orange, draw.CrossGlyph{}, nil}, "Baseline+L2": {sky, draw.CircleGlyph{}, nil}, "Baseline+KL": {black, draw.RingGlyph{}, nil},
	"AP+inverse": {orange, draw.PlusGlyph{}, dashed}, "AP+L2": {blue, draw.CircleGlyph{}, dashed}, "AP+KL": {purple, draw.TriangleGlyph{}, dashed},

	random: {black, draw.PlusGlyph{}, dotted}, spi: {orange, draw.TriangleGlyph{}, nil}, tli: {sky, draw.CircleGlyph{}, nil},
	padd: {vermilion, draw.BoxGlyph{}, nil}, mapCVB: {green, draw.PyramidGlyph{}, dashed}, meanField: {purple, draw.CrossGlyph{}, nil},
	tSNE: {vermilion, draw.BoxGlyph{}, nil}, pca: {green, draw.PyramidGlyph{}, nil},
	greedy: {black, draw.RingGlyph{}, nil}, unprojected: {grey, draw.CircleGlyph{}, dotted},
	normalisedTSNE: {orange, draw.TriangleGlyph{}, dashed}, normalisedPCA: {sky, draw.PlusGlyph{}, dashed},

	fastAnchor: {orange, draw.TriangleGlyph{}, nil}, spa: {black, draw.RingGlyph{}, nil}, rawSPA: {sky, draw.PlusGlyph{}, dashed}, expGradSPA: {olive, draw.SquareGlyph{}, dashed},
	snpa: {blue, draw.CircleGlyph{}, dotted}, xray: {purple, draw.CrossGlyph{}, nil},
	freeLP: {vermilion, draw.BoxGlyph{}, nil}, pds: {green, draw.PyramidGlyph{}, dashed}, exactPDS: {green, draw.RingGlyph{}, dotted},
}

// spare are the looks of other names, in the order of their first appearance.
var spare = []look{
	{blue, draw.CircleGlyph{}, nil}, {vermilion, draw.BoxGlyph{}, nil}, {green, draw.PyramidGlyph{}, dashed},
	{purple, draw.CrossGlyph{}, nil}, {black, draw.RingGlyph{}, dotted}, {orange, draw.TriangleGlyph{}, nil},
}

func sans(size vg.Length, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return f
}

func textStyle(size vg.Length, bold bool) text.Style {
	return text.Style{Color: color.Black, Font: sans(size, bold), Handler: plot.DefaultTextHandler, XAlign: draw.XLeft, YAlign: draw.YCenter}
}

// drawFigure writes a figure in each of the formats and returns the base names
// of the files.
func drawFigure(dir string, f figure, formats []string) ([]string, error) {
	names, style := legend(f)
	cols := min(f.cols, len(f.panels))
	rows := (len(f.panels) + cols - 1) / cols
	wide, tall := f.panelSize()
	width := vg.Length(cols) * wide
	per := max(1, int(float64(width-0.2*vg.Inch)/float64(entryWidth(names))))
	height := vg.Length(rows)*tall + vg.Length((len(names)+per-1)/per)*rowHeight
	if len(names) > 0 {
		height += 0.08 * vg.Inch
	}
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, cols)
		for j := range cols {
			if at := i*cols + j; at < len(f.panels) {
				p, err := plotPanel(f.panels[at], style)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", f.name, err)
				}
				plots[i][j] = p
			}
		}
	}
	paint := func(c draw.Canvas) {
		top := c.Max.Y - 0.06*vg.Inch
		for i, name := range names {
			x := c.Min.X + 0.12*vg.Inch + vg.Length(i%per)*entryWidth(names)
			y := top - rowHeight*(vg.Length(i/per)+0.5)
			s := style[name]
			c.StrokeLine2(draw.LineStyle{Color: s.color, Width: vg.Points(1.3), Dashes: s.dashes}, x, y, x+0.3*vg.Inch, y)
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.color, Radius: vg.Points(2.6), Shape: s.glyph}, vg.Point{X: x + 0.15*vg.Inch, Y: y})
			c.FillText(textStyle(9, false), vg.Point{X: x + 0.36*vg.Inch, Y: y}, name)
		}
		body := c
		body.Max.Y = c.Min.Y + vg.Length(rows)*tall
		tiles := draw.Tiles{Cols: cols, Rows: rows, PadX: 0.1 * vg.Inch, PadY: 0.12 * vg.Inch,
			PadTop: 0.03 * vg.Inch, PadBottom: 0.03 * vg.Inch, PadLeft: 0.05 * vg.Inch, PadRight: 0.12 * vg.Inch}
		canvases := plot.Align(plots, tiles, body)
		for i := range plots {
			for j, p := range plots[i] {
				if p != nil {
					p.Draw(canvases[i][j])
				}
			}
		}
	}
	var files []string
	for _, format := range formats {
		var write func(w io.Writer) error
		if format == "svg" {
			c := vgsvg.New(width, height)
			paint(draw.New(c))
			write = func(w io.Writer) error { _, err := c.WriteTo(w); return err }
		} else {
			c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
			paint(draw.New(c))
			write = func(w io.Writer) error { return writePNG(w, c.Image(), f.panels[0].heat == nil) }
		}
		file := f.name + "." + format
		if err := writeFile(filepath.Join(dir, file), write); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// panelSize is the size of the panels: names of words and bars take room, and heat maps
// of many rows are higher.
func (f figure) panelSize() (wide, tall vg.Length) {
	wide, tall = panelWidth, panelHeight
	for _, p := range f.panels {
		if p.cloud != nil {
			wide, tall = 1.6*panelWidth, 1.6*panelHeight
		}
		if p.bars != nil {
			wide = 3.4 * panelWidth
		}
		if p.heat != nil {
			tall = max(tall, 0.5*vg.Inch+vg.Length(len(p.heat.rows))*0.15*vg.Inch)
		}
	}
	return wide, tall
}

// entryWidth is the width of an entry of the legend.
func entryWidth(names []string) vg.Length {
	w := vg.Length(0)
	for _, n := range names {
		w = max(w, textStyle(9, false).Width(n))
	}
	return w + 0.55*vg.Inch
}

// legend returns the names of all lines with points and of the parts of bars, those of
// methods in the order of -methods, and their looks.
func legend(f figure) ([]string, map[string]look) {
	var names []string
	style := make(map[string]look)
	next := 0
	for _, p := range f.panels {
		for _, name := range p.entries() {
			if _, ok := style[name]; ok {
				continue
			}
			s, ok := looks[name]
			if !ok {
				s = spare[next%len(spare)]
				next++
			}
			names = append(names, name)
			style[name] = s
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(slices.Index(methodNames, a), slices.Index(methodNames, b))
	})
	return names, style
}

// plotPanel makes the plot of a panel.
func plotPanel(p panel, style map[string]look) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = p.title
	out.Title.TextStyle.Font = sans(9, true)
	out.Title.Padding = vg.Points(3)
	for _, a := range []*plot.Axis{&out.X, &out.Y} {
		a.Label.TextStyle.Font = sans(8, false)
		a.Tick.Label.Font = sans(7.5, false)
		a.LineStyle.Width = vg.Points(0.5)
		a.Tick.LineStyle.Width = vg.Points(0.5)
		a.Tick.Length = vg.Points(3)
		a.Padding = vg.Points(3)
	}
	out.X.Label.Text, out.Y.Label.Text = p.x, p.y
	if p.heat != nil {
		drawHeat(out, p.heat)
		return out, nil
	}
	if p.cloud != nil {
		drawCloud(out, p.cloud)
		return out, nil
	}
	if p.bars != nil {
		drawBars(out, p.bars, style)
		return out, nil
	}
	// Axes that hold everything, with a little room.
	xs, ys := span{}, span{}
	for _, l := range p.lines {
		for _, at := range l.xy {
			if p.logY && at.Y <= 0 || p.logX && at.X <= 0 {
				continue
			}
			xs.add(at.X)
			ys.add(at.Y)
		}
	}
	if !xs.any {
		out.Title.Text += " (nothing)"
		out.HideAxes()
		return out, nil
	}
	grid := plotter.NewGrid()
	for _, s := range []*draw.LineStyle{&grid.Horizontal, &grid.Vertical} {
		s.Color, s.Width, s.Dashes = color.Gray{225}, vg.Points(0.4), nil
	}
	out.Add(grid)
	for i, l := range p.lines {
		var xy plotter.XYs
		for _, at := range l.xy {
			if !(p.logY && at.Y <= 0 || p.logX && at.X <= 0) {
				xy = append(xy, at)
			}
		}
		if len(xy) == 0 {
			continue
		}
		s := style[l.name]
		path, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		// What lies below is broader, so that it shows where lines coincide.
		below := vg.Points(1.2) * vg.Length(len(p.lines)-1-i) / vg.Length(max(len(p.lines)-1, 1))
		path.Color, path.Width, path.Dashes = s.color, vg.Points(0.9)+below, s.dashes
		points.Color, points.Shape, points.Radius = s.color, s.glyph, vg.Points(1.8)+below/2
		out.Add(path)
		if len(xy) <= 20 {
			out.Add(points)
		}
	}
	xs.axis(&out.X, p.logX, p.ticks, p.names)
	ys.axis(&out.Y, p.logY, nil, nil)
	return out, nil
}
