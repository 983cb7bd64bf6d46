package jsmf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	gridFrom  = 5  // topics that the chosen numbers begin with
	gridDocs  = 20 // documents for each topic, at least
	gridMax   = 400
	gridWorse = 2 // standard errors
)

// trial is a sweep's search for a number of topics by documents held out.
type trial struct {
	p      Pipeline
	held   *held
	tr     *tracker
	points []SweepPoint
	logs   map[int][]float64 // by K
	end    string            // why a search goes no further
}

// recommend scores numbers of topics: ks if they are given, and others of its own choice if not. It
// returns a point for each, and which to take or why none can be recommended.
func (p Pipeline) recommend(ctx context.Context, in Input, ks []int, given bool, tr *tracker) ([]SweepPoint, *Recommendation, error) {
	t := &trial{p: p, tr: tr, logs: make(map[int][]float64)}
	if given {
		for _, k := range ks {
			t.points = append(t.points, SweepPoint{K: k})
		}
	}
	if p.matrix(in) != nil {
		return t.points, nil, errors.New("the input is a co-occurrence matrix, and only documents can be held out: give Sweep the documents")
	}
	var r *Recommendation
	err := tr.run(nil, StageHeldOut, "", func() (outcome string, err error) {
		if t.held, err = p.hold(ctx, in); err != nil {
			return "", err
		}
		if given {
			for i := range t.points {
				if err := t.score(ctx, &t.points[i], len(ks)); err != nil {
					return "", err
				}
			}
		} else if err = t.search(ctx); err != nil {
			return "", err
		}
		if r, err = t.recommendation(); err != nil {
			return "", err
		}
		return r.String(), nil
	})
	return t.points, r, err
}

// score scores a point of total ones (0: not known). Its error is ctx's.
func (t *trial) score(ctx context.Context, x *SweepPoint, total int) error {
	at := time.Now()
	logs, err := t.held.score(ctx, t.p.K(x.K))
	x.Score = time.Since(at)
	if err != nil {
		x.ScoreErr = errorf("sweep: not scored: %w", err)
		return ctx.Err()
	}
	t.logs[x.K] = logs
	t.tr.progress(len(t.logs), total, "K", float64(x.K))
	return nil
}

// search scores numbers of topics that it chooses.
func (t *trial) search(ctx context.Context) error {
	highest := min(gridMax, t.held.docs.NumDocs()*heldOneOf/gridDocs, t.held.train.words()/2)
	t.end = fmt.Sprintf(" A sweep that chooses its numbers ends at %d topics for this number of documents.", highest)
	highest = max(highest, gridFrom)
	step := func(i float64) int { return int(math.Round(gridFrom * math.Pow(2, i/4))) }
	add := func(i float64) error {
		k := step(i)
		if k > highest || slices.ContainsFunc(t.points, func(x SweepPoint) bool { return x.K == k }) {
			return nil
		}
		t.points = append(t.points, SweepPoint{K: k})
		return t.score(ctx, &t.points[len(t.points)-1], 0)
	}
	i := 0.
	for ; step(i) <= highest && !t.past(); i += 2 {
		if err := add(i); err != nil {
			return err
		}
	}
	r, err := t.recommendation()
	if err != nil {
		return err
	}
	for j := 0.; j < i; j += 2 {
		if step(j) == r.K || step(j) == r.Best {
			if err := errors.Join(add(j-1), add(j+1)); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(t.points, func(a, b SweepPoint) int { return cmp.Compare(a.K, b.K) })
	return nil
}

// past reports whether the last two points are clearly worse than another.
func (t *trial) past() bool {
	ks, b := t.ballot()
	if len(ks) < 3 {
		return false
	}
	ones := slices.Repeat([]float64{1}, len(b.words))
	best, _ := b.choose(ones)
	for i := len(ks) - 2; i < len(ks); i++ {
		if behind, err := b.difference(best, i, ones); behind <= gridWorse*err {
			return false
		}
	}
	return true
}

// ballot returns the scores so far, by ascending K.
func (t *trial) ballot() ([]int, ballot) {
	ks := slices.Sorted(maps.Keys(t.logs))
	b := ballot{}
	for _, k := range ks {
		b.logs, b.words = append(b.logs, t.logs[k]), t.held.words()
	}
	return ks, b
}

// recommendation chooses among the scores so far, and notes these in the points.
func (t *trial) recommendation() (*Recommendation, error) {
	ks, b := t.ballot()
	if len(ks) == 0 {
		return nil, t.points[0].ScoreErr
	}
	if !slices.ContainsFunc(b.words, func(n float64) bool { return n > 0 }) {
		return nil, errors.New("the documents held out have too few words")
	}
	r, scores := b.recommend(ks, t.held.keys, t.end)
	for i := range t.points {
		if at := slices.Index(ks, t.points[i].K); at >= 0 {
			t.points[i].HeldOut = &scores[at]
		}
	}
	return r, nil
}
