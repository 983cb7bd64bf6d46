package beam

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jsmf-go/spectral/jsmf/beam/internal/testnet"
)

// adoptOrphans makes this process the parent of processes whose parent ends.
func adoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// leftBehind waits for the end of all processes that the tests started, themselves or by
// others, and looks which ports are open.
func leftBehind() error {
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); errors.Is(err, unix.ECHILD) {
				ended <- nil
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		children, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
		return fmt.Errorf("processes left behind: %s", children)
	}
	if !testnet.Inside() {
		return nil // others have ports here
	}
	var open int
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 3 && fields[3] == "0A" { // listens
				open++
			}
		}
	}
	if open > 1 { // Prism's, in this process, which cannot be stopped
		return fmt.Errorf("%d ports are open", open)
	}
	return nil
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
