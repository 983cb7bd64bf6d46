package held_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/held"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/corpus/text"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// tokenDoc is a document of an accumulator in the tests.
type tokenDoc struct {
	id     string
	at     int64
	tokens []string
}

// tokenDocs draws documents of 0 to 30 tokens, frequent and rare words.
func tokenDocs(rng *rand.Rand, docs, words int) []tokenDoc {
	out := make([]tokenDoc, docs)
	for m := range out {
		out[m] = tokenDoc{id: fmt.Sprintf("doc%d", m), at: int64(m)}
		for range rng.IntN(31) {
			w := int(float64(words) * math.Pow(rng.Float64(), 3))
			out[m].tokens = append(out[m].tokens, fmt.Sprintf("w%03d", w))
		}
	}
	return out
}

func accumulate(t testing.TB, o held.Options, docs []tokenDoc) *held.Accumulator {
	t.Helper()
	a, err := held.New(o)
	if err != nil {
		t.Fatal(err)
	}
	addAll(t, a, docs)
	return a
}

func addAll(t testing.TB, a *held.Accumulator, docs []tokenDoc) {
	t.Helper()
	for _, d := range docs {
		if err := a.AddAt(corpus.Document{ID: d.id, Tokens: d.tokens}, d.at); err != nil {
			t.Fatal(err)
		}
	}
}

// corpusOf returns the documents of a snapshot as a corpus.
func corpusOf(t testing.TB, s *held.Snapshot) *corpus.Corpus {
	t.Helper()
	c, err := s.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameHeld checks that two accumulators give the same corpus.
func sameHeld(t *testing.T, what string, a, b *held.Accumulator) {
	t.Helper()
	sameDocuments(t, what, corpusOf(t, a.Snapshot()), corpusOf(t, b.Snapshot()))
}

// sameDocuments checks that two corpora have the same words, documents and weights.
func sameDocuments(t *testing.T, what string, got, want *corpus.Corpus) {
	t.Helper()
	if g, w := got.Vocabulary(), want.Vocabulary(); !slices.Equal(g, w) {
		t.Fatalf("%s: the vocabulary has %d words, want %d others", what, len(g), len(w))
	}
	if got.NumDocs() != want.NumDocs() || !slices.Equal(got.Weights(), want.Weights()) {
		t.Fatalf("%s: %d documents, want %d with the same weights", what, got.NumDocs(), want.NumDocs())
	}
	for m := range got.NumDocs() {
		words, counts := got.Doc(m)
		ww, wc := want.Doc(m)
		if got.ID(m) != want.ID(m) || !slices.Equal(words, ww) || !slices.Equal(counts, wc) {
			t.Fatalf("%s: document %s has %v %v, want %s with %v %v", what, got.ID(m), words, counts, want.ID(m), ww, wc)
		}
	}
}

func TestAccumulatorOrderAndRemoval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	docs := tokenDocs(rng, 300, 120)
	for name, o := range map[string]held.Options{
		"grows":   {StopWords: []string{"w000"}},
		"fixed":   {Vocabulary: []string{"w003", "w001", "w010", "w040"}, MinDocs: -1},
		"bounded": {Vocabulary: []string{"w003", "w001"}, MinDocs: 2, MaxWords: 30},
		"decays":  {MinDocs: 3, HalfLife: 50},
	} {
		t.Run(name, func(t *testing.T) {
			all := accumulate(t, o, docs)
			before := all.Stats()

			// In any order.
			mixed := accumulate(t, o, nil)
			for _, m := range rng.Perm(len(docs)) {
				addAll(t, mixed, docs[m:m+1])
			}
			sameHeld(t, "order", all, mixed)

			// Others come and go again.
			others := tokenDocs(rng, 200, 150)
			for i := range others {
				others[i].id = "other " + others[i].id
				others[i].at += 37
			}
			addAll(t, all, others)
			for _, m := range rng.Perm(len(others)) {
				if !all.Remove(others[m].id) {
					t.Fatalf("%s was not held", others[m].id)
				}
			}
			sameHeld(t, "removal", all, mixed)
			after := all.Stats()
			after.Unknown = before.Unknown // counts what was left out so far
			if after != before {
				t.Errorf("after removal: %+v, before %+v", after, before)
			}
			if all.Remove("doc of nobody") || all.Has(others[0].id) || !all.Has("doc7") {
				t.Error("Remove or Has is wrong about what is held")
			}

			// Half of them: as those never added.
			half := accumulate(t, o, docs[:150])
			for _, d := range docs[150:] {
				all.Remove(d.id)
			}
			sameHeld(t, "half", all, half)
		})
	}
}

