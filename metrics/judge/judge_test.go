package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const topics, docs = 12, 600

// planted returns topics with words of their own, and documents that say their number.
func planted() Topics {
	rng := rand.New(rand.NewPCG(1, 2))
	t := Topics{Shares: mat.NewDense(docs, topics, nil), Text: func(d int) string { return fmt.Sprintf("document %d", d) }}
	for k := range topics {
		var words []string
		for i := range 20 {
			words = append(words, fmt.Sprintf("t%dw%d", k, i))
		}
		t.Words = append(t.Words, words)
	}
	for d := range docs {
		row := t.Shares.RawRowView(d)
		for k := range row {
			row[k] = math.Pow(rng.Float64(), 12)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return t
}

func number(text, format string) (n int) {
	if _, err := fmt.Sscanf(text, format, &n); err != nil {
		panic(err)
	}
	return n
}

// perfect answers from what the task shows and from the truth.
func perfect(t Topics, task Task) Answer {
	a := Answer{ID: task.ID, Judge: "perfect"}
	share := func(text string, k int) float64 { return t.Shares.At(number(text, "document %d"), k) }
	switch task.Kind {
	case Words:
		count := make([]int, topics)
		for _, w := range task.Options {
			count[number(w, "t%dw")]++
		}
		a.Choice = 1 + slices.IndexFunc(task.Options, func(w string) bool { return count[number(w, "t%dw")] == 1 })
	case Documents:
		sum := make([]float64, topics)
		for _, text := range task.Options {
			for k := range sum {
				sum[k] += share(text, k)
			}
		}
		k := floats.MaxIdx(sum)
		a.Choice = 1 + floats.MinIdx(of(task.Options, func(text string) float64 { return share(text, k) }))
	case Label:
		k := number(task.Words[0], "t%dw")
		a.Label, a.Ratings = "a name", of(task.Options, func(text string) float64 { return math.Round(1 + 4*share(text, k)) })
	case Choose:
		a.Choice = 1 + floats.MaxIdx(t.Shares.RawRowView(number(task.Texts[0], "document %d")))
	}
	return a
}

func of(texts []string, f func(string) float64) (out []float64) {
	for _, s := range texts {
		out = append(out, f(s))
	}
	return out
}

func byChance(rng *rand.Rand, task Task) Answer {
	a := Answer{ID: task.ID, Judge: "chance", Choice: 1 + rng.IntN(len(task.Options))}
	if task.Kind == Label {
		a.Choice, a.Ratings = 0, of(task.Options, func(string) float64 { return float64(1 + rng.IntN(5)) })
	}
	return a
}

// Who knows is right, who guesses is right by chance, and files keep all of it.
func TestJudges(t *testing.T) {
	x := planted()
	tasks, keys, err := Make(x, 50, 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) != 3*topics+50 || len(keys) != len(tasks) {
		t.Fatalf("%d tasks and %d keys", len(tasks), len(keys))
	}
	written, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Make(x, 50, 7)
	if b, _ := json.Marshal(again); err != nil || !bytes.Equal(b, written) {
		t.Errorf("the same seed gives other tasks (%v)", err)
	}
	if bytes.Contains(written, []byte("shares")) || bytes.Contains(written, []byte("right")) || bytes.Contains(written, []byte("topic\"")) {
		t.Error("tasks have the key in them")
	}
	var read []Key
	if b, err := json.Marshal(keys); err != nil || json.Unmarshal(b, &read) != nil {
		t.Fatal(err)
	}
	var good, bad []Answer
	rng := rand.New(rand.NewPCG(3, 4))
	places := make(map[int]int)
	for i, task := range tasks {
		good = append(good, perfect(x, task))
		for range 40 {
			bad = append(bad, byChance(rng, task))
		}
		if task.Kind == Words {
			places[keys[i].Right]++
		}
	}
	if len(places) < 4 {
		t.Errorf("intruders stand at %v", places)
	}
	results, err := Score(read, good, 0.95)
	if err != nil || len(results) != 3 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		least := 1.0
		if r.Kind == Label {
			least = 0.95 // ratings are whole numbers
		}
		if !(r.All.Value >= least) || !(r.All.Low > 0.7) || !(r.All.High >= r.All.Value) || len(r.Topics) != topics {
			t.Errorf("%s, who knows: %+v", r.Kind, r)
		}
	}
	if results, err = Score(read, bad, 0.95); err != nil {
		t.Fatal(err)
	}
	for i, r := range results { // 480 answers: three deviations of a share of a quarter are 0.06
		if chance := []float64{1.0 / 6, 1.0 / 4, 0}[i]; math.Abs(r.Chance-chance) > 1e-12 || math.Abs(r.All.Value-chance) > 0.06 || r.All.Low > chance || r.All.High < chance {
			t.Errorf("%s, by chance: %+v", r.Kind, r)
		}
	}
	shares, err := Correct(read, good, x.Shares, 0.95)
	if err != nil || len(shares) != topics || math.Abs(shares[0].Model-mat.Sum(x.Shares.ColView(0))/docs) > 1e-12 {
		t.Errorf("%+v, %v", shares, err)
	}
}

// Intervals of 95 % hold the true share of right answers in 93 to 98.5 % of 2,000 cases, whether topics are alike or differ. The deviation of such
// a part is 0.5 %.
func TestIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, x := range []struct {
		of       func() float64 // the part of right answers of a topic
		mean     float64
		each     int
		atLeast  float64
		atMost   float64
		accuracy bool
	}{
		{func() float64 { return 0.7 }, 0.7, 3, 0.93, 0.985, true},
		{func() float64 { return 0.95 }, 0.95, 2, 0.93, 0.985, true},
		{func() float64 { return math.Sqrt(rng.Float64()) }, 2.0 / 3, 5, 0.93, 0.985, true},
		{func() float64 { return float64(rng.IntN(2)) }, 0.5, 4, 0.93, 0.985, true},
		{func() float64 { return math.Sqrt(rng.Float64()) }, 2.0 / 3, 5, 0.93, 0.985, false},
	} {
		held := 0
		for range 2000 {
			var values [][]float64
			for range 25 {
				var of []float64
				p := x.of()
				for range x.each {
					v := 0.0
					if rng.Float64() < p {
						v = 1
					}
					of = append(of, v)
				}
				values = append(values, of)
			}
			if i := interval(values, x.accuracy, 0.95); i.Low <= x.mean && x.mean <= i.High {
				held++
			}
		}
		if part := float64(held) / 2000; part < x.atLeast || part > x.atMost {
			t.Errorf("mean %g, %d answers of a topic: %.3f of the intervals hold it", x.mean, x.each, part)
		}
	}
	if i := interval([][]float64{{1}}, false, 0.95); !math.IsNaN(i.Low) || i.Value != 1 {
		t.Errorf("one answer: %+v", i)
	}
}

