//go:build linux

package launch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// spawning is a run of one rank that executes steps, and those after it in a job that it spawns.
func spawning(t *testing.T, spawn string, more ...string) *run {
	t.Helper()
	return newRun(t, append([]string{"-n", "1", "rank", "init", "exchange", "spawn:" + spawn}, more...)...)
}

// finish is the rest of a rank that ends well.
const finish = "|exchange|finalize"

// What is spawned is a job of its own, with its own ranks, program, parent and secret; the launcher ends when
// all jobs have ended.
func TestDYN05_WhatIsSpawnedIsAJobOfItsOwn(t *testing.T) {
	t.Parallel()
	spawning(t, "2|init|exchange|parent|env:HALO_SIZE|0@cat"+finish, "parent", "finalize").start().wait(0).quiet().
		printed("spawned [2]", `rank 0 of 1 has the parent ""`, `rank 0 of 2 has the parent "the port"`, `rank 1 of 2 has the parent "the port"`,
			"HALO_SIZE=2", "HALO_SIZE=2")
	r := newRun(t, "-n", "1", "rank", "init", "secret", "spawn:1|init|secret|finalize", "finalize").start().wait(0).quiet()
	secrets := map[string]bool{}
	for line := range strings.Lines(r.stdout.String()) {
		secrets[line] = true
	}
	if len(secrets) != 3 { // two, and the answer
		t.Errorf("the jobs have the same secret: %s", r.stdout.String())
	}
	// The parent ends first.
	spawning(t, "1|init|sleep:100|print:later|finalize", "finalize").start().wait(0).quiet().printed("spawned [1]", "later")
}

// The answer comes when all have called Init.
func TestDYN05_SpawnReturnsWhenAllHaveCalledInit(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	r := spawning(t, "2|0@init|ready:"+ready+"|1@when:"+ready+"|1@init|exchange|finalize", "print:answered", "finalize")
	out := &heard{}
	r.cmd.Stdout = out
	r.start().ready(ready, 2)
	text, _, _ := haloPS(t, fmt.Sprint(r.cmd.Process.Pid))
	for _, want := range []string{".1: 2 ranks, ", ", spawned by job " + fmt.Sprint(r.cmd.Process.Pid) + "-", "has not called Init"} {
		if !strings.Contains(text, want) {
			t.Errorf("halo ps: no %q in %s", want, text)
		}
	}
	if strings.Contains(out.String(), "answered") {
		t.Errorf("Spawn has returned before rank 1 has called Init: %s", out.String())
	}
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.wait(0).quiet()
	if out.String() != "spawned [2]\nanswered\n" {
		t.Errorf("printed %q", out.String())
	}
}

// If a process cannot be started, or ends before it has called Init, the answer says why, what was started
// ends, and the family goes on.
func TestDYN04_WhyNothingWasSpawned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for spawn, why := range map[string]string{
		"1;prog=/no/such/file|init":    "there is no such file",
		"1;prog=nosuchprogram|init":    "not in PATH",
		"1;prog=" + plain + "|init":    "cannot be executed",
		"1;wdir=/no/such/dir|init":     "no directory /no/such/dir",
		"1;arch=vax|init":              "no host of the architecture vax",
		"1;soft=a|init":                "FIRST:LAST:STEP",
		"1;host=-x|init":               "not the name of a host",
		"2|1@exit:3|init|exchange":     "rank 1 of spawned job 1",
		"2|1@exit:0|init|exchange":     "exited with status 0 before all had called mpi.Init",
		"2|1@kill:9|init|exchange":     "was killed by signal 9",
		"1;timeout=50ms|forever":       "not all processes have called Init within 50ms: rank 0 did not",
		"2;cancel=50ms|0@init|forever": "deadline exceeded",
	} {
		t.Run(spawn, func(t *testing.T) {
			t.Parallel()
			r := spawning(t, spawn, "exchange", "finalize", "print:goes on").start().wait(0)
			if out := r.stdout.String(); !strings.Contains(out, why) || !strings.HasSuffix(out, "goes on\n") || !strings.Contains(out, "spawn") {
				t.Errorf("%s: %s; want %q", spawn, out, why)
			}
		})
	}
}

