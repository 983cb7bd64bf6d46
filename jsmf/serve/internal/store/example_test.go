package store_test

import (
	"context"
	"fmt"
	"os"

	"github.com/jsmf-go/spectral/jsmf/serve/internal/store"
)

// Records come back after the store has been closed and opened again.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	check(err)
	defer os.RemoveAll(dir)

	s, err := store.Open(ctx, dir, store.Options{})
	check(err)
	last, err := s.Append([]store.Record{{Op: 1, Data: []byte("one")}, {Op: 1, Data: []byte("two")}})
	check(err)
	fmt.Println("on the disk up to record", last)
	check(s.Close())

	s, err = store.Open(ctx, dir, store.Options{})
	check(err)
	check(s.Replay(ctx, 1, func(seq uint64, r store.Record) error {
		fmt.Printf("record %d: %s\n", seq, r.Data)
		return nil
	}))
	check(s.Close())
	// Output:
	// on the disk up to record 2
	// record 2: two
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
