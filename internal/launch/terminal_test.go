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
	"unsafe"
)

// terminal gives a run a terminal of its own. It returns the file for typing, and a function that
// waits until the terminal shows a text.
func (r *run) terminal() (typed *os.File, shown func(want string)) {
	r.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		r.t.Skip("no terminals here:", err)
	}
	r.t.Cleanup(func() { master.Close() })
	var unlock, number int32
	control(r.t, master, syscall.TIOCSPTLCK, &unlock)
	control(r.t, master, syscall.TIOCGPTN, &number)
	name := fmt.Sprintf("/dev/pts/%d", number)
	slave, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		r.t.Skip("no terminals here:", err)
	}
	r.t.Cleanup(func() { slave.Close() })
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = slave, slave, slave
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	// This goroutine reads all output, since a full terminal would block the run.
	var lock sync.Mutex
	var seen strings.Builder
	more := make(chan bool, 1)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			lock.Lock()
			seen.Write(b[:n])
			lock.Unlock()
			select {
			case more <- true:
			default:
			}
		}
	}()
	return master, func(want string) {
		r.t.Helper()
		for {
			lock.Lock()
			text := seen.String()
			lock.Unlock()
			if strings.Contains(text, want) {
				return
			}
			select {
			case <-more:
			case <-time.After(hangs):
				r.t.Fatalf("the terminal shows %q, and not %q", text, want)
			}
		}
	}
}

func control(t *testing.T, f *os.File, request uintptr, v *int32) {
	t.Helper()
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(v))); e != 0 {
		t.Skip("no terminals here:", e)
	}
}

func TestRankZeroReadsTheTerminalAndItsPromptShows(t *testing.T) {
	r := newRun(t, "-n", "2", "rank", "0@partial:your name? ", "0@cat", "1@print:other")
	typed, shown := r.terminal()
	r.start()
	shown("your name? ")
	shown("other\r\n")
	fmt.Fprintf(typed, "someone\n\x04") // Ctrl-D ends the input
	shown("\r\nsomeone\r\n")
	r.wait(0)
}

func TestRankZeroElsewhereReadsTheTerminal(t *testing.T) {
	r := far(t, "run", "-host", "a,b", "-n", "2", "rank", "0@partial:your name? ", "0@cat")
	typed, shown := r.terminal()
	r.start()
	shown("your name? ")
	fmt.Fprintf(typed, "someone\n\x04")
	shown("\r\nsomeone\r\n")
	r.wait(0)
}

func TestProgressWithoutNewlinesShowsOnATerminal(t *testing.T) {
	r := newRun(t, "-n", "1", "rank", "partial:step 1\r", "partial:step 2\r", "cat")
	typed, shown := r.terminal()
	r.start()
	shown("step 1\rstep 2\r")
	fmt.Fprint(typed, "\x04")
	r.wait(0)
}

func TestInterruptFromTheKeyboard(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "forever")
	typed, shown := r.terminal()
	r.start()
	r.ready(ready, 2)
	fmt.Fprint(typed, "\x03")
	shown("halo: the job was ended by SIGINT")
	r.wait(130)
}

func TestStopFromTheKeyboard(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	// The ranks stop and continue with the launcher.
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "forever")
	typed, _ := r.terminal()
	r.start()
	pids := append(r.ready(ready, 2), r.cmd.Process.Pid)
	fmt.Fprint(typed, "\x1a")
	for _, pid := range pids {
		awaitState(t, pid, "T")
	}
	r.cmd.Process.Signal(syscall.SIGCONT)
	for _, pid := range pids {
		awaitState(t, pid, "SR")
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}