// The corpus is that which a Builder makes of the same documents.
func TestAccumulatorIsTheCorpus(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	docs := tokenDocs(rng, 60, 150)
	s := accumulate(t, held.Options{MinDocs: 4}, docs).Snapshot()
	df := map[string]int{}
	for _, d := range docs {
		for i, w := range d.tokens {
			if slices.Index(d.tokens, w) == i {
				df[w]++
			}
		}
	}
	var vocab []string
	for w, n := range df {
		if n >= 4 {
			vocab = append(vocab, w)
		}
	}
	slices.Sort(vocab)
	if got := s.Vocabulary(); !slices.Equal(got, vocab) {
		t.Fatalf("vocabulary %q, want %q", got, vocab)
	}
	b := corpus.Builder{Vocabulary: vocab}
	for _, d := range docs {
		if err := b.AddTokens(d.id, "", d.tokens); err != nil {
			t.Fatal(err)
		}
	}
	want, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	sameDocuments(t, "snapshot", corpusOf(t, s), want)
}

func TestAccumulatorWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	docs := tokenDocs(rng, 150, 60)
	last := accumulate(t, held.Options{MinDocs: 2}, docs[110:])
	count := accumulate(t, held.Options{MinDocs: 2, Window: 40}, docs)
	sameHeld(t, "by number", count, last)
	age := accumulate(t, held.Options{MinDocs: 2, MaxAge: 40}, docs)
	sameHeld(t, "by age", age, last)
	if n := count.Stats().Evicted; n != 110 {
		t.Errorf("%d documents evicted, want 110", n)
	}
	// Whatever the order of arrival.
	for _, o := range []held.Options{{MinDocs: 2, Window: 40}, {MinDocs: 2, MaxAge: 40}} {
		mixed := accumulate(t, o, nil)
		for _, m := range rng.Perm(len(docs)) {
			addAll(t, mixed, docs[m:m+1])
		}
		sameHeld(t, "mixed", mixed, last)
	}
	if c, err := age.Snapshot().Corpus(); err != nil || c.Weights() != nil {
		t.Errorf("weights without decay, %v", err)
	}
	// Times at the ends of what an int64 holds.
	far := accumulate(t, held.Options{MinDocs: 1, MaxAge: 1000}, []tokenDoc{{"old", math.MinInt64, nil}, {"new", math.MaxInt64, nil}})
	if far.Has("old") || !far.Has("new") {
		t.Error("the span of all times was not seen")
	}
	if err := far.Add(corpus.Document{ID: "later"}); err == nil {
		t.Error("there is no time after the last")
	}
}

