package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// lastWords is how many messages a process sends before it kills itself.
const lastWords = 20

// denyVariable is the path of a program that denies its children memfd_create.
const denyVariable = "HALO_TEST_DENY"

func init() {
	spawnRoles["echo"] = func(world *mpi.Comm) error {
		p := world.Parent()
		for i := range p.RemoteSize() {
			for _, n := range echoed {
				b := make([]byte, n)
				if _, err := mpi.Recv(p, b, i, 1); err != nil {
					return err
				}
				if err := mpi.Send(p, b, i, 1); err != nil {
					return err
				}
			}
		}
		return p.Disconnect()
	}
	spawnRoles["die"] = func(world *mpi.Comm) error {
		p := world.Parent()
		for i := range p.RemoteSize() {
			for range lastWords {
				if err := mpi.Send(p, []byte{1}, i, 1); err != nil {
					return err
				}
			}
		}
		if _, err := mpi.Recv(p, make([]byte, 1), 0, 1); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	spawnCases["pair"] = func(world *mpi.Comm) error { return echo(world, !testrun.Race) }
	spawnCases["sockets"] = func(world *mpi.Comm) error { return echo(world, false) }
	spawnCases["killed"] = killed
}

var echoed = []int{1, 8, 100, 8 << 10, 20 << 10, 1 << 20}

// echo exchanges messages of all lengths with two children, through memory or not.
func echo(world *mpi.Comm, memory bool) error {
	m := role("echo", 2)
	if deny := os.Getenv(denyVariable); deny != "" {
		m.Program, m.Args = deny, []string{"memfd_create", m.Program}
	}
	p, _, err := world.Spawn(context.Background(), 0, m)
	if err != nil {
		return err
	}
	for i := range 2 {
		for _, n := range echoed {
			b, got := make([]byte, n), make([]byte, n)
			for k := range b {
				b[k] = byte(k + n + i)
			}
			if err := mpi.Send(p, b, i, 1); err != nil {
				return err
			}
			if _, err := mpi.Recv(p, got, i, 1); err != nil || string(got) != string(b) {
				return fmt.Errorf("the echo of %d bytes: %v", n, err)
			}
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if n := strings.Count(string(maps), "halo-pair"); err != nil || memory && n < 2 || !memory && n > 0 {
		return fmt.Errorf("%d segments shared with 2 children: %v", n, err)
	}
	return p.Disconnect()
}

// killed waits for a child that kills itself: it gets what the child has sent before, and then an error.
func killed(world *mpi.Comm) error {
	m := role("die", 1)
	m.Apart = true
	p, _, err := world.Spawn(context.Background(), 0, m)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	if world.Rank() == 0 {
		if err := mpi.Send(p, b, 0, 1); err != nil {
			return err
		}
	}
	for i := range lastWords {
		if _, err := mpi.Recv(p, b, 0, 1); err != nil {
			return fmt.Errorf("message %d of %d: %w", i, lastWords, err)
		}
	}
	if _, err := mpi.Recv(p, b, 0, 1); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("a message of a process that was killed: %v", err)
	}
	p.Disconnect()
	return nil
}

// Where a filter denies memory files, messages between two jobs travel through sockets, and -v says why (X-DYN-01).
func testDeniedPair(t *testing.T, s *spawnTests) {
	deny := filepath.Join(t.TempDir(), "deny")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", deny, "../internal/launch/testdata/deny").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), s.halo, "run", "-v", "-fabric", "shm", "-n", "1", deny, "memfd_create", s.self)
	cmd.Env = append(os.Environ(), programVariable+"=spawner", caseVariable+"=sockets", denyVariable+"="+deny)
	out, err = cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "travel through tcp: ") || !strings.Contains(string(out), "memfd_create halo-pair: operation not permitted") {
		t.Errorf("%v: %s", err, out)
	}
}

// In checking mode each job says once that nothing is compared with processes of others (X-DYN-01).
func testUnchecked(t *testing.T, s *spawnTests) {
	cmd := exec.CommandContext(t.Context(), s.halo, "run", "-fabric", "shm", "-n", "2", s.self)
	cmd.Env = append(os.Environ(), programVariable+"=spawner", caseVariable+"=merge", "HALO_CHECK=1")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "nothing is compared on communicators") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
