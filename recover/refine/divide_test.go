package refine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/cooc"
	"github.com/jsmf-go/spectral/internal/docstep"
	"github.com/jsmf-go/spectral/internal/estep"
	"github.com/jsmf-go/spectral/internal/sums"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/internal/vec"
)

func TestApportion(t *testing.T) {
	for _, x := range []struct {
		k       int
		weights []float64
		want    []int
	}{
		{5, []float64{1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1}},
		{10, []float64{5, 3, 2}, []int{5, 3, 2}},
		{7, []float64{1, 1, 1}, []int{3, 2, 2}},        // the first of those alike
		{8, []float64{1, 1, 1}, []int{3, 3, 2}},        //
		{10, []float64{3.4, 3.3, 3.3}, []int{4, 3, 3}}, // the largest remainder
		{10, []float64{2.2, 3.7, 4.1}, []int{2, 4, 4}}, //
		{4, []float64{100, 1e-9, 0}, []int{2, 1, 1}},   // at least one each
		{6, []float64{100, 100, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1, 1}},
		{10, []float64{-2, 1, 3}, []int{2, 2, 6}}, // a number that is given
		{10, []float64{-2, -3, 1}, []int{2, 3, 5}},
		{10, []float64{-2, -3}, []int{2, 3}}, // not all can be shared out
		{5, []float64{0, 0}, []int{3, 2}},
	} {
		if got := apportion(x.k, slices.Clone(x.weights)); !slices.Equal(got, x.want) {
			t.Errorf("%d by %v: %v, want %v", x.k, x.weights, got, x.want)
		}
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		weights := make([]float64, 1+rnd.IntN(12))
		least := 0
		for i := range weights {
			weights[i] = math.Exp(3 * rnd.NormFloat64())
			if rnd.IntN(4) == 0 {
				weights[i] = -float64(1 + rnd.IntN(4))
			}
			least += max(1, int(-weights[i]))
		}
		k := least + rnd.IntN(40)
		got, sum := apportion(k, weights), 0
		for i, n := range got {
			sum += n
			if n < 1 || weights[i] < 0 && n != int(-weights[i]) {
				t.Fatalf("%d by %v: %v", k, weights, got)
			}
			for j, m := range got {
				if weights[i] >= 0 && weights[i] < weights[j] && n > m {
					t.Fatalf("%d by %v: %v, more for less", k, weights, got)
				}
			}
		}
		if slices.Max(weights) > 0 && sum != k {
			t.Fatalf("%d by %v: %v, %d in all", k, weights, got, sum)
		}
	}
}

// clustered returns documents, each with words of one or two of so many clusters of 15, the first of which
// begins with word from.
func clustered(rnd *rand.Rand, from, clusters, docs int) (out [][]float64) {
	for range docs {
		counts := make([]float64, from+15*clusters)
		one, two := rnd.IntN(clusters), rnd.IntN(clusters)
		for i := range 30 {
			c := one
			if i%3 == 0 {
				c = two
			}
			counts[from+15*c+min(rnd.IntN(15), rnd.IntN(15))] += 0.9
		}
		out = append(out, counts)
	}
	return out
}

// together returns the words that tell documents apart and their co-occurrence, by definition: the mean of
// xxᵀ/‖x‖², with x a document's counts times idf.
func together(t *testing.T, docs [][]float64, k int) (*cooc.Dense, []int32) {
	t.Helper()
	n := len(docs[0])
	f := frequencies{docs: float64(len(docs)), df: make([]float64, n), shares: make([]float64, n)}
	for _, x := range docs {
		for w, v := range x {
			f.df[w] += min(1, v)
			f.shares[w] += v / vec.Sum(x)
		}
	}
	words, idf := f.telling(k, nil)
	c := mat.NewSymDense(len(words), nil)
	for _, x := range docs {
		v := mat.NewVecDense(len(words), nil)
		for i, w := range words {
			v.SetVec(i, x[w]*idf[w])
		}
		c.SymRankOne(c, 1/mat.Dot(v, v), v)
	}
	c.ScaleSym(1/mat.Sum(c), c)
	x, err := cooc.NewDense(c)
	if err != nil {
		t.Fatal(err)
	}
	return x, words
}

