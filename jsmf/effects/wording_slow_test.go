package effects

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The sums of moments are those over all units, one by one.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	type unit struct{ y, n float64 }
	groups := make([][]unit, 3)
	at := make([]moments, len(groups))
	var all moments
	for p := range groups {
		for range 30 + 20*p {
			u := unit{float64(r.IntN(4)) / 3, 5 + 10*r.Float64()}
			groups[p] = append(groups[p], u)
			one := moments{y: u.y, yy: u.y * u.y, yn: u.y * u.n, tokens: u.n, square: u.n * u.n}
			if u.y >= 0.5 {
				one.units = 1
			}
			at[p] = at[p].plus(1, one)
		}
		all = all.plus(1, at[p])
	}
	rate, part := all.y/all.tokens, at[1].tokens/all.tokens
	sum, found, every, own := 0.0, 0.0, 0.0, 0.0
	for p, list := range groups {
		for _, u := range list {
			c := -part
			if p == 1 {
				c = 1 - part
				e := u.y - u.n*at[1].y/at[1].tokens
				own += e * e
			}
			e := u.y - rate*u.n
			sum, found, every = sum+c*e, found+c*c*e*e, every+e*e
		}
	}
	room := leak * part * (1 - part) * all.y
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the score", at[1].above(all), sum/math.Sqrt(max(found, part*(1-part)*every)+room*room))
	n := at[1].y + 0.5
	near("the variance", at[1].variance(), max(own/n, 1)/n)
	rest := all.plus(-1, at[1])
	near("the rest", rest.y, at[0].y+at[2].y)
	near("the rest's squares", rest.yy, at[0].yy+at[2].yy)
}
