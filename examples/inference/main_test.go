package main

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/examples/internal/clitest"
	"github.com/jsmf-go/spectral/internal/testutil"
)

// invoke runs the program; see clitest.
var invoke = clitest.Program(run).Invoke

func synth(args ...string) []string {
	return append(clitest.Synth("-n", "600", "-docs", "100", "-burn-in", "20", "-sweeps", "50", "-unseen", "0.03"), args...)
}

// All rows are there, no two methods are the same, and all are nearer to the truth
// than chance, but for PADD with the A of other documents.
func TestTable(t *testing.T) {
	settings := "SS,SR,FR"
	if testing.Short() || testutil.Race {
		settings = "SR"
	}
	out, errs := invoke(t, 0, synth("-k", "5", "-csv", "-settings", settings, "-unseen", "0.97")...)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"SS": 11, "SR": 11, "FR": 10}
	count := map[string]int{}
	random := map[string][2]float64{}
	seen := map[string]bool{}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, r := range rows[1:] {
		count[r[0]]++
		l1, unseen := number(t, r[at["ℓ₁"]]), number(t, r[at["ℓ₁ unseen"]])
		if r[2] == "random" {
			random[r[0]] = [2]float64{l1, unseen}
		} else if c := random[r[0]]; (!(l1 < c[0]) || !(unseen < c[1])) && !(r[0] != "FR" && strings.Contains(r[2], "own prior")) {
			t.Errorf("%s: %s has ℓ₁ = %v / %v, chance %v", r[0], r[2], l1, unseen, c)
		}
		if key := r[0] + r[at["ℓ₁"]] + r[at["KL"]]; seen[key] {
			t.Errorf("two methods have the same row %v", r)
		} else {
			seen[key] = true
		}
	}
	for _, s := range strings.Split(settings, ",") {
		if count[s] != want[s] {
			t.Errorf("%s: %d rows, want %d", s, count[s], want[s])
		}
	}
	if !strings.Contains(errs, "PADD: ‖A − WWᵀ/M‖") {
		t.Errorf("no progress on standard error:\n%s", errs)
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestMarkdown(t *testing.T) {
	out, _ := invoke(t, 0, synth("-k", "3", "-settings", "ss", "-no-tli", "-quiet")...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2+10 || !strings.HasPrefix(lines[1], "| --- |") {
		t.Fatalf("%s", out)
	}
	for _, l := range lines {
		if strings.Count(l, "|") != strings.Count(lines[0], "|") {
			t.Errorf("another number of cells: %s", l)
		}
	}
}

// The error of SPI is its bias, whatever the length, that of least squares falls with
// it; on documents of a few tokens SPI is ahead. The compositions drawn are as
// concentrated as -alpha-sum says: E Σw² = (α₀/K + 1)/(α₀ + 1).
func TestLengths(t *testing.T) {
	l1 := map[string]map[string]float64{}
	for _, length := range []string{"10", "1000"} {
		out, _ := invoke(t, 0, synth("-k", "8", "-settings", "SS", "-no-tli", "-quiet", "-csv", "-length", length, "-alpha-sum", "4", "-docs", "100", "-burn-in", "2", "-sweeps", "2")...)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(rows[0], "ℓ₁")
		l1[length] = map[string]float64{}
		for _, r := range rows[1:] {
			l1[length][r[2]] = number(t, r[at])
			if r[2] == "truth" {
				// Σw² has a standard deviation of about 0.1 here.
				if got := number(t, r[slices.Index(rows[0], "Σw²")]); math.Abs(got-0.3) > 4*0.1/math.Sqrt(100) {
					t.Errorf("Σw² = %v for α₀ = 4, want 0.3", got)
				}
			}
		}
	}
	short, long := l1["10"], l1["1000"]
	if !(short["SPI"] < short["LeastSquares"]) || !(long["LeastSquares"] < 0.5*long["SPI"]) {
		t.Errorf("SPI %v and %v, least squares %v and %v", short["SPI"], long["SPI"], short["LeastSquares"], long["LeastSquares"])
	}
	if b := long["SPI of Bw"]; !(math.Abs(long["SPI"]-b) < 0.05*b) {
		t.Errorf("SPI of 1000 tokens is off by %v, of the exact probabilities by %v", long["SPI"], b)
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-docword is missing":   {"-vocab", "v"},
		"-k 1: want at least 2": {"-docword", "d", "-vocab", "v", "-k", "1"},
		`-settings "XY"`:        {"-docword", "d", "-vocab", "v", "-settings", "XY"},
		"-unseen 1":             {"-docword", "d", "-vocab", "v", "-unseen", "1"},
		"-sweeps 0":             {"-docword", "d", "-vocab", "v", "-sweeps", "0"},
		"flag provided but not defined: -nonsense": {"-nonsense"},
		"unexpected argument \"x\"":                {"-docword", "d", "-vocab", "v", "x"},
		"-length -1: want 0 to":                    {"-docword", "d", "-vocab", "v", "-length", "-1"},
		"-alpha-sum 0: want a positive":            {"-docword", "d", "-vocab", "v", "-alpha-sum", "0"},
		"-docs 0: want at least 1":                 {"-docword", "d", "-vocab", "v", "-docs", "0"},
		"-anchor-min-df -1: want 0 or more":        {"-docword", "d", "-vocab", "v", "-anchor-min-df", "-1"},
		"-burn-in -1: want 0 or more":              {"-docword", "d", "-vocab", "v", "-burn-in", "-1"},
		"-workers -1: want 0 or more":              {"-docword", "d", "-vocab", "v", "-workers", "-1"},
		"-n 1: want at least 2":                    {"-docword", "d", "-vocab", "v", "-n", "1"},
		"invalid value \"many\" for flag -docs":    {"-docs", "many"},
		"inference: -help lists the flags":         {},
	} {
		if _, errs := invoke(t, 2, args...); !strings.Contains(errs, want) {
			t.Errorf("%q: %q does not say %q", args, errs, want)
		}
	}
	invoke(t, 0, "-help")
	if _, errs := invoke(t, 1, "-docword", "d", "-vocab", "no-such"); !strings.Contains(errs, "no-such") {
		t.Errorf("a missing file: %s", errs)
	}
}
