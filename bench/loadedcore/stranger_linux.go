package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// startStranger starts a process that computes on a core. It returns when that has the core.
//
// Rejected: a thread of this process, which the garbage collector and the monitor of Go's runtime interrupt.
func startStranger(core int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, strangerArg, strconv.Itoa(core))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		c.Process.Kill()
		c.Wait()
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		stop()
		return nil, fmt.Errorf("a stranger on core %d: %w", core, err)
	}
	return stop, nil
}

// beStranger computes on a core until the process is killed, or its parent has ended.
func beStranger(core string) {
	runtime.LockOSThread()
	n, err := strconv.Atoi(core)
	if err == nil {
		err = sys.BindThread([]int{n})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println()
	for parent := os.Getppid(); os.Getppid() == parent; {
		spin(100 * time.Millisecond)
	}
}
