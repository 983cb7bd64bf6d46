package cooc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Merge adds the documents of another accumulator with their times; the other stays
// as it is. Errors, after which nothing has been added: options that differ, except
// for MaxBytes; an id that both hold (ErrDuplicate); more memory than MaxBytes
// (ErrFull).
func (a *Accumulator) Merge(other *Accumulator) error {
	if a == other {
		return errors.New("cooc: accumulator: merged with itself")
	}
	s := other.Snapshot() // not both locked at a time
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ready()
	if what := a.o.differs(s.o); what != "" {
		return fmt.Errorf("cooc: accumulator: %s differs: parts are merged only if they were made with the same options", what)
	}
	bytes := a.bytes
	taken := make([]int32, len(s.words)) // 1 + the number here
	for i, w := range s.words {
		if s.df[i] > 0 {
			if id, ok := a.index[w]; ok {
				taken[i] = id + 1
			} else {
				bytes += wordBytes + int64(len(w))
			}
		}
	}
	for _, d := range s.docs {
		if a.byID[d.id] != nil {
			return duplicate(d.id)
		}
		if bytes += d.bytes(); a.o.MaxBytes > 0 && bytes > a.o.MaxBytes {
			return full(d.id, bytes, a.o.MaxBytes)
		}
	}
	all := make([]*heldDoc, 0, len(a.docs)+len(s.docs))
	own := a.docs
	a.docs = nil
	for _, d := range s.docs {
		n := &heldDoc{id: d.id, at: d.at, data: slices.Clone(d.data), values: d.values}
		words, counts := n.pairs()
		for i, w := range words {
			if taken[w] == 0 {
				taken[w] = a.newWord(s.words[w]) + 1
			}
			words[i] = taken[w] - 1
		}
		bag.Merge(words, counts, &a.pairs) // distinct words: sorts only
		a.hold(n)                          // they are in their order
	}
	for i, j := 0, 0; i < len(own) || j < len(a.docs); {
		if j == len(a.docs) || i < len(own) && own[i].compare(a.docs[j].at, a.docs[j].id) < 0 {
			all = append(all, own[i])
			i++
		} else {
			all = append(all, a.docs[j])
			j++
		}
	}
	a.docs = all
	a.unknown += s.unknown
	a.evicted += s.evicted
	a.slide()
	return nil
}
