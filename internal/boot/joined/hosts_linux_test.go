package joined

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// onHosts runs a process of a job on each of some hosts, and returns how each ended. between is called while they
// run; ended is closed when one of them has ended.
func onHosts(t *testing.T, h *hosttest.Hosts, env []string, between func(ended <-chan struct{}), args ...string) []outcome {
	t.Helper()
	list := make([]outcome, h.Len())
	outs := make([]strings.Builder, h.Len())
	var all sync.WaitGroup
	ended, end := make(chan struct{}), sync.Once{}
	for i := range h.Len() {
		line := append(append([]string{}, env...), fmt.Sprint(envRank, "=", i), fmt.Sprint(envSize, "=", h.Len()))
		cmd := h.Command(i, "env", append(line, args...)...)
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		limit := time.AfterFunc(testrun.Long, func() { cmd.Process.Signal(syscall.SIGKILL) })
		all.Go(func() {
			cmd.Wait()
			end.Do(func() { close(ended) })
			limit.Stop()
			list[i] = outcome{t, "", cmd.ProcessState.ExitCode()}
		})
	}
	between(ended)
	all.Wait()
	for i := range list {
		list[i].out = outs[i].String()
	}
	return list
}

// Ranks of different hosts find each other by the name or the address of rank 0, over IPv4 and IPv6, and
// communicate on the network that they share. A cable that is cut ends them.
func TestXLCH01_F4_RanksOnHosts(t *testing.T) {
	h := hosttest.Start(t, 3)
	secret := envSecret + "=" + secretFile(t, 0o600)
	addrs := []string{h.Addr(0) + ":29500", h.Name(0) + ":29501"}
	if six := h.Addr6(0); six != "" {
		addrs = append(addrs, "["+six+"]:29502")
	}
	for _, addr := range addrs {
		for i, o := range onHosts(t, h, []string{envAddr + "=" + addr, secret}, func(<-chan struct{}) {}, program("rank"), "all") {
			o.wants(0, fmt.Sprintf("rank %d of 3, 1 on its node, sum 3", i))
		}
	}
	begun := t.TempDir() + "/begun"
	cut := func(ended <-chan struct{}) {
		for {
			if _, err := os.Stat(begun); err == nil {
				break
			}
			select {
			case <-ended: // too early: the test shows what the ranks say
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		h.Cut(2)
	}
	var said string
	for _, o := range onHosts(t, h, []string{envAddr + "=" + addrs[0], secret}, cut, program("rank"), "forever", begun) {
		o.wants(1)
		said += o.out
	}
	if !strings.Contains(said, "node 2 (rank 2 and others) is lost to node 0 (host0)") {
		t.Error(said)
	}
}
