package find

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/testutil"
	"github.com/jsmf-go/spectral/jsmf"
)

// listeners are users with the numbers of their artists.
type listeners struct {
	artists []string
	users   [][]int32
}

func (l listeners) Describe(context.Context) (corpus.Description, error) {
	return corpus.Description{Vocabulary: l.artists}, nil
}

func (l listeners) Docs(context.Context) iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, words := range l.users {
			counts := slices.Repeat([]int32{1}, len(words))
			if !yield(corpus.Document{Words: words, Counts: counts}, nil) {
				return
			}
		}
	}
}

// hide takes a tenth of the artists of each user, at least one, but not the only one.
func (l listeners) hide(seed uint64) (visible, hidden listeners) {
	visible.artists, hidden.artists = l.artists, l.artists
	for u, words := range l.users {
		words = slices.Clone(words)
		rng := rand.New(rand.NewPCG(seed, uint64(u)))
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		n := min(max(1, len(words)/10), len(words)-1)
		slices.Sort(words[n:])
		visible.users, hidden.users = append(visible.users, words[n:]), append(hidden.users, words[:n])
	}
	return visible, hidden
}

// fit returns a model of k topics.
func (l listeners) fit(t testing.TB, k int) *jsmf.Model {
	t.Helper()
	c, err := corpus.Read(ctx, l)
	if err != nil {
		t.Fatal(err)
	}
	m, err := jsmf.New(k).Fit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// heldOut is the mean ln p(artist) of hidden artists, given the visible ones.
func heldOut(t testing.TB, m *jsmf.Model, visible, hidden listeners) float64 {
	t.Helper()
	docs, err := m.Transform(ctx, visible)
	if err != nil {
		t.Fatal(err)
	}
	var p mat.Dense
	p.Mul(docs.W, mat.DenseCopyOf(m.Topics()).T())
	sum, n := 0.0, 0.0
	for u, words := range hidden.users {
		for _, w := range words {
			i, ok := m.Index(hidden.artists[w])
			if !ok {
				t.Fatalf("the model has no %s", hidden.artists[w])
			}
			sum, n = sum+math.Log(p.At(u, i)), n+1
		}
	}
	return sum / n
}

// recall is the mean share of each user's hidden artists that are among ten recommended.
func recall(t testing.TB, visible, hidden listeners, recommend func(user []string) []Match) float64 {
	t.Helper()
	sum, n := 0.0, 0.0
	for u, words := range visible.users {
		if len(hidden.users[u]) == 0 {
			continue
		}
		var names []string
		for _, w := range words {
			names = append(names, visible.artists[w])
		}
		found := 0
		for _, x := range recommend(names) {
			if slices.ContainsFunc(hidden.users[u], func(w int32) bool { return hidden.artists[w] == x.Name }) {
				found++
			}
		}
		sum, n = sum+float64(found)/float64(len(hidden.users[u])), n+1
	}
	return sum / n
}

// recommended is the recall of Recommend.
func recommended(t testing.TB, m *jsmf.Model, visible, hidden listeners) float64 {
	t.Helper()
	w, err := NewWords(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	return recall(t, visible, hidden, func(names []string) []Match {
		out, err := w.Recommend(names, 10)
		if err != nil {
			t.Fatal(err)
		}
		return out
	})
}

// scored ranks the artists that a user does not have by a score.
func scored(m *jsmf.Model, names []string, score []float64) []Match {
	var all []Match
	for i, s := range score {
		if !slices.Contains(names, m.Word(i)) {
			all = append(all, Match{i, m.Word(i), s})
		}
	}
	slices.SortStableFunc(all, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return all[:10]
}

// lastfm returns the listeners of the artists with 20 listeners or more.
func lastfm(t testing.TB) listeners {
	t.Helper()
	c, err := corpus.ReadUCI(ctx, testutil.Data(t, "lastfm", "docword.lastfm.txt.gz"), testutil.Data(t, "lastfm", "vocab.lastfm.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = corpus.Curate(c, corpus.Curation{MinDocs: 20, Score: corpus.TF, MinDistinct: 2}); err != nil {
		t.Fatal(err)
	}
	if c.NumWords() != 804 {
		t.Fatalf("%d artists, want 804", c.NumWords())
	}
	l := listeners{artists: c.Vocabulary()}
	for u := range c.NumDocs() {
		words, _ := c.Doc(u)
		l.users = append(l.users, words)
	}
	return l
}

// A tenth of each listener's artists is hidden. K is the one under which further hidden
// artists, of those left, are most probable. Ten recommended artists then hold a quarter of
// the hidden ones or more, those that most listeners have a tenth. Other rankings by the
// model find no more, as the log has it.
func TestRecommendLastfm(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short, and it fits three models")
	}
	all := lastfm(t)
	visible, hidden := all.hide(1)
	within, without := visible.hide(2)
	likeliest, most := 0, math.Inf(-1)
	for _, k := range []int{20, 40} {
		m := within.fit(t, k)
		l, found := heldOut(t, m, within, without), recommended(t, m, within, without)
		t.Logf("K = %d: of the further artists, log-likelihood %.4f, recall@10 %.4f", k, l, found)
		if l > most {
			likeliest, most = k, l
		}
	}
	m := visible.fit(t, likeliest)
	plain := recommended(t, m, visible, hidden)
	t.Logf("K = %d by likelihood: recall@10 %.4f", likeliest, plain)
	listenersOf := make([]float64, m.N())
	for _, words := range visible.users {
		for _, i := range words {
			at, _ := m.Index(visible.artists[i])
			listenersOf[at]++
		}
	}
	popular := recall(t, visible, hidden, func(names []string) []Match { return scored(m, names, listenersOf) })
	t.Logf("popularity: recall@10 %.4f", popular)
	if plain < 0.25 || popular > 0.15 {
		t.Errorf("recall@10 %.4f, want 0.25 or more; popularity %.4f, want about 0.10", plain, popular)
	}
}
