package jsmf

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/corpus"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/refine"
)

// splitParts is a model of 12 topics in 3 groups of 6, whose numbers are mixed.
func splitParts() modelParts {
	p, _ := randomParts(200, 12, 5)
	refinedParts(&p)
	p.Names = nil
	p.Tree = &recovery.Tree{Groups: [][]int{make([]int, 12), make([]int, 12)}}
	for k := range 12 {
		p.Tree.Groups[1][k] = 5 * k % 6
		p.Tree.Groups[0][k] = 5 * k % 6 % 3
	}
	return p
}

// A cut is the sum and the mean of topics, as a slow version has them.
func TestCut(t *testing.T) {
	m := mustModel(t, splitParts())
	shares, tree := m.TopicShares(), m.Tree()
	for level, groups := range tree.Groups {
		c := m.Cut(level)
		members := tree.Members(level)
		if err := c.checkWordTopics(); err != nil || c.K() != len(members) || c.checkTopics() != nil {
			t.Fatalf("level %d: %d topics, %v", level, c.K(), err)
		}
		indicator := mat.NewDense(m.k, c.k, nil)
		for k, g := range groups {
			indicator.Set(k, g, 1)
		}
		var a mat.Dense
		a.Product(indicator.T(), m.Correlations(), indicator)
		if !mat.EqualApprox(c.Correlations(), &a, 1e-15) || c.checkTree() != nil {
			t.Errorf("level %d: correlations are not GᵀAG", level)
		}
		for g, topics := range members {
			share := 0.0
			for _, k := range topics {
				share += shares[k]
			}
			if math.Abs(c.TopicShares()[g]-share) > 1e-14 {
				t.Errorf("level %d, group %d: share %g, want %g", level, g, c.TopicShares()[g], share)
			}
			for i := range m.n {
				b, r := 0.0, 0.0
				for _, k := range topics {
					b += shares[k] / share * m.Topics().At(i, k)
					r += shares[k] / share * m.Reading().At(i, k)
				}
				if math.Abs(c.Topics().At(i, g)-b) > 1e-14 || math.Abs(c.Reading().At(i, g)-r) > 1e-14 {
					t.Fatalf("level %d, group %d: word %d has %g and %g, want %g and %g", level, g, i, c.Topics().At(i, g), c.Reading().At(i, g), b, r)
				}
			}
		}
	}
	if m.Cut(2) != m || m.Cut(0).Tree() != nil || m.Cut(0).Cut(0).K() != 3 {
		t.Error("the cuts at the ends")
	}
	if up, want := m.Cut(1).Tree(), [][]int{{0, 1, 2, 0, 1, 2}}; !reflect.DeepEqual(up.Groups, want) {
		t.Errorf("above the finest groups: %v, want %v", up.Groups, want)
	}
	if !slices.Equal(m.Cut(1).Cut(0).Names(), m.Cut(0).Names()) {
		t.Error("a cut of a cut has other names")
	}
	flat, _ := randomParts(20, 3, 1)
	if f := mustModel(t, flat); f.Tree() != nil || f.Cut(0) != f {
		t.Error("a flat model has cuts")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic at a level that is not there")
		}
	}()
	m.Cut(3)
}

