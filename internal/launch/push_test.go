//go:build linux

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/launch/plan"
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

// S5: pieces of a program that an agent has not asked for, or that are too short, are errors.
func TestPushedPieces(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var asked [][2]int64
	start := func(files ...plan.PushedFile) *fetch {
		t.Helper()
		asked = nil
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close(); w.Close() })
		f, err := newFetch("test", files, &wardenPipe{pipe: w}, func(index int, offset int64) { asked = append(asked, [2]int64{int64(index), offset}) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.remove)
		return f
	}
	f := start(plan.PushedFile{Path: "/x/a", Size: pushPiece + 1}, plan.PushedFile{Path: "/y/a", Size: 3})
	if len(asked) != 3 || asked[1] != [2]int64{0, pushPiece} || asked[2] != [2]int64{1, 0} {
		t.Errorf("asked for %v", asked)
	}
	for i, n := range []int{pushPiece, 1, 3} {
		if done, err := f.take(make([]byte, n)); err != nil || done != (i == 2) {
			t.Errorf("piece %d: %v, %v", i, done, err)
		}
	}
	apps := []plan.App{{File: "/y/a"}, {File: "/x/a"}}
	f.use(apps)
	if filepath.Base(apps[0].File) != "1-a" || filepath.Base(apps[1].File) != "0-a" {
		t.Errorf("programs are %v", apps)
	}
	if info, err := os.Stat(apps[1].File); err != nil || info.Size() != pushPiece+1 || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := f.take([]byte{1}); err == nil || !strings.Contains(err.Error(), "without request") {
		t.Error(err)
	}
	f.remove()
	f = start(plan.PushedFile{Path: "/x/a", Size: 10})
	if _, err := f.take(nil); err == nil || !strings.Contains(err.Error(), "/x/a cannot be read any more, or has changed") {
		t.Error(err)
	}
}
