//go:build linux

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// SIGQUIT shows the table first, and then is passed on as ever.
func TestF6_QuitShowsWhatRanksWaitFor(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "3", hangPath(t), "recv", "barrier", "sleep").start()
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

// A stderr that nobody reads does not keep SIGQUIT from the ranks.
func TestF6_QuitReachesRanksAlthoughNobodyReads(t *testing.T) {
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
	r.cmd.Process.Kill() // SIGTERM would end the ranks, and wait for who reads why
	<-r.ended
	r.nothingLeft()
}

// fullPipe makes a pipe into which nothing more fits.
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

// A hang in a continuous integration explains itself.
func TestF6_TimeoutShowsWhatRanksWaitFor(t *testing.T) {
	r := newRun(t, "-timeout", "2s", "-n", "2", hangPath(t), "recv", "probe").start()
	r.wait(124).said("still running: ranks 0-1").said("   0 ", "waiting", "Recv on world from 1 tag 7").
		said("   1 ", "waiting", "Probe on world from 0 tag 9")
	if lines := strings.Split(strings.TrimSpace(r.stderr.String()), "\n"); len(lines) != 5 || !strings.Contains(lines[4], "-timeout") {
		t.Errorf("stderr: %s", r.stderr.String())
	}
}
