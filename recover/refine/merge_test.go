package refine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// planted yields documents of a planted model with ids.
func planted(t *testing.T, p *testutil.Planted, docs, length int) *corpus.Corpus {
	t.Helper()
	b := corpus.Builder{}
	for i := range p.N {
		b.Vocabulary = append(b.Vocabulary, fmt.Sprint("w", i))
	}
	lengths := make([]int, docs)
	for m := range lengths {
		lengths[m] = 1 + (m*m)%(2*length)
	}
	for m, counts := range p.Documents(lengths, 5) {
		d := corpus.Document{ID: fmt.Sprint("document ", m)}
		for w, x := range counts {
			d.Words, d.Counts = append(d.Words, int32(w)), append(d.Counts, int32(x))
		}
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// begun returns a stripes after a few passes, and its documents.
func begun(t *testing.T, p Passes, c *corpus.Corpus, b *mat.Dense, want, passes int) *stripes {
	t.Helper()
	f, err := p.withDefaults().begin(t.Context(), c.Source(), Start{B: b}, Options{K: want, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.state.close(); err != nil {
			t.Error(err)
		}
	})
	for i := range passes {
		if _, err := f.pass(t.Context(), turn{first: i == 0, begins: i == 0, merge: i == passes-1}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// brute is what the documents of the sample lose of their log-likelihood if topics i and j
// are one: its distribution is that of both topics' tokens, its weight in a document the
// sum of theirs.
func brute(t *testing.T, f *stripes, every int64, i, j int) float64 {
	t.Helper()
	loss := 0.0
	both := f.totals[i] + f.totals[j]
	w := worker{Document: docstep.NewDocument(f.k)}
	for at := range f.docs.Blocks() {
		if err := f.docs.Block(at, &w.block); err != nil {
			t.Fatal(err)
		}
		if err := f.state.get(&w.rows, at, &w.block, false); err != nil {
			t.Fatal(err)
		}
		for d := range w.block.Docs() {
			key := w.block.Key(d)
			if (key>>1)%(1<<30)%uint64(every) != 0 {
				continue
			}
			f.load(&w, d, f.holdsOut(key))
			n, _ := w.rows.doc(d)
			for at, word := range w.Visible.Words {
				row, apart, as := f.rows.Row(int(word)), 0.0, 0.0
				for k, v := range n {
					weight := float64(v) + f.alpha
					apart += weight * float64(row[k])
					if k != i && k != j {
						as += weight * float64(row[k])
					}
				}
				b := (f.totals[i]*float64(row[i]) + f.totals[j]*float64(row[j])) / both
				as += (float64(n[i]) + float64(n[j]) + 2*f.alpha) * b
				loss += float64(w.Visible.Counts[at]) * math.Log(apart/as)
			}
		}
	}
	return loss
}

// The cost of each pair is the log-likelihood that really gets lost, of all documents and
// of a sample. It is a sum of differences of float32 numbers, to 1e-6 of the mean loss of a
// token, which is below 1.
func TestLosses(t *testing.T) {
	testutil.NotWithRace(t)
	for _, x := range []struct {
		docs, length int
		sampled      bool
	}{{150, 40, false}, {5000, 120, true}} {
		p := testutil.NewPlanted(150, 7, 0.3, 3)
		c := planted(t, p, x.docs, x.length)
		f := begun(t, Passes{}, c, p.B, 4, 3)
		every := max(1, f.info.Nonzeros/mergePairs)
		if x.sampled != (every > 1) {
			t.Fatalf("a sample of one of %d documents", every)
		}
		var pairs []merged
		for j := range f.k {
			for i := range j {
				pairs = append(pairs, merged{Pair: docstep.Pair{Into: i, From: j}})
			}
		}
		if err := f.price(t.Context(), pairs); err != nil {
			t.Fatal(err)
		}
		for _, m := range pairs {
			want := brute(t, f, every, m.Into, m.From)
			if tol := 1e-6 * float64(f.seen.tokens) / float64(every); !(math.Abs(m.cost-want) <= tol) || want <= 0 {
				t.Errorf("%+v: topics %d and %d cost %v, want %v (tolerance %.2g)", x, m.Into, m.From, m.cost, want, tol)
			}
		}
	}
}

// split returns a start with the topics of b and, for each in parts, one more: the words
// of a topic are shared out between it and the new one, each other word to either.
func split(b *mat.Dense, topics []int) *mat.Dense {
	n, k := b.Dims()
	out := mat.NewDense(n, k+len(topics), nil)
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(b)
	for i, t := range topics {
		sums := [2]float64{}
		for w := range n {
			v, part := b.At(w, t), (w+i)%2
			cols := [2]int{t, k + i}
			out.Set(w, cols[part], 0.9*v)
			out.Set(w, cols[1-part], 0.1*v)
			sums[part] += 0.9 * v
			sums[1-part] += 0.1 * v
		}
		for w := range n {
			out.Set(w, t, out.At(w, t)/sums[0])
			out.Set(w, k+i, out.At(w, k+i)/sums[1])
		}
	}
	return out
}

// copies returns a start with the topics of b and some of them twice.
func copies(b *mat.Dense, topics []int) *mat.Dense {
	n, k := b.Dims()
	out := mat.NewDense(n, k+len(topics), nil)
	out.Slice(0, n, 0, k).(*mat.Dense).Copy(b)
	for i, t := range topics {
		for w := range n {
			out.Set(w, k+i, b.At(w, t))
		}
	}
	return out
}

// apart is the ℓ₁ distance of two topics.
func apart(x, y mat.Vector) float64 {
	sum := 0.0
	for w := range x.Len() {
		sum += math.Abs(x.AtVec(w) - y.AtVec(w))
	}
	return sum
}

// Topics that the start has twice, or in two halves, are merged with each other, whenever
// that happens, and no others. The distance of 0.4 is what some 15,000 tokens a topic leave
// undetermined after twenty passes; two topics in one would be further from either.
func TestMergesTheRightTopics(t *testing.T) {
	testutil.NotWithRace(t)
	const maxMoved = 0.4
	p := testutil.NewPlanted(200, 6, 0, 11)
	for i := range 6 {
		for j := range i {
			if d := apart(p.B.ColView(i), p.B.ColView(j)) / 2; d < maxMoved {
				t.Fatalf("topics %d and %d would be at a distance of %v from both", i, j, d)
			}
		}
	}
	c := planted(t, p, 1500, 60)
	for _, x := range []struct {
		name   string
		make   func(*mat.Dense, []int) *mat.Dense
		twice  []int
		passes []int
	}{
		{"copies", copies, []int{0, 1, 2, 3, 4, 5}, []int{1, 2, 5, 6, 7, 20}},
		{"halves", split, []int{0, 1, 2, 3, 4, 5}, []int{1, 2, 5, 6, 7, 20}},
		{"some copies", copies, []int{4, 1}, []int{1, 9}},
		{"some halves", split, []int{3, 0, 5}, []int{2, 14}},
	} {
		start := x.make(p.B, x.twice)
		for _, n := range x.passes {
			correlated := -1 // in one case they follow the merges
			if n == 20 {
				correlated = 0
			}
			for _, method := range []Refiner{Passes{N: n, Correlated: correlated}, Batch{N: n, Correlated: correlated}} {
				name := fmt.Sprintf("%s, %v", x.name, method)
				r, err := method.Refine(t.Context(), c.Source(), Start{B: start}, Options{K: 6})
				if err != nil {
					t.Fatal(err)
				}
				if _, k := r.B.Dims(); k != 6 || len(r.From) != 6 || len(r.Alpha) != 6 {
					t.Fatalf("%s: %d topics, %d origins, %d α", name, k, len(r.From), len(r.Alpha))
				}
				for k, a := range r.Alpha {
					if a != alphaSum/6 {
						t.Errorf("%s: α of topic %d is %v", name, k, a)
					}
				}
				for k, from := range r.From {
					if from != k && (from < 6 || x.twice[from-6] != k) {
						t.Errorf("%s: topics %v", name, r.From)
					}
					if d := apart(r.B.ColView(k), p.B.ColView(k)); d > maxMoved {
						t.Errorf("%s: topic %d is at a distance of %.2f from the planted one", name, k, d)
					}
				}
			}
		}
	}
}

// Merging makes of two columns one, in all that is held, and leaves the others.
func TestJoin(t *testing.T) {
	p := testutil.NewPlanted(80, 6, 0.3, 7)
	f := begun(t, Passes{}, planted(t, p, 100, 30), p.B, 4, 2)
	counts, state, totals := slices.Clone(f.sums.Data), slices.Clone(f.state.mem), slices.Clone(f.totals)
	f.totals[5] = f.totals[1] + 1 // topic 5 is the larger
	pairs := []merged{pair(1, 5, 0), pair(0, 2, 0)}
	if err := cmp.Or(f.join(t.Context(), pairs), f.joined(t.Context(), pairs, false)); err != nil {
		t.Fatal(err)
	}
	if err := f.learn(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.alive, []int{0, 1, 3, 4}) || f.origin[1] != 5 {
		t.Fatalf("columns %v from %v", f.alive, f.origin)
	}
	into := []int{0, 1, 0, 3, 4, 1}
	prior := f.beta * float64(f.n)
	for k := range 6 {
		want := 0.0
		for from, to := range into {
			if to == k {
				want += totals[from] - prior
			}
		}
		if into[k] == k && !(math.Abs(f.totals[k]-prior-want) <= 1e-7*want) {
			t.Errorf("topic %d has %v tokens, want %v", k, f.totals[k]-prior, want)
		}
	}
	check := func(name string, now func(k int) float64, row []float64, tol float64) {
		t.Helper()
		for k := range 6 {
			want := 0.0
			for from, to := range into {
				if to == k {
					want += row[from]
				}
			}
			if !(math.Abs(now(k)-want) <= tol*(1+want)) {
				t.Fatalf("%s: column %d is %v, want %v", name, k, now(k), want)
			}
		}
	}
	for w := range f.n {
		row := make([]float64, 6)
		for k := range row {
			row[k] = float64(counts[w*f.sums.Stride+k])
		}
		check("a word", func(k int) float64 { return float64(f.sums.Row(w)[k]) }, row, 1e-7)
	}
	for d := range f.info.Documents {
		row := make([]float64, 6)
		for k := range row {
			row[k] = float64(state[d*6+k])
		}
		check("a document", func(k int) float64 { return float64(f.state.mem[d*6+k]) }, row, 1e-7)
	}
	rows := make([][]float32, f.n)
	for w := range rows {
		for _, k := range f.alive {
			rows[w] = append(rows[w], f.rows.Row(w)[k])
		}
	}
	if err := cmp.Or(f.joined(t.Context(), nil, true), f.learn(t.Context())); err != nil {
		t.Fatal(err)
	}
	for w, want := range rows {
		if !slices.Equal(f.rows.Row(w), want) {
			t.Fatalf("word %d: %v without the columns that are gone, %v before", w, f.rows.Row(w), want)
		}
	}
	for i, k := range f.alive {
		if i != k {
			t.Errorf("columns %v", f.alive)
		}
	}
	if f.k != 4 || f.rows.K != 4 || len(f.state.mem) != 4*f.info.Documents || f.sums.K != 4 {
		t.Errorf("%d columns, %d of the topics, %d numbers of documents", f.k, f.rows.K, len(f.state.mem))
	}
}

func pair(into, from int, cost float64) merged {
	return merged{docstep.Pair{Into: into, From: from}, cost}
}

// The cheapest pairs that have no topic in common.
func TestCheapest(t *testing.T) {
	pairs := []merged{pair(0, 1, 5), pair(1, 2, 1), pair(0, 2, 2), pair(3, 4, 3), pair(0, 3, 4)}
	if got, want := cheapest(slices.Clone(pairs), 2), []merged{pair(1, 2, 1), pair(3, 4, 3)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := cheapest(slices.Clone(pairs), 9), []merged{pair(1, 2, 1), pair(3, 4, 3)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
