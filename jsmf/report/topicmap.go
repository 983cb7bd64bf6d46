package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/jsmf-go/spectral/jsmf"
)

// hues is how many colours of groups the page has.
const hues = 8

// topicMapData is the map of topics: discs with areas of their shares.
type topicMapData struct {
	Topics []int   `json:"topics"` // or groups, the places of which follow
	X      []rough `json:"x"`
	Y      []rough `json:"y"`
	Group  []int   `json:"group"` // of each topic, from 0, the group with the largest share first
	// Two places in Topics for each join, in their order, of which the first stands for both from then on; and
	// what they cost.
	Joins  []int   `json:"joins"`
	Costs  []rough `json:"costs"`
	Groups int     `json:"groups"`
	Tree   bool    `json:"tree"`  // the groups are those of the hierarchy
	Scale  rough   `json:"scale"` // radius of a topic with the share 1
	Least  rough   `json:"least"` // the smallest radius
	Width  int     `json:"width"`
	Height int     `json:"height"`
}

// topicMap places what is drawn by its words, spread so that discs and names do not overlap. It
// also returns the places before that of the topics, or of their groups.
func topicMap(m *jsmf.Model, u *drawing, o *Options) (topicMapData, [][2]float64, error) {
	k, shares := u.m.K(), u.m.TopicShares()
	d := topicMapData{Width: networkWidth, Height: networkHeight, Tree: o.Hierarchy != nil}
	gram := overlaps(u.m)
	at, err := places(gram)
	if err != nil {
		return d, nil, err
	}
	for t := range k {
		d.Topics = append(d.Topics, u.first+t)
	}
	// Discs that together cover an eighth of the drawing.
	scale := math.Sqrt(networkWidth * networkHeight / (8 * math.Pi))
	least := min(9, 0.2*math.Sqrt(networkWidth*networkHeight/float64(k)))
	d.Scale, d.Least = rough(scale), rough(least)
	known := u.m.Additions().Uncertainty
	x, y, boxes := make([]float64, k), make([]float64, k), make([]box, k)
	for t := range k {
		share := shares[t]
		if known != nil && known.Topics[t].Share.High > share {
			share = known.Topics[t].Share.High
		}
		r := scale * math.Sqrt(share)
		if !(r > least) {
			r = least
		}
		if k <= 60 { // and room for a name below
			r += 12
		}
		x[t], y[t], boxes[t] = at[t][0], -at[t][1], box{r, r, r}
	}
	fit(x, y, boxes)
	separate(x, y, boxes)
	for t := range k {
		d.X, d.Y = append(d.X, rough(math.Round(x[t]))), append(d.Y, rough(math.Round(y[t])))
	}
	joins := ward(k, func(i, j int) float64 { return gram.At(i, i) + gram.At(j, j) - 2*gram.At(i, j) })
	for _, x := range joins {
		d.Joins, d.Costs = append(d.Joins, x.a, x.b), append(d.Costs, rough(x.cost))
	}
	d.Group, d.Groups = byShare(u.topicGroups(joins, o.Hierarchy), m.TopicShares())
	return d, u.byGroup(at), nil
}

// topicGroups returns the group of each topic: that of the highest level of the hierarchy
// with the largest share of it, or without a hierarchy one of about √K by Ward's method.
func (u *drawing) topicGroups(joins []join, h *jsmf.Hierarchy) []int {
	if k := u.m.K(); h == nil {
		groups := joined(k, joins, min(hues, max(1, int(math.Round(math.Sqrt(float64(k)))))))
		out := make([]int, len(u.of))
		for t, g := range u.of {
			out[t] = groups[g]
		}
		return out
	}
	return above(h)[h.Levels()-1]
}

// byShare numbers groups from 0 by falling share.
func byShare(group []int, shares []float64) ([]int, int) {
	sum := make([]float64, len(group)) // a group's number is less than that of topics
	for t, g := range group {
		sum[g] += max(0, shares[t])
	}
	var there []int
	for g := range sum {
		if slices.Contains(group, g) {
			there = append(there, g)
		}
	}
	slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(sum[b], sum[a]) })
	out := make([]int, len(group))
	for t, g := range group {
		out[t] = slices.Index(there, g)
	}
	return out, len(there)
}

// join makes one of two groups, that of point b and that of the lower point a, which then stands for both.
// Each group is known by its lowest point.
type join struct {
	a, b int
	cost float64 // no less than that of the join before
}

// joined returns the group of each of n points, by its lowest, once so many joins are made that the given number
// of groups is left.
func joined(n int, joins []join, groups int) []int {
	into := make([]int, n)
	for i := range into {
		into[i] = i
	}
	for _, x := range joins[:max(0, min(len(joins), n-groups))] {
		for i, g := range into {
			if g == x.b {
				into[i] = x.a
			}
		}
	}
	return into
}

// ward joins n points, given the squares of their distances, into one group (Ward 1963): repeatedly
// the two groups whose union adds least to the squares within groups, ties by number. What cannot be
// compared stays apart. O(n³).
func ward(n int, square func(i, j int) float64) (joins []join) {
	cost := make([][]float64, n) // of joining, by the formula of Lance and Williams
	size, gone := make([]float64, n), make([]bool, n)
	for i := range n {
		cost[i], size[i] = make([]float64, n), 1
		for j := range i {
			cost[i][j] = square(i, j)
		}
	}
	at := func(i, j int) *float64 { return &cost[max(i, j)][min(i, j)] }
	for range n - 1 {
		a, b, best := -1, -1, math.Inf(1)
		for i := range n {
			for j := 0; !gone[i] && j < i; j++ {
				if !gone[j] && cost[i][j] < best {
					a, b, best = j, i, cost[i][j]
				}
			}
		}
		if a < 0 {
			break
		}
		for c := range n {
			if !gone[c] && c != a && c != b {
				*at(a, c) = ((size[a]+size[c])**at(a, c) + (size[b]+size[c])**at(b, c) - size[c]*best) / (size[a] + size[b] + size[c])
			}
		}
		size[a] += size[b]
		gone[b] = true
		joins = append(joins, join{a, b, best})
	}
	return joins
}
