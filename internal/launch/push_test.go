//go:build linux

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// X-LCH-01: -push copies each program once to each host, and nothing of it is left.
func TestPush(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $1 $0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := farRun(t, 0, "-push", "-host", "a:2,b,localhost", "-n", "4", "sh", script, "here").quiet()
	if n := strings.Count(r.stdout.String(), "here "+script+"\n"); n != 4 { // the program is sh
		t.Errorf("%d of 4 run: %s", n, r.stdout.String())
	}
	r = farRun(t, 0, "-push", "-host", "a:2,b,localhost", "-n", "3", script, "copy", ":", "-n", "1", script, "last").quiet()
	copies := map[string]int{}
	for line := range strings.Lines(r.stdout.String()) {
		word, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		copies[word+" "+filepath.Base(filepath.Dir(path))[max(0, len(filepath.Base(filepath.Dir(path)))-7):]]++
	}
	if copies["copy .0-push"] != 2 || copies["copy .1-push"] != 1 || len(copies) != 3 {
		t.Errorf("programs ran as %s", r.stdout.String())
	}
	// A program of many pieces arrives whole.
	farRun(t, 0, "-push", "-host", "a,b", "rank", "init", "exchange", "finalize", "print:x").quiet().printed("x", "x")
	// The copies of an agent that is killed are removed, too.
	ready := filepath.Join(t.TempDir(), "ready")
	killed := far(t, "run", "-push", "-host", "a", "rank", "init", "exchange", "ready:"+ready, "forever").start()
	pid := killed.ready(ready, 1)[0]
	syscall.Kill(parent(t, pid), syscall.SIGKILL)
	killed.wait(125)
}

// parent is the parent of a process.
func parent(t *testing.T, pid int) (ppid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "PPid:")
	fmt.Sscan(rest, &ppid)
	return ppid
}
