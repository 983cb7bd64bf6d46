package judge_test

import (
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/jsmf-go/spectral/metrics/judge"
)

// Two topics and forty documents. The judge finds the intruding word of both topics, and says of all
// documents of a sample that they are about the first topic, of which the model says three quarters.
func Example() {
	topics := judge.Topics{
		Words:  [][]string{strings.Fields("wind rain snow cloud storm"), strings.Fields("bread oven flour yeast salt")},
		Shares: mat.NewDense(40, 2, nil),
		Text:   func(d int) string { return fmt.Sprintf("the text of document %d", d) },
	}
	for d := range 40 {
		topics.Shares.SetRow(d, []float64{0.75, 0.25})
	}
	tasks, keys, err := judge.Make(topics, 20, 1)
	if err != nil {
		log.Fatal(err)
	}
	var answers []judge.Answer
	for i, t := range tasks { // JSON that judges fill in
		switch t.Kind {
		case judge.Words:
			fmt.Println(t.Ask, t.Options)
			answers = append(answers, judge.Answer{ID: t.ID, Judge: "Ann", Choice: keys[i].Right})
		case judge.Choose:
			answers = append(answers, judge.Answer{ID: t.ID, Judge: "Ann", Choice: 1})
		}
	}
	results, err := judge.Score(keys, answers, 0.95)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Printf("%s: %.2f (%.2f to %.2f), by chance %.2f\n", r.Kind, r.All.Value, r.All.Low, r.All.High, r.Chance)
	}
	shares, err := judge.Correct(keys, answers, topics.Shares, 0.95)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the first topic: %.2f in place of %.2f (%.2f to %.2f)\n", shares[0].Value, shares[0].Model, shares[0].Low, shares[0].High)
	// Output:
	// Which of these words does not belong to the others? [oven rain cloud snow wind storm]
	// Which of these words does not belong to the others? [yeast flour bread cloud salt oven]
	// words: 1.00 (0.34 to 1.00), by chance 0.17
	// the first topic: 1.00 in place of 0.75 (0.84 to 1.00)
}
