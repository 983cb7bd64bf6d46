package beam

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
)

// faultScheme begins paths of a file system that is the local one, with faults. A fault is
// set by setFault or, for a process that is to be started, by the variable faultVar:
//
//	write:3:torn   half of the third file is written, and then the process kills itself
//	write:3:kill   the third file is written, and then the process kills itself
//	write:3:panic  to open the third file for writing panics
//	read:piece:panic   to open a file with piece in its name for reading panics
//	read:piece:exit    … ends the process
//	read:piece:hang    … takes until ctx ends
const (
	faultScheme = "fault"
	faultVar    = "JSMF_BEAM_TEST_FAULT"
)

func init() {
	filesystem.Register(faultScheme, func(ctx context.Context) filesystem.Interface {
		return faultFS{local.New(ctx)}
	})
	if f := os.Getenv(faultVar); f != "" {
		theFault.Store(newFault(f))
	}
}

// fault is what goes wrong, and when.
type fault struct {
	op, where, what string
	writes          atomic.Int64
	once            sync.Once
	happened        chan struct{} // closed when it first happens
}

var theFault atomic.Pointer[fault]

func newFault(s string) *fault {
	part := strings.Split(s, ":")
	return &fault{op: part[0], where: part[1], what: part[2], happened: make(chan struct{})}
}

// setFault sets the fault of this process until the test ends.
func setFault(t *testing.T, s string) *fault {
	f := newFault(s)
	theFault.Store(f)
	t.Cleanup(func() { theFault.Store(nil) })
	return f
}

type faultFS struct{ filesystem.Interface }

func inside(path string) string { return strings.TrimPrefix(path, faultScheme+"://") }

func (f faultFS) List(ctx context.Context, glob string) ([]string, error) {
	paths, err := f.Interface.List(ctx, inside(glob))
	for i, p := range paths {
		paths[i] = faultScheme + "://" + p
	}
	return paths, err
}

func (f faultFS) Size(ctx context.Context, path string) (int64, error) {
	info, err := os.Stat(inside(path))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f faultFS) Remove(_ context.Context, path string) error { return os.Remove(inside(path)) }

func (f faultFS) OpenRead(ctx context.Context, path string) (io.ReadCloser, error) {
	if x := theFault.Load(); x != nil && x.op == "read" && strings.Contains(path, x.where) {
		x.once.Do(func() { close(x.happened) })
		switch x.what {
		case "panic":
			panic("the disk is on fire")
		case "exit":
			os.Exit(3)
		case "hang":
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	}
	return f.Interface.OpenRead(ctx, inside(path))
}

func (f faultFS) OpenWrite(ctx context.Context, path string) (io.WriteCloser, error) {
	w, err := f.Interface.OpenWrite(ctx, inside(path))
	if x := theFault.Load(); err == nil && x != nil && x.op == "write" && fmt.Sprint(x.writes.Add(1)) == x.where {
		if x.what == "panic" {
			w.Close()
			panic("the disk is full")
		}
		return &killer{w, x.what == "torn"}, nil
	}
	return w, err
}

// killer kills the process with the first bytes of a file, or when all are written.
type killer struct {
	io.WriteCloser
	torn bool
}

func (k *killer) Write(p []byte) (int, error) {
	if k.torn {
		k.WriteCloser.Write(p[:len(p)/2])
		k.WriteCloser.Close()
		killSelf()
	}
	return k.WriteCloser.Write(p)
}

func (k *killer) Close() error {
	k.WriteCloser.Close()
	killSelf()
	return nil
}

// killSelf ends this process as kill -9 does, and does not return.
func killSelf() {
	self, _ := os.FindProcess(os.Getpid())
	self.Kill()
	select {}
}
