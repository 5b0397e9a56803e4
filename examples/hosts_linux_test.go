package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// onHosts runs the launcher on the first of real hosts and returns what it
// printed. The hosts share the file system.
func onHosts(t *testing.T, h *hosttest.Hosts, dir, halo string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ssh := "'" + strings.Join(h.SSH(), "' '") + "'"
	cmd := h.CommandIn(0, dir, halo, append([]string{"run", "-ssh", ssh}, args...)...)
	cmd.Env = os.Environ()
	cmd.WaitDelay = time.Minute
	timer := time.AfterFunc(testrun.Long, func() { cmd.Process.Signal(os.Interrupt) })
	defer timer.Stop()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatalf("halo %q: %v", args, err)
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestHeatOverTwoHosts is X-LCH-01: a Go package, built where the launcher is,
// runs on the hosts of a file, and gives what it gives alone.
func TestHeatOverTwoHosts(t *testing.T) {
	h := hosttest.Start(t, 2)
	l := build(t, "heat")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	alone, errs, status := l.run(t, l.path("heat"), "-steps", "120", "-tol", "0", "-o", "alone.png")
	if status != 0 {
		t.Fatalf("heat without the launcher: status %d\n%s", status, errs)
	}
	sum := regexp.MustCompile(`checksum [0-9a-f]{16}\n`).FindString(alone)
	hosts := filepath.Join(l.dir, "hosts")
	if err := os.WriteFile(hosts, []byte("# two\nhost0 slots=2\nhost1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range [][]string{{"-map-by", "slot"}, {"-map-by", "node"}, {"-fabric", "tcp"}} {
		os.Remove(l.path("heat.png"))
		args := append(how, "-hostfile", hosts, "-n", "4", "./examples/heat", "-steps", "120", "-tol", "0", "-o", l.path("heat.png"))
		out, errs, status := onHosts(t, h, root, l.path("halo"), args...)
		if status != 0 || errs != "" || sum == "" || !strings.Contains(out, sum) {
			t.Errorf("halo run %q: status %d, %q\n%swant %s", args, status, out, errs, sum)
			continue
		}
		if !bytes.Equal(l.read(t, "heat.png"), l.read(t, "alone.png")) {
			t.Errorf("%q: the picture differs from that of one rank", how)
		}
	}
}

// TestFilesAreSharedOutOverTwoHosts: words are counted and
// lines are sorted as on one host, and a file that is missing on one host only is reported once.
func TestFilesAreSharedOutOverTwoHosts(t *testing.T) {
	h := hosttest.Start(t, 2)
	l := build(t, "wordcount", "samplesort")
	story, sorted := l.story(t)
	run := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		return onHosts(t, h, l.dir, l.path("halo"), append([]string{"-host", "host0:2,host1:2", "-n", "4"}, args...)...)
	}
	out, errs, status := run(l.path("wordcount"), "-top", "1", "story")
	want := fmt.Sprintf("%8d  halo\n%d words, ", strings.Count(story, "Halo"), len(strings.Fields(story)))
	if status != 0 || errs != "" || !strings.HasPrefix(out, want) {
		t.Errorf("wordcount: status %d, %q\n%swant %q", status, out, errs, want)
	}
	out, errs, status = run(l.path("samplesort"), "-o", "sorted", "story")
	if status != 0 || errs != "" || string(l.read(t, "sorted")) != sorted {
		t.Errorf("samplesort: status %d, %q\n%s", status, out, errs)
	}

	// Each host has a /dev/shm of its own: the other host does not have the file.
	only := h.Command(0, "cp", l.path("story"), "/dev/shm/story")
	if out, err := only.CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	for _, program := range []string{"wordcount", "samplesort"} {
		_, errs, status := run(l.path(program), "/dev/shm/story")
		want := fmt.Sprintf("rank 2: %s: stat /dev/shm/story: no such file or directory\n", program)
		if status != 1 || strings.Count(errs, want) != 1 || strings.Contains(errs, "rank 3: ") {
			t.Errorf("%s: status %d\n%swant once %s", program, status, errs, want)
		}
	}
}

// TestStructuresOverTwoHosts: the data structures that are made of
// one-sided operations work between ranks that share memory and ranks that do not.
func TestStructuresOverTwoHosts(t *testing.T) {
	h := hosttest.Start(t, 2)
	programs := []string{"hashtable", "mcslock", "mpmcqueue", "worksteal", "globalarray", "signals", "taskqueue"}
	l := build(t, programs...)
	for i, args := range [][]string{
		{"-keys", "1000", "-common", "300"}, {"-times", "50"}, {"-items", "50", "-slots", "2"},
		{"-queens", "9"}, {"-n", "30", "-tile", "7"}, {"-tiles", "40", "-rounds", "1"}, {"-tolerance", "1e-3"},
	} {
		command := append([]string{"-host", "host0:2,host1:2", "-n", "4", l.path(programs[i])}, args...)
		out, errs, status := onHosts(t, h, l.dir, l.path("halo"), command...)
		if status != 0 || errs != "" || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: status %d, %q\n%s", command, status, out, errs)
		}
	}
}

// TestCutEndsExampleOnBothHosts is promise F4 of security.md with ranks that
// communicate: the error names the host, whichever process notices first.
func TestCutEndsExampleOnBothHosts(t *testing.T) {
	h := hosttest.Start(t, 2)
	l := build(t, "ring")
	type result struct {
		errs   string
		status int
	}
	ended := make(chan result, 1)
	go func() {
		_, errs, status := onHosts(t, h, l.dir, l.path("halo"), "-host", "host0,host1", "-n", "4", l.path("ring"), "-laps", "100000000")
		ended <- result{errs, status}
	}()
	for running(l.path("ring")) < 4 {
		select {
		case r := <-ended:
			t.Fatalf("ended before the cut: status %d\n%s", r.status, r.errs)
		case <-time.After(10 * time.Millisecond):
		}
	}
	time.Sleep(300 * time.Millisecond) // somewhere in its laps
	h.Cut(1)
	cut := time.Now()
	r := <-ended
	for running(l.path("ring")) > 0 {
		if time.Since(cut) > testrun.Long {
			t.Fatal("ranks live on after the cut")
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("all ended %v after the cut", time.Since(cut).Round(time.Millisecond))
	if r.status == 0 || !strings.Contains(r.errs, "halo: host1 (ranks 2-3) has sent nothing for") {
		t.Errorf("status %d\n%s", r.status, r.errs)
	}
}

// running counts processes of a program.
func running(program string) (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if to, _ := os.Readlink(link); to == program {
			n++
		}
	}
	return n
}
