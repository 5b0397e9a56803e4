package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// hangs is after which time a test takes something for hanging, many times what it takes on a busy machine.
const hangs = testrun.Long

// killRun is a set of jobs of killsProgram, of which one process is killed.
type killRun struct {
	t              *testing.T
	halo, self     string
	dir, tmp, stop string
	marker         string
	jobs           []*killJob
}

type killJob struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
}

func newKillRun(t *testing.T, halo string) *killRun {
	t.Helper()
	self, err := os.Executable()
	ok(t, err)
	dir := t.TempDir()
	r := &killRun{t: t, halo: halo, self: self, dir: dir, tmp: filepath.Join(dir, "tmp"), stop: filepath.Join(dir, "stop"), marker: killStop + "=" + filepath.Join(dir, "stop")}
	ok(t, os.Mkdir(r.tmp, 0o700))
	t.Cleanup(func() {
		for pid := range r.processes() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, j := range r.jobs {
			<-j.ended
		}
	})
	return r
}

// start starts a job under the launcher, or one process without it.
func (r *killRun) start(role string, n int, env ...string) *killJob {
	r.t.Helper()
	j := &killJob{ended: make(chan struct{})}
	j.cmd = exec.Command(r.self)
	if n > 0 {
		j.cmd = exec.Command(r.halo, "run", "-n", strconv.Itoa(n), r.self)
	}
	j.cmd.Env = append(append(os.Environ(), r.marker, programVariable+"=kills", killRole+"="+role, killService+"="+filepath.Base(r.t.Name())+r.dir,
		"HALO_LAUNCHER="+r.halo, "TMPDIR="+r.tmp, testrun.RaceOptions), env...)
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	j.cmd.WaitDelay = time.Minute
	ok(r.t, j.cmd.Start())
	r.jobs = append(r.jobs, j)
	go func() {
		j.cmd.Wait()
		close(j.ended)
	}()
	return j
}

// processes returns the processes of the jobs, and which part each has: "launcher of" and the role of its job, or its
// role. A process that has been forked, and has not become another program yet, has none.
func (r *killRun) processes() map[int]string {
	found := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !bytes.Contains(env, []byte(r.marker)) {
			continue
		}
		exe, _ := os.Readlink(filepath.Join(d, "exe"))
		parent := parentOf(d)
		above, _ := os.Readlink(filepath.Join("/proc", parent, "exe"))
		first := parent == strconv.Itoa(os.Getpid())
		part := ""
		for _, v := range strings.Split(string(env), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			switch {
			case name != killRole:
			case exe == r.self && (first || above == r.halo):
				part = value
			case exe == r.halo && (first || above == r.self):
				part = "launcher of " + value
			}
		}
		var pid int
		fmt.Sscan(filepath.Base(d), &pid)
		found[pid] = part
	}
	return found
}

// parentOf returns the number of the parent of a process, whose directory in /proc is given.
func parentOf(dir string) string {
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return ""
	}
	return fields[1]
}

// kill waits until there is a process with a part, and kills one of those that there are some time later.
func (r *killRun) kill(part string, after time.Duration) (pid int) {
	r.t.Helper()
	waited := false
	for end := time.Now().Add(hangs); ; time.Sleep(time.Millisecond) {
		for p, is := range r.processes() {
			if is != part {
				continue
			}
			if !waited {
				waited = true
				time.Sleep(after)
				break
			}
			syscall.Kill(p, syscall.SIGKILL)
			return p
		}
		if time.Now().After(end) {
			r.t.Fatalf("no %s to kill among %v", part, r.processes())
		}
	}
}

// wait waits for the end of a job, and returns its status.
func (r *killRun) wait(j *killJob) int {
	r.t.Helper()
	select {
	case <-j.ended:
	case <-time.After(hangs):
		for pid, is := range r.processes() {
			if !strings.HasPrefix(is, "launcher") {
				syscall.Kill(pid, syscall.SIGQUIT)
			}
		}
		time.Sleep(2 * time.Second)
		r.t.Fatalf("a job hangs: %v\n%s", r.processes(), j.out.String())
	}
	if s := j.cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal())
	}
	return j.cmd.ProcessState.ExitCode()
}

