package cooc

import "context"

// lazy holds a slice that is computed at the first call of get. Others wait, until it
// is done or their own context ends. After an error the next caller computes it again.
// Copies share the slice.
type lazy struct {
	turn chan struct{} // full while a caller computes
	v    *[]float64
}

func newLazy() lazy { return lazy{turn: make(chan struct{}, 1), v: new([]float64)} }

// get returns the slice, computed if it is not there.
func (l lazy) get(ctx context.Context, compute func() ([]float64, error)) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.turn }()
	if *l.v == nil {
		v, err := compute()
		if err != nil {
			return nil, err
		}
		*l.v = v
	}
	return *l.v, nil
}
