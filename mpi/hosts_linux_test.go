package mpi_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/hosttest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// hostJobs starts jobs of this test binary's programs on hosts that are network namespaces. It
// runs the launcher on the first of them.
type hostJobs struct {
	t             *testing.T
	h             *hosttest.Hosts
	dir           string
	halo, program string
}

func newHostJobs(t *testing.T, hosts int) *hostJobs {
	t.Helper()
	j := &hostJobs{t: t, h: hosttest.Start(t, hosts), dir: t.TempDir()}
	j.halo, j.program = testrun.Halo(t, j.dir), filepath.Join(j.dir, "program")
	exe, err := os.Executable()
	ok(t, err)
	from, err := os.Open(exe)
	ok(t, err)
	defer from.Close()
	to, err := os.OpenFile(j.program, os.O_CREATE|os.O_WRONLY, 0o700) // a separate name, by which its processes are found
	ok(t, err)
	_, err = io.Copy(to, from)
	ok(t, err)
	ok(t, to.Close())
	return j
}

// hostJob is one of these jobs.
type hostJob struct {
	j         *hostJobs
	ready     string
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	ended     chan struct{}
}

// start runs a program with options of halo run on host 0.
func (j *hostJobs) start(t *testing.T, program string, places string, options ...string) *hostJob {
	t.Helper()
	return j.startOn(t, 0, program, places, options...)
}

// startOn is start on a host.
func (j *hostJobs) startOn(t *testing.T, host int, program string, places string, options ...string) *hostJob {
	t.Helper()
	r := &hostJob{j: j, ready: filepath.Join(t.TempDir(), "ready"), ended: make(chan struct{})}
	args := append([]string{"run", "-ssh", "'" + strings.Join(j.h.SSH(), "' '") + "'", "-n", fmt.Sprint(len(places[strings.Index(places, "@")+1:]))}, options...)
	args = append(args, "-env", programVariable, program, "-env", placesVariable, places, "-env", readyVariable, r.ready, j.program)
	r.cmd = j.h.CommandIn(host, j.dir, j.halo, args...)
	r.cmd.Env = os.Environ()
	r.cmd.WaitDelay = time.Minute
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
	ok(t, r.cmd.Start())
	go func() {
		r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		<-r.ended
	})
	return r
}

// running waits until n ranks are running and returns their process ids.
func (r *hostJob) running(t *testing.T, n int) []int {
	t.Helper()
	pids := make([]int, n)
	for i := range pids {
		for pids[i] == 0 {
			text, _ := os.ReadFile(fmt.Sprintf("%s.%d", r.ready, i))
			fmt.Sscan(string(text), &pids[i])
			select {
			case <-r.ended:
				t.Fatalf("ended before rank %d was at work\n%s%s", i, r.out.String(), r.errs.String())
			case <-time.After(time.Millisecond):
			}
		}
	}
	return pids
}

