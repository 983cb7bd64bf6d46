package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Triples reads preferences from a table, such as a CSV or TSV file: every record has a user, an
// item and perhaps a rating. Users are documents, items are words, and the rating says how often the
// word occurs.
//
// Users and items are sorted, whole numbers by value, then names by their bytes, so that any
// order of the records gives the same corpus. Records of the same pair are added up.
type Triples struct {
	In File

	// User, Item and Rating are the columns, given as those of a [CSV]. "" means #1, #2 and none:
	// every record counts 1. Space around a field is cut off.
	User, Item, Rating string

	// Comma, NoHeader and NoQuotes are those of a [CSV]. Where columns are separated by "::", Comma is
	// ':', and they are #1, #3 and #5.
	Comma              rune
	NoHeader, NoQuotes bool

	// Count turns a rating into a count from 0 to MaxCount; 0 leaves the item out,
	// but keeps the user. Its error is reported with the line. See Stars. nil: ratings are
	// counts themselves, such as how often a listener played an artist.
	Count func(rating float64) (int, error)

	// Rename returns the word for an item, such as the title for an id. Items of the same name
	// become one word. nil: the item itself.
	Rename func(item string) string
}

// Stars is the Triples.Count of lee-2018 (§2.4) for ratings in half stars: twice
// the rating, rounded, so that 0.5 to 5 stars become 1 to 10 tokens.
func Stars(rating float64) (int, error) {
	n := math.Round(2 * rating)
	if !(n >= 0 && n <= MaxCount) {
		return 0, fmt.Errorf("rating %v is not a number of stars", rating)
	}
	return int(n), nil
}

// whole is what a rating counts without a Triples.Count.
func whole(rating float64) (int, error) {
	if !(rating >= 0 && rating <= MaxCount) || rating != math.Trunc(rating) {
		return 0, fmt.Errorf("%v is not a whole number from 0 to %d", rating, MaxCount)
	}
	return int(rating), nil
}

// Describe implements Source. Nothing is known before the records are read.
func (s Triples) Describe(context.Context) (Description, error) { return Description{}, nil }

// Docs implements Source. Documents hold tokens and counts. It holds the corpus in memory.
func (s Triples) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return documents(ctx, s.stream)
}

func (s Triples) stream(ctx context.Context, yield func(Document, error) bool) error {
	users, items, docs, err := s.load(ctx)
	switch {
	case err != nil:
		return err
	case len(users) == 0:
		return s.In.at(0, ErrNoDocuments)
	case len(items) == 0:
		return s.In.at(0, ErrEmptyVocabulary)
	}
	vocab, to := sortNames(items)
	ids, place := sortNames(users)
	order := make([]int, len(ids))
	for i, p := range place {
		order[p] = i
	}
	var tokens []string
	var buf []uint64
	for m, i := range order {
		if err := ctx.Err(); err != nil {
			return s.In.at(0, err)
		}
		d := docs[i]
		for j, w := range d.Words {
			d.Words[j] = to[w]
		}
		n, w, sum := bag.Merge(d.Words, d.Counts, &buf)
		if w >= 0 {
			return s.In.at(0, bag.CountError(ids[m], vocab[w], sum))
		}
		tokens = tokens[:0]
		for _, w := range d.Words[:n] {
			tokens = append(tokens, vocab[w])
		}
		if !yield(Document{ID: ids[m], Tokens: tokens, Counts: d.Counts[:n]}, nil) {
			return errStop
		}
	}
	return nil
}

// load returns the users, the items, and for each user the numbers of the items and their
// counts, in the order of the records.
func (s Triples) load(ctx context.Context) (users, items []string, docs []Document, err error) {
	userNo, itemNo := map[string]int{}, map[string]int32{}
	table := CSV{In: s.In, Comma: s.Comma, NoHeader: s.NoHeader, NoQuotes: s.NoQuotes}
	names := []string{cmp.Or(s.User, "#1"), cmp.Or(s.Item, "#2"), s.Rating}
	err = table.each(ctx, names, func(fields []string, line int) error {
		user, item, count, err := s.row(fields)
		if err != nil {
			return s.In.at(line, err)
		}
		u, ok := userNo[user]
		if !ok {
			u = len(users)
			user = strings.Clone(user) // it is a piece of a line
			users, docs = append(users, user), append(docs, Document{})
			userNo[user] = u
		}
		if count == 0 {
			return nil
		}
		w, ok := itemNo[item]
		if !ok {
			w, item = int32(len(items)), strings.Clone(item)
			items = append(items, item)
			itemNo[item] = w
		}
		d := &docs[u]
		d.Words, d.Counts = append(d.Words, w), append(d.Counts, count)
		return nil
	})
	return users, items, docs, err
}

// row returns what a record holds.
func (s Triples) row(fields []string) (user, item string, count int32, err error) {
	user, item = strings.TrimSpace(fields[0]), strings.TrimSpace(fields[1])
	if user == "" || item == "" {
		return "", "", 0, errors.New("the user or the item is empty")
	}
	n := 1
	if s.Rating != "" {
		rating := strings.TrimSpace(fields[2])
		x, err := strconv.ParseFloat(rating, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return "", "", 0, fmt.Errorf("rating %q is not a number", clip([]byte(rating)))
		}
		f := s.Count
		if f == nil {
			f = whole
		}
		if n, err = f(x); err != nil {
			return "", "", 0, err
		}
		if n < 0 || n > MaxCount {
			return "", "", 0, bag.CountError(user, item, float64(n))
		}
	}
	if s.Rename != nil {
		id := item
		if item = s.Rename(id); item == "" {
			return "", "", 0, fmt.Errorf("item %s: its name is the empty string", id)
		}
	}
	return user, item, int32(n), nil
}

// sortNames returns the names in the order of bag.CompareWords and the new place
// of each.
func sortNames(names []string) (sorted []string, to []int32) {
	order := make([]int32, len(names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(bag.CompareWords(names[i], names[j]), int(i-j)) })
	sorted, to = make([]string, len(names)), make([]int32, len(names))
	for j, i := range order {
		sorted[j], to[i] = names[i], int32(j)
	}
	return sorted, to
}

// sorted returns the corpus with its words in the order of bag.CompareWords. It takes over
// the slices of c.
func (c *Corpus) sorted() *Corpus {
	r := rows{indptr: c.indptr, words: c.words, counts: c.counts}
	vocab, to := sortNames(c.vocab)
	r.renumber(to)
	return newCorpus(vocab, c.about, r.indptr, r.words, r.counts)
}