// A part is divided into the clusters that it is made of, each with most of itself on the words of
// one (documents of two clusters leave 0.8), and a share that is about that of its tokens.
func TestDivide(t *testing.T) {
	const clusters = 5
	x, words := together(t, clustered(rand.New(rand.NewPCG(1, 2)), 7, clusters, 400), clusters)
	children, err := divide(t.Context(), x, words, clusters)
	if err != nil || len(children) != clusters {
		t.Fatalf("%d children, %v", len(children), err)
	}
	found := map[int]bool{}
	for _, c := range children {
		var mass [clusters]float64
		sum := 0.0
		for i, w := range c.words {
			if i > 0 && w <= c.words[i-1] || c.b[i] < 0 {
				t.Fatalf("words %v, probabilities %v", c.words, c.b)
			}
			mass[(w-7)/15] += c.b[i]
			sum += c.b[i]
		}
		best := slices.Index(mass[:], slices.Max(mass[:]))
		found[best] = true
		if mass[best] < 0.8 || math.Abs(sum-1) > 1e-12 || math.Abs(c.share-0.2) > 0.1 {
			t.Errorf("a child of %v of the clusters, of sum %v and with a share of %v", mass, sum, c.share)
		}
	}
	if len(found) != clusters {
		t.Errorf("clusters %v", found)
	}
	// No more than there are, and none of what cannot be divided.
	for _, k := range []int{18, 19, 75} { // a topic for four words at most
		if more, err := divide(t.Context(), x, words, k); err != nil || len(more) < 2 || len(more) > 18 {
			t.Errorf("%d children of 75 words where %d are asked for, %v", len(more), k, err)
		}
	}
	if none, err := divide(t.Context(), x, words, 1); err != nil || none != nil {
		t.Errorf("%d children where one is asked for, %v", len(none), err)
	}
}

// What cannot be divided gives its topics to others. Where these cannot be divided either, the error
// names the numbers.
func TestChildren(t *testing.T) {
	f := &topics{workers: 2}
	odd := func(t, k int) ([]child, error) { // the others cannot be divided
		if t%2 == 0 {
			return nil, nil
		}
		return make([]child, min(k, 7)), nil
	}
	weights := []float64{1, 1.2, 1, 0.9}
	first := apportion(12, weights)
	if first[0] < 2 || first[2] < 2 {
		t.Fatalf("%v topics are asked for", first)
	}
	children, err := f.children(t.Context(), weights, 12, odd)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(children[1]) + len(children[3]); children[0] != nil || children[2] != nil || n != 10 || len(children[1]) < 4 || len(children[3]) < 4 {
		t.Errorf("%d, %d, %d and %d children", len(children[0]), len(children[1]), len(children[2]), len(children[3]))
	}
	f.want = 5 // of which two are found; seven are asked for, to be merged
	if _, err := f.children(t.Context(), weights[:1], 7, odd); err == nil || !strings.HasPrefix(err.Error(), "5 topics cannot be made of the 1 that there are, but 1:") {
		t.Errorf("error %v", err)
	}
	// Fewer than those to be merged are enough.
	f.want = 10
	if children, err := f.children(t.Context(), weights, 40, odd); err != nil || len(children[1])+len(children[3]) != 14 {
		t.Errorf("%d and %d children, error %v", len(children[1]), len(children[3]), err)
	}
}

