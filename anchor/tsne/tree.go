package tsne

import "math"

// leafSize is up to how many points a cell is not divided; their forces are
// computed one by one. depthMax ends the division of points that coincide.
const (
	leafSize = 6
	depthMax = 50
)

// tree is an octree, in depth-first order: the first child of a cell comes
// after it, and next is the cell after all that is in it. Of points in a plane
// half the octants are empty, and empty cells are not stored.
type tree struct {
	cells []cell
	order []int32 // the points in the order of the leaves
	code  []uint8 // which octant each is in
	spare []int32
	pos   []vector // the positions in that order
}

type cell struct {
	centre vector // of mass
	size2  float64
	mass   float64
	lo, hi int32 // the points order[lo:hi]
	next   int32
	leaf   bool
}

// build makes the tree of the given positions.
func (t *tree) build(pos []vector) {
	n := len(pos)
	if len(t.order) != n {
		t.order, t.spare = make([]int32, n), make([]int32, n)
		t.code, t.pos = make([]uint8, n), make([]vector, n)
	}
	lo, hi := pos[0], pos[0]
	for i, p := range pos {
		t.order[i] = int32(i)
		for c, v := range p {
			lo[c], hi[c] = math.Min(lo[c], v), math.Max(hi[c], v)
		}
	}
	var mid vector
	half := 0.0
	for c := range mid {
		mid[c] = 0.5 * (lo[c] + hi[c])
		half = math.Max(half, 0.5*(hi[c]-lo[c]))
	}
	t.cells = t.cells[:0]
	t.divide(pos, 0, int32(n), mid, half, 0)
	for k, i := range t.order {
		t.pos[k] = pos[i]
	}
}

// divide adds the cell of the points order[lo:hi], which lie within half of mid
// in each coordinate, and those inside it.
func (t *tree) divide(pos []vector, lo, hi int32, mid vector, half float64, depth int) {
	at := len(t.cells)
	leaf := hi-lo <= leafSize || depth == depthMax
	t.cells = append(t.cells, cell{size2: 4 * half * half, mass: float64(hi - lo), lo: lo, hi: hi, leaf: leaf})
	var sum vector
	var count [8]int32
	for k := lo; k < hi; k++ {
		p := &pos[t.order[k]]
		var code uint8
		for c, v := range p {
			sum[c] += v
			if v > mid[c] {
				code |= 1 << c
			}
		}
		t.code[k] = code
		count[code]++
	}
	for c := range sum {
		t.cells[at].centre[c] = sum[c] / float64(hi-lo)
	}
	if !leaf {
		// A stable counting sort into the octants.
		var begin [9]int32
		begin[0] = lo
		for o, c := range count {
			begin[o+1] = begin[o] + c
		}
		fill := begin
		for k := lo; k < hi; k++ {
			o := t.code[k]
			t.spare[fill[o]] = t.order[k]
			fill[o]++
		}
		copy(t.order[lo:hi], t.spare[lo:hi])
		for o := range 8 {
			if count[o] == 0 {
				continue
			}
			m := mid
			for c := range m {
				if o>>c&1 == 1 {
					m[c] += half / 2
				} else {
					m[c] -= half / 2
				}
			}
			t.divide(pos, begin[o], begin[o+1], m, half/2, depth+1)
		}
	}
	t.cells[at].next = int32(len(t.cells))
}

// repulsion returns Σ_j w_ij²·(y_i − y_j) and Σ_j w_ij over the other points, for
// the point at position k of the order. A cell whose squared size is below
// theta2 times its squared distance, and that does not hold the point itself,
// counts as one point of its mass.
func (t *tree) repulsion(k int, theta2 float64) (f vector, z float64) {
	y := t.pos[k]
	self := int32(k)
	var fx, fy, fz float64
	for at := int32(0); int(at) < len(t.cells); {
		c := &t.cells[at]
		dx, dy, dz := y[0]-c.centre[0], y[1]-c.centre[1], y[2]-c.centre[2]
		d2 := dx*dx + dy*dy + dz*dz
		switch {
		case c.size2 < theta2*d2 && (self < c.lo || self >= c.hi):
			w := 1 / (1 + d2)
			m := c.mass * w
			z += m
			m *= w
			fx += m * dx
			fy += m * dy
			fz += m * dz
			at = c.next
		case c.leaf:
			for j := c.lo; j < c.hi; j++ {
				if j == self {
					continue
				}
				p := &t.pos[j]
				dx, dy, dz := y[0]-p[0], y[1]-p[1], y[2]-p[2]
				w := 1 / (1 + dx*dx + dy*dy + dz*dz)
				z += w
				w *= w
				fx += w * dx
				fy += w * dy
				fz += w * dz
			}
			at = c.next
		default:
			at++
		}
	}
	return vector{fx, fy, fz}, z
}
