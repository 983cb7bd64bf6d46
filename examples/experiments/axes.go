package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// span is the range of some numbers.
type span struct {
	min, max float64
	any      bool
}

func (s *span) add(v float64) {
	if math.IsNaN(v) {
		return
	}
	if !s.any {
		s.min, s.max, s.any = v, v, true
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
}

// axis sets range, scale and ticks, of which some may have names.
func (s *span) axis(a *plot.Axis, log bool, ticks []float64, names map[float64]string) {
	lo, hi := s.min, s.max
	if log {
		if hi < 1.2*lo {
			lo, hi = lo/1.1, hi*1.1
		}
		a.Scale = plot.LogScale{}
		r := math.Pow(hi/lo, 0.04)
		lo, hi = lo/r, hi*r
	} else {
		if hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
			d := max(math.Abs(lo)*0.05, 1e-3)
			lo, hi = lo-d, hi+d
		}
		d := 0.04 * (hi - lo)
		lo, hi = lo-d, hi+d
	}
	a.Min, a.Max = lo, hi
	if ticks == nil {
		ticks = niceTicks(lo, hi, log)
	}
	// Labels are given from the right, as far as there is room.
	var out plot.ConstantTicks
	next := math.Inf(1)
	for _, t := range slices.Backward(ticks) {
		if t < lo || t > hi {
			continue
		}
		at := (t - lo) / (hi - lo)
		if log {
			at = math.Log(t/lo) / math.Log(hi/lo)
		}
		label := strconv.FormatFloat(t, 'g', 6, 64)
		if math.Abs(t) >= 1e4 || t != 0 && math.Abs(t) < 1e-3 {
			label = strings.Replace(strings.Replace(strconv.FormatFloat(t, 'e', -1, 64), "e-0", "e-", 1), "e+0", "e", 1)
		}
		if name, ok := names[t]; ok {
			label = name
		}
		if next-at < 0.045*float64(max(len(label), 2)) {
			label = ""
		} else {
			next = at
		}
		out = append(out, plot.Tick{Value: t, Label: label})
	}
	a.Tick.Marker = out
}

// niceTicks returns round numbers in a range: 3 to 7 of them.
func niceTicks(lo, hi float64, log bool) []float64 {
	var out []float64
	if log && hi/lo > 5 {
		mantissas := []float64{1, 2, 5}
		decades := math.Log10(hi / lo)
		if decades > 2.2 {
			mantissas = []float64{1}
		}
		every := max(1, int(math.Ceil(decades/6)))
		for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
			if len(mantissas) == 1 && e%every != 0 {
				continue
			}
			for _, m := range mantissas {
				if t := m * math.Pow10(e); t >= lo && t <= hi {
					out = append(out, round(t))
				}
			}
		}
		return out
	}
	unit := math.Pow10(int(math.Floor(math.Log10((hi - lo) / 4))))
	for _, m := range []float64{1, 2, 5, 10} {
		step := m * unit
		if (hi-lo)/step <= 6 {
			for i := math.Ceil(lo / step); i*step <= hi; i++ {
				out = append(out, round(i*step))
			}
			return out
		}
	}
	return out
}

// round takes off what rounding has added to a round number.
func round(t float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(t, 'g', 8, 64), 64)
	return v + 0 // no −0
}
