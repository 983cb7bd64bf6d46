package effects

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jsmf-go/spectral/jsmf"
)

var nan = math.NaN()

// found is what a study might find.
func found() *Effects {
	day := func(d int) time.Time { return time.Date(2024, 2, d, 0, 0, 0, 0, time.UTC) }
	three := func(x float64) []jsmf.Interval {
		return []jsmf.Interval{{Value: x, Low: x - .1, High: x + .1}, {Value: 1 - x, Low: .9 - x, High: 1.1 - x}, {Value: nan, Low: nan, High: nan}}
	}
	return &Effects{
		Level: .95, Replicates: 100, Documents: 12, Missing: 3,
		Quantities: []Quantity{{Name: "=war", Topics: []int{0}}, {Name: "peace", Topics: []int{1}}, {Name: "both", Topics: []int{0, 1}}},
		Unmatched:  []int{0, 2, 2},
		Found:      []float64{0.9, nan, 1.1},
		Shares:     three(.3),
		Terms: []TermEffects{
			{
				Name: "when", Columns: []string{"when"}, Kind: Times, Unit: "day",
				Points: []Point{
					{Label: "2024-02-28", From: day(28), To: day(29), Documents: 7, Incomplete: true},
					{Label: "2024-02-29", From: day(29), To: day(30), Documents: 5},
				},
				Predictions: [][]jsmf.Interval{three(.25), three(1. / 3)}, Differences: [][]jsmf.Interval{three(-.05), three(.04)},
			},
			{
				Name: "+tone", Columns: []string{"+tone"}, Kind: Numbers,
				Points:      []Point{{Label: "-1.5", Number: -1.5, Documents: 12}},
				Predictions: [][]jsmf.Interval{three(.5)}, Differences: [][]jsmf.Interval{three(.2)}, Slopes: three(1e-7),
			},
			{
				Name: "party × when", Columns: []string{"party", "when"}, Kind: Interactions,
				Points:      []Point{{Label: "left × 2024-02-28", Levels: []int{2}, From: day(28), To: day(29), Documents: 12}},
				Predictions: [][]jsmf.Interval{three(.5)}, Differences: [][]jsmf.Interval{three(.2)},
			},
		},
	}
}