// nothingLeft checks that no process or file of the jobs is left soon after.
func (r *killRun) nothingLeft() {
	r.t.Helper()
	began, own, delays := time.Now(), delayOf(os.Getpid()), map[int]time.Duration{}
	for pid := range r.processes() {
		delays[pid] = delayOf(pid)
	}
	for {
		processes := r.processes()
		if delays != nil && time.Since(began) > 2*time.Second {
			for pid, is := range processes {
				r.t.Logf("%s, process %d, is left after 2 s, of which its threads have waited for a core for %v in all", is, pid, delayOf(pid)-delays[pid])
			}
			delays = nil
		}
		left := fmt.Sprint(processes)
		entries, _ := os.ReadDir(r.tmp)
		if left == "map[]" && len(entries) == 0 {
			break
		}
		if time.Since(began) > hangs {
			r.t.Fatalf("left behind: %s %v", left, entries)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if took := time.Since(began); took > 2*time.Second {
		r.t.Logf("nothing is left after %v; the threads of the test have waited for a core for %v in all", took.Round(time.Millisecond), delayOf(os.Getpid())-own)
	}
}

// delayOf is how long the threads of a process that live have been ready to run without a core.
func delayOf(pid int) (sum time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range threads {
		text, _ := os.ReadFile(name)
		if fields := strings.Fields(string(text)); len(fields) == 3 { // time on a core, time without, turns
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// A killPoint is a kind of process that is killed, and what becomes of the jobs.
type killPoint struct {
	victim string
	roles  []string // of the jobs that are started
	ranks  int      // of each; 0: without a launcher
	ends   int      // which of the jobs ends because of the kill; none, or perhaps the first
	apart  bool
}

const (
	none    = -1
	perhaps = -2 // not if what is killed has not called Init, or is a launcher that has not answered: then a spawn fails
)

var killPoints = []killPoint{
	{"server", []string{"server", "client"}, 2, 0, false},
	{"client", []string{"server", "client"}, 2, 1, false},
	{"launcher of server", []string{"server", "client"}, 2, 0, false},
	{"launcher of client", []string{"server", "client"}, 2, 1, false},
	{"parent", []string{"parent"}, 2, 0, false},
	{"child", []string{"parent"}, 2, perhaps, false},
	{"grandchild", []string{"parent"}, 1, perhaps, false},
	{"launcher of parent", []string{"parent"}, 2, 0, false},
	{"child", []string{"parent"}, 2, none, true},
	{"grandchild", []string{"parent"}, 1, none, true},
	{"parent", []string{"parent"}, 2, 0, true},
	{"parent", []string{"parent"}, 0, 0, false},
	{"child", []string{"parent"}, 0, perhaps, false},
	{"launcher of parent", []string{"parent"}, 0, perhaps, false},
}

// run starts the jobs of a kill point, kills a process, and checks what becomes of all.
func (k *killPoint) run(t *testing.T, halo string, after time.Duration) {
	r := newKillRun(t, halo)
	var env []string
	if k.apart {
		env = append(env, killApart+"=1")
	}
	for _, role := range k.roles {
		r.start(role, k.ranks, env...)
	}
	r.kill(k.victim, after)
	if k.ends >= 0 {
		if r.wait(r.jobs[k.ends]) == 0 {
			t.Error("status 0 of a job of which a process was killed")
		}
	}
	ok(t, os.WriteFile(r.stop, nil, 0o600))
	for i, j := range r.jobs {
		if status := r.wait(j); i != k.ends && k.ends != perhaps && status != 0 {
			t.Errorf("status %d of a job that goes on", status)
		}
		if status := j.cmd.ProcessState.ExitCode(); status > 0 && j.out.Len() == 0 {
			t.Errorf("status %d, and nothing says why", status)
		}
		if strings.Contains(j.out.String(), "wrong:") || strings.Contains(j.out.String(), "panic") {
			t.Error("a survivor has the wrong error")
		}
	}
	r.nothingLeft()
	if t.Failed() {
		for i, j := range r.jobs {
			t.Logf("%s:\n%s", k.roles[i], j.out.String())
		}
	}
}

// F1, F5, X-DYN-01, DYN-05: whoever is killed at any moment while jobs open ports, accept, connect, publish, look up,
// spawn, initialise, disconnect and finalize, the survivors get an error that says so and go on, and nothing is left.
// HALO_TEST_KILLS_SECONDS is how long the test runs, and make soak sets it.
func TestF5_XDYN01_DYN05_KillsOfJobsThatMeet(t *testing.T) {
	testrun.Covered(t)
	halo := testrun.Halo(t, t.TempDir())
	seconds, _ := strconv.Atoi(os.Getenv("HALO_TEST_KILLS_SECONDS"))
	began, seed := time.Now(), uint64(1)
	if seconds > 0 {
		seed = rand.Uint64()
	}
	for n := 0; n == 0 || time.Since(began) < time.Duration(seconds)*time.Second; n++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 25))
			for _, k := range killPoints {
				after := time.Duration(random.IntN(40_000)) * time.Microsecond
				if random.IntN(3) == 0 {
					after *= 5
				}
				t.Run(fmt.Sprintf("%s of %v, %d ranks, apart=%t", k.victim, k.roles, k.ranks, k.apart), func(t *testing.T) {
					t.Parallel()
					k.run(t, halo, after)
				})
			}
		})
		if t.Failed() {
			return
		}
		seed++
	}
}

