package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/vec"
)

// similarOrder arranges n items in a row with similar ones side by side: groups are
// joined by Ward's method at their more similar ends. similarity is symmetric, at most 1, and
// gets i < j; NaN counts as 0. Ties go by number. O(n³).
func similarOrder(n int, similarity func(i, j int) float64) []int {
	if n == 0 {
		return nil
	}
	sim := make([][]float64, n)
	rows := make([][]int, n) // the members of a group in order
	for i := range n {
		sim[i], rows[i] = make([]float64, n), []int{i}
		for j := range i {
			if s := similarity(j, i); !math.IsNaN(s) {
				sim[i][j], sim[j][i] = s, s
			}
		}
	}
	for _, join := range ward(n, func(i, j int) float64 { return 1 - sim[i][j] }) {
		x, y := rows[join.a], rows[join.b]
		ends := [4]float64{ // of x and y: last-first, last-last, first-first, first-last
			sim[x[len(x)-1]][y[0]], sim[x[len(x)-1]][y[len(y)-1]], sim[x[0]][y[0]], sim[x[0]][y[len(y)-1]],
		}
		turn := 0
		for t, s := range ends {
			if s > ends[turn] {
				turn = t
			}
		}
		if turn >= 2 {
			slices.Reverse(x)
		}
		if turn%2 == 1 {
			slices.Reverse(y)
		}
		rows[join.a] = append(x, y...)
	}
	return rows[0]
}

// link is an edge of the network of topics.
type link struct {
	k, l   int
	weight float64 // correlation, > 0
}

// Size of the network, and steps of its layout.
const (
	networkWidth, networkHeight = 1000.0, 620.0
	networkSteps                = 400
)

// box is the space that a node of the network takes: a disc, and its name below.
type box struct{ radius, halfWidth, below float64 }

// spread places n nodes so that linked ones are near and none overlap (Fruchterman
// and Reingold 1991: all repel, linked ones attract). It starts on an ellipse in the
// given order. O(n²) per step.
func spread(n int, links []link, start []int, boxes []box) (x, y []float64) {
	const w, h = networkWidth, networkHeight
	x, y = make([]float64, n), make([]float64, n)
	if n == 0 {
		return x, y
	}
	for place, i := range start {
		angle := 2 * math.Pi * float64(place) / float64(n)
		x[i], y[i] = w/2+0.35*w*math.Cos(angle), h/2+0.35*h*math.Sin(angle)
	}
	ideal := 0.62 * math.Sqrt(w*h/float64(n))
	dx, dy := make([]float64, n), make([]float64, n)
	strongest := 0.0
	for _, e := range links {
		strongest = max(strongest, e.weight)
	}
	for step := range networkSteps {
		clear(dx)
		clear(dy)
		for i := range n {
			for j := range i {
				ex, ey := x[i]-x[j], y[i]-y[j]
				d2 := max(ex*ex+ey*ey, 1)
				f := ideal * ideal / d2
				dx[i], dy[i] = dx[i]+f*ex, dy[i]+f*ey
				dx[j], dy[j] = dx[j]-f*ex, dy[j]-f*ey
			}
			// Toward the centre, so that nodes without links do not drift away.
			pull := 4 * ideal * float64(n) / 30 / h
			dx[i] += pull * (w/2 - x[i]) * h / w
			dy[i] += pull * (h/2 - y[i])
		}
		for _, e := range links {
			ex, ey := x[e.k]-x[e.l], y[e.k]-y[e.l]
			d := math.Sqrt(ex*ex + ey*ey)
			f := (0.25 + 0.75*e.weight/strongest) * d / ideal
			dx[e.k], dy[e.k] = dx[e.k]-f*ex, dy[e.k]-f*ey
			dx[e.l], dy[e.l] = dx[e.l]+f*ex, dy[e.l]+f*ey
		}
		heat := 0.1 * w * math.Pow(1-float64(step)/networkSteps, 1.5)
		for i := range n {
			if d := math.Hypot(dx[i], dy[i]); d > 0 {
				x[i] += dx[i] / d * min(d, heat)
				y[i] += dy[i] / d * min(d, heat)
			}
		}
	}
	fit(x, y, boxes)
	separate(x, y, boxes)
	return x, y
}

// separate pushes overlapping boxes apart, along the shorter way, and keeps them
// within the drawing.
func separate(x, y []float64, boxes []box) {
	const gap = 5
	for range 600 {
		moved := false
		for i, a := range boxes {
			for j, b := range boxes[:i] {
				ex := x[i] - x[j]
				ey := y[i] - y[j]
				overX := a.halfWidth + b.halfWidth + gap - math.Abs(ex)
				overY := b.below + a.radius + gap - ey // i is below j
				if ey < 0 {
					overY = a.below + b.radius + gap + ey
				}
				if overX <= 0 || overY <= 0 {
					continue
				}
				moved = true
				if overX < overY {
					push := math.Copysign(overX/2, ex)
					x[i], x[j] = x[i]+push, x[j]-push
				} else {
					push := math.Copysign(overY/2, ey)
					y[i], y[j] = y[i]+push, y[j]-push
				}
			}
		}
		for i, b := range boxes {
			x[i] = min(max(x[i], b.halfWidth), networkWidth-b.halfWidth)
			y[i] = min(max(y[i], b.radius), networkHeight-b.below)
		}
		if !moved {
			break
		}
	}
}

