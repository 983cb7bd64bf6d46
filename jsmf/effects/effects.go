package effects

import (
	"fmt"
	"time"

	"github.com/jsmf-go/spectral/internal/errs"
	"github.com/jsmf-go/spectral/internal/nanjson"
	"github.com/jsmf-go/spectral/jsmf"
)

// Effects is what a Study finds. It is written to and read from JSON by encoding/json.
//
// All numbers are shares of documents, or differences, ratios and slopes of shares, with
// an interval from the replicates. Shares and predictions are at least 0 and sum to 1 over the
// K topics. What cannot be told, such as the share in a month without documents, is NaN.
type Effects struct {
	Level      float64 `json:"level"`      // the probability of the intervals
	Replicates int     `json:"replicates"` // of the bootstrap
	Documents  int     `json:"documents"`  // that count
	// Missing is the number of documents that are left out, because they lack a value in
	// some column of the terms or have no word that the model knows.
	Missing int `json:"missing"`

	// Quantities are the K topics with their names (Model.Names), in order, and then those
	// of the Study.
	Quantities []Quantity `json:"quantities"`
	// Unmatched counts for each quantity the replicates that its intervals leave out,
	// because a topic in it has no match there (Replicate.Matched).
	Unmatched []int `json:"unmatched"`
	// Shares are the averages of the quantities over the documents.
	Shares []jsmf.Interval `json:"shares"`

	Terms []TermEffects `json:"terms"` // in the order of Study.Terms
}

// TermEffects is what a Study finds about one term, at each of its points.
type TermEffects struct {
	Name    string   `json:"name"` // the columns, as in "year" or "year × party"
	Columns []string `json:"columns"`
	Kind    Kind     `json:"kind"`
	// Unit is that of the column of numbers, or the length of a bin of time, such as
	// "month"; "" if there is none.
	Unit   string  `json:"unit,omitempty"`
	Points []Point `json:"points"`

	// Predictions [point][quantity] are what the average over the documents would be if all
	// of them were at the point and else as they are (marginal predictions). NaN: the documents
	// do not tell, as in a bin without any, at a pair of points that do not meet in any, and
	// at a point of a single term if an interaction has such a pair with it.
	Predictions [][]jsmf.Interval `json:"predictions"`
	// Differences [point][quantity] are the predictions less the average over all
	// documents.
	Differences [][]jsmf.Interval `json:"differences"`
	// Slopes are the changes of the quantities per unit of the number, averaged over the
	// documents. Only Numbers have them; otherwise nil.
	Slopes []jsmf.Interval `json:"slopes,omitempty"`
}

// Point is a place at which a term has an effect: a level, a number, a bin of time, or a
// pair of these.
type Point struct {
	Label string `json:"label"`
	// Labels are those of the two points that a point of an interaction is made of;
	// otherwise nil.
	Labels []string `json:"labels,omitempty"`
	// Levels are the numbers of the levels in their columns (Metadata.Categories): one for
	// each Category of the term, otherwise none.
	Levels []int     `json:"levels,omitempty"`
	Number float64   `json:"number"`         // of Numbers, otherwise 0
	From   time.Time `json:"from,omitempty"` // of Times, in UTC: the bin is [From, To)
	To     time.Time `json:"to,omitempty"`
	// Documents is the number of documents at the point, and for numbers of those that are
	// nearer to it than to others.
	Documents int `json:"documents"`
	// Incomplete says that the documents begin or end within the bin and so do not stand for
	// all of it: the first bin begins, or the last one ends, with a stretch without documents
	// that is longer than those between documents, leaving out the longest of these, which
	// fill a twentieth of the time.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Kind tells what the points of a term are.
type Kind int

const (
	Categories   Kind = 1 + iota // levels, in the order of the column
	Numbers                      // numbers, ascending
	Times                        // bins of time, ascending, and those without documents between others
	Interactions                 // pairs of points, those of the first term outermost
)

var kinds = [...]string{Categories: "categories", Numbers: "numbers", Times: "times", Interactions: "interactions"}

func (k Kind) String() string {
	if k < Categories || k > Interactions {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kinds[k]
}

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) {
	if k < Categories || k > Interactions {
		return nil, fmt.Errorf("effects: there is no %v", k)
	}
	return []byte(kinds[k]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, name := range kinds {
		if i > 0 && name == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("effects: there is no kind %q of term", b)
}

// MarshalJSON implements json.Marshaler. A number that JSON lacks becomes the string "NaN".
func (e *Effects) MarshalJSON() ([]byte, error) { return nanjson.Marshal(*e) }

// UnmarshalJSON implements json.Unmarshaler. It is an error if the sizes of the lists do not
// fit together.
func (e *Effects) UnmarshalJSON(b []byte) error {
	var x Effects
	if err := nanjson.Unmarshal(b, &x); err != nil {
		return errs.Wrap("effects", err)
	}
	if err := x.check(); err != nil {
		return errs.Wrap("effects", err)
	}
	*e = x
	return nil
}

// check tells whether the sizes of the lists fit together.
func (e *Effects) check() error {
	q := len(e.Quantities)
	if len(e.Unmatched) != q || len(e.Shares) != q {
		return fmt.Errorf("%d quantities, %d shares and %d counts of what is unmatched", q, len(e.Shares), len(e.Unmatched))
	}
	for _, t := range e.Terms {
		n := len(t.Points)
		if t.Kind < Categories || t.Kind > Interactions {
			return fmt.Errorf("term %q has no kind", t.Name)
		}
		if len(t.Predictions) != n || len(t.Differences) != n {
			return fmt.Errorf("term %q: %d points, %d predictions and %d differences", t.Name, n, len(t.Predictions), len(t.Differences))
		}
		if t.Slopes != nil && len(t.Slopes) != q {
			return fmt.Errorf("term %q: %d slopes of %d quantities", t.Name, len(t.Slopes), q)
		}
		for i, p := range t.Points {
			if len(t.Predictions[i]) != q || len(t.Differences[i]) != q {
				return fmt.Errorf("term %q at %q: %d predictions and %d differences of %d quantities", t.Name, p.Label, len(t.Predictions[i]), len(t.Differences[i]), q)
			}
		}
	}
	return nil
}
