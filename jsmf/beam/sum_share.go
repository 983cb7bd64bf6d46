package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/jsmf-go/spectral/corpus"
	"github.com/jsmf-go/spectral/internal/sums"
	"golang.org/x/sync/errgroup"
)

// cores bounds how many sums are open in a worker process, whatever the number of bundles
// that a runner sends it at once. A share waits for one place and takes those that are free
// besides. All are given back before the share is done, on any way out, and what holds them
// waits for nothing but the state folder, so that no two can wait for each other.
var cores = make(gate, runtime.GOMAXPROCS(0))

type gate chan struct{}

// take waits for one place, and takes up to most in all if they are free.
func (g gate) take(ctx context.Context, most int) (int, error) {
	select {
	case g <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	n := 1
	for ; n < most; n++ {
		select {
		case g <- struct{}{}:
		default:
			return n, nil
		}
	}
	return n, nil
}

func (g gate) give(n int) {
	for range n {
		<-g
	}
}

// addShare adds up the documents of a share of the pieces.
type addShare struct {
	Folder string
	Plan   file
	Len    int // of the sum
}

// ProcessElement takes the files of a share, as JSON, and emits the stripes of their sum.
func (f *addShare) ProcessElement(ctx context.Context, share string, emit func(int, []byte)) error {
	var pieces []file
	if err := json.Unmarshal([]byte(share), &pieces); err != nil {
		return fmt.Errorf("share: %w", err)
	}
	n, err := cores.take(ctx, len(pieces))
	if err != nil {
		return err
	}
	defer cores.give(n)
	plan, err := loadPlan(ctx, f.Folder, f.Plan)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if plan.Len() != f.Len {
		return fmt.Errorf("plan %s has %d numbers where the job has %d", f.Plan.Name, plan.Len(), f.Len)
	}
	sum, err := addPieces(ctx, f.Folder, pieces, plan, n)
	if err != nil {
		return err
	}
	for i := range stripes(len(sum)) {
		from, to := stripe(len(sum), i)
		emit(i, pack(nil, sum[from:to]))
	}
	return nil
}

// adding adds up the documents of some pieces.
type adding struct {
	folder string
	pieces []file
	next   atomic.Int64 // piece
}

// addPieces adds up the documents of some pieces by n goroutines.
func addPieces(ctx context.Context, folder string, pieces []file, plan sums.Plan, n int) ([]int64, error) {
	a := &adding{folder: folder, pieces: pieces}
	parts := make([][]int64, n)
	group, ctx := errgroup.WithContext(ctx)
	for w := range n {
		if w > 0 && plan.Shared() {
			parts[w] = parts[0]
		} else {
			parts[w] = make([]int64, plan.Len())
		}
		group.Go(func() error { return a.some(ctx, plan.Adder(), parts[w]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if plan.Shared() {
		return parts[0], nil
	}
	for _, part := range parts[1:] {
		for i, v := range part {
			parts[0][i] += v
		}
	}
	return parts[0], nil
}

// some adds up pieces until there is none left to take.
func (a *adding) some(ctx context.Context, adder sums.Adder, sum []int64) (err error) {
	at := "(none)"
	defer panicked("piece", &at, &err) // in a goroutine of ours it would end the worker
	for {
		i := int(a.next.Add(1)) - 1
		if i >= len(a.pieces) {
			return adder.Flush(ctx, sum)
		}
		at = joinPath(a.folder, a.pieces[i].Name)
		if err := a.piece(ctx, a.pieces[i], adder, sum); err != nil {
			return fmt.Errorf("piece %s: %w", at, err)
		}
	}
}

// piece adds up a piece.
func (a *adding) piece(ctx context.Context, piece file, adder sums.Adder, sum []int64) error {
	docs, err := readPiece(ctx, a.folder, piece)
	if err != nil {
		return err
	}
	defer docs.Close()
	var b corpus.Block
	for i := range docs.Blocks() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := docs.Block(i, &b); err != nil {
			return err
		}
		if err := adder.Add(ctx, &b, sum); err != nil {
			return err
		}
	}
	return nil
}

// readPiece reads a piece of the documents, whole.
func readPiece(ctx context.Context, folder string, piece file) (*corpus.Encoded, error) {
	data, err := piece.read(ctx, folder)
	if err != nil {
		return nil, err
	}
	return corpus.EncodedFromBytes(joinPath(folder, piece.Name), data)
}

// plans holds the plan that this process used last.
var plans once[sums.Plan]

func loadPlan(ctx context.Context, folder string, f file) (sums.Plan, error) {
	return plans.get(joinPath(folder, f.Name), func() (sums.Plan, error) {
		data, err := f.read(ctx, folder)
		if err != nil {
			return nil, err
		}
		plan, err := sums.ReadPlan(data)
		return plan, named(f.Name, err)
	})
}
