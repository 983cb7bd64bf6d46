package report

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"
)

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