// same reports whether two trees are equal, where NaN equals NaN: they are printed alike.
func same(t *testing.T, a, b *Effects) bool {
	t.Helper()
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func TestJSONRoundTrip(t *testing.T) {
	e := found()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Effects
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !same(t, e, &back) {
		t.Errorf("came back as %+v, want %+v", back, e)
	}
	// What the NaNs hide from reflect.DeepEqual is alike without them.
	for _, x := range []*Effects{e, &back} {
		if x.Shares[2].Value == x.Shares[2].Value {
			t.Error("NaN came back as a number")
		}
		x.Shares, x.Found = nil, nil
		for i := range x.Terms {
			x.Terms[i].Predictions, x.Terms[i].Differences, x.Terms[i].Slopes = nil, nil, nil
		}
	}
	if !reflect.DeepEqual(e, &back) {
		t.Errorf("came back as %+v, want %+v", back, *e)
	}
}

func TestJSONThatDoesNotFit(t *testing.T) {
	good, err := json.Marshal(found())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"unmatched":[0,2,2]`, `"unmatched":[0,2]`, "3 quantities, 3 shares, 2 counts"},
		{`"kind":"times"`, `"kind":"tides"`, `of the kind "tides"`},
		{`"kind":"times",`, ``, `term "when" is of the kind ""`},
		{`"points":[{"label":"-1.5","number":-1.5,"documents":12,"units":0}]`, `"points":[]`, `term "+tone": 0 points, 1 predictions`},
		{`"level":0.95`, `"level":"high"`, "level"},
	} {
		bad := strings.Replace(string(good), c[0], c[1], 1)
		if bad == string(good) {
			t.Fatalf("%s is not in %s", c[0], good)
		}
		var e Effects
		if err := json.Unmarshal([]byte(bad), &e); err == nil || !strings.Contains(err.Error(), c[2]) || !strings.Contains(err.Error(), "effects: ") {
			t.Errorf("%s: error %v, want one with %q", c[1], err, c[2])
		}
	}
}

// The file has all that Rows has, to the last bit, and nothing in it starts a formula.
func TestCSVRoundTrip(t *testing.T) {
	e := found()
	var b bytes.Buffer
	if err := e.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines[0], " "); got != "term adjusted point quantity measure value low high withheld documents few incomplete" {
		t.Errorf("head %q", got)
	}
	rows := e.Rows()
	if want := 3 + 2*3*4 + 3; len(rows) != want || len(lines) != want+1 {
		t.Fatalf("%d rows, %d lines, want %d rows", len(rows), len(lines)-1, want)
	}
	number := func(s string) float64 {
		if s == "" {
			return nan
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Error(err)
		}
		return x
	}
	bits := math.Float64bits
	for i, r := range rows {
		l := lines[i+1]
		for j, s := range l[:5] {
			if _, err := strconv.ParseFloat(s, 64); err != nil && strings.ContainsAny(s[:min(1, len(s))], "=+-@") {
				t.Errorf("line %d, cell %d: %q is a formula", i+2, j+1, s)
			}
		}
		text := func(s string) string { return strings.TrimPrefix(s, "'") }
		back := Row{text(l[0]), l[1] == "true", l[2], text(l[3]), l[4], number(l[5]), number(l[6]), number(l[7]), 0, l[10] == "true", l[11] == "true"}
		if back.Documents, err = strconv.Atoi(l[9]); err != nil {
			t.Error(err)
		}
		if bits(back.Value) != bits(r.Value) || bits(back.Low) != bits(r.Low) || bits(back.High) != bits(r.High) {
			t.Errorf("line %d: numbers %v, want %v", i+2, back, r)
		}
		if (l[8] == "true") != (!math.IsNaN(r.Value) && math.IsNaN(r.Low)) {
			t.Errorf("line %d: withheld is %s for %v", i+2, l[8], r)
		}
		back.Value, back.Low, back.High, r.Value, r.Low, r.High = 0, 0, 0, 0, 0, 0
		if back != r {
			t.Errorf("line %d: %+v, want %+v", i+2, back, r)
		}
	}
	broken := errors.New("disk full")
	if err := e.WriteCSV(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("a broken writer: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestValidate(t *testing.T) {
	for want, s := range map[string]Study{
		"no terms":                          {},
		"term 1: it is empty":               {Terms: []Term{{}}},
		"the spline of \"age\" has 0":       {Terms: []Term{Spline("age", 0)}},
		"want 1 to 6":                       {Terms: []Term{Spline("age", 7)}},
		"of numbers has no name":            {Terms: []Term{Number("")}},
		"the bins of \"when\" are none":     {Terms: []Term{Time("when", Equal(1))}},
		"Equal(n) of 2 to 10000":            {Terms: []Term{Time("when", Equal(1<<40))}},
		"interaction of 3; want 2":          {Terms: []Term{Interaction(Category("a"), Interaction(Category("b"), Category("c")))}},
		"of a column with itself":           {Terms: []Term{Interaction(Category("a"), Category("a"))}},
		"numbers and times; one of the two": {Terms: []Term{Interaction(Number("a"), Time("b", Month))}},
		"terms 1 and 2 are the same: a × b": {Terms: []Term{Interaction(Category("a"), Category("b")), Interaction(Category("a"), Category("b"))}},
		"column \"age\" is already":         {Terms: []Term{Number("age"), Interaction(Category("party"), Spline("age", 1))}},
		"Bootstrap.Warm = -1":               {Terms: []Term{Category("a")}, Bootstrap: jsmf.Bootstrap{Warm: -1}},
		"Level = 2":                         {Terms: []Term{Category("a")}, Bootstrap: jsmf.Bootstrap{Level: 2}},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "effects: ") {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	good := Study{
		Terms: []Term{Category("a"), Interaction(Category("a"), Number("b")), Time("c", Equal(2)), Time("d", Day), Spline("e", 6)},
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}