// Children share the fate of their parent: when one process of the family fails, all end, and the status is that
// of the failure.
func TestF5_AFamilyEndsTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spawn, parent string
		status        int
		said          string
	}{
		{"2|init|exchange|1@abort:7|forever", "forever", 7, "rank 1 of spawned job 1 (pid "},
		{"2|init|exchange|1@kill:9|forever", "forever", 137, "rank 1 of spawned job 1 (pid "},
		{"2|init|exchange|1@exit:3|forever", "forever", 3, "exited with status 3"},
		{"2|init|exchange|ignore:15|forever", "abort:9", 9, "rank 0 (pid "},
		{"2|init|exchange|ignore:15|forever", "kill:9", 137, "rank 0 (pid "},
		{"1|init|spawn:1^init^spawn:1^^init^^kill:9^forever|forever", "forever", 137, "rank 0 of spawned job 1.1.1 (pid "},
		{"1|init|spawn:1^init^forever|forever", "kill:9", 137, "rank 0 (pid "},
	} {
		spawning(t, c.spawn, c.parent).start().wait(c.status).said(c.said)
	}
}

// A job that is apart ends alone when one of its processes fails, and together with its parents.
func TestF5_JobsThatAreApart(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"kill:9", "abort:7", "exit:3"} {
		spawning(t, "2;apart|init|exchange|1@"+end+"|forever", "spawn:1|init|finalize", "finalize").start().wait(0)
	}
	spawning(t, "1;apart|init|ignore:15|forever", "kill:9").start().wait(137).said("rank 0 (pid ")
}

// Who has asked for a job learns of its end: whoever waits for processes of it would wait for ever.
func TestDYN05_TheParentLearnsOfTheEnd(t *testing.T) {
	t.Parallel()
	spawning(t, "1;ended|init|finalize", "finalize").start().wait(0).quiet().printed("spawned [1]", "ended: all its processes have ended")
	r := spawning(t, "2;apart;ended|init|exchange|1@exit:3|forever", "finalize").start().wait(0)
	for _, want := range []string{"ended: rank 1 of spawned job 1 (pid ", " exited with status 3"} {
		if !strings.Contains(r.stdout.String(), want) {
			t.Errorf("no %q in %s", want, r.stdout.String())
		}
	}
	far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "spawn:1;host=b|init|spawn:1;host=b;ended^init^finalize|finalize", "finalize").
		start().wait(0).quiet().printed("spawned [1]", "spawned [1]", "ended: all its processes have ended")
}

// The status of the launcher is that of the failure, of whichever job.
func TestStatusOfAFamily(t *testing.T) {
	t.Parallel()
	spawning(t, "1|init|finalize|exit:0", "finalize", "exit:0").start().wait(0)
	spawning(t, "1|init|exchange|finalize|exit:0", "finalize", "exit:5").start().wait(5)
	spawning(t, "1|init|exchange|finalize|sleep:20|exit:6", "finalize").start().wait(6)
}

// Output of spawned processes has their job in its tag; their input is empty.
func TestOutputOfSpawnedProcesses(t *testing.T) {
	t.Parallel()
	r := newRun(t, "-l", "-n", "1", "rank", "init", "spawn:1|init|cat|print:a|spawn:1^init^print:b^finalize|finalize", "finalize")
	r.cmd.Stdin = strings.NewReader("for the first job\n")
	r.start().wait(0).printed("[0] spawned [1]", "[1:0] a", "[1:0] spawned [1]", "[1.1:0] b")
}

