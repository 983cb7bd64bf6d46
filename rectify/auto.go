package rectify

import (
	"context"
	"errors"
	"fmt"

	"github.com/jsmf-go/spectral/corpus/cooc"
)

// DefaultAutoMemory is the memory up to which Auto takes the exact form: 1 GiB.
const DefaultAutoMemory int64 = 1 << 30

// Auto chooses between AP, which is exact, and LR, whose cost grows with N and
// not with N²: AP while its memory stays below a limit, LR beyond. Before the
// start the estimate for AP assumes that a tenth of the N² entries will have to
// be lifted, which is more than most texts have; with the default limit the
// border is then near N = 14,500 words. Where the first iteration of AP finds
// so many more that they would not fit, as with baskets and listeners, LR is
// taken after all. Result.Method and Result.Reason say what was chosen and why.
//
// A cooc.Stream is always given to LR, which asks for no row.
type Auto struct {
	// MemoryLimit is the estimate in bytes above which LR is taken; 0 means
	// DefaultAutoMemory.
	MemoryLimit int64
	// AP and LR are the settings of the two.
	AP AP
	LR LR
}

func (a Auto) String() string {
	if a == (Auto{}) {
		return "Auto"
	}
	return fmt.Sprintf("Auto(up to %s: %v, beyond: %v)", byteString(a.limit()), a.AP, a.LR)
}

func (a Auto) limit() int64 {
	if a.MemoryLimit == 0 {
		return DefaultAutoMemory
	}
	return a.MemoryLimit
}

// Validate reports settings out of range.
func (a Auto) Validate() error {
	if a.MemoryLimit < 0 {
		return fmt.Errorf("rectify: Auto: a memory limit of %d bytes", a.MemoryLimit)
	}
	if a.AP.Dense {
		return fmt.Errorf("rectify: Auto: AP is to be dense, which takes more memory than either choice; use AP itself")
	}
	if err := a.AP.Validate(); err != nil {
		return err
	}
	return a.LR.Validate()
}

// Choose returns what Auto begins with for c and k topics, and why.
func (a Auto) Choose(c cooc.Matrix, k int) (Rectifier, string) {
	if _, ok := c.(*cooc.Stream); ok {
		return a.LR, "the documents are read in passes: LR needs the fewest"
	}
	return a.choose(c.Dim(), k)
}

func (a Auto) choose(n, k int) (Rectifier, string) {
	need, limit := apBytes(n, k, Size{Words: n}.Entries(k)), a.limit()
	if need <= limit {
		ap := a.AP
		ap.MemoryLimit = limit
		return ap, fmt.Sprintf("N = %d: the exact form takes about %s, within the limit of %s", n, byteString(need), byteString(limit))
	}
	return a.LR, fmt.Sprintf("N = %d: the exact form would take about %s, more than the limit of %s", n, byteString(need), byteString(limit))
}

// Rectify implements Rectifier by the method that Choose names.
func (a Auto) Rectify(ctx context.Context, c cooc.Matrix, k int, opt Options) (*Result, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if err := check(c, k); err != nil {
		return nil, err
	}
	r, why := a.Choose(c, k)
	res, err := r.Rectify(ctx, c, k, opt)
	if me := (*MemoryError)(nil); errors.As(err, &me) {
		r = a.LR
		why = fmt.Sprintf("N = %d: the exact form turned out to need about %s, more than the limit of %s", me.N, byteString(me.Bytes), byteString(me.Limit))
		res, err = r.Rectify(ctx, c, k, opt)
	}
	if err != nil {
		return nil, err
	}
	res.Method, res.Reason = r.String(), why
	return res, nil
}