// A window that is changed: what it then holds is what it would hold had it been
// so from the beginning, but that nothing comes back.
func TestAccumulatorSetWindow(t *testing.T) {
	docs := tokenDocs(rand.New(rand.NewPCG(15, 16)), 150, 60)
	set := func(a *held.Accumulator, window int, age int64, half float64, want int) {
		t.Helper()
		if n, err := a.SetWindow(window, age, half); n != want || err != nil {
			t.Fatalf("SetWindow(%d, %d, %g): %d evicted, %v; want %d", window, age, half, n, err, want)
		}
	}
	a := accumulate(t, held.Options{MinDocs: 2}, docs[:100])
	set(a, 40, 0, 0, 60)
	addAll(t, a, docs[100:120])
	set(a, 40, 0, 3, 0)
	set(a, 0, 10, 3, 30)
	set(a, 0, 0, 3, 0) // wider
	addAll(t, a, docs[120:])
	if n := a.Stats().Evicted; n != 60+20+30 {
		t.Errorf("%d evicted in all, want 110", n)
	}
	sameHeld(t, "changed", a, accumulate(t, held.Options{MinDocs: 2, HalfLife: 3}, docs[110:]))
	var before, after bytes.Buffer
	if _, err := a.WriteTo(&before); err != nil {
		t.Fatal(err)
	}
	for _, o := range []held.Options{{Window: -1}, {MaxAge: -1}, {HalfLife: math.NaN()}} {
		if n, err := a.SetWindow(o.Window, o.MaxAge, o.HalfLife); err == nil || n != 0 {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := a.WriteTo(&after); err != nil || !bytes.Equal(before.Bytes(), after.Bytes()) {
		t.Errorf("a setting that was refused has changed something, %v", err)
	}
	set(new(held.Accumulator), 1, 0, 0, 0)
}

// A document weighs by its age.
func TestAccumulatorDecay(t *testing.T) {
	docs := tokenDocs(rand.New(rand.NewPCG(7, 8)), 80, 30)
	c := corpusOf(t, accumulate(t, held.Options{MinDocs: 1, HalfLife: 10}, docs).Snapshot())
	if len(c.Weights()) != len(docs) {
		t.Fatalf("%d weights for %d documents", len(c.Weights()), len(docs))
	}
	for d, got := range c.Weights() {
		if want := math.Pow(0.5, float64(len(docs)-1-d)/10); math.Abs(got-want) > 1e-12 {
			t.Errorf("document %d weighs %g, want %g", d, got, want)
		}
	}
}

func TestAccumulatorRefuses(t *testing.T) {
	for _, o := range []held.Options{
		{MinDocs: -1}, {MaxWords: -1}, {Window: -1}, {MaxAge: -1}, {HalfLife: -1}, {HalfLife: math.NaN()}, {HalfLife: math.Inf(1)}, {MaxBytes: -1},
		{Vocabulary: []string{"a", "a"}}, {Vocabulary: []string{""}}, {Vocabulary: []string{"a", "b"}, MaxWords: 1},
		{Vocabulary: []string{"a"}, StopWords: []string{"a"}}, {StopWords: []string{"\xff"}},
		{Text: &text.Setting{Stemmer: "endings"}},
	} {
		if _, err := held.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	o := held.Options{Vocabulary: []string{"a", "b"}, MinDocs: 1}
	a := accumulate(t, o, []tokenDoc{{"held", 3, []string{"a", "c", "c"}}})
	before := a.Stats()
	for name, x := range map[string]struct {
		doc  corpus.Document
		want string
	}{
		"no id":        {corpus.Document{Tokens: []string{"a"}}, "no ID"},
		"twice":        {corpus.Document{ID: "held"}, `"held" is held already`},
		"both":         {corpus.Document{ID: "x", Tokens: []string{"a"}, Words: []int32{0}}, "document x: both Tokens and Words"},
		"counts":       {corpus.Document{ID: "x", Tokens: []string{"a"}, Counts: []int32{1, 2}}, "document x: 2 counts for 1 words"},
		"negative":     {corpus.Document{ID: "x", Tokens: []string{"new", "a"}, Counts: []int32{1, -1}}, `count -1 of word "a" in document x`},
		"sum":          {corpus.Document{ID: "x", Tokens: []string{"new", "new"}, Counts: []int32{math.MaxInt32, 1}}, `count 2147483648 of word "new" in document x`},
		"empty":        {corpus.Document{ID: "x", Tokens: []string{"new", ""}}, "document x: a token is the empty string"},
		"UTF-8":        {corpus.Document{ID: "x", Tokens: []string{"new", "\xff"}}, "invalid UTF-8"},
		"number":       {corpus.Document{ID: "x", Words: []int32{0, 2}}, "document x: word 2 is not in [0, 1]"},
		"below":        {corpus.Document{ID: "x", Words: []int32{-1}}, "document x: word -1 is not in [0, 1]"},
		"number count": {corpus.Document{ID: "x", Words: []int32{1}, Counts: []int32{-1}}, `count -1 of word "b" in document x`},
	} {
		err := a.Add(x.doc)
		if err == nil || !strings.Contains(err.Error(), x.want) || errors.Is(err, corpus.ErrRepeatedID) != (name == "twice") {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
		if a.Stats() != before {
			t.Fatalf("%s: something was added: %+v", name, a.Stats())
		}
	}

	// A limit of memory, which holds at the very document that exceeds it.
	o.MaxBytes = a.Stats().Bytes + 500
	b := accumulate(t, o, nil)
	reached := false
	for i := range 100 {
		before := b.Stats()
		err := b.Add(corpus.Document{ID: fmt.Sprint(i), Words: []int32{0, 1}})
		if errors.Is(err, held.ErrFull) {
			reached = true
			size, limit := int64(0), int64(0)
			if _, serr := fmt.Sscanf(err.Error(), "held: document %q would bring the memory to %d bytes, more than the limit of %d", new(string), &size, &limit); serr != nil {
				t.Error(serr)
			}
			if i < 2 || size <= limit || limit != o.MaxBytes || b.Stats() != before {
				t.Fatalf("document %d: %v, %+v", i, err, b.Stats())
			}
			break
		}
		if err != nil || b.Stats().Bytes > o.MaxBytes {
			t.Fatal(err, b.Stats())
		}
	}
	if !reached {
		t.Error("the limit was never reached")
	}
	if _, err := (&held.Accumulator{}).Snapshot().Corpus(); !errors.Is(err, corpus.ErrNoDocuments) && !errors.Is(err, corpus.ErrEmptyVocabulary) {
		t.Errorf("the corpus of nothing: %v", err)
	}
}

// MaxBytes and a window: at its steady state a full window goes on taking
// documents.
func TestAccumulatorWindowWithinLimit(t *testing.T) {
	a := accumulate(t, held.Options{Vocabulary: []string{"a", "b"}, MinDocs: -1, Window: 10, MaxBytes: 3000}, nil)
	for i := range 1000 {
		if err := a.Add(corpus.Document{ID: fmt.Sprint(i), Words: []int32{0, 1}, Counts: []int32{int32(i + 1), 7}}); err != nil {
			t.Fatal(i, err)
		}
	}
	if st := a.Stats(); st.Docs != 10 || st.Evicted != 990 || st.Newest != 999 || st.NNZ != 20 {
		t.Errorf("%+v", st)
	}
}

// Words that a document shares with one that it drives out stay.
func TestAccumulatorWindowSharedWords(t *testing.T) {
	a := accumulate(t, held.Options{MinDocs: 1, Window: 1}, []tokenDoc{
		{"1", 1, []string{"x", "x", "z", "z", "u"}}, {"2", 2, []string{"y", "x", "y", "v", "x"}},
	})
	sameHeld(t, "shared", a, accumulate(t, held.Options{MinDocs: 1}, []tokenDoc{{"2", 2, []string{"y", "x", "y", "v", "x"}}}))
	// At random, with few and rare words, in any order of the times.
	rng := rand.New(rand.NewPCG(17, 18))
	for _, o := range []held.Options{{MinDocs: 1, Window: 5}, {MinDocs: 1, MaxAge: 6}} {
		a := accumulate(t, o, nil)
		var left []tokenDoc
		for i := range 400 {
			d := tokenDoc{fmt.Sprint(i), int64(i + rng.IntN(8)), nil}
			for range 5 + rng.IntN(4) {
				d.tokens = append(d.tokens, fmt.Sprint(rng.IntN(40)))
			}
			addAll(t, a, []tokenDoc{d})
			left = append(left, d)
			left = slices.DeleteFunc(left, func(d tokenDoc) bool { return !a.Has(d.id) })
			if i%7 == 0 && len(left) > 1 {
				a.Remove(left[0].id)
				left = left[1:]
			}
			if i%10 == 9 {
				sameHeld(t, "at random", a, accumulate(t, held.Options{MinDocs: 1}, left))
			}
		}
	}
}

// Stats.Bytes is in proportion to what was allocated, garbage included.
func TestAccumulatorBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, length := range []int{3, 150} {
		docs := make([]corpus.Document, 60000/length)
		for i := range docs {
			docs[i].ID = fmt.Sprintf("document %d", i)
			for range length {
				docs[i].Tokens = append(docs[i].Tokens, fmt.Sprintf("word%d", rng.IntN(20000)))
			}
		}
		var a *held.Accumulator
		all := testutil.Allocated(t, func() {
			a = accumulate(t, held.Options{}, nil)
			for _, d := range docs {
				if err := a.Add(d); err != nil {
					t.Fatal(err)
				}
			}
		})
		if got := a.Stats().Bytes; got < all/4 || got > all {
			t.Errorf("documents of %d words: counted %d bytes, allocated %d", length, got, all)
		}
	}
}

func TestAccumulatorFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	docs := tokenDocs(rng, 60, 50)
	for _, x := range []struct {
		name string
		o    held.Options
	}{
		{"all options", held.Options{Vocabulary: []string{"w002", "w001"}, StopWords: []string{"w000"}, MinDocs: 3, MaxWords: 40, Window: 50, MaxAge: 55, HalfLife: 7.5, MaxBytes: 1 << 20}},
		{"a vocabulary", held.Options{Vocabulary: []string{"w002", "w001"}, MinDocs: -1}},
		{"defaults", held.Options{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := accumulate(t, x.o, docs)
			a.Remove("doc30")
			var buf bytes.Buffer
			n, err := a.WriteTo(&buf)
			if err != nil || n != int64(buf.Len()) {
				t.Fatal(n, err)
			}
			var b held.Accumulator
			if n, err := b.ReadFrom(bytes.NewReader(buf.Bytes())); err != nil || n != int64(buf.Len()) {
				t.Fatal(n, err)
			}
			sameHeld(t, "read", a, &b)
			if a.Stats() != b.Stats() {
				t.Errorf("read %+v, written %+v", b.Stats(), a.Stats())
			}
			var again bytes.Buffer
			if _, err := b.WriteTo(&again); err != nil || !bytes.Equal(buf.Bytes(), again.Bytes()) {
				t.Errorf("written again: other bytes (%v)", err)
			}
			// The same content by another way: the same bytes.
			if x.o.Window == 0 && x.o.MinDocs >= 0 {
				other := accumulate(t, x.o, nil)
				for _, m := range rng.Perm(len(docs)) {
					addAll(t, other, docs[m:m+1])
				}
				other.Remove("doc30")
				again.Reset()
				if _, err := other.WriteTo(&again); err != nil || !bytes.Equal(buf.Bytes(), again.Bytes()) {
					t.Errorf("in another order: other bytes (%v)", err)
				}
			}
			// It goes on as the one that was written.
			more := []tokenDoc{{"more", 70, []string{"w001", "w003", "brandnew"}}}
			addAll(t, a, more)
			addAll(t, &b, more)
			sameHeld(t, "goes on", a, &b)
		})
	}
}

// Every cut and every changed byte is found, and leaves what was there.
func TestAccumulatorDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	a := accumulate(t, held.Options{Vocabulary: []string{"w002"}, StopWords: []string{"w000"}, MinDocs: 2}, tokenDocs(rng, 12, 9))
	var buf bytes.Buffer
	if _, err := a.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	b := accumulate(t, held.Options{}, []tokenDoc{{"x", 0, []string{"y"}}})
	before := b.Stats()
	damaged := func(err error) bool { return errors.Is(err, corpus.ErrDamaged) || errors.Is(err, corpus.ErrTruncated) }
	for i := range whole {
		if _, err := b.ReadFrom(bytes.NewReader(whole[:i])); !damaged(err) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
		for _, flip := range []byte{1, 0x80} {
			bad := slices.Clone(whole)
			bad[i] ^= flip
			if _, err := b.ReadFrom(bytes.NewReader(bad)); !damaged(err) {
				t.Fatalf("byte %d changed: %v", i, err)
			}
		}
	}
	if _, err := b.ReadFrom(bytes.NewReader(append(slices.Clone(whole), 0))); !damaged(err) {
		t.Errorf("a byte more: %v", err)
	}
	broken := errors.New("broken")
	if _, err := b.ReadFrom(io.MultiReader(bytes.NewReader(whole[:200]), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err := a.WriteTo(errWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
	old := slices.Clone(whole)
	old[8] = 2
	if _, err := b.ReadFrom(bytes.NewReader(old)); !errors.Is(err, corpus.ErrDamaged) || !strings.HasSuffix(err.Error(), "version 2; this library reads version 3: add the documents to a new accumulator") {
		t.Errorf("an older version: %v", err)
	}
	if b.Stats() != before || !b.Has("x") {
		t.Error("something was read after all")
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

// FuzzAccumulator: no bytes panic, and what is written of those that are read is read as
// the same.
func FuzzAccumulator(f *testing.F) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, o := range []held.Options{{}, {Vocabulary: []string{"w002"}, MinDocs: -1, HalfLife: 3}} {
		var buf bytes.Buffer
		if _, err := accumulate(f, o, tokenDocs(rng, 6, 5)).WriteTo(&buf); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a held.Accumulator
		if _, err := a.ReadFrom(bytes.NewReader(data)); err != nil {
			return
		}
		var buf, again bytes.Buffer
		var b held.Accumulator
		_, err1 := a.WriteTo(&buf)
		_, err2 := b.ReadFrom(bytes.NewReader(buf.Bytes()))
		_, err3 := b.WriteTo(&again)
		if err := errors.Join(err1, err2, err3); err != nil || !bytes.Equal(buf.Bytes(), again.Bytes()) || a.Stats() != b.Stats() {
			t.Errorf("written again: %d bytes, then %d, %v", buf.Len(), again.Len(), err)
		}
	})
}

// Snapshots are taken, used and written while documents come and go.
func TestAccumulatorConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	docs := tokenDocs(rng, 400, 60)
	a := accumulate(t, held.Options{MinDocs: 2}, docs[:100])
	want := accumulate(t, held.Options{MinDocs: 2}, docs[:100])
	early := a.Snapshot()
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for m := 100 + g; m < len(docs); m += 3 {
				if err := a.AddAt(corpus.Document{ID: docs[m].id, Tokens: docs[m].tokens}, docs[m].at); err != nil {
					t.Error(err)
				}
				if m%2 == 0 {
					a.Remove(docs[m].id)
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			s := a.Snapshot()
			if c, err := s.Corpus(); err != nil || c.NumDocs() != s.Docs() {
				t.Error(err)
			}
			if _, err := s.WriteTo(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for m := 101; m < len(docs); m += 2 {
		a.Remove(docs[m].id)
	}
	sameHeld(t, "in the end", a, want)
	c, err := early.Corpus()
	if err != nil || c.NumDocs() != 100 {
		t.Errorf("the early snapshot has changed: %v", err)
	}
}

func ExampleAccumulator() {
	a, err := held.New(held.Options{Vocabulary: []string{"tea", "milk"}, MinDocs: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	add := func(id string, tokens ...string) {
		if err := a.Add(corpus.Document{ID: id, Tokens: tokens}); err != nil {
			fmt.Println(err)
		}
	}
	add("monday", "tea", "milk", "tea", "scone", "tea")
	fmt.Println(a.Snapshot().Vocabulary())
	add("tuesday", "scone", "tea", "jam", "jam", "scone")
	fmt.Println(a.Snapshot().Vocabulary())
	a.Remove("monday")
	fmt.Println(a.Snapshot().Vocabulary())
	// Output:
	// [tea milk]
	// [tea milk scone]
	// [tea milk]
}