// Processes are started on free slots only, as many as a soft set allows, unless hosts take any number.
func TestDYN01_SlotsAndSoftSets(t *testing.T) {
	t.Parallel()
	here, _ := os.Hostname()
	for _, c := range []struct{ options, spawn, printed string }{
		{"-host " + here + ":3", "2|init" + finish, "spawned [2]"},
		{"-host " + here + ":3", "3|init" + finish, "not spawned: no room for 3 processes of " + rankPath + ": 2 slots free of those of the hosts (" + here + " 3); name more hosts, or allow it by -oversubscribe"},
		{"-host " + here + ":3", "4;soft=0:4|init" + finish, "spawned [2] 2 of 4 processes of " + rankPath + ` were started: 2 slots are free, and the set of numbers is "0:4"`},
		{"-host " + here + ":9", "7;soft=1:10:4|init" + finish, "spawned [5] 5 of 7 processes of " + rankPath + ` were started: 8 slots are free, and the set of numbers is "1:10:4"`},
		{"-host " + here + ":3 -oversubscribe", "3|init" + finish, "spawned [3]"},
		{"", "5|init" + finish, "spawned [5]"},
		{"-host " + here + ":3", "1;host=" + here + ":1|init" + finish, "spawned [1]"},
	} {
		args := append(strings.Fields(c.options), "-n", "1", "rank", "init", "spawn:"+c.spawn, "finalize")
		newRun(t, args...).start().wait(0).printed(c.printed)
	}
	// A host file names hosts, relative to the working directory.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(here+" slots=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for spawn, printed := range map[string]string{
		"2;wdir=" + dir + ";hostfile=hosts|init|exchange|cwd|finalize": "spawned [2]",
		"3;wdir=" + dir + ";hostfile=hosts|init" + finish:              "no room for 3 processes",
		"1;hostfile=/no/such/file|init":                                "/no/such/file: no such file or directory",
	} {
		if r := spawning(t, spawn, "finalize").start().wait(0); !strings.Contains(r.stdout.String(), printed) {
			t.Errorf("%s: %s; want %q", spawn, r.stdout.String(), printed)
		}
	}
	// Slots are free again when a job has ended, and the universe is what there was room for.
	newRun(t, "-host", here+":2", "-n", "1", "rank", "init", "universe", "spawn:1|init|universe|finalize", "sleep:300", "spawn:1|init|finalize", "finalize").
		start().wait(0).printed("universe 2", "universe 2", "spawned [1]", "spawned [1]")
	newRun(t, "-host", here+":4", "-n", "1", "rank", "init", "free", "spawn:2;ended|init|exchange|0@free|exchange|finalize", "finalize").
		start().wait(0).printed("free [3] ", "free [1] ", "spawned [2]", "ended: all its processes have ended")
}

// The processes of a job run on cores of their own if it asks for that, else anywhere.
func TestDYN02_SpawnedProcessesOnCores(t *testing.T) {
	t.Parallel()
	anywhere := newRun(t, "-bind", "none", "-n", "1", "rank", "init", "affinity", "finalize").start().wait(0).stdout.String()
	for bind, want := range map[string]string{"core": `^cpus \d+\n$`, "none": "^" + regexp.QuoteMeta(anywhere) + "$", "": "^" + regexp.QuoteMeta(anywhere) + "$"} {
		out := spawning(t, "1;bind="+bind+"|init|affinity|finalize", "finalize").start().wait(0).stdout.String()
		out = strings.Replace(out, "spawned [1]\n", "", 1)
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("bind %q: %q, want %s", bind, out, want)
		}
	}
}

// Many can spawn at the same time, also from spawned jobs.
func TestDYN05_SpawnsAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := newRun(t, "-n", "2", "rank", "init", "exchange", "spawnall:3;1|init|spawnall:2;1^init^exchange^finalize|finalize", "finalize").start().wait(0).quiet()
	if n := strings.Count(r.stdout.String(), "spawned [1]\n"); n != 2*3*(1+2) {
		t.Errorf("%d answers, want 18: %s", n, r.stdout.String())
	}
}

