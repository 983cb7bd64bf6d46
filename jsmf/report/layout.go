package report

import (
	"math"
	"slices"
)

// similarOrder arranges n things in a row so that similar ones stand together:
// clusters are merged by average linkage, and laid end to end so that the more
// similar ends touch. similarity is symmetric; NaN counts as 0. Equal ones are taken
// by their number. O(n³).
func similarOrder(n int, similarity func(i, j int) float64) []int {
	sim := make([][]float64, n)
	for i := range sim {
		sim[i] = make([]float64, n)
		for j := range n {
			if i != j {
				if s := similarity(min(i, j), max(i, j)); !math.IsNaN(s) {
					sim[i][j] = s
				}
			}
		}
	}
	avg := make([][]float64, n) // between clusters
	rows := make([][]int, n)    // their members in order; nil: merged away
	for i := range n {
		avg[i], rows[i] = slices.Clone(sim[i]), []int{i}
	}
	for range n - 1 {
		a, b, best := -1, -1, math.Inf(-1)
		for i := range n {
			for j := i + 1; rows[i] != nil && j < n; j++ {
				if rows[j] != nil && avg[i][j] > best {
					a, b, best = i, j, avg[i][j]
				}
			}
		}
		x, y := rows[a], rows[b]
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
		na, nb := float64(len(x)), float64(len(y))
		for j := range n {
			if rows[j] != nil && j != a && j != b {
				avg[a][j] = (na*avg[a][j] + nb*avg[b][j]) / (na + nb)
				avg[j][a] = avg[a][j]
			}
		}
		rows[a], rows[b] = append(x, y...), nil
	}
	if n == 0 {
		return nil
	}
	return rows[0]
}

// link is an edge of the network of topics.
type link struct {
	k, l   int
	weight float64 // correlation, > 0
}

// Shape of the network: a page is wider than high.
const (
	networkWidth, networkHeight = 1000.0, 620.0
	networkSteps                = 400
)

// spread places n discs of the given radii in the box so that linked ones are near
// and none overlap (Fruchterman and Reingold 1991: all repel, linked ones attract),
// beginning on an ellipse in the given order. O(n²) a step.
func spread(n int, links []link, start []int, radius []float64) (x, y []float64) {
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
			// Toward the middle, so that what has no links does not drift away.
			dx[i] += 1.2 * (w/2 - x[i]) * ideal / w
			dy[i] += 1.2 * (h/2 - y[i]) * ideal / h * (w / h)
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
	fit(x, y, radius)
	// Push discs that overlap apart, and back into the box.
	for range 300 {
		moved := false
		for i := range n {
			for j := range i {
				ex, ey := x[i]-x[j], y[i]-y[j]
				d, least := math.Hypot(ex, ey), radius[i]+radius[j]+4
				if d >= least {
					continue
				}
				moved = true
				if d < 1e-6 {
					ex, ey, d = 1, 0, 1
				}
				push := (least - d) / 2 / d
				x[i], y[i] = x[i]+push*ex, y[i]+push*ey
				x[j], y[j] = x[j]-push*ex, y[j]-push*ey
			}
		}
		for i := range n {
			x[i] = min(max(x[i], radius[i]), w-radius[i])
			y[i] = min(max(y[i], radius[i]), h-radius[i])
		}
		if !moved {
			break
		}
	}
	return x, y
}

// fit stretches the picture to the box, leaving room for the discs.
func fit(x, y, radius []float64) {
	room := slices.Max(radius) + 4
	for _, c := range []struct {
		v    []float64
		size float64
	}{{x, networkWidth}, {y, networkHeight}} {
		lo, hi := slices.Min(c.v), slices.Max(c.v)
		for i := range c.v {
			if hi > lo {
				c.v[i] = room + (c.v[i]-lo)/(hi-lo)*(c.size-2*room)
			} else {
				c.v[i] = c.size / 2
			}
		}
	}
}

// strongLinks returns the pairs that are among the best three of one of their two
// topics and correlate by at least least, by falling weight.
func strongLinks(n int, correlation func(i, j int) float64, least float64) []link {
	chosen := make(map[[2]int]bool)
	var out []link
	for i := range n {
		best := order(n, func(j int) float64 {
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
	slices.SortStableFunc(out, func(a, b link) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		case a.k != b.k:
			return a.k - b.k
		}
		return a.l - b.l
	})
	return out
}