// F4, F5, DYN-05: whoever is killed while a process spawns others on another host, nothing is left on any host: an agent, a
// process there, or the launcher. What dies before its job is complete ends that job alone.
func TestF5_DYN05_KillsOfSpawnsOnAnotherHost(t *testing.T) {
	testrun.Covered(t)
	j := newHostJobs(t, 2)
	for i, suffix := range []string{" agent ", j.program + " ", "launcher"} {
		stop := filepath.Join(t.TempDir(), "stop")
		r := j.start(t, "kills", "0", "-host", "host0:1,host1:8", "-env", killRole, "parent", "-env", killStop, stop, "-env", killHost, "host1")
		random := rand.New(rand.NewPCG(uint64(i), 25))
		killed := false
		for kill := time.Now().Add(hangs); !killed; time.Sleep(time.Millisecond) {
			if time.Now().After(kill) {
				t.Fatalf("no %s to kill", suffix)
			}
			there := j.processes()
			for pid, line := range there {
				victim := strings.HasSuffix(line, suffix)
				if suffix == "launcher" {
					victim = pid == r.cmd.Process.Pid && len(there) > 6
				}
				if victim { // which may have ended meanwhile
					time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					killed = syscall.Kill(pid, syscall.SIGKILL) == nil
					break
				}
			}
		}
		ok(t, os.WriteFile(stop, nil, 0o600))
		r.wait(t, -1)
	}
}

// F6, X-DYN-01: halo ps shows that a root waits for a client.
func TestF6_XDYN01_WaitsForAnotherJob(t *testing.T) {
	testrun.Covered(t)
	r := newKillRun(t, testrun.Halo(t, t.TempDir()))
	j := r.start("server", 2)
	for end := time.Now().Add(hangs); ; time.Sleep(5 * time.Millisecond) {
		out, _ := exec.Command(r.halo, "ps", strconv.Itoa(j.cmd.Process.Pid)).CombinedOutput()
		if strings.Contains(string(out), "Accept at halo://127.0.0.1:") && strings.Contains(string(out), "for another job") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("halo ps: %s", out)
		}
	}
	ok(t, os.WriteFile(r.stop, nil, 0o600))
	if status := r.wait(j); status != 0 {
		t.Errorf("status %d\n%s", status, j.out.String())
	}
}