// A hundred jobs, one after the other, leave nothing in the launcher.
func TestDYN05_SpawnedJobsLeaveNothing(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	steps := []string{"-n", "1", "rank", "init", "spawn:1|init|finalize", "sleep:50", "ready:" + ready + ".a", "when:" + ready + ".a"}
	for range 50 {
		steps = append(steps, "spawn:1|init|finalize")
	}
	r := newRun(t, append(steps, "ready:"+ready+".b", "when:"+ready+".b", "finalize")...).start()
	descriptors := func() int {
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid))
		return len(fds)
	}
	open := func(file string) {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.ready(ready+".a", 1)
	before := descriptors()
	for range 150 { // jobs that have ended are forgotten soon after
		time.Sleep(20 * time.Millisecond)
		before = min(before, descriptors())
	}
	open(ready + ".a")
	r.ready(ready+".b", 1)
	for end := time.Now().Add(hangs); descriptors() > before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors after one job, %d after 51", before, descriptors())
		}
	}
	open(ready + ".b")
	r.wait(0).quiet()
}

// A Go package can be spawned under halo run.
func TestSpawnOfAPackage(t *testing.T) {
	t.Parallel()
	spawning(t, "1;prog=./testdata/rank|init|print:built|finalize", "finalize").start().wait(0).printed("spawned [1]", "built")
	dir := goProgram(t, "package main\nfunc main() { undefined() }\n")
	r := spawning(t, "1;prog="+dir+"|init", "finalize").start().wait(0).said("main.go:2", "undefined")
	if out := r.stdout.String(); !strings.HasPrefix(out, "not spawned: building Go package") {
		t.Error(out)
	}
}

// Whoever is killed at any moment of a spawn, nothing is left.
func TestF5_KillsDuringSpawn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 25))
		r := newRun(t, "-n", "2", "rank", "init", "exchange", "spawnall:2;2|init|exchange|spawn:1^init^forever|forever", "forever").start()
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		list := processesWith(r.marker)
		if len(list) > 0 {
			pid := 0
			fmt.Sscan(list[random.IntN(len(list))], &pid)
			syscall.Kill(pid, syscall.SIGKILL)
		} else {
			r.cmd.Process.Kill()
		}
		r.cmd.Process.Signal(syscall.SIGTERM) // what was killed may have been part of a job that was not complete
		r.end()
		if r.status == 0 {
			t.Errorf("seed %d: status 0 after a kill", seed)
		}
		r.nothingLeft()
	}
}

// alone runs the test program without a launcher.
func alone(t *testing.T, steps ...string) *run {
	t.Helper()
	r := newRun(t, "rank")
	r.cmd = exec.Command(rankPath, steps...)
	r.cmd.Env = append(os.Environ(), r.marker, "TMPDIR="+r.tmp, "HALO_LAUNCHER="+haloPath, testrun.RaceOptions)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.WaitDelay = time.Minute
	return r
}

