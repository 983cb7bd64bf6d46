package held_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"
)

// Extreme settings are refused or held, and never panic.
func TestExtremes(t *testing.T) {
	add := func(a *held.Accumulator, at int64) error {
		return a.AddAt(corpus.Document{ID: string(rune('a' + a.Stats().Docs)), Tokens: []string{"a", "b"}}, at)
	}
	testutil.Extremes(t, held.Options{}, func(ctx context.Context, o held.Options) error {
		a, err := held.New(o)
		if err != nil {
			return err
		}
		for i := range 8 {
			if err := add(a, int64(i)); err != nil {
				return err
			}
		}
		_, err = a.WriteTo(new(bytes.Buffer))
		return weighed(a, err)
	})
	type call struct {
		At, Before, By, After int64
		N, Window             int
		MaxAge                int64
		HalfLife              float64
	}
	testutil.Extremes(t, call{5, 3, 1, 0, 2, 0, 0, 0}, func(_ context.Context, s call) error {
		a, err := held.New(held.Options{MinDocs: 1, HalfLife: 2, MaxAge: 10})
		if err != nil {
			return err
		}
		for _, at := range []int64{0, 1, s.At, 2} {
			if err := add(a, at); err != nil {
				return err
			}
		}
		if _, err := a.Backdate(s.Before, s.By); err != nil {
			return err
		}
		a.DocumentsAfter(s.After, "", s.N)
		if _, err := a.SetWindow(s.Window, s.MaxAge, s.HalfLife); err != nil {
			return err
		}
		return weighed(a, nil)
	})
}

// weighed panics if a document held has a weight outside [0, 1] and there is no error.
func weighed(a *held.Accumulator, err error) error {
	c, e := a.Snapshot().Corpus()
	if e != nil || err != nil {
		return errors.Join(err, e)
	}
	for _, w := range c.Weights() {
		if !(w >= 0 && w <= 1) {
			panic(fmt.Sprintf("a weight is %g, outside [0, 1], and there is no error", w))
		}
	}
	return nil
}
