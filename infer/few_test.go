package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// allTopics is the largest Tol with which MAP drops no topic.
var allTopics = math.Nextafter(fewTol, 0)

// totalVariation returns the distances of the rows of two matrices, ascending.
func totalVariation(a, b *mat.Dense) []float64 {
	m, _ := a.Dims()
	out := make([]float64, m)
	for i := range m {
		x := b.RawRowView(i)
		for k, v := range a.RawRowView(i) {
			out[i] += math.Abs(v-x[k]) / 2
		}
	}
	slices.Sort(out)
	return out
}

// Proportions without the topics that a document hardly has are near those with all of them, for
// topics with zeros and without, short documents and long ones, and whatever the order of the topics.
func TestMAPFew(t *testing.T) {
	testutil.NotWithRace(t)
	const k = 320
	for name, p := range map[string]*planted{
		"sparse, short": sparseModel(2000, k, 100, 30, 31),
		"sparse":        sparseModel(2000, k, 100, 400, 32),
		"sparse, long":  sparseModel(2000, k, 5, 20000, 33),
		"dense":         newPlanted(2000, k, 30, 400, 34),
	} {
		order := rand.New(rand.NewPCG(1, 2)).Perm(k)
		mixed := mat.NewDense(2000, k, nil)
		for i := range 2000 {
			for j, to := range order {
				mixed.Set(i, to, p.B.At(i, j))
			}
		}
		for _, sum := range []float64{2.5, 50} {
			tp := Topics{B: p.B, Alpha: slices.Repeat([]float64{sum / k}, k)}
			for _, em := range []bool{false, true} {
				run := func(tol float64, b *mat.Dense) *mat.Dense {
					tp.B = b
					out, err := prepare(t, MAP{EM: em, Tol: tol}, tp).Infer(ctx, p.docs, Options{})
					if err != nil {
						t.Fatal(err)
					}
					return out.W
				}
				few, all := run(0, p.B), run(allTopics, p.B)
				far := totalVariation(few, all)
				back := run(0, mixed)
				for d := range p.docs.ids {
					w := slices.Clone(back.RawRowView(d))
					for j, to := range order {
						back.Set(d, j, w[to])
					}
				}
				again := totalVariation(back, all)
				m := len(far)
				t.Logf("%s, Σα = %g, EM %v: %.4f in half of the documents, %.4f in 99 %%, at most %.4f; in another order %.4f", name, sum, em, far[m/2], far[m*99/100], far[m-1], again[m*99/100])
				if (name == "sparse" || name == "sparse, short") && mat.Equal(few, all) {
					t.Errorf("%s, Σα = %g, EM %v: no topic was dropped", name, sum, em)
				}
				for _, x := range [][]float64{far, again} {
					if x[m*95/100] > 0.02 || x[m-1] > 0.04 {
						t.Errorf("%s, Σα = %g, EM %v: distances of %.4f and %.4f", name, sum, em, x[m*95/100], x[m-1])
					}
				}
				for d := range m {
					sum := 0.0
					for _, v := range few.RawRowView(d) {
						if !(v > 0) {
							t.Fatalf("%s, EM %v, document %d: the proportion %v", name, em, d, v)
						}
						sum += v
					}
					if math.Abs(sum-1) > 1e-12 {
						t.Fatalf("%s, EM %v, document %d: they sum to %v", name, em, d, sum)
					}
				}
			}
		}
	}
}

