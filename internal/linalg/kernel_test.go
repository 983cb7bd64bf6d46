package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/jsmf-go/spectral/internal/testutil"
	"gonum.org/v1/gonum/blas/blas64"
)

// eachKernel runs f for every implementation this machine can run. Meanwhile all
// functions use it.
func eachKernel(t *testing.T, f func(t *testing.T, kr *kernels)) {
	t.Helper()
	for _, kr := range available() {
		t.Run("kernel="+kr.name, func(t *testing.T) {
			defer func(old func() *kernels) { best = old }(best)
			best = func() *kernels { return kr }
			f(t, kr)
		})
	}
}

func TestKernelName(t *testing.T) {
	all := available()
	if all[0].name != "generic" {
		t.Errorf("the first kernels are %q, want generic everywhere", all[0].name)
	}
	if got, want := KernelName(), all[len(all)-1].name; got != want {
		t.Errorf("KernelName() = %q, want the last available, %q", got, want)
	}
	seen := map[string]bool{}
	for _, kr := range all {
		if seen[kr.name] {
			t.Errorf("two kernels named %q", kr.name)
		}
		seen[kr.name] = true
		t.Logf("%s: available", kr.name)
	}
}

// GODEBUG switches kernels off. It is read when a program starts, so each setting has
// a process of its own, which runs TestKernelName and logs what it has.
func TestGODEBUG(t *testing.T) {
	testutil.NotWithRace(t)
	names := func(godebug string) (s []string) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKernelName$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG="+godebug)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("GODEBUG=%s: %v\n%s", godebug, err, out)
		}
		for _, kr := range available() {
			if strings.Contains(string(out), kr.name+": available") {
				s = append(s, kr.name)
			}
		}
		return s
	}
	all := names("")
	without := func(off ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(off, s) })
	}
	for _, c := range []struct {
		godebug string
		want    []string
	}{
		{"cpu.avx512f=off", without("avx512")},
		{"cpu.avx512vl=off", without("avx512")},
		{"cpu.avx2=off", without("avx512", "avx2")},
		{"cpu.fma=off", without("avx512", "avx2")},
		{"cpu.all=off", []string{"generic"}},
	} {
		if got := names(c.godebug); !slices.Equal(got, c.want) {
			t.Errorf("GODEBUG=%s: kernels %v, want %v", c.godebug, got, c.want)
		}
	}
}

// inOrder returns Σ x_l·y_l in the order of l, and the sum of the absolute products.
func inOrder(x, y []float64) (s, abs float64) {
	y = y[:len(x)]
	for l, v := range x {
		s = math.FMA(v, y[l], s)
		abs += math.Abs(v * y[l])
	}
	return s, abs
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20)) }

// randMat returns a matrix of normal numbers whose stride is extra larger than
// its number of columns, with NaN in the gaps and nothing after the last element,
// so that reading a gap shows and reading past the end panics or is caught by
// the race detector's allocator.
func randMat(rnd *rand.Rand, rows, cols, extra int) blas64.General {
	stride := max(1, cols+extra)
	m := blas64.General{Rows: rows, Cols: cols, Stride: stride}
	if rows > 0 && cols > 0 {
		m.Data = make([]float64, (rows-1)*stride+cols)
	}
	for i := range m.Data {
		m.Data[i] = math.NaN()
	}
	for i := range rows {
		for j := range cols {
			m.Data[i*stride+j] = rnd.NormFloat64()
		}
	}
	return m
}

func cloneMat(m blas64.General) blas64.General {
	m.Data = append([]float64(nil), m.Data...)
	return m
}

// diffBits describes the first difference in bits between two equally long
// slices, NaNs of any payload being equal, or returns "".
func diffBits(got, want []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("length %d, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			return fmt.Sprintf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}