// The tree goes with its topics through files, another order, additions and merging.
func TestTreeStays(t *testing.T) {
	m := mustModel(t, splitParts())
	before := m.Tree()
	m.Tree().Groups[0][0] = 7 // a copy
	file := encoded(t, m)
	read, err := ReadModel(bytes.NewReader(file))
	if err != nil || !bytes.Equal(encoded(t, read), file) || !reflect.DeepEqual(read.Tree(), before) {
		t.Fatalf("the file: %v", err)
	}
	order := []int{3, 0, 11, 7, 2, 1, 9, 8, 10, 5, 4, 6}
	r, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	back, _ := r.Reorder(ascending(order))
	for level, groups := range r.Tree().Groups {
		if want := permuted(before.Groups[level], order); !slices.Equal(groups, want) {
			t.Errorf("level %d in another order: %v, want %v", level, groups, want)
		}
		if got, want := r.Cut(level), m.Cut(level); !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("level %d in another order: names %q, want %q", level, got.Names(), want.Names())
		}
	}
	if !reflect.DeepEqual(back.Tree(), before) {
		t.Error("there and back")
	}
	with, err := m.With(Additions{Names: make([]string, 12)})
	if err != nil || !reflect.DeepEqual(with.Tree(), before) {
		t.Errorf("With: %v", err)
	}
	// Topics 0 and 6 are a group of the finest level; 1 is of another.
	merged, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{{1, 6, 0}, {2, 8}}})
	if err != nil {
		t.Fatal(err)
	}
	// The group of 0 and 6, number 0 on the finest level, is gone; 1 stays where it was.
	if got, want := merged.Tree().Groups, [][]int{{2, 1, 0, 2, 1, 2, 0, 2, 1}, {4, 3, 2, 1, 0, 4, 2, 1, 0}}; !reflect.DeepEqual(got, want) || merged.checkTree() != nil {
		t.Errorf("merged: %v, want %v", got, want)
	}
}

// Names are distinct within a family, and two families may name topics by one word.
func TestNamesWithinFamilies(t *testing.T) {
	p := readParts("game team player ball", "game chess board king", "team game goal win", "game season coach cup")
	p.Tree = &recovery.Tree{Groups: [][]int{{0, 0, 1, 1}}}
	m := mustModel(t, p)
	if got, want := m.Names(), []string{"game · team · player", "chess · board · king", "team · goal · win", "game · season · coach"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	m = mustModel(t, splitParts())
	for level := range 3 {
		c := m.Cut(level)
		seen := map[[2]any]bool{}
		for k, name := range c.Names() {
			for _, word := range strings.Split(name, nameSeparator) {
				at := [2]any{c.families()[k], word}
				if seen[at] {
					t.Errorf("level %d: the family of %q has the word %q twice", level, name, word)
				}
				seen[at] = true
			}
		}
	}
}

// splitter is a refiner that says that the topics were split.
type splitter struct {
	refine.Passes
	tree *recovery.Tree
}

func (s splitter) Refine(ctx context.Context, docs corpus.Source, start refine.Start, opt refine.Options) (*refine.Result, error) {
	x, err := s.Passes.Refine(ctx, docs, start, opt)
	if err == nil {
		x.Tree = s.tree
	}
	return x, err
}

// A fit keeps the tree of the passes, and so do its refit and warm replicates.
func TestFitWithTree(t *testing.T) {
	var b corpus.Builder
	for i := range 240 {
		var words []string
		for j := range 30 {
			words = append(words, string(rune('a'+(i%4)*5+(i*j+j*j)%5))+"x")
		}
		if err := b.AddTokens(strconv.Itoa(i), "", words); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	tree := &recovery.Tree{Groups: [][]int{{0, 0, 1, 1}}}
	p := New(4).Refine(splitter{refine.Passes{N: 2, Correlated: -1}, tree})
	m, err := p.Fit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if m.Tree() == nil || m.Tree().Validate(4) != nil || m.Cut(0).K() != 2 {
		t.Fatal("the model has no tree")
	}
	tree.Groups[0][0] = 9 // the refiner's
	if m.Tree().Validate(4) != nil {
		t.Error("the tree is shared with the refiner")
	}
	if _, err := p.Fit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "tree: level 0: topic") {
		t.Errorf("a wrong tree: %v", err)
	}
	tree.Groups[0][0] = 0
	again, err := p.From(m).Fit(t.Context(), c)
	if err != nil || again.Tree() == nil {
		t.Fatalf("refit: %v", err)
	}
	for r, err := range (Bootstrap{Warm: 2, Drawn: -1}).Replicates(t.Context(), p, m, c) {
		if err != nil || r.Model.Tree() == nil || r.Model.Cut(0).K() != 2 {
			t.Fatalf("replicate: %v", err)
		}
	}
}