// fit stretches the drawing to its full size, leaving room for the boxes.
func fit(x, y []float64, boxes []box) {
	wide, high := 0.0, 0.0
	for _, b := range boxes {
		wide, high = max(wide, b.halfWidth), max(high, b.below)
	}
	for _, c := range []struct {
		v          []float64
		room, size float64
	}{{x, wide, networkWidth}, {y, high, networkHeight}} {
		lo, hi := slices.Min(c.v), slices.Max(c.v)
		for i := range c.v {
			if hi > lo {
				c.v[i] = c.room + (c.v[i]-lo)/(hi-lo)*(c.size-2*c.room)
			} else {
				c.v[i] = c.size / 2
			}
		}
	}
}

// strongLinks returns the pairs that are among the best three of one of their two
// topics and correlate by at least least, by decreasing weight.
func strongLinks(n int, correlation func(i, j int) float64, least float64) []link {
	chosen := make(map[[2]int]bool)
	var out []link
	for i := range n {
		best := vec.Order(n, func(j int) float64 {
			if j == i {
				return math.NaN()
			}
			return correlation(min(i, j), max(i, j))
		})
		for _, j := range best[:min(3, n-1)] {
			pair := [2]int{min(i, j), max(i, j)}
			if c := correlation(pair[0], pair[1]); c >= least && !chosen[pair] {
				chosen[pair] = true
				out = append(out, link{pair[0], pair[1], c})
			}
		}
	}
	slices.SortFunc(out, func(a, b link) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.k-b.k, a.l-b.l) })
	return out
}

// networkName is how many characters of a name the network shows at most.
const networkName = 16

// matrix returns the correlations of the topics that are drawn.
func (u *drawing) matrix() matrixData {
	m, n := u.m, u.m.K()
	d := matrixData{Width: networkWidth, Height: networkHeight, Links: [][]int{}}
	for i := range n {
		d.Topics = append(d.Topics, u.first+i)
	}
	shares := m.TopicShares()
	corr := mat.NewDense(n, n, nil)
	joint := mat.NewDense(n, n, nil)
	a := mat.DenseCopyOf(m.Correlations())
	sum := mat.Sum(a)
	for i := range n {
		joint.Set(i, i, a.At(i, i)/sum)
	}
	for _, x := range m.CorrelatedPairs(-1) {
		corr.Set(x.K, x.L, x.Correlation)
		joint.Set(x.K, x.L, x.Joint)
	}
	for i := range n {
		for j := i; j < n; j++ {
			d.Joint = append(d.Joint, rough(joint.At(i, j)))
			if j > i {
				d.Correlation = append(d.Correlation, rough(math.Round(1e3*corr.At(i, j))/1e3))
			}
		}
	}
	if known := m.Additions().Uncertainty; known != nil {
		unknown := []rough{rough(math.NaN())}
		d.Low, d.High = slices.Repeat(unknown, len(d.Correlation)), slices.Repeat(unknown, len(d.Correlation))
		for _, p := range known.Pairs {
			at := p.K*n - p.K*(p.K+1)/2 + p.L - p.K - 1
			d.Correlation[at] = rough(math.Round(1e3*p.Correlation.Value) / 1e3)
			d.Low[at], d.High[at] = rough(p.Correlation.Low), rough(p.Correlation.High)
		}
	}
	d.Similar = similarOrder(n, corr.At)
	// Discs that together cover a twelfth of the drawing, and can hold a number.
	least := min(11, 0.2*math.Sqrt(networkWidth*networkHeight/float64(n)))
	boxes, room := make([]box, n), 0.0
	for i, share := range shares {
		short, _, _ := strings.Cut(u.names[i], " · ") // as the script has it
		r := math.Sqrt(max(0, share) * networkWidth * networkHeight / (12 * math.Pi))
		if !(r > least) {
			r = least
		}
		boxes[i] = box{r, max(r, 4.3*float64(min(utf8.RuneCountInString(short), networkName))), r + 20}
		room += 2 * boxes[i].halfWidth * (r + boxes[i].below)
	}
	d.Named = room < 0.5*networkWidth*networkHeight
	if !d.Named { // the script places the names
		for i, b := range boxes {
			boxes[i] = box{b.radius, b.radius, b.radius}
		}
	}
	links := strongLinks(n, corr.At, 0.03)
	x, y := spread(n, links, d.Similar, boxes)
	for i, b := range boxes {
		d.X, d.Y, d.Radius = append(d.X, rough(math.Round(x[i]))), append(d.Y, rough(math.Round(y[i]))), append(d.Radius, rough(b.radius))
	}
	for _, e := range links {
		d.Links = append(d.Links, []int{e.k, e.l})
	}
	return d
}
