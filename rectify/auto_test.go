package rectify_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/rectify"
)

func TestAutoChooses(t *testing.T) {
	testutil.NotWithRace(t)
	m := moments(t, "synth")
	// The estimate for 600 words and 5 topics is 64·600·15 + 48·600²/10 bytes.
	const need = 64*600*15 + 48*(600*600/10)
	for _, c := range []struct {
		limit  int64
		method string
		reason string
	}{
		{0, "AP(", "N = 600: the exact form takes about 2.197 MiB (2304000 bytes), within the limit of 1 GiB"},
		{need, "AP(", "within the limit"},
		{need - 1, "LR(", "more than the limit"},
	} {
		res, err := rectify.Auto{}.Rectify(ctx, m, 5, rectify.Options{MemoryLimit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(res.Method, c.method) || !strings.Contains(res.Reason, c.reason) {
			t.Errorf("limit %d: %q because %q, want %q because %q", c.limit, res.Method, res.Reason, c.method, c.reason)
		}
		var r rectify.Rectifier = rectify.AP{}
		if c.method == "LR(" {
			r = rectify.LR{}
		}
		want, err := r.Rectify(ctx, m, 5, rectify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, res.C, want.C); d != 0 {
			t.Errorf("limit %d: differs from %v by %g", c.limit, r, d)
		}
	}
}

// Where more entries are negative than Auto assumes it changes its mind in the
// first iteration; AP itself refuses.
func TestAutoFindsDenseCorrections(t *testing.T) {
	testutil.NotWithRace(t)
	// Words that nearly all co-occur with few others: half of YYᵀ is negative.
	rng := rand.New(rand.NewPCG(9, 9))
	const n, k = 600, 12
	c := mat.NewSymDense(n, nil)
	sum := 0.0
	for range 6 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		if i != j {
			c.SetSym(i, j, c.At(i, j)+1)
			sum += 2
		}
	}
	c.ScaleSym(1/sum, c)
	d := newDense(t, c)
	full, err := rectify.AP{Iterations: 1}.Rectify(ctx, d, k, rectify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := full.Nonzeros[0]
	if entries < n*n/6 {
		t.Fatalf("only %d negative entries: not the case to be tested", entries)
	}
	limit := int64(64*n*(k+10) + 48*n*n/8)
	var me *rectify.MemoryError
	if _, err := (rectify.AP{}).Rectify(ctx, d, k, rectify.Options{MemoryLimit: limit}); !errors.As(err, &me) {
		t.Fatalf("AP: %v", err)
	}
	// The estimate comes from a sixteenth of the rows.
	if want := float64(64*n*(k+10) + 48*entries); math.Abs(float64(me.Bytes)-want) > 0.2*want {
		t.Errorf("AP expects %d bytes, its E has %d entries", me.Bytes, entries)
	}
	var methods []string
	for _, w := range []int{1, 3} {
		res, err := rectify.Auto{}.Rectify(ctx, d, k, rectify.Options{Workers: w, MemoryLimit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(res.Method, "LR(") {
			t.Errorf("took %s because %s", res.Method, res.Reason)
		}
		methods = append(methods, res.Method+res.Reason)
	}
	if methods[0] != methods[1] || !strings.Contains(methods[0], "turned out") {
		t.Errorf("%q", methods)
	}
}

// The limit of the options holds for Auto whatever the settings of its methods.
func TestAutoObeysTheLimit(t *testing.T) {
	m := moments(t, "synth")
	a := rectify.Auto{AP: rectify.AP{Iterations: 3}, LR: rectify.LR{ENN: rectify.ENN{Iterations: 3}}}
	for limit, method := range map[int64]string{1: "LR(", 0: "AP(", 8 << 30: "AP("} {
		res, err := a.Rectify(ctx, m, 5, rectify.Options{MemoryLimit: limit})
		if err != nil || !strings.HasPrefix(res.Method, method) || res.Iterations != 3 {
			t.Errorf("with %d bytes: %+v, %v", limit, res, err)
		}
	}
}

func TestAutoBad(t *testing.T) {
	m := moments(t, "tiny")
	for _, a := range []rectify.Auto{
		{AP: rectify.AP{Tol: math.NaN()}}, {LR: rectify.LR{Passes: -1}},
	} {
		if err := a.Validate(); err == nil {
			t.Errorf("%+v is taken for valid", a)
		}
		if _, err := a.Rectify(ctx, m, 4, rectify.Options{}); err == nil {
			t.Errorf("%+v is taken", a)
		}
	}
	if _, err := (rectify.Auto{}).Rectify(ctx, m, 26, rectify.Options{}); err == nil {
		t.Error("K > N is taken")
	}
}
