package rectify

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/bytesize"
)

// Auto chooses between [AP], which is exact, and [LR], whose cost grows with N and not
// with N². It takes AP while the estimated memory is within Options.MemoryLimit and
// 1 GiB, and LR beyond. The estimate assumes that a tenth of the N² entries are
// negative, more than in most texts, so that the border is near N = 14,500 words. If the
// first iteration of AP finds more than fit, as with baskets, Auto takes LR after all. A
// matrix that only multiplies, such as that of [cooc.FromEncoded], goes to LR.
// Result.Method and Result.Reason say what was chosen and why.
type Auto struct {
	// AP and LR are the settings of the two methods.
	AP AP
	LR LR
}

// autoMemory is the most memory that Auto lets AP take.
const autoMemory = 1 << 30

// One entry in autoShare is assumed to be negative.
const autoShare = 10

func (a Auto) String() string {
	if a == (Auto{}) {
		return "Auto"
	}
	return fmt.Sprintf("Auto(%v, or beyond its memory %v)", a.AP, a.LR)
}

// Validate reports settings out of range.
func (a Auto) Validate() error { return errors.Join(a.AP.Validate(), a.LR.Validate()) }

// choose returns the first choice for n words, the memory it may take, and why.
func (a Auto) choose(n, k int, opt Options) (Rectifier, int64, string) {
	need, limit := apBytes(n, k, int64(min(float64(n)*float64(n)/autoShare, math.MaxInt64/1024))), min(opt.limit(), autoMemory)
	if need <= limit {
		return a.AP, limit, fmt.Sprintf("N = %d: the exact form takes about %s, within the limit of %s", n, bytesize.String(need), bytesize.String(limit))
	}
	return a.LR, opt.MemoryLimit, fmt.Sprintf("N = %d: the exact form would take about %s, more than the limit of %s", n, bytesize.String(need), bytesize.String(limit))
}

// Rectify implements Rectifier.
func (a Auto) Rectify(ctx context.Context, c cooc.Operator, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	var r Rectifier = a.LR
	limit, why := opt.MemoryLimit, "the matrix only multiplies: LR takes the fewest products"
	if _, rows := c.(cooc.Matrix); rows {
		r, limit, why = a.choose(c.Dim(), k, opt)
	}
	first := opt
	first.MemoryLimit = limit
	res, err := r.Rectify(ctx, c, k, first)
	if me, ok := errors.AsType[*MemoryError](err); ok {
		r = a.LR
		why = fmt.Sprintf("N = %d: the exact form turned out to need about %s, more than the limit of %s", me.N, bytesize.String(me.Bytes), bytesize.String(me.Limit))
		res, err = r.Rectify(ctx, c, k, opt)
	}
	if err != nil {
		return nil, err
	}
	res.Method, res.Reason = r.String(), why
	return res, nil
}

// bytes: AP stops at the limit, and LR then takes its place.
func (a Auto) bytes(n, k int, opt Options) int64 {
	lr := a.LR.bytes(n, k, opt)
	r, limit, _ := a.choose(n, k, opt)
	if _, ok := r.(AP); !ok {
		return lr
	}
	ap := a.AP.bytes(n, k, opt)
	if stop := limit - apBytes(n, k, 0) + whole(eigenBytes(n, k)); stop < ap {
		return max(stop, lr)
	}
	return ap
}
