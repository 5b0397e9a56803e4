//go:build linux

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BRD-08: on SIGQUIT the launcher passes the signal on, and prints the table last, below the stacks of
// the ranks. It shows the state before the signal.
func TestF6_QuitShowsWhatRanksWaitFor(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "3", hangPath, "recv", "barrier", "sleep").start()
		r.awaitPs("waiting: Recv on world from 1 tag 7;", "waiting: Barrier on world;", "running:")
		r.cmd.Process.Signal(syscall.SIGQUIT)
		r.wait(2).said("halo: the job was ended by SIGQUIT").said("   0 ", "waiting", "Recv on world from 1 tag 7").
			said("   1 ", "waiting", "Barrier on world").said("   2 ", "running").said("goroutine")
		all := r.stderr.String()
		if strings.Index(all, "WAITS FOR") < strings.LastIndex(all, "goroutine ") {
			t.Errorf("the stacks come last: %.3000s", all)
		}
	}
}

// BRD-08: SIGUSR2 to the launcher shows the table, and nothing else happens: the ranks do not get it.
func TestBRD08_UserSignalShowsTheTableAlone(t *testing.T) {
	r := newRun(t, "-n", "2", hangPath, "recv", "barrier").start()
	r.awaitPs("waiting: Recv on world from 1 tag 7;", "waiting: Barrier on world;")
	for range 2 {
		r.cmd.Process.Signal(syscall.SIGUSR2)
		time.Sleep(10 * time.Millisecond) // or both may be one signal
	}
	r.awaitPs("waiting: Recv on world from 1 tag 7;", "waiting: Barrier on world;")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143).said("   0 ", "waiting", "Recv on world from 1 tag 7").said("   1 ", "waiting", "Barrier on world")
	if all := r.stderr.String(); strings.Contains(all, "goroutine ") {
		t.Errorf("stderr: %.3000s", all)
	}
}

// BRD-08: messages that lie unmatched at a rank that waits are shown with what it waits for, also those
// that come while it sleeps; in checking mode with the line that has sent them.
func TestBRD08_WaitsShowUnmatchedMessages(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		for _, checks := range []bool{false, true} {
			args, at := []string{"-fabric", fabric, "-timeout", "60s", "-n", "2", hangPath, "tags", "tags"}, ""
			if checks {
				args, at = append([]string{"-check"}, args...), ", sent at main.go:"
			}
			r := newRun(t, args...).start()
			want := func() bool {
				s := r.state()
				if s == nil {
					return false
				}
				for i, rank := range s.Ranks {
					if !strings.HasPrefix(rank.Unmatched, fmt.Sprintf("2 messages from %d tag 1, 8 bytes%s", 1-i, at)) ||
						!strings.Contains(rank.Unmatched, fmt.Sprintf("; from %d tag 3 on apart, 16 bytes%s", 1-i, at)) {
						return false
					}
				}
				return len(s.Ranks) == 2
			}
			for end := time.Now().Add(hangs / 2); !want(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("over %s, checking %v: %+v", fabric, checks, r.state())
				}
			}
			r.cmd.Process.Signal(syscall.SIGQUIT)
			r.wait(2).said("here, unmatched: 2 messages from 1 tag 1, 8 bytes" + at)
		}
	}
}

// Each agent prints the table of its host.
func TestF6_QuitShowsRanksOfAllHosts(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := far(t, "run", "-host", "a:1,b:2", "-n", "3", "rank", "init", "note:Recv on world", "2@note:Barrier", "ready:"+ready, "forever").start()
	r.ready(ready, 3)
	r.cmd.Process.Signal(syscall.SIGQUIT)
	r.wait(2).said("a (rank 0): job ", "3 ranks", "agent pid").said("   0 ", "waiting", "Recv on world").
		said("b (ranks 1-2): job ", "3 ranks").said("   1 ", "waiting", "Recv on world").said("   2 ", "waiting", "Barrier")
	r = shownAtTimeout(3, func(timeout string) *run {
		return far(t, "run", "-timeout", timeout, "-host", "a:1,b:2", "-n", "3", "rank", "init", "note:Recv on world", "exchange", "forever")
	})
	r.said("a (rank 0): job ").said("   0 ", "Recv on world").said("b (ranks 1-2): job ").said("   2 ", "Recv on world")
}

// A job that waits for an agent has not begun and has no table.
func TestF6_QuitBeforeTheJobHasBegun(t *testing.T) {
	r := far(t, "hang", "-host", "localhost,b", "-n", "2", "rank", "forever").start()
	for len(processesWith(r.marker)) < 2 { // until ssh runs
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	r.cmd.Process.Signal(syscall.SIGQUIT)
	r.wait(131).said("the job was ended by SIGQUIT")
}

// SIGQUIT reaches the ranks even if nobody reads the launcher's stderr.
func TestF6_QuitReachesRanksAlthoughNobodyReads(t *testing.T) {
	t.Parallel()
	unread, w := fullPipe(t)
	defer unread.Close()
	ready, caught := filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "caught")
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "await:3", "ready:"+caught, "forever")
	r.cmd.Stderr = w
	r.start()
	w.Close()
	r.ready(ready, 2)
	r.cmd.Process.Signal(syscall.SIGQUIT)
	r.ready(caught, 2)
	r.cmd.Process.Kill() // after SIGTERM the launcher would wait for the reader of its output
	r.end()
	r.nothingLeft()
}

// fullPipe makes a full pipe.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		_, err = syscall.Write(fds[1], make([]byte, 4096))
	}
	if err != syscall.EAGAIN {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if err := syscall.SetNonblock(fd, false); err != nil {
			t.Fatal(err)
		}
	}
	return os.NewFile(uintptr(fds[0]), "full"), os.NewFile(uintptr(fds[1]), "full")
}

// shownAtTimeout returns an ended run whose timeout was long enough for n ranks to be waiting in
// calls. On a busy machine that may take long, so that it retries with longer timeouts.
func shownAtTimeout(n int, prepare func(timeout string) *run) *run {
	for timeout := 2 * time.Second; ; timeout *= 2 {
		r := prepare(timeout.String()).start().wait(124)
		if strings.Count(r.stderr.String(), " waiting ") == n || timeout > hangs/4 {
			return r
		}
	}
}

// At -timeout the launcher prints the table, which explains hangs in continuous integration.
func TestF6_TimeoutShowsWhatRanksWaitFor(t *testing.T) {
	t.Parallel()
	r := shownAtTimeout(2, func(timeout string) *run {
		return newRun(t, "-timeout", timeout, "-n", "2", hangPath, "recv", "probe")
	})
	r.said("still running: ranks 0-1").said("   0 ", "waiting", "Recv on world from 1 tag 7").
		said("   1 ", "waiting", "Probe on world from 0 tag 9")
	if lines := strings.Split(strings.TrimSpace(r.stderr.String()), "\n"); len(lines) != 5 || !strings.Contains(lines[4], "-timeout") {
		t.Errorf("stderr: %s", r.stderr.String())
	}
}
