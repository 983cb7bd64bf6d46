package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/jsmf-go/spectral/internal/testutil"
)

// Every method of recovery, and of A, gives a model; the numbers are those of
// the library's own tests.
func TestRecoverers(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	run := func(args ...string) line {
		t.Helper()
		out, _ := invoke(t, 0, synth(append(args, "-k", "5", "-iterations", "3", "-json", "-quiet")...)...)
		lines := decode(t, out)
		if len(lines) != 1 || lines[0].K != 5 || len(lines[0].Topics) != 5 {
			t.Fatalf("%q: %+v", args, lines)
		}
		return lines[0]
	}
	best := run()
	for _, name := range recovererNames {
		if (testutil.Race || testing.Short()) && name != "inverse" && name != "admm" {
			continue // long sweeps of one loop
		}
		args := []string{"-recover", name}
		if name == "inverse" {
			args = append(args, "-project-topics")
		}
		l := run(args...)
		if l.Recover != name || l.ObjectiveMean < best.ObjectiveMean*(1-1e-9) {
			t.Errorf("%s: %s, objective %g, the exact one's %g", name, l.Recover, l.ObjectiveMean, best.ObjectiveMean)
		}
		if !slices.ContainsFunc(l.Topics, func(x topic) bool { return x.Words[0] == best.Topics[0].Words[0] }) {
			t.Errorf("%s: no topic begins with %q", name, best.Topics[0].Words[0])
		}
	}
	legality := map[string]float64{}
	for _, name := range correlationNames {
		l := run("-correlations", name)
		legality[name] = float64(l.Metrics["legality"])
		if !slices.Equal(l.Topics[0].Words, best.Topics[0].Words) {
			t.Errorf("-correlations %s: other topics", name)
		}
	}
	if legality["diagonal"] == legality["pinv"] || math.Abs(legality["multiplicative"]-1) > 1e-9 {
		t.Errorf("legality %v", legality)
	}
	if l := run("-smooth", "0.001"); l.Metrics["legality"] != best.Metrics["legality"] || l.Metrics["specificity"] == best.Metrics["specificity"] {
		t.Error("-smooth changes A, or not B")
	}
	if _, errs := invoke(t, 1, synth("-k", "5", "-rectify", "none", "-recover", "inverse", "-quiet")...); !strings.Contains(errs, "Project") {
		t.Errorf("inverse of noise: %s", errs)
	}
	if _, errs := invoke(t, 1, synth("-k", "5", "-rectify", "enn", "-iterations", "1", "-recover", "kl", "-quiet")...); !strings.Contains(errs, "rows") {
		t.Errorf("kl of low-rank rows: %s", errs)
	}
}

// -hierarchy and -alpha, for programs and for people.
func TestHierarchyAndAlpha(t *testing.T) {
	if testutil.Race {
		t.Skip("skipped: slow with the race detector, which changes no number")
	}
	args := synth("-hierarchy", "8,4,2", "-iterations", "3", "-alpha", "-quiet")
	out, _ := invoke(t, 0, append(args, "-json")...)
	var res struct {
		K         int
		Topics    []topic
		Hierarchy []level
		Alpha     *prior
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if res.K != 8 || len(res.Hierarchy) != 2 {
		t.Fatalf("K = %d, %d levels", res.K, len(res.Hierarchy))
	}
	below := 8
	for _, l := range res.Hierarchy {
		if len(l.Topics) != l.K || len(l.Direct) != l.K || len(l.Children) != l.K || len(l.Cosine) != l.K || len(l.Shares) != l.K || len(l.Topics[0]) != 20 {
			t.Fatalf("%+v", l)
		}
		sum := 0.0
		parents := map[int]bool{}
		for k := range l.K {
			sum += l.Shares[k]
			if len(l.Children[k]) == 0 || !(l.Cosine[k] > 0 && l.Cosine[k] <= 1+1e-9) {
				t.Errorf("topic %d: children %v, cosine %g", k, l.Children[k], l.Cosine[k])
			}
			for _, e := range l.Children[k] {
				parents[e.Child] = true
				if e.Parent != k || e.Child < 0 || e.Child >= below || e.Weight < minWeight && e.Share < 0.5 {
					t.Errorf("edge %+v", e)
				}
			}
		}
		if math.Abs(sum-1) > 1e-9 || !(l.Distinct > 0 && l.Distinct <= 1 && l.DistinctDirect > 0) {
			t.Errorf("shares sum to %g, distinct %g and %g", sum, l.Distinct, l.DistinctDirect)
		}
		below = l.K
	}
	if res.Hierarchy[0].K != 4 || res.Hierarchy[1].K != 2 {
		t.Errorf("sizes %d, %d", res.Hierarchy[0].K, res.Hierarchy[1].K)
	}
	if f := res.Alpha; f == nil || len(f.Alpha) != 8 || !(slices.Min(f.Alpha) > 0) || math.Abs(floats.Sum(f.Alpha)-f.Alpha0) > 1e-9*f.Alpha0 {
		t.Errorf("α: %+v", f)
	}
	out, _ = invoke(t, 0, args...)
	for _, want := range []string{"hierarchy 8→4 ", "hierarchy 8→4→2 ", "K = 2 directly", "from ", "Dirichlet prior: α₀ = ", "metric"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestRecoverFlagsBad(t *testing.T) {
	ok := []string{"-docword", "d", "-vocab", "v", "-n", "100"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-k", "5", "-hierarchy", "5,2"}, "exclude each other"},
		{[]string{"-hierarchy", "5"}, "at least two"},
		{[]string{"-hierarchy", "5,x"}, `"x" is not a number`},
		{[]string{"-hierarchy", "5,5"}, "5 topics above 5"},
		{[]string{"-hierarchy", "5,1"}, "at least 2"},
		{[]string{"-hierarchy", "101,5"}, "more topics than words"},
		{[]string{"-k", "5", "-correlations", "inverse"}, `-correlations "inverse"`},
		{[]string{"-k", "5", "-recover", "inverse", "-correlations", "pinv"}, "its own A"},
		{[]string{"-k", "5", "-project-topics"}, "-project-topics has no use"},
		{[]string{"-k", "5", "-recover", "kl", "-paper-settings"}, "-paper-settings has no use"},
		{[]string{"-k", "5", "-smooth", "1"}, "-smooth 1"},
	} {
		if _, errs := invoke(t, 2, append(slices.Clone(ok), c.args...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%q: %s", c.args, errs)
		}
	}
}
