package corpus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/jsmf-go/spectral/internal/bag"
)

// Triples reads preferences: every line has a user, an item and perhaps a rating.
// Users are documents, items are words, and the rating says how often the word
// occurs. Further columns are ignored, blank lines skipped.
//
// Users and items are sorted, whole numbers by value, then names by their bytes, so
// that any order of the lines gives the same corpus. Several lines of the same pair
// are added up.
type Triples struct {
	In File

	// Separator stands between the columns, such as "," or "::" or "\t".
	// "" means any run of spaces and tabs. Space around a field is cut off.
	Separator string

	// Quoted allows fields in double quotes, within which the Separator is an
	// ordinary character and "" means a quote. Without it a field that begins with
	// a quote is an error.
	Quoted bool

	// Header skips the first line.
	Header bool

	// User, Item and Rating are columns, counted from 1; 0 means 1, 2 and 3.
	// Rating is read only if Count is set.
	User, Item, Rating int

	// Count turns a rating into a count from 0 to MaxCount; 0 leaves the item out,
	// but keeps the user. Its error is reported with the line. See Stars and Whole.
	// nil: every line counts 1.
	Count func(rating float64) (int, error)

	// Rename returns the word for an item of the file, such as the title for an
	// id. Items of the same name become one word. nil: the item itself.
	Rename func(item string) string

	// Grouped says that the lines of each user are contiguous. Docs then streams,
	// with the users in the order of the file, and a user who comes again is an
	// error that wraps ErrUngrouped. Otherwise Docs holds the corpus in memory.
	Grouped bool
}

// ReadTriples reads preferences from a file, plain or gzipped, with user and item
// in the first two columns; each line counts 1. For other settings use Read with a
// Triples.
func ReadTriples(ctx context.Context, path, separator string) (*Corpus, error) {
	return Read(ctx, Triples{In: File{Name: path}, Separator: separator})
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

// Whole is a Triples.Count for ratings that are counts themselves, such as how
// often a listener played an artist.
func Whole(rating float64) (int, error) {
	if !(rating >= 0 && rating <= MaxCount) || rating != math.Trunc(rating) {
		return 0, fmt.Errorf("%v is not a whole number from 0 to %d", rating, MaxCount)
	}
	return int(rating), nil
}

// Docs implements Source. Documents hold tokens and counts.
func (s Triples) Docs(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if err := s.stream(ctx, yield); err != nil && err != errStop {
			yield(Document{}, err)
		}
	}
}

