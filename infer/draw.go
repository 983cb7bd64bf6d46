package infer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/jsmf-go/spectral/internal/vec"
)

// Draw draws topic proportions at random from their posterior distribution, of which MAP takes one
// point. Over many documents draws vary as much as proportions do under the model; those of MAP vary
// less. Under a logistic-normal prior (Topics.Logits) logits are drawn from the normal distribution
// about their mode (Laplace), and within a family of topics proportions are drawn from a Dirichlet
// distribution. Under a Dirichlet prior proportions are drawn from the Dirichlet distribution of α and
// the tokens of each topic.
//
// Random numbers depend on Seed and on the words of the document, and on nothing else.
type Draw struct {
	Seed uint64 // of the random numbers
}

func (g Draw) String() string { return fmt.Sprintf("Draw(seed=%d)", g.Seed) }

// Prepare implements Method. It needs t.Logits, t.Alpha or t.A. O(NK).
func (g Draw) Prepare(ctx context.Context, t Topics, _ Options) (*Inferer, error) {
	return MAP{}.prepare(ctx, t, g.String(), &g)
}

// drawn draws from the Dirichlet distribution.
type drawn struct {
	*mapEM
	draw Draw
}

type drawnScratch struct {
	of  any
	rng random
}

func (m *drawn) scratch() any { return &drawnScratch{of: m.mapEM.scratch()} }

func (m *drawn) infer(ctx context.Context, dst []float64, d *document, scratch any) (Status, int, error) {
	s := scratch.(*drawnScratch)
	status, steps, err := m.mapEM.infer(ctx, dst, d, s.of)
	if err != nil {
		return status, steps, err
	}
	s.rng.seed(d, m.draw.Seed)
	for k, v := range dst {
		dst[k] = distuv.Gamma{Alpha: max(v*(d.n+m.sum), minShare), Beta: 1, Src: &s.rng.pcg}.Rand()
	}
	vec.Normalise(dst)
	return status, steps, nil
}

// random are the random numbers of a document.
type random struct {
	*rand.Rand
	pcg rand.PCG
}

// seed begins those of another document.
func (r *random) seed(d *document, seed uint64) {
	if d.seed(&r.pcg, seed); r.Rand == nil {
		r.Rand = rand.New(&r.pcg)
	}
}