// tree returns a stripes of a planted tree with topics split into k, and its documents.
func tree(t *testing.T, p *testutil.Planted, each int, c *corpus.Corpus, k int) *stripes {
	t.Helper()
	f := begun(t, Passes{}, c, Families(p, each), p.K, 4)
	if err := f.split(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := f.pass(t.Context(), turn{begins: true}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// counts returns the tokens of each document by topic, of all topics.
func (f *stripes) counts(t *testing.T) (out [][]float32) {
	t.Helper()
	var w worker
	for i := range f.docs.Blocks() {
		if err := f.docs.Block(i, &w.block); err != nil {
			t.Fatal(err)
		}
		if err := f.state.get(&w.rows, i, &w.block, false); err != nil {
			t.Fatal(err)
		}
		for d := range w.block.Docs() {
			var all []float32
			out = append(out, w.rows.whole(d, &all)[:f.k])
		}
	}
	return out
}

// A is the mean of E[θθᵀ] by its definition, of documents with weights that keep some topics, to
// rounding; documents without tokens and those of weight 0 do not count.
func TestSplitMoments(t *testing.T) {
	p := testutil.NewPlantedTree(6, 6, 5)
	c := planted(t, p, 700, 50)
	weights := make([]float64, c.NumDocs())
	for d := range weights {
		weights[d] = float64(d % 4)
	}
	c, err := c.WithWeights(weights)
	if err != nil {
		t.Fatal(err)
	}
	f := tree(t, p, 6, c, 45)
	if f.k != 45 || f.state.some == nil {
		t.Fatalf("%d topics", f.k)
	}
	blocks := 0
	for _, h := range f.state.some {
		for _, n := range h.left {
			blocks += int(n)
		}
	}
	if most := f.info.Documents * estep.Padded(45) / estep.BlockSize; blocks >= most {
		t.Errorf("documents keep %d of %d blocks of topics", blocks, most)
	}
	want, all := mat.NewDense(45, 45, nil), 0.0
	for d, n := range f.counts(t) {
		if weights[d] == 0 || c.DocLen(d) == 0 {
			continue
		}
		all += weights[d]
		s := 0.0
		for _, v := range n {
			s += float64(v) + f.alpha
		}
		for i, v := range n {
			for j, u := range n {
				x := (float64(v) + f.alpha) * (float64(u) + f.alpha)
				if i == j {
					x += float64(v) + f.alpha
				}
				want.Set(i, j, want.At(i, j)+weights[d]*x/(s*(s+1)))
			}
		}
	}
	var res Result
	if _, err := f.last(t.Context(), &res); err != nil {
		t.Fatal(err)
	}
	res.A.Scale(1/mat.Sum(res.A), res.A)
	want.Scale(1/all, want)
	// The products of a document are rounded to float32.
	if !mat.EqualApprox(res.A, want, 1e-9) || !mat.Equal(res.A, res.A.T()) {
		t.Errorf("A differs from its definition:\n%v\n%v", mat.Row(nil, 0, res.A), mat.Row(nil, 0, want))
	}
	if math.Abs(mat.Sum(want)-1) > 1e-12 {
		t.Errorf("the mean of E[θθᵀ] sums to %v", mat.Sum(want))
	}
}

// Of many topics, pairs of one family alone are candidates, and they are priced within it.
func TestSplitCandidates(t *testing.T) {
	p := testutil.NewPlantedTree(6, 6, 5)
	f := tree(t, p, 6, planted(t, p, 700, 50), 45)
	families := f.families()
	if len(families) != 6 || len(slices.Concat(families...)) != 45 {
		t.Fatalf("families %v", families)
	}
	of := f.groups[0]
	pairs, err := f.candidates(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for g, family := range families {
		want += len(family) * (len(family) - 1) / 2
		for _, c := range family {
			if of[c] != g {
				t.Errorf("column %d of group %d is in family %d", c, of[c], g)
			}
		}
	}
	for _, m := range pairs {
		if of[m.Into] != of[m.From] || m.Into >= m.From {
			t.Errorf("topics %v of groups %d and %d", m.Pair, of[m.Into], of[m.From])
		}
	}
	if len(pairs) != want {
		t.Errorf("%d pairs, want %d", len(pairs), want)
	}
	// Merging leaves the tokens of a document, in the group that they were in, and compacting too.
	before := f.counts(t)
	for i := range 2 {
		pairs := cheapest(slices.Clone(pairs), 4)
		if i > 0 {
			pairs = nil
		}
		if err := f.join(t.Context(), pairs); err != nil {
			t.Fatal(err)
		}
		if err := f.joined(t.Context(), pairs, i > 0); err != nil {
			t.Fatal(err)
		}
		of := f.groups[0]
		for d, n := range f.counts(t) {
			var was, is [6]float64
			for k, v := range before[d] {
				was[slices.IndexFunc(families, func(f []int) bool { return slices.Contains(f, k) })] += float64(v)
			}
			for k, v := range n {
				is[of[k]] += float64(v)
			}
			for g := range was {
				if math.Abs(was[g]-is[g]) > 1e-5*(1+was[g]) {
					t.Fatalf("document %d has %v tokens of families, and had %v", d, is, was)
				}
			}
		}
	}
	if f.k != 41 || f.rows.K != 41 || f.state.k != 41 || f.tree().Validate(41) != nil {
		t.Errorf("%d columns, %d of the topics, %d of the documents, %v", f.k, f.rows.K, f.state.k, f.tree())
	}
}

// The split does not see hidden tokens: with other ones it makes the same topics, and the documents
// have the same tokens of them.
func TestSplitIsBlindToHiddenTokens(t *testing.T) {
	testutil.NotWithRace(t)
	p := testutil.NewPlantedTree(4, 4, 5)
	c := planted(t, p, 3000, 60)
	f := begun(t, Passes{}, c, Families(p, 4), p.K, 4)
	if !f.seen.hides {
		t.Fatal("no tokens are hidden")
	}
	b, changed := corpus.Builder{Vocabulary: c.Vocabulary()}, 0
	var block corpus.Block
	for i := range f.docs.Blocks() {
		if err := f.docs.Block(i, &block); err != nil {
			t.Fatal(err)
		}
		for d := range block.Docs() {
			words, counts := block.Doc(d)
			doc := corpus.Document{ID: fmt.Sprint("document ", block.First+d), Words: slices.Clone(words), Counts: slices.Clone(counts)}
			if f.holdsOut(block.Key(d)) {
				// Every other token is hidden, and takes the word of the one before it.
				var tokens []int32
				for i, w := range words {
					for range counts[i] {
						tokens = append(tokens, w)
					}
				}
				doc.Words, doc.Counts = nil, nil
				for i, w := range tokens {
					if i%2 == 1 && w != tokens[i-1] {
						w = tokens[i-1]
						changed++
					}
					doc.Words, doc.Counts = append(doc.Words, w), append(doc.Counts, 1)
				}
			}
			if err := b.Add(doc); err != nil {
				t.Fatal(err)
			}
		}
	}
	other, err := b.Corpus()
	if err != nil || changed < 1000 {
		t.Fatalf("%d tokens have changed, %v", changed, err)
	}
	g := begun(t, Passes{}, other, Families(p, 4), p.K, 1)
	same := func() { // as after the passes of f; the unigram distribution has all tokens
		copy(g.rows.Data, f.rows.Data)
		copy(g.state.mem, f.state.mem)
		copy(g.unigram, f.unigram)
	}
	same()
	parts := func(s *stripes) []int64 {
		t.Helper()
		sum, err := s.sum(t.Context(), &sums.Parts{Pass: &sums.Pass{Task: sums.Compare, Topics: s.rows, Words: f.seen.allWords, Docs: 3000}, Least: 10})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	x := parts(f)
	if !slices.Equal(x, parts(g)) {
		t.Fatal("other parts of documents")
	}
	g.seen.hides = false
	if slices.Equal(x, parts(g)) {
		t.Error("the same parts with the hidden tokens")
	}
	g.seen.hides = true
	for _, s := range []*stripes{f, g} {
		if err := s.split(t.Context(), p.K); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(f.rows.Data, g.rows.Data) || !reflect.DeepEqual(f.counts(t), g.counts(t)) || !reflect.DeepEqual(f.groups, g.groups) {
		t.Error("other topics, or other tokens of documents")
	}
}

// Split topics are distributions over words, and a document keeps its tokens, all of them where it
// keeps all topics.
func TestSplitKeepsTokens(t *testing.T) {
	p := testutil.NewPlantedTree(4, 5, 5)
	for _, length := range []int{50, 5} {
		f := begun(t, Passes{}, planted(t, p, 900, length), Families(p, 5), p.K, 4)
		if f.sparse() != (length == 50) {
			t.Fatalf("length %d: sparse is %v", length, f.sparse())
		}
		if err := f.split(t.Context(), p.K); err != nil {
			t.Fatal(err)
		}
		for k := range f.k {
			sum := 0.0
			for w := range f.n {
				sum += float64(f.rows.Row(w)[k])
			}
			if math.Abs(sum-1) > 1e-4 {
				t.Errorf("length %d: topic %d sums to %v", length, k, sum)
			}
		}
		w, counts := worker{Document: docstep.NewDocument(f.k)}, f.counts(t)
		for i := range f.docs.Blocks() {
			if err := f.docs.Block(i, &w.block); err != nil {
				t.Fatal(err)
			}
			for d := range w.block.Docs() {
				f.load(&w, d, f.holdsOut(w.block.Key(d)))
				if sum := float64(sumOf(counts[w.block.First+d])); math.Abs(sum-float64(w.Visible.Sum)) > 1e-4*(1+sum) {
					t.Fatalf("length %d: document %d has %v of its %d tokens", length, w.block.First+d, sum, w.Visible.Sum)
				}
			}
		}
	}
}

// Topics are split in one level while each becomes few.
func TestLevels(t *testing.T) {
	for _, x := range []struct {
		k, want int
		levels  []int
	}{{6, 6, nil}, {6, 3, nil}, {20, 80, []int{100}}, {20, 320, []int{400}}, {20, 321, []int{90, 401}}, {1, 16, []int{20}}, {1, 20, []int{5, 25}}, {32, 1000, []int{200, 1250}}} {
		s := topics{k: x.k, want: x.want}
		if got := s.levels(s.surplus()); !slices.Equal(got, x.levels) {
			t.Errorf("%d topics of %d: %v, want %v", x.want, x.k, got, x.levels)
		}
	}
}

// Families returns the mean of each of so many topics, one after the other.
func Families(p *testutil.Planted, each int) *mat.Dense {
	b := mat.NewDense(p.N, p.K/each, nil)
	for i := range p.N {
		for t := range p.K {
			b.Set(i, t/each, b.At(i, t/each)+p.B.At(i, t)/float64(each))
		}
	}
	return b
}
