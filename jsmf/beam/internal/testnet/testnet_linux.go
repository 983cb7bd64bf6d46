// Package testnet gives tests that run Prism a network of their own, for Prism listens on all
// interfaces, and whoever reaches it can run programs.
package testnet

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// variable is set in the process that has a network of its own.
const variable = "JSMF_BEAM_TEST_NETWORK"

// Enter runs this program again in a network of its own, and returns its exit code and true.
// It returns false in the program that is run so, where the tests are to begin, and where the
// system does not allow such a network.
func Enter() (code int, ok bool) {
	if os.Getenv(variable) != "" {
		if err := loopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "loopback:", err)
			return 1, true
		}
		return 0, false
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if id := os.Geteuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	runtime.LockOSThread() // Pdeathsig goes by the thread
	code, err := relay(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no network namespace, Prism listens on this machine's interfaces:", err)
		return 0, false
	}
	return code, true
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifreq, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifreq.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifreq)
}

// Inside says whether this process is in a network of its own.
func Inside() bool { return os.Getenv(variable) != "" }

// relay runs a command to its end and passes signals on to it.
func relay(cmd *exec.Cmd) (int, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}
