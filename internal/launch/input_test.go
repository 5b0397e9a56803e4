//go:build linux

package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// endless writes lines into a pipe until its read end is closed, and returns the read end.
func endless(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		line := bytes.Repeat([]byte("more\n"), 1000)
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		r.Close()
		w.Close()
		<-stopped
	})
	return r
}

// Promise F5: input that no rank reads delays nothing, however much there is.
func TestF5_InputThatNobodyReads(t *testing.T) {
	r := newRun(t, "-n", "2", "rank", "init", "exchange", "print:x", "finalize")
	r.cmd.Stdin = endless(t)
	r.start().wait(0).quiet().printed("x", "x")

	r = newRun(t, "-n", "2", "rank", "init", "exchange", "1@kill:9", "forever")
	r.cmd.Stdin = endless(t)
	r.start().wait(137).said("rank 1", "SIGKILL")

	r = newRun(t, "-n", "2", "rank", "0@head", "print:x")
	r.cmd.Stdin = endless(t)
	r.start().wait(0).quiet().printed("more", "x", "x")
}

// The same for input from a terminal, which the launcher reads for rank 0.
func TestF5_TypingThatNobodyReads(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "forever")
	typed, _ := r.terminal()
	r.start()
	r.ready(ready, 2)
	fd := int(typed.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	// Type more than the pipe and the terminal hold, or until they accept no more.
	line := bytes.Repeat([]byte("typed\n"), 100)
	for refused, sent := 0, 0; refused < 50 && sent < 300e3; {
		if n, err := syscall.Write(fd, line); err == nil {
			sent += n
		} else {
			refused++
			time.Sleep(time.Millisecond)
		}
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}
