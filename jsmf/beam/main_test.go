package beam

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/jsmf-go/spectral/jsmf/beam/internal/testnet"
)

// roleVar says what a process of the test binary is, if not the tests themselves.
const roleVar = "JSMF_BEAM_TEST_ROLE"

// TestMain runs the tests in a network of their own, in which they can listen without being
// reached, where the system allows it. It also is the driver and the Prism that tests start
// as processes, and (by Init) the worker.
func TestMain(m *testing.M) {
	beamlog.LogLevel = "error"
	role := os.Getenv(roleVar)
	switch role {
	case "idle":
		time.Sleep(time.Hour) // until it is killed
	case "":
		if elsewhere() {
			break
		}
		if code, ok := testnet.Enter(); ok {
			os.Exit(code)
		}
	}
	Init()
	if os.Getenv("JSMF_BEAM_TEST_LOG") == "" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
	switch role {
	case "driver":
		driverMain()
	case "fitter":
		fitterMain()
	case "prism":
		prismMain()
	default:
		os.Exit(runTests(m))
	}
}

// runTests runs the tests in a folder for temporary files, and fails if anything is left
// behind: a file there, a process, or a port.
func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "jsmf-beam-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	os.Setenv("TMPDIR", folder)
	adoptOrphans()
	code := m.Run()
	left, err := os.ReadDir(folder)
	for _, f := range left {
		err = errors.Join(err, fmt.Errorf("temporary file left behind: %s", filepath.Join(folder, f.Name())))
	}
	if err = errors.Join(err, leftBehind()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// prismMain is a Prism that ends with its standard input.
func prismMain() {
	var port int
	fmt.Sscan(os.Getenv("JSMF_BEAM_TEST_PORT"), &port)
	if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

// startPrism starts a Prism as a process and returns its address.
func startPrism(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=prism", fmt.Sprint("JSMF_BEAM_TEST_PORT=", port))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("Prism says %q, %v", line, err)
	}
	return fmt.Sprint("localhost:", port)
}

// setFlag sets a flag of Beam's until the test ends.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	if f == nil {
		t.Fatalf("no flag --%s", name)
	}
	old := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(old) })
}

// workerProcesses makes the runner start this program as its worker.
func workerProcesses(t *testing.T, env map[string]string) {
	t.Helper()
	var vars []string
	for k, v := range env {
		vars = append(vars, fmt.Sprintf("%q: %q", k, v))
	}
	setFlag(t, "environment_type", "PROCESS")
	setFlag(t, "environment_config", fmt.Sprintf(`{"command": %q, "env": {%s}}`, os.Args[0], strings.Join(vars, ", ")))
	t.Cleanup(func() { *jobopts.EnvironmentConfig = "" })
}

// patience is how long a test waits for what should happen at once, before it fails.
const patience = 30 * time.Second

// elsewhere says whether Beam's flags name a runner, or whether a runner has started this
// program as its worker.
func elsewhere() bool {
	return slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return name == "runner" || name == "worker" || name == "provision_endpoint"
	})
}
