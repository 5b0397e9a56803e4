//go:build linux

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On SIGQUIT the launcher prints the table first, and then passes the signal on.
func TestF6_QuitShowsWhatRanksWaitFor(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "3", hangPath, "recv", "barrier", "sleep").start()
		r.awaitPs("waiting: Recv on world from 1 tag 7;", "waiting: Barrier on world;", "running:")
		r.cmd.Process.Signal(syscall.SIGQUIT)
		r.wait(2).said("halo: the job was ended by SIGQUIT").said("   0 ", "waiting", "Recv on world from 1 tag 7").
			said("   1 ", "waiting", "Barrier on world").said("   2 ", "running").said("goroutine")
		all := r.stderr.String()
		if strings.Index(all, "WAITS FOR") > strings.Index(all, "goroutine") {
			t.Errorf("the ranks spoke first: %.3000s", all)
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