// A model says 60 % of topic 0 where there are 40, half of topic 1, which is rare, and nothing of topic 2. Corrected
// shares have no bias, intervals of 95 % hold what is true, and the model makes them narrower where it knows something.
func TestCorrect(t *testing.T) {
	const m, n, draws = 1000, 200, 500
	rng := rand.New(rand.NewPCG(8, 9))
	w, truth, part := mat.NewDense(m, 3, nil), make([]int, m), make([]float64, 3)
	for d := range m {
		u := rng.Float64()
		switch {
		case u < 0.4:
			truth[d] = 0
		case u < 0.42:
			truth[d] = 1
		default:
			truth[d] = 2
		}
		part[truth[d]] += 1.0 / m
		w.Set(d, 0, 0.45+0.1*rng.Float64())
		if truth[d] == 0 {
			w.Set(d, 0, 0.75+0.2*rng.Float64())
		}
		if truth[d] == 1 {
			w.Set(d, 1, 0.5*rng.Float64())
		}
		w.Set(d, 2, (1-w.At(d, 0))*rng.Float64()*0.1)
	}
	if w := mat.Sum(w.ColView(0)) / m; w < 0.58 {
		t.Fatalf("the model's share is %g", w)
	}
	words := [][]string{strings.Fields("a b c d e"), strings.Fields("f g h i j"), strings.Fields("k l m n o")}
	held, sum, square, width, alone := make([]float64, 3), make([]float64, 3), make([]float64, 3), 0.0, 0.0
	for seed := range draws {
		_, keys, err := Make(Topics{words, w, func(int) string { return "" }}, n, uint64(seed))
		if err != nil {
			t.Fatal(err)
		}
		var answers []Answer
		for _, k := range keys {
			if k.Kind == Choose {
				answers = append(answers, Answer{ID: k.ID, Choice: 1 + truth[k.Document]})
			}
		}
		shares, err := Correct(keys, answers, w, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range shares {
			sum[k] += s.Value / draws
			square[k] += s.Value * s.Value / draws
			if s.Low <= part[k] && part[k] <= s.High {
				held[k]++
			}
		}
		i := wilson(shares[0].Judged, n, 1.96)
		width, alone = width+shares[0].High-shares[0].Low, alone+i.High-i.Low
	}
	for k := range part {
		deviation := math.Sqrt(square[k] - sum[k]*sum[k])
		if bias := sum[k] - part[k]; math.Abs(bias) > 0.1*deviation+3*deviation/math.Sqrt(draws) {
			t.Errorf("topic %d: bias %.4f of a share of %.3f, the deviation is %.4f", k, bias, part[k], deviation)
		}
		if held[k] < 0.93*draws {
			t.Errorf("topic %d: %g of %d intervals hold its share", k, held[k], draws)
		}
	}
	if width > 0.6*alone {
		t.Errorf("intervals are %.2f times as wide as without the model", width/alone)
	}
}

func TestErrors(t *testing.T) {
	x := planted()
	_, keys, err := Make(x, 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	made := func(change func(*Topics), sample int) func() error {
		return func() error {
			y := planted()
			change(&y)
			_, _, err := Make(y, sample, 1)
			return err
		}
	}
	scored := func(level float64, a ...Answer) func() error {
		return func() error { _, err := Score(keys, a, level); return err }
	}
	for want, f := range map[string]func() error{
		"no texts":                         made(func(t *Topics) { t.Text = nil }, 0),
		"words of 11 topics":               made(func(t *Topics) { t.Words = t.Words[1:] }, 0),
		"a sample of 601":                  made(func(*Topics) {}, 601),
		"topic 3 has 2 words":              made(func(t *Topics) { t.Words[3] = t.Words[3][:2] }, 0),
		"topic 2 in document 9 is NaN":     made(func(t *Topics) { t.Shares.Set(9, 2, math.NaN()) }, 0),
		"topic 0 has the words of all":     made(func(t *Topics) { t.Words = slices.Repeat(t.Words[:1], topics) }, 0),
		"level of 95":                      scored(95),
		`answer 0, to "nothing-1"`:         scored(0.9, Answer{ID: "nothing-1"}),
		`to "words-0", is choice 7`:        scored(0.9, Answer{ID: "words-0", Choice: 7}),
		`to "label-0", is choice 0 and ra`: scored(0.9, Answer{ID: "label-0", Ratings: []float64{1}}),
		`key "words-1" is there twice`:     func() error { _, err := Score(append(slices.Clone(keys), Key{ID: "words-1"}), nil, 0.9); return err },
		"0 documents are judged":           func() error { _, err := Correct(keys, nil, x.Shares, 0.9); return err },
		"no proportions":                   func() error { _, err := Correct(keys, nil, nil, 0.9); return err },
		"and 12 topics; there are 600 and": func() error {
			_, err := Correct(keys, []Answer{{ID: "choose-3", Choice: 1}}, mat.NewDense(docs, 3, nil), 0.9)
			return err
		},
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), "judge: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want judge: … %s", err, want)
		}
	}
}
