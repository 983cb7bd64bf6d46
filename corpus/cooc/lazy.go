package cooc

import "context"

// lazy holds a slice that is computed when first asked for. Unlike those who
// wait for a mutex, those who wait for it are woken by the end of their own
// context; a computation that failed leaves nothing behind, and the next
// caller begins anew.
type lazy struct {
	turn chan struct{} // holds an element while somebody computes
	v    *[]float64
}

func newLazy() lazy { return lazy{turn: make(chan struct{}, 1), v: new([]float64)} }

// there tells whether it has been computed; false while somebody does.
func (l lazy) there() bool {
	select {
	case l.turn <- struct{}{}:
	default:
		return false
	}
	defer func() { <-l.turn }()
	return *l.v != nil
}

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
