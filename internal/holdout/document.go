package holdout

import "github.com/jsmf-go/spectral/internal/vec"

// Tokens are words of a document, and how often they occur.
type Tokens struct {
	Words  []int32
	Counts []float32
	Sum    int64 // of the counts
}

func (t *Tokens) reset() { t.Words, t.Counts, t.Sum = t.Words[:0], t.Counts[:0], 0 }

func (t *Tokens) add(word int32, count int64) {
	t.Words, t.Counts = append(t.Words, word), append(t.Counts, float32(count))
	t.Sum += count
}

// Document has the tokens of a document that are learned from, and those that are hidden. The
// zero value is ready for Set.
type Document struct {
	Visible, Hidden Tokens

	own []int32 // the memory of the visible words of a document that is watched
}

// Set sets d to a document. Where it is not watched, no token is hidden, and d.Visible.Words
// are the words given.
func (d *Document) Set(words, counts []int32, watched bool) {
	d.Hidden.reset()
	v := &d.Visible
	v.Sum = 0
	if !watched {
		v.Words, v.Counts = words, vec.Resize(v.Counts, len(counts))
		for i, x := range counts {
			v.Counts[i] = float32(x)
			v.Sum += int64(x)
		}
		return
	}
	v.Words = d.own
	v.reset()
	Split(counts, func(i int, visible, hidden int64) {
		if hidden > 0 {
			d.Hidden.add(words[i], hidden)
		}
		if visible > 0 {
			v.add(words[i], visible)
		}
	})
	d.own = v.Words
}
