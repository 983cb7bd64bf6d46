package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Triples reads preferences: every line has a user, an item and perhaps a rating. Users are
// documents, items are words, and the rating says how often the word occurs. Further columns
// and blank lines are skipped.
//
// Users and items are sorted, whole numbers by value, then names by their bytes, so that any
// order of the lines gives the same corpus. Lines of the same pair are added up.
type Triples struct {
	In File

	// Separator is what separates columns, such as "," or "::" or "\t"; "" means any run of
	// spaces and tabs. Space around a field is cut off.
	Separator string

	// Quoted reads fields in double quotes as encoding/csv does. The Separator is then a
	// single character. Without it a field that begins with a quote is an error.
	Quoted bool

	// Header skips the first line.
	Header bool

	// User, Item and Rating are columns, counted from 1; 0 means 1, 2 and, if Count is set,
	// 3. Otherwise there is no Rating, and every line counts 1.
	User, Item, Rating int

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

// Describe implements Source. Nothing is known before the lines are read.
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
// counts, in the order of the lines.
func (s Triples) load(ctx context.Context) (users, items []string, docs []Document, err error) {
	userNo := map[string]int{}
	itemNo := map[string]int32{} // by the item in the file
	nameNo := map[string]int32{}
	err = s.scan(ctx, func(user, item string, count int32) error {
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
			item = strings.Clone(item)
			name, err := s.rename(item)
			if err != nil {
				return err
			}
			if w, ok = nameNo[name]; !ok {
				w = int32(len(items))
				items = append(items, name)
				nameNo[name] = w
			}
			itemNo[item] = w
		}
		d := &docs[u]
		d.Words, d.Counts = append(d.Words, w), append(d.Counts, count)
		return nil
	})
	return users, items, docs, err
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

func (s Triples) rename(item string) (string, error) {
	if s.Rename == nil {
		return item, nil
	}
	name := s.Rename(item)
	if name == "" {
		return "", fmt.Errorf("item %s: its name is the empty string", item)
	}
	return name, nil
}

// scan calls row for every line.
func (s Triples) scan(ctx context.Context, row func(user, item string, count int32) error) error {
	col, err := s.columns()
	if err != nil {
		return s.In.at(0, err)
	}
	table := CSV{In: s.In}
	table.Comma, _ = utf8.DecodeRuneInString(s.Separator)
	next, closer, err := s.records(ctx, &table)
	if err != nil {
		return err
	}
	defer closer.Close()
	fields := make([]string, len(col))
	for n := 0; ; n++ {
		rec, line, err := next()
		if n%4096 == 0 || err == io.EOF {
			if ctx.Err() != nil {
				return s.In.at(line, ctx.Err())
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if line == 1 && s.Header || len(rec) == 0 || len(rec) == 1 && strings.TrimSpace(rec[0]) == "" {
			continue
		}
		if need := slices.Max(col) + 1; len(rec) < need {
			return s.In.at(line, fmt.Errorf("%d columns, want %d", len(rec), need))
		}
		err = table.fields(fields, rec, col)
		if err == nil {
			err = s.row(fields, row)
		}
		if err != nil {
			return s.In.at(line, err)
		}
	}
}

// columns returns the columns of user, item and, if it is read, rating, from 0.
func (s Triples) columns() ([]int, error) {
	col := []int{cmp.Or(s.User, 1), cmp.Or(s.Item, 2), cmp.Or(s.Rating, 3)}
	for i, c := range col {
		if c < 1 {
			return nil, fmt.Errorf("%s is column %d", [...]string{"User", "Item", "Rating"}[i], c)
		}
		col[i]--
	}
	if col[0] == col[1] {
		return nil, fmt.Errorf("columns User and Item are both %d", col[0]+1)
	}
	if !utf8.ValidString(s.Separator) {
		return nil, fmt.Errorf("separator %q: %w", s.Separator, ErrInvalidUTF8)
	}
	if s.Quoted && utf8.RuneCountInString(s.Separator) != 1 {
		return nil, fmt.Errorf("separator %q: with Quoted it has to be a single character", s.Separator)
	}
	if s.Rating == 0 && s.Count == nil {
		col = col[:2]
	}
	return col, nil
}

// row calls f for the user, the item and, if it is read, the rating of a line.
func (s Triples) row(fields []string, f func(user, item string, count int32) error) error {
	for i, x := range fields {
		fields[i] = strings.TrimSpace(x)
	}
	user, item := fields[0], fields[1]
	if user == "" || item == "" {
		return errors.New("the user or the item is empty")
	}
	n := 1
	if len(fields) > 2 {
		count := s.Count
		if count == nil {
			count = whole
		}
		x, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("rating %q is not a number", clip([]byte(fields[2])))
		}
		if n, err = count(x); err != nil {
			return err
		}
		if n < 0 || n > MaxCount {
			return bag.CountError(user, item, float64(n))
		}
	}
	return f(user, item, int32(n))
}

// records returns a function as CSV.records does.
func (s Triples) records(ctx context.Context, table *CSV) (next func() ([]string, int, error), c io.Closer, err error) {
	if s.Quoted {
		return table.records(ctx, true)
	}
	l, err := s.In.lines(ctx)
	if err != nil {
		return nil, nil, err
	}
	return func() ([]string, int, error) {
		b, err := l.text()
		if err != nil {
			return nil, l.n, err
		}
		line := string(b)
		rec := strings.Fields(line)
		if s.Separator != "" && len(rec) > 0 {
			rec = strings.Split(line, s.Separator)
		}
		if slices.ContainsFunc(rec, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, " "), `"`) }) {
			return nil, l.n, l.fail(errors.New("a field begins with a quote; see Triples.Quoted"))
		}
		return rec, l.n, nil
	}, l.rc, nil
}
