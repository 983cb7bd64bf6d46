package simplex

import "math"

// push appends j to P and its row to the factor. It returns false, with P as
// it was, where j depends affinely on P as far as rounding lets one tell.
func (s *activeSet) push(j int) bool {
	d := s.pivot(j)
	if len(s.idx) > 0 && d <= s.dep*s.diag(j) {
		return false
	}
	s.accept(j, d)
	return true
}

func (s *activeSet) diag(j int) float64 { return s.g[j*s.k+j] + s.sigma }

// pivot computes row |P| of l, L⁻¹h_P, for coordinate j, and returns the square
// of the diagonal entry.
func (s *activeSet) pivot(j int) float64 {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m]
	h := s.g[j*k : j*k+k]
	ss := 0.0
	for i, c := range s.idx {
		v := (h[c] + s.sigma - dot(s.l[i*k:i*k+i], row[:i])) * s.dinv[i]
		row[i] = v
		ss += v * v
	}
	return h[j] + s.sigma - ss
}

// accept appends j to P after pivot returned d.
func (s *activeSet) accept(j int, d float64) {
	k, m := s.k, len(s.idx)
	row := s.l[m*k : m*k+m+1]
	d = math.Sqrt(d)
	inv := 1 / d
	row[m] = d
	s.dinv[m] = inv
	s.z[m] = (s.f[j] - dot(row[:m], s.z)) * inv
	s.w[m] = (1 - dot(row[:m], s.w)) * inv
	s.cur[m] = 0
	s.idx = append(s.idx, j)
	s.in[j] = true
}

// remove takes the coordinate at position p out of P: the factor loses a row
// and is brought back to triangular form by rotations, one row at a time.
func (s *activeSet) remove(p int) {
	k, m := s.k, len(s.idx)
	s.in[s.idx[p]] = false
	copy(s.idx[p:], s.idx[p+1:])
	copy(s.cur[p:m-1], s.cur[p+1:m])
	s.idx = s.idx[:m-1]
	cs, sn := s.full[:m], s.x[:m] // scratch: x is solved for anew after every removal
	for r := p; r < m-1; r++ {
		row := s.l[r*k : r*k+r+2]
		copy(row, s.l[(r+1)*k:(r+1)*k+r+2])
		a := row[p]
		for c := p; c < r; c++ {
			b := row[c+1]
			row[c] = cs[c]*a + sn[c]*b
			a = cs[c]*b - sn[c]*a
		}
		b := row[r+1]
		h := math.Sqrt(a*a + b*b)
		inv := 1 / h
		cs[r], sn[r] = a*inv, b*inv
		row[r] = h
		s.dinv[r] = inv
		z0, z1 := s.z[r], s.z[r+1]
		s.z[r], s.z[r+1] = cs[r]*z0+sn[r]*z1, cs[r]*z1-sn[r]*z0
		w0, w1 := s.w[r], s.w[r+1]
		s.w[r], s.w[r+1] = cs[r]*w0+sn[r]*w1, cs[r]*w1-sn[r]*w0
	}
}

// back solves Lᵀx = v up to the multiple of 1 in Lv with which the entries of x sum to sum.
func (s *activeSet) back(x, v []float64, sum float64) {
	k, w := s.k, s.w[:len(v)]
	nu := (dot(w, v) - sum) / dot(w, w)
	for i := range x {
		x[i] = v[i] - nu*w[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		v := x[i] * s.dinv[i]
		x[i] = v
		axpy(x[:i], -v, s.l[i*k:i*k+i])
	}
}