// wait waits until the launcher and all processes that it started have ended. It expects the
// status, any if it is negative, and a line of stderr with all the words.
func (r *hostJob) wait(t *testing.T, status int, words ...string) {
	t.Helper()
	hung, stop := testrun.Context(t.Context())
	defer stop()
	select {
	case <-r.ended:
	case <-hung.Done():
		t.Fatalf("the job hangs\n%s%s", r.out.String(), r.errs.String())
	}
	for left := r.j.processes(); len(left) > 0; left = r.j.processes() {
		select {
		case <-hung.Done():
			t.Fatalf("left on the hosts: %v\n%s%s", left, r.out.String(), r.errs.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	if got := r.cmd.ProcessState.ExitCode(); got != status && status >= 0 {
		t.Errorf("status %d, want %d\n%s%s", got, status, r.out.String(), r.errs.String())
	}
	t.Logf("%d ranks were told before the job ended", strings.Count(r.out.String(), "right:"))
	if strings.Contains(r.out.String(), "wrong:") {
		t.Errorf("a rank that lives on has another error\n%s%s", r.out.String(), r.errs.String())
	}
	for line := range strings.Lines(r.errs.String()) {
		missing := false
		for _, w := range words {
			missing = missing || !strings.Contains(line, w)
		}
		if !missing {
			return
		}
	}
	if len(words) > 0 {
		t.Errorf("no line with %q\n%s%s", words, r.out.String(), r.errs.String())
	}
}

// processes are the launcher's and the program's processes on all hosts, by id, with their
// command lines.
func (j *hostJobs) processes() map[int]string {
	found := map[int]string{}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if to, _ := os.Readlink(link); to != j.halo && to != j.program {
			continue
		}
		var pid int
		fmt.Sscan(filepath.Base(filepath.Dir(link)), &pid)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// X-COM-01, 7.4.2: SplitType over hosts that are network namespaces. IO-21: a file in a directory that each of them
// has for itself is another one on each, though its path is the same, and mostly its number.
func TestXCOM01_IO21_NamespacedHosts(t *testing.T) {
	j := newHostJobs(t, 3)
	j.start(t, "files", "tcp@01", "-host", "host0:1,host1:1").wait(t, 0)
	jobs := []struct {
		places  string
		options []string
	}{
		{"shm@0001", []string{"-host", "host0:3,host1:1", "-map-by", "slot"}},
		{"shm@010101", []string{"-host", "host0:3,host1:3", "-map-by", "node"}},
		{"shm@0120120", []string{"-host", "host0:3,host1:2,host2:2", "-map-by", "node"}},
		{"tcp@0011", []string{"-host", "host0:2,host1:2", "-fabric", "tcp"}},
	}
	if testrun.Race {
		jobs = jobs[len(jobs)-1:] // a plain run has shared memory, and all
	}
	for _, job := range jobs {
		j.start(t, "splits", job.places, job.options...).wait(t, 0)
	}
}

// F1, F4, F5: a rank, an agent or a link dies while all ranks are in collectives over two and
// three hosts. The surviving ranks get ErrProcFailed, unless the job ends before; the launcher
// names the host and the rank; no process remains and none hangs.
func TestF4_DeathsAmidCollectivesOverHosts(t *testing.T) {
	testrun.Covered(t)
	j := newHostJobs(t, 3)
	jobs := []struct {
		places  string
		options []string
		victims []int  // both leaders of a host and others
		cut     string // the ranks of host1
	}{
		{"0011", []string{"-host", "host0:2,host1:2"}, []int{0, 3}, "2-3"},
		{"012012", []string{"-host", "host0:2,host1:2,host2:2", "-map-by", "node"}, []int{1, 3}, "1, 4"},
	}
	somewhere := func() { time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond) }
	for _, s := range jobs {
		for _, victim := range s.victims {
			t.Run(fmt.Sprintf("rank %d of %s", victim, s.places), func(t *testing.T) {
				r := j.start(t, "endless", s.places, s.options...)
				pids := r.running(t, len(s.places))
				somewhere()
				syscall.Kill(pids[victim], syscall.SIGKILL)
				r.wait(t, 137, fmt.Sprintf("halo: rank %d (pid %d", victim, pids[victim]), "on host"+s.places[victim:victim+1], "SIGKILL")
			})
		}
		t.Run("agent of "+s.places, func(t *testing.T) {
			r := j.start(t, "endless", s.places, s.options...)
			r.running(t, len(s.places))
			somewhere()
			for pid, line := range j.processes() {
				if strings.HasSuffix(line, " agent ") {
					syscall.Kill(pid, syscall.SIGKILL)
					break
				}
			}
			r.wait(t, 125, "halo: the agent on host", "(rank", "is gone", "the job was ended")
		})
		t.Run("link of "+s.places, func(t *testing.T) {
			r := j.start(t, "endless", s.places, s.options...)
			r.running(t, len(s.places))
			somewhere()
			j.h.Cut(1)
			defer j.h.Join(1)
			r.wait(t, 125, "halo: host1 (ranks "+s.cut+") has sent nothing for", "the job was ended")
		})
	}
}
