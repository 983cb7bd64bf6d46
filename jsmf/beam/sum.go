package beam

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"golang.org/x/sync/errgroup"

	"github.com/jsmf-go/spectral/internal/sums"
)

func init() {
	register.DoFn3x1[context.Context, string, func(int, []byte), error](&addShare{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(string), error](&addStripes{})
	register.Iter1[[]byte]()
	register.Emitter2[int, []byte]()
}

// stripeLen is how many numbers of a sum are added up and stored together: 2 MiB.
const stripeLen = 1 << 18

// sum returns what a plan adds up over the documents of some pieces, from the state folder if
// it is there. docs stands for the documents in the key. It is one pipeline:
//
//	shares of pieces → a sum each, in packed stripes → stripes of a number, added → files
func (s *state) sum(ctx context.Context, r Runner, docs string, pieces []file, plan sums.Plan) ([]int64, error) {
	if len(pieces) == 0 {
		return nil, errors.New("beam: sum: no documents")
	}
	body, err := plan.MarshalBinary()
	if err != nil {
		return nil, err
	}
	key := keyOf("sum", docs, sha256.Sum256(body))
	var lost error
	for range 2 { // again if a file of an earlier result is damaged
		files, err := s.sumJob(ctx, r, key, pieces, plan.Len(), body)
		if err != nil {
			return nil, err
		}
		sum, err := s.readSum(ctx, files, plan.Len())
		if err == nil || ctx.Err() != nil {
			return sum, err
		}
		lost = err
		s.forget(key)
	}
	return nil, fmt.Errorf("beam: sum: %w", lost)
}

// sumJob runs the pipeline of a sum of n numbers, if its result is not there. body is the plan.
func (s *state) sumJob(ctx context.Context, r Runner, key string, pieces []file, n int, body []byte) ([]file, error) {
	files, ok, err := s.lookup(ctx, key)
	if err != nil || ok {
		return files, err
	}
	plan, err := writeFile(ctx, s.folder, "plan", func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("beam: sum: %w", err)
	}
	shares, err := deal(pieces, r.shares())
	if err != nil {
		return nil, err
	}
	files, err = s.job(ctx, r, "sum", key, func(sc beam.Scope) beam.PCollection {
		each := beam.Reshuffle(sc, beam.CreateList(sc, shares))
		stripes := beam.ParDo(sc, &addShare{Folder: s.folder, Plan: plan, Len: n}, each)
		return beam.ParDo(sc, &addStripes{Folder: s.folder, Len: n, Shares: len(shares)}, beam.GroupByKey(sc, stripes))
	})
	return files, errors.Join(err, removePaths(ctx, s.folder, []string{joinPath(s.folder, plan.Name)}))
}

// deal deals pieces out to shares of much the same size, without their notes.
func deal(pieces []file, shares int) ([]string, error) {
	order := slices.Clone(pieces)
	for i := range order {
		order[i].Note = nil
	}
	slices.SortStableFunc(order, func(a, b file) int { return cmp.Compare(b.Size, a.Size) })
	hands := make([][]file, min(shares, len(pieces)))
	sizes := make([]int64, len(hands))
	for _, p := range order {
		least := slices.Index(sizes, slices.Min(sizes))
		hands[least] = append(hands[least], p)
		sizes[least] += p.Size + 1
	}
	lines := make([]string, len(hands))
	for i, hand := range hands {
		b, err := json.Marshal(hand)
		if err != nil {
			return nil, err
		}
		lines[i] = string(b)
	}
	return lines, nil
}

// stripe returns which numbers of a sum of n are in a stripe.
func stripe(n, i int) (from, to int) { return i * stripeLen, min(n, (i+1)*stripeLen) }

func stripes(n int) int { return (n + stripeLen - 1) / stripeLen }

// addStripes adds up the stripes of all shares and writes their sum to a file.
type addStripes struct {
	Folder string
	Len    int
	Shares int
}

func (f *addStripes) ProcessElement(ctx context.Context, i int, parts func(*[]byte) bool, emit func(string)) error {
	if i < 0 || i >= stripes(f.Len) {
		return fmt.Errorf("stripe %d of %d", i, stripes(f.Len))
	}
	from, to := stripe(f.Len, i)
	sum := make([]int64, to-from)
	n := 0
	for part := []byte(nil); parts(&part); n++ {
		if err := addPacked(sum, part); err != nil {
			return err
		}
	}
	if n != f.Shares {
		return fmt.Errorf("stripe %d has %d parts of %d shares", i, n, f.Shares)
	}
	out, err := writeFile(ctx, f.Folder, "sum", func(w io.Writer) error {
		_, err := w.Write(pack(nil, sum))
		return err
	})
	if err == nil {
		out, err = out.with(i)
	}
	if err != nil {
		return err
	}
	line, err := out.line()
	if err == nil {
		emit(line)
	}
	return err
}

// readSum reads the files of a sum.
func (s *state) readSum(ctx context.Context, files []file, n int) ([]int64, error) {
	sum := make([]int64, n)
	if len(files) != stripes(n) {
		return nil, fmt.Errorf("%w: %d stripes of a sum of %d", errDamaged, len(files), stripes(n))
	}
	seen := make([]bool, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, f := range files {
		var i int
		if err := json.NewDecoder(bytes.NewReader(f.Note)).Decode(&i); err != nil || i < 0 || i >= len(files) || seen[i] {
			return nil, fmt.Errorf("%s: %w: stripe %s of a sum", f.Name, errDamaged, f.Note)
		}
		seen[i] = true
		group.Go(func() error {
			data, err := f.read(ctx, s.folder)
			if err != nil {
				return err
			}
			from, to := stripe(n, i)
			return named(f.Name, addPacked(sum[from:to], data))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return sum, nil
}
