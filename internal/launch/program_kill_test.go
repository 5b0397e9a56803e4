//go:build linux

package launch

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Promise F4 with a real MPI program while it communicates, on both fabrics: nothing is left after
// kill -9 of a rank or of the launcher at a random time after the processes have started.
func TestF4_NothingIsLeftOfAKilledProgram(t *testing.T) {
	ring := filepath.Join(t.TempDir(), "ring")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", ring, "../../examples/ring").CombinedOutput(); err != nil {
		t.Fatalf("building the ring: %v\n%s", err, out)
	}
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	for _, fabric := range []string{"shm", "tcp"} {
		for i := range rounds {
			r := newRun(t, "-n", "4", "-fabric", fabric, ring, "-laps", "2000000000").start()
			ranks := r.processesOf(ring, 4)
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			if i%2 == 0 {
				r.cmd.Process.Kill()
				r.end()
				r.nothingLeft()
			} else {
				victim := ranks[rand.IntN(len(ranks))]
				syscall.Kill(victim, syscall.SIGKILL)
				r.wait(137).said(fmt.Sprintf("(pid %d", victim), "SIGKILL")
			}
			noWarden(t)
		}
	}
}

// The same with messages of all lengths and collectives, and more ranks than cores: some ranks
// sleep, some poll, some have not called Init.
func TestF4_NothingIsLeftOfKilledTraffic(t *testing.T) {
	program := hangPath
	n, rounds := 2*runtime.NumCPU()+2, 6
	if testing.Short() {
		rounds = 2
	}
	for _, fabric := range []string{"shm", "tcp"} {
		for i := range rounds {
			r := newRun(t, "-n", fmt.Sprint(n), "-fabric", fabric, program, "traffic").start()
			ranks := r.processesOf(program, n)
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			if i%2 == 0 {
				r.cmd.Process.Kill()
				r.end()
				r.nothingLeft()
			} else {
				victim := ranks[rand.IntN(len(ranks))]
				syscall.Kill(victim, syscall.SIGKILL)
				r.wait(137).said(fmt.Sprintf("(pid %d", victim), "SIGKILL") // F5: names the killed rank
			}
			noWarden(t)
		}
	}
}

// Promises F1, F4 and F5 while ranks carry out operations that others offer: an origin does not wait
// forever for an operation that a killed rank has taken.
func TestF1_F4_NothingIsLeftOfKilledOffers(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for i := range rounds {
		n := 2 + i%2
		r := newRun(t, "-n", fmt.Sprint(n), "-fabric", "shm", hangPath, "offers").start()
		ranks := r.processesOf(hangPath, n)
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
		victim := ranks[rand.IntN(n)]
		syscall.Kill(victim, syscall.SIGKILL)
		r.wait(137).said(fmt.Sprintf("(pid %d", victim), "SIGKILL")
		noWarden(t)
	}
}

// processesOf waits until n processes of the run execute program, and returns their ids.
func (r *run) processesOf(program string, n int) []int {
	r.t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); {
		var pids []int
		for _, line := range processesWith(r.marker) {
			id, command, _ := strings.Cut(line, " ")
			var pid int
			fmt.Sscan(id, &pid)
			if strings.HasPrefix(command, program+" ") {
				pids = append(pids, pid)
			}
		}
		if len(pids) == n {
			return pids
		}
	}
	r.t.Fatalf("%d processes of %s did not start", n, program)
	return nil
}
