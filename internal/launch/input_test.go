//go:build linux

package launch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// endless writes lines into a pipe until nobody can read them any more, and
// returns the end to read from.
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

// Promise F5: input that no rank reads holds nothing up, however much there is.
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

// The same when somebody types, or pastes, and the launcher reads for rank 0.
func TestF5_TypingThatNobodyReads(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", "2", "rank", "ready:"+ready, "forever")
	typed, _ := r.terminal()
	r.start()
	r.ready(ready, 2)
	go io.Copy(typed, strings.NewReader(strings.Repeat("typed\n", 50000))) // more than pipe and terminal hold
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}