// A result depends on the document alone: not on workers, nor on the documents before.
func TestMAPFewBits(t *testing.T) {
	p := sparseModel(900, 200, 60, 100, 35)
	p.docs.ids[7], p.docs.counts[7] = nil, nil
	for _, em := range []bool{false, true} {
		inf := prepare(t, MAP{EM: em}, p.Topics)
		one, err := inf.Infer(ctx, p.docs, Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		many, err := inf.Infer(ctx, p.docs, Options{Workers: 5})
		if err != nil || !mat.Equal(one.W, many.W) || !slices.Equal(one.Docs, many.Docs) {
			t.Errorf("EM %v: five workers give something else: %v", em, err)
		}
		w := make([]float64, 200)
		for d := len(p.docs.ids) - 1; d >= 0; d-- {
			ids, counts := p.docs.Doc(d)
			if doc, err := inf.InferTo(w, ids, counts); err != nil || doc != one.Docs[d] || !slices.Equal(w, one.W.RawRowView(d)) {
				t.Errorf("EM %v: document %d alone gives something else: %v", em, d, err)
			}
		}
	}
}

// Up to 128 topics none is dropped.
func TestMAPFewNot(t *testing.T) {
	for _, k := range []int{manyTopics, manyTopics + 1} {
		p := sparseModel(900, k, 30, 100, 36)
		inf := prepare(t, MAP{}, p.Topics)
		m, same := inf.method.(*mapEM), true
		s := m.scratch().(*mapScratch)
		got, want := make([]float64, k), make([]float64, k)
		for d := range p.docs.ids {
			var doc document
			ids, counts := p.docs.Doc(d)
			for i, id := range ids {
				doc.ids, doc.x = append(doc.ids, id), append(doc.x, float64(counts[i]))
				doc.n += float64(counts[i])
			}
			if _, _, err := m.steps(ctx, want, &doc, s, false); err != nil {
				t.Fatal(err)
			}
			if _, err := inf.InferTo(got, ids, counts); err != nil {
				t.Fatal(err)
			}
			same = same && slices.Equal(got, want)
		}
		if same != (k == manyTopics) {
			t.Errorf("K = %d: the same bits as with all topics: %v", k, same)
		}
	}
}

// Documents of one word, of a word of hardly any weight that is in no topic that is left, and of
// a few steps.
func TestMAPFewExtremes(t *testing.T) {
	const n, k = 600, 300
	b := mat.NewDense(n, k, nil)
	for j := range k { // each topic has two words for itself
		b.Set(2*j, j, 0.5)
		b.Set(2*j+1, j, 0.5)
	}
	tp := Topics{B: b, Alpha: slices.Repeat([]float64{0.01}, k)}
	for _, em := range []bool{false, true} {
		few, all := prepare(t, MAP{EM: em}, tp), prepare(t, MAP{EM: em, Tol: allTopics}, tp)
		for name, doc := range map[string]struct {
			ids []int32
			x   []float64
		}{
			"nothing":        {nil, nil},
			"a word":         {[]int32{17}, []float64{1}},
			"a word, often":  {[]int32{17}, []float64{1e6}},
			"two topics":     {[]int32{4, 5, 80}, []float64{3, 2, 1}},
			"hardly a word":  {[]int32{4, 5, 80}, []float64{3, 2, 1e-9}},
			"all words":      {ascending(n), slices.Repeat([]float64{1000}, n)},
			"few and many":   {[]int32{1, 90, 300}, []float64{1, 1, 1e7}},
			"hardly a token": {[]int32{1, 90, 300}, []float64{1e-300, 1e-300, 1e-300}},
		} {
			x, y := make([]float64, k), make([]float64, k)
			got, err := few.InferWeightsTo(x, doc.ids, doc.x)
			if err != nil {
				t.Errorf("EM %v, %s: %v", em, name, err)
				continue
			}
			want, err := all.InferWeightsTo(y, doc.ids, doc.x)
			if err != nil || got.Tokens != want.Tokens {
				t.Fatal(got, want, err)
			}
			if far := totalVariation(mat.NewDense(1, k, x), mat.NewDense(1, k, y))[0]; !(far <= 0.01) {
				t.Errorf("EM %v, %s: a distance of %v", em, name, far)
			}
		}
	}
	p := sparseModel(900, 200, 10, 100, 37)
	for _, steps := range []int{1, 2, 3, 4, 10} {
		few, all := infer(t, MAP{Steps: steps}, p), infer(t, MAP{Steps: steps, Tol: allTopics}, p)
		if far := totalVariation(few.W, all.W); !(far[len(far)-1] <= 0.3) || few.Docs[0].Iterations > steps {
			t.Errorf("%d steps: a distance of %v; %v", steps, far[len(far)-1], few.Docs[0])
		}
	}
}

func ascending(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