// A program that was started without a launcher starts one, which ends with it.
func TestDYN05_SpawnWithoutALauncher(t *testing.T) {
	t.Parallel()
	alone(t, "init", "spawn:2|init|exchange|parent"+finish, "spawn:1|init|finalize", "finalize").start().wait(0).quiet().
		printed("spawned [2]", "spawned [1]", `rank 0 of 2 has the parent "the port"`, `rank 1 of 2 has the parent "the port"`)
	alone(t, "init", "spawn:1;prog=/no/such/file|init", "finalize").start().wait(0).quiet().
		printed(`not spawned: program "/no/such/file" not found: there is no such file or directory; is it built, and is the name right?`)
	// It ends without Finalize.
	alone(t, "init", "spawn:2|init|ignore:15|forever", "exit:3").start().wait(3).quiet()
	alone(t, "init", "spawn:2|init|spawn:1^init^forever|forever", "kill:9").start().wait(137).quiet()
	// It ends well before what it has spawned.
	alone(t, "init", "spawn:2|init|ignore:15|forever", "finalize").start().wait(0).quiet()
	// A child fails.
	r := alone(t, "init", "spawn:1|init|exit:3", "lost", "exit:4").start().wait(4)
	r.said("rank 0 of spawned job 1 (pid ", "exited with status 3")
	// The launcher is killed, once it has spawned.
	spawned := filepath.Join(t.TempDir(), "spawned")
	r = alone(t, "init", "spawn:1|init|forever", "ready:"+spawned, "lost", "exit:4").start()
	r.ready(spawned, 1)
	for pid := 0; pid == 0; time.Sleep(time.Millisecond) {
		for _, p := range processesWith(r.marker) {
			if strings.Contains(p, "halo-adopt") {
				fmt.Sscan(p, &pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	r.end()
	r.nothingLeft()
	// Without the command.
	r = alone(t, "init", "spawn:1|init", "finalize")
	r.cmd.Env = append(os.Environ(), r.marker, "HALO_LAUNCHER=", "PATH=/nowhere")
	r.cmd.Args[0] = filepath.Join(r.tmp, "rank")
	if err := os.Link(rankPath, filepath.Join(r.tmp, "rank")); err != nil {
		t.Fatal(err)
	}
	r.cmd.Path = r.cmd.Args[0]
	r.start().end()
	os.Remove(r.cmd.Path)
	if out := r.stdout.String(); !strings.Contains(out, "needs the command halo to start others") || !strings.Contains(out, "HALO_LAUNCHER") {
		t.Errorf("without the command halo: %s", out)
	}
	r.nothingLeft()
}

// Processes are spawned on other hosts by agents of their own; a host without ranks until then gets one.
// Requests and answers travel through the agent of the parent, and failures there are those of the family.
func TestDYN05_SpawnOnOtherHosts(t *testing.T) {
	t.Parallel()
	far(t, "run", "-host", "a:2,b:2", "-n", "2", "rank", "init", "exchange", "0@spawn:2|init|exchange|hosts|finalize", "exchange", "finalize").
		start().wait(0).quiet().printed("spawned [2]", "rank 0 hosts [b] host [0 0] listen 127.0.0.1", "rank 1 hosts [b] host [0 0] listen 127.0.0.1")
	far(t, "run", "-host", "a:2,b:2", "-n", "1", "rank", "init", "spawn:3|init|exchange|cat|finalize", "finalize").
		start().wait(0).quiet().printed("spawned [3]")
	far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "spawn:1;host=b|init|spawn:1;host=b^init^exchange^finalize|finalize", "finalize").
		start().wait(0).quiet().printed("spawned [1]", "spawned [1]")
	far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "spawn:2;host=b|init|exchange|1@abort:6|forever", "forever").
		start().wait(6).said("rank 1 of spawned job 1 (pid ", "on b) called Abort(6)")
	far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "spawn:1|init|exchange|forever", "exit:3").
		start().wait(3).said("rank 0 (pid ", "on a) exited with status 3")
	r := far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "spawn:2;prog=/no/such/file|init", "spawn:1;wdir=/no/such/dir;host=b|init", "finalize").start().wait(0).quiet()
	for _, want := range []string{"not spawned: program \"/no/such/file\" not found", "not spawned: b: there is no directory /no/such/dir"} {
		if !strings.Contains(r.stdout.String(), want) {
			t.Errorf("no %q in %s", want, r.stdout.String())
		}
	}
	far(t, "run", "-host", "a:1,b:2", "-n", "1", "rank", "init", "free", "spawn:1;host=b;ended|init|free|finalize", "finalize").
		start().wait(0).quiet().printed("free [2] ", "free [1] ", "spawned [1]", "ended: all its processes have ended")
	// A host of which nobody knows.
	r = far(t, "refused", "-n", "1", "rank", "init", "spawn:1;host=c|init", "finalize").start().wait(0)
	if out := r.stdout.String(); !strings.Contains(out, "not spawned: ") || !strings.Contains(out, "Connection refused") {
		t.Errorf("a host that refuses: %s", out)
	}
}