func (s Triples) stream(ctx context.Context, yield func(Document, error) bool) error {
	var d Document
	if !s.Grouped {
		c, err := s.load(ctx)
		if err != nil {
			return err
		}
		for n, err := range c.Source().Docs(ctx) {
			if err != nil {
				return err
			}
			d = Document{ID: n.ID, Tokens: d.Tokens[:0], Counts: n.Counts}
			for _, w := range n.Words {
				d.Tokens = append(d.Tokens, c.vocab[w])
			}
			if !yield(d, nil) {
				return errStop
			}
		}
		return nil
	}
	users, items := map[string]bool{}, map[string]string{}
	err := s.scan(ctx, func(user, item []byte, count int32) error {
		if len(users) == 0 || string(user) != d.ID {
			if users[string(user)] {
				return fmt.Errorf("user %s comes again: %w", user, ErrUngrouped)
			}
			if len(users) > 0 && !yield(d, nil) {
				return errStop
			}
			d = Document{ID: string(user), Tokens: d.Tokens[:0], Counts: d.Counts[:0]}
			users[d.ID] = true
		}
		if count > 0 {
			name, ok := items[string(item)]
			if !ok {
				var err error
				if name, err = s.rename(item); err != nil {
					return err
				}
				items[string(item)] = name
			}
			d.Tokens, d.Counts = append(d.Tokens, name), append(d.Counts, count)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(users) == 0 {
		return s.In.at(0, ErrNoDocuments)
	}
	if !yield(d, nil) {
		return errStop
	}
	return nil
}

func (s Triples) load(ctx context.Context) (*Corpus, error) {
	if s.Grouped {
		return collect(ctx, s)
	}
	var (
		t            table
		users, words []string
		userNo       = map[string]int32{}
		itemNo       = map[string]int32{} // by the item in the file
		wordNo       = map[string]int32{} // by its name
	)
	err := s.scan(ctx, func(user, item []byte, count int32) error {
		u, ok := userNo[string(user)]
		if !ok {
			u = int32(len(users))
			users = append(users, string(user))
			userNo[users[u]] = u
		}
		if count == 0 {
			return nil
		}
		w, ok := itemNo[string(item)]
		if !ok {
			name, err := s.rename(item)
			if err != nil {
				return err
			}
			if w, ok = wordNo[name]; !ok {
				w = int32(len(words))
				words = append(words, name)
				wordNo[name] = w
			}
			itemNo[string(item)] = w
		}
		return t.put(u, w, count)
	})
	switch {
	case err != nil:
		return nil, err
	case len(users) == 0:
		return nil, s.In.at(0, ErrNoDocuments)
	case len(words) == 0:
		return nil, s.In.at(0, ErrEmptyVocabulary)
	}
	if m, w, sum := t.finish(len(users)); m >= 0 {
		return nil, s.In.at(0, bag.CountError(users[m], words[w], sum))
	}
	vocab, to := sortNames(words)
	t.renumber(to)
	ids, toDoc := sortNames(users)
	from := make([]int, len(ids))
	for m, d := range toDoc {
		from[d] = m
	}
	return newCorpus(vocab, about{}, t.indptr, t.words, t.counts).reorder(ids, from), nil
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

// reorder returns the corpus whose document d is document from[d] of c.
func (c *Corpus) reorder(ids []string, from []int) *Corpus {
	indptr := make([]int, 1, len(from)+1)
	words, counts := make([]int32, 0, len(c.words)), make([]int32, 0, len(c.words))
	for _, m := range from {
		w, n := c.Doc(m)
		words, counts = append(words, w...), append(counts, n...)
		indptr = append(indptr, len(words))
	}
	return newCorpus(c.vocab, about{ids: ids}, indptr, words, counts)
}

func (s Triples) rename(item []byte) (string, error) {
	if s.Rename == nil {
		return string(item), nil
	}
	name := s.Rename(string(item))
	if name == "" {
		return "", fmt.Errorf("item %s: its name is the empty string", item)
	}
	return name, nil
}

// scan calls row for every line. The slices are valid during the call.
func (s Triples) scan(ctx context.Context, row func(user, item []byte, count int32) error) error {
	col := [3]int{s.User, s.Item, s.Rating}
	need := 0
	for i := range col {
		if col[i] == 0 {
			col[i] = i + 1
		}
		if col[i] < 0 {
			return s.In.at(0, fmt.Errorf("%s is column %d", [...]string{"User", "Item", "Rating"}[i], col[i]))
		}
		if i < 2 || s.Count != nil {
			need = max(need, col[i])
		}
	}
	if col[0] == col[1] {
		return s.In.at(0, fmt.Errorf("columns User and Item are both %d", col[0]))
	}
	if !utf8.ValidString(s.Separator) {
		return s.In.at(0, fmt.Errorf("separator %q: %w", s.Separator, ErrInvalidUTF8))
	}
	l, err := s.In.lines()
	if err != nil {
		return err
	}
	defer l.close()
	var fields [][]byte
	for {
		b, err := l.text()
		if err == io.EOF {
			if err := ctx.Err(); err != nil {
				return l.fail(err)
			}
			return nil
		}
		if err == nil {
			err = l.check(ctx)
		}
		if err != nil {
			return err
		}
		if l.n == 1 && s.Header || len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		if fields, err = s.split(fields[:0], b); err != nil {
			return l.fail(err)
		}
		if len(fields) < need {
			return l.fail(fmt.Errorf("%d columns, want %d", len(fields), need))
		}
		user, item := fields[col[0]-1], fields[col[1]-1]
		if len(user) == 0 || len(item) == 0 {
			return l.fail(errors.New("the user or the item is empty"))
		}
		n := 1
		if s.Count != nil {
			f := fields[col[2]-1]
			x, err := strconv.ParseFloat(string(f), 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return l.fail(fmt.Errorf("rating %q is not a number", clip(f)))
			}
			if n, err = s.Count(x); err != nil {
				return l.fail(err)
			}
			if n < 0 || n > MaxCount {
				return l.fail(bag.CountError(string(user), string(item), float64(n)))
			}
		}
		if err := row(user, item, int32(n)); err != nil {
			if err == errStop {
				return err
			}
			return l.fail(err)
		}
	}
}

// split appends the fields of a line.
func (s Triples) split(dst [][]byte, b []byte) ([][]byte, error) {
	sep := []byte(s.Separator)
	trim := func(b []byte) []byte { // space beside a quote
		if len(sep) > 0 && sep[0] == ' ' {
			return b
		}
		return bytes.TrimLeft(b, " ")
	}
	for {
		if len(sep) == 0 {
			b = bytes.TrimLeft(b, " \t")
			if len(b) == 0 {
				return dst, nil
			}
		}
		var f []byte
		if q := trim(b); len(q) > 0 && q[0] == '"' {
			if !s.Quoted {
				return dst, errors.New("a field begins with a quote; see Triples.Quoted")
			}
			q = q[1:]
			for {
				i := bytes.IndexByte(q, '"')
				if i < 0 {
					return dst, errors.New("a quote is not closed")
				}
				if i+1 < len(q) && q[i+1] == '"' {
					f = append(f, q[:i+1]...)
					q = q[i+2:]
					continue
				}
				f, b = append(f, q[:i]...), q[i+1:]
				break
			}
			f = bytes.TrimSpace(f)
			rest := b
			if len(sep) > 0 {
				rest = trim(b)
			}
			end := len(rest) == 0
			if !end {
				if len(sep) == 0 && rest[0] != ' ' && rest[0] != '\t' || len(sep) > 0 && !bytes.HasPrefix(rest, sep) {
					return dst, errors.New("a closing quote is followed by more text")
				}
			}
			dst = append(dst, f)
			if end {
				return dst, nil
			}
			b = rest[len(sep):]
			continue
		}
		i, n := 0, len(sep)
		if n == 0 {
			i, n = bytes.IndexAny(b, " \t"), 1
		} else {
			i = bytes.Index(b, sep)
		}
		if i < 0 {
			return append(dst, bytes.TrimSpace(b)), nil
		}
		dst = append(dst, bytes.TrimSpace(b[:i]))
		b = b[i+n:]
	}
}
