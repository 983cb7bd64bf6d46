//go:build !linux

package beam

import (
	"net"
	"testing"
)

func adoptOrphans()     {}
func leftBehind() error { return nil }

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
