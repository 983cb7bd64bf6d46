package jsmf

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/infer"
	recovery "github.com/jsmf-go/spectral/recover"
)

// familyModel gives the six topics of a small model a prior of three families.
func familyModel(t *testing.T) *Model {
	t.Helper()
	m, _ := editable(t)
	of := *m
	of.add = Additions{}
	of.tree = &recovery.Tree{Groups: [][]int{{0, 1, 1, 2, 0, 2}}}
	of.logits = &recovery.LogisticNormal{
		Mean: []float64{0.5, -0.3, -0.2}, Families: of.tree.Groups[0], Information: 0.6,
		Covariance: mat.NewSymDense(3, []float64{1, 0.4, -0.2, 0.4, 0.8, 0.1, -0.2, 0.1, 1.5}),
	}
	out, err := newModel(&of)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A prior of families is in the file and goes with the topics: in another order, merged within a
// family, merged across families, which become one, and cut to the families, whose logits they are.
func TestFamilies(t *testing.T) {
	m := familyModel(t)
	prior := m.Logits()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadModel(&file)
	if err != nil || !reflect.DeepEqual(read.Logits(), prior) {
		t.Fatalf("the prior read is %+v, %v", read.Logits(), err)
	}
	proportions := func(m *Model) []float64 {
		t.Helper()
		inferer, err := m.Inferer(context.Background(), infer.MAP{}, infer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, m.K())
		if _, err := inferer.InferTo(theta, []int32{0, 1, 3}, []int32{2, 4, 1}); err != nil {
			t.Fatal(err)
		}
		return theta
	}
	theta := proportions(m)
	order := []int{3, 0, 5, 4, 1, 2}
	mixed, err := m.Reorder(order)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range proportions(mixed) { // other signs of the noise
		if math.Abs(v-theta[order[i]]) > 0.1 {
			t.Errorf("topic %d, which was %d: %v, was %v", i, order[i], v, theta[order[i]])
		}
	}
	merge := func(topics ...int) *recovery.LogisticNormal {
		t.Helper()
		merged, err := m.Edit(Edits{Model: m.Fingerprint(), Merge: [][]int{topics}})
		if err != nil {
			t.Fatal(err)
		}
		proportions(merged)
		return merged.Logits()
	}
	same := func(name string, got *recovery.LogisticNormal, families ...int) {
		t.Helper()
		if !reflect.DeepEqual(got.Families, families) || !reflect.DeepEqual(got.Mean, prior.Mean) || !mat.Equal(got.Covariance, prior.Covariance) || got.Information != prior.Information {
			t.Errorf("%s: %+v", name, got)
		}
	}
	same("within a family", merge(1, 2), 0, 1, 2, 0, 2)
	across := merge(0, 1)
	if !reflect.DeepEqual(across.Families, []int{0, 0, 1, 0, 1}) || len(across.Mean) != 2 {
		t.Errorf("across families: %+v", across)
	}
	want := math.Exp(0.5+0.5) + math.Exp(-0.3+0.4) // E[e^η] of the families 0 and 1
	if got := math.Exp(across.Mean[0] + across.Covariance.At(0, 0)/2); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("across families: expectation %v, want %v", got, want)
	}
	same("cut", m.Cut(0).Logits())
	proportions(m.Cut(0))
}
