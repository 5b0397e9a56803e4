//go:build linux

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/plan"
)

// heard is a buffer for output that a test reads while the launcher writes it.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// await waits until all the words have been written.
func (h *heard) await(t *testing.T, words ...string) {
	t.Helper()
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(time.Millisecond) {
		missing := false
		for _, w := range words {
			missing = missing || !strings.Contains(h.String(), w)
		}
		if !missing {
			return
		}
	}
	t.Fatalf("no %q in %q", words, h.String())
}

// deaf starts a run of three ranks that ignore SIGINT and SIGTERM, and waits until they do.
func deaf(t *testing.T, newRun func(args ...string) *run, args ...string) (*run, *heard) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(append(args, "-n", "3", "rank", "init", "exchange", "note:Recv on world from 3 tag 9", "ignore:2", "ignore:15", "ready:"+ready, "forever")...)
	h := &heard{}
	r.cmd.Stderr = h
	r.start().ready(ready, 3)
	return r, h
}

// again sends a signal repeatedly until the run ends, because a signal is lost while another one of
// the same number is pending.
func (r *run) again(s syscall.Signal) {
	for {
		r.cmd.Process.Signal(s)
		select {
		case <-r.ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// The launcher names ranks that ignore a SIGINT, and says how to force their end. A second SIGINT
// kills them.
func TestIgnoredInterruptIsExplained(t *testing.T) {
	t.Parallel()
	here := func(args ...string) *run { return newRun(t, args...) }
	r, h := deaf(t, here)
	r.cmd.Process.Signal(os.Interrupt)
	h.await(t, "halo: SIGINT was passed on, waiting for ranks 0-2 (rank 0 in Recv on world from 3 tag 9) to end; again (Ctrl-C in a terminal) to force their end\n")
	r.again(syscall.SIGINT)
	r.wait(130)
	h.await(t, "halo: the job was killed by a second signal, SIGINT\n")
}

// After SIGTERM the launcher kills the ranks at the end of the grace time.
func TestIgnoredTermEscalates(t *testing.T) {
	t.Parallel()
	here := func(args ...string) *run { return newRun(t, args...) }
	r, h := deaf(t, here, "-grace", "300ms")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
	h.await(t, "halo: the job was killed: ranks 0-2 (rank 0 in Recv on world from 3 tag 9) did not end within 300ms of SIGTERM (-grace)\n")

	r, h = deaf(t, here, "-grace", "1h")
	r.cmd.Process.Signal(syscall.SIGTERM)
	h.await(t, "halo: SIGTERM was passed on, waiting for ranks 0-2 (rank 0 in Recv on world from 3 tag 9) to end", "; they are killed in 59m59s, or send it again to force their end now\n")
	r.again(syscall.SIGTERM)
	r.wait(143)
	h.await(t, "killed by a second signal, SIGTERM")
}

// The same for ranks of several hosts.
func TestIgnoredSignalsOfHosts(t *testing.T) {
	t.Parallel()
	there := func(args ...string) *run { return far(t, "run", append([]string{"-host", "a:1,b:2"}, args...)...) }
	r, h := deaf(t, there)
	r.cmd.Process.Signal(os.Interrupt)
	h.await(t, "halo: SIGINT was passed on, waiting for rank 0 on a, ranks 1-2 on b to end; again ")
	r.again(syscall.SIGINT)
	r.wait(130)

	r, h = deaf(t, there, "-grace", "300ms")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
	h.await(t, "halo: the job was killed: rank 0 on a, ranks 1-2 on b did not end within 300ms of SIGTERM (-grace)\n")
}

// A rank that ends within the grace time after SIGTERM is not killed.
func TestGraceIsLeftToRanks(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-grace", "1h", "-n", "2", "rank", "await:15", "ready:"+ready, "forever")
	r.cmd.Args = append(r.cmd.Args[:len(r.cmd.Args)-4], "sh", "-c", "trap 'echo saved; exit 0' TERM; echo $$ >"+ready+".$HALO_RANK; while :; do sleep 0.01; done")
	r.start().ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(0).printed("saved", "saved")
}

// If hosts do not finish, the launcher reports what it knows, and does not block if nobody reads
// the report.
func TestReportOfAnAbandonedJob(t *testing.T) {
	newReport := func(stderr *os.File) *job {
		j := &job{abandoned: true, family: &family{messages: make(chan string), ending: true, status: 137, reason: "rank 0 was killed"},
			hosts: []*host{{name: "a"}, {name: "b", remote: &remote{}}}}
		j.stdout, j.stderr = newSinks(&plan.Spec{}, os.Stdout, stderr, func(error) {})
		return j
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	newReport(w).report()
	w.Close()
	b := make([]byte, 1000)
	n, _ := r.Read(b)
	more, _ := r.Read(b[n:])
	want := fmt.Sprintf("halo: clean-up has not ended within %v: b; processes or files of the job may be left there\nhalo: rank 0 was killed\n", finishTimeout)
	if got := string(b[:n+more]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	unread, full := fullPipe(t)
	defer unread.Close()
	defer full.Close()
	newReport(full).report() // must not block
}
