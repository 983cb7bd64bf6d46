package docstep

import (
	"math"

	"github.com/jsmf-go/spectral/internal/arith"
)

const (
	// Shortest is how many distinct words documents need on average for reading words that differ from the
	// most probable ones.
	Shortest = 8
	// certain is how many standard deviations below its mean the number of documents that use a word in a
	// topic is taken.
	certain = 2
)

// Weight returns the reading weight, before it is scaled, of a word that so many documents use in a topic, lift times as
// many as if all topics used it alike: see refine.Result.Reading.
func Weight(docs, lift, idf float64) float64 {
	if !(docs > certain*certain && lift > 1) {
		return 0
	}
	return (docs - float64(certain*math.Sqrt(docs))) * arith.Log(lift) * idf
}
