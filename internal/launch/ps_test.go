//go:build linux

package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/launch/ps"
	"github.com/halo-mpi/halo/internal/node/segment"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/testrun"
)

// haloPS runs halo ps with args.
func haloPS(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(haloPath, append([]string{"ps"}, args...)...)
	cmd.Env = append(os.Environ(), testrun.RaceOptions)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// foreignNotes reports whether errs contains only lines of halo ps about unreadable notes of
// processes that are not ours: another run of these tests may hold such notes.
func foreignNotes(errs string, ours func(pid int) bool) bool {
	for line := range strings.Lines(errs) {
		pid := 0
		if n, _ := fmt.Sscanf(line, "halo ps: not shown: process %d:", &pid); n != 1 || ours(pid) {
			return false
		}
	}
	return true
}

// parentOf returns the parent of a process, 0 if there is no such process.
func parentOf(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The line is: pid (name) state parent ... The name may contain any characters.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// state returns the state of the run by halo ps -json, or nil if that does not know the run.
func (r *run) state() *ps.JobState {
	r.t.Helper()
	out, errs, status := haloPS(r.t, "-json", fmt.Sprint(r.cmd.Process.Pid))
	var jobs []*ps.JobState
	if err := json.Unmarshal([]byte(out), &jobs); err != nil || len(jobs) > 1 {
		r.t.Fatalf("halo ps -json: %v; %d jobs: %s", err, len(jobs), out)
	}
	if len(jobs) == 0 {
		if status != 1 || !strings.Contains(errs, "no job") {
			r.t.Fatalf("halo ps of no job: status %d, %s", status, errs)
		}
		return nil
	}
	if status != 0 || !foreignNotes(errs, func(pid int) bool { return pid == r.cmd.Process.Pid }) {
		r.t.Fatalf("halo ps: status %d, %s", status, errs)
	}
	return jobs[0]
}

// awaitPs waits until halo ps shows the wanted text for each rank: its state, the calls in which its
// goroutines wait, and a remark in parentheses if there is one.
func (r *run) awaitPs(want ...string) *ps.JobState {
	r.t.Helper()
	var s *ps.JobState
	var got []string
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s = r.state()
		if s == nil {
			continue
		}
		got = got[:0]
		for _, k := range s.Ranks {
			text := k.State + ":"
			for _, w := range k.Waits {
				text += " " + w.For + ";"
			}
			if k.Detail != "" {
				text += " (" + k.Detail + ")"
			}
			got = append(got, text)
		}
		if slices.Equal(got, want) {
			return s
		}
	}
	r.t.Fatalf("halo ps says %q, want %q", got, want)
	return nil
}

// stop ends a run that does not end by itself.
func (r *run) stop() {
	r.t.Helper()
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.wait(143)
}

// Promise F6: halo ps shows for each rank the operation, the peer, the tag, and since when it waits.
func TestF6_PsShowsWhatEachRankWaitsFor(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		start := time.Now()
		r := newRun(t, "-fabric", fabric, "-n", "10", hangPath,
			"recv", "any", "barrier", "waitall", "probe", "waitany", "ssend", "finalize", "sleep", "many").start()
		s := r.awaitPs(
			"waiting: Recv on world from 1 tag 7;",
			"waiting: Recv on world;",
			"waiting: Barrier on world;",
			"waiting: Recv on world from 4 tag 3;",
			"waiting: Probe on world from 5 tag 9;",
			"waiting: the first of 2 requests, one is Recv on world from 6 tag 1;",
			"waiting: Ssend on world to 7 tag 5;",
			"waiting: Finalize; Barrier on world;",
			"running:",
			"waiting:"+strings.Repeat(" Recv on world from 0 tag 6;", shmfmt.NoteSleepers),
		)
		for end := time.Now().Add(hangs); s.Ranks[9].Asleep != 6 && time.Now().Before(end); {
			s = r.state()
		}
		if n := s.Ranks[9].Asleep; n != 6 {
			t.Errorf("%d goroutines of rank 9 sleep, want 6", n)
		}
		if s.Size != 10 || s.Fabric != fabric || s.Launcher != r.cmd.Process.Pid || !strings.Contains(s.Command, "hang recv any") ||
			s.Started.Before(start) || s.Started.After(s.Seen) || s.Deadlock != "" {
			t.Errorf("%+v", s)
		}
		parents := map[int]bool{}
		for _, k := range s.Ranks {
			if parentOf(k.Pid) != r.cmd.Process.Pid || parents[k.Pid] {
				t.Errorf("pid %d of rank %d is not that of a rank", k.Pid, k.Rank)
			}
			parents[k.Pid] = true
			for i, w := range k.Waits {
				if w.Since.Before(s.Started) || w.Since.After(s.Seen) || i > 0 && k.Rank == 9 && w.Since.Before(k.Waits[i-1].Since) {
					t.Errorf("rank %d waits since %v, the job runs since %v", k.Rank, w.Since, s.Started)
				}
			}
		}
		// While a rank waits, the time since when it waits does not change.
		again := r.state()
		for i := range s.Ranks {
			if len(s.Ranks[i].Waits) > 0 && !again.Ranks[i].Waits[0].Since.Equal(s.Ranks[i].Waits[0].Since) {
				t.Errorf("rank %d: %v, then %v", i, s.Ranks[i].Waits, again.Ranks[i].Waits)
			}
		}
		r.stop()
	}
}

func TestF6_PsNamesCollectives(t *testing.T) {
	for task, want := range map[string]string{"barrier": "Barrier on world;", "bcast": "Bcast on world;",
		"allreduce": "Allreduce on world;", "longallreduce": "Allreduce on world;"} {
		for _, fabric := range []string{"shm", "tcp"} {
			r := newRun(t, "-fabric", fabric, "-n", "3", hangPath, task, "sleep", "sleep").start()
			r.awaitPs("waiting: "+want, "running:", "running:")
			r.stop()
		}
	}
}

// 11.2.2: if a rank omits a Barrier and calls Finalize, the Barrier of the other ranks does not
// complete. The table shows which rank is in Finalize.
func TestF6_PsShowsWhoIsInFinalizeInsteadOfABarrier(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "3", hangPath, "barrier", "finalize", "barrier").start()
		r.awaitPs("waiting: Barrier on world;", "waiting: Finalize; Barrier on world;", "waiting: Barrier on world;")
		r.stop()
	}
}

// For ranks that wait in Init, the table names the ranks that have not called it.
func TestF6_PsShowsWhoIsOutsideInit(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		r := newRun(t, "-fabric", fabric, "-n", "3", hangPath, "barrier", "outside", "outside").start()
		r.awaitPs("waiting: Init; (ranks 1-2 did not call it yet)", "running: (has not called Init)", "running: (has not called Init)")
		r.stop()
	}
	r := newRun(t, "-n", "2", "sleep", "100").start()
	r.awaitPs("running: (has not called Init)", "running: (has not called Init)")
	r.stop()
}

// The table shows waits as their ranks noted them, each in the language of its program, and names of objects as they are.
func TestF6_PsNamesCallsAsTheirRanksDo(t *testing.T) {
	r := newRun(t, "-n", "3", "rank", "0@init", "1@initc", "2@initc", "0@note:Recv on world", "1@note:MPI_Recv on Recv from 1 tag 7",
		"2@note:the first of 2 requests, one is MPI_Comm_idup", "forever").start()
	r.awaitPs("waiting: Recv on world;", "waiting: MPI_Recv on Recv from 1 tag 7;", "waiting: the first of 2 requests, one is MPI_Comm_idup;")
	r.stop()
}

func TestF6_PsTellsStatesApart(t *testing.T) {
	r := newRun(t, "-n", "4", "rank", "1@exit:0", "2@kill:19", "3@orphan", "sleep:100", "forever").start()
	r.awaitPs("running: (has not called Init)", "ended: (exited with status 0)", "stopped: (has not called Init)", "running: (has not called Init)")
	r.stop()
	// The table shows the process that calls MPI, not a wrapper around it.
	r = newRun(t, "-n", "2", "sh", "-c", hangPath+" recv; exit").start()
	s := r.awaitPs("waiting: Recv on world from 1 tag 7;", "waiting: Recv on world from 0 tag 7;")
	for _, k := range s.Ranks {
		if parentOf(parentOf(k.Pid)) != r.cmd.Process.Pid {
			t.Errorf("pid %d of rank %d is not that of the program in the shell", k.Pid, k.Rank)
		}
	}
	r.stop()
}

func TestF6_PsCountsProcessorTime(t *testing.T) {
	r := newRun(t, "-n", "2", hangPath, "spin", "sleep").start()
	defer r.stop()
	r.awaitPs("running:", "running:")
	for end := time.Now().Add(hangs); ; {
		s := r.state()
		if s.Ranks[0].CPU > 0.2 && s.Ranks[0].CPU > 2*s.Ranks[1].CPU {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("rank 0 has computed for %v s, rank 1 for %v s", s.Ranks[0].CPU, s.Ranks[1].CPU)
		}
	}
}

// The table has a line for each rank, in order.
func TestF6_TableOfManyRanks(t *testing.T) {
	const n = 64
	ready := filepath.Join(t.TempDir(), "ready")
	r := newRun(t, "-n", fmt.Sprint(n), "rank", "init", "note:Recv on world from 3 tag 9", "7@note:Barrier", "ready:"+ready, "forever").start()
	r.ready(ready, n)
	out, errs, status := haloPS(t, fmt.Sprint(r.cmd.Process.Pid))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if status != 0 || errs != "" || len(lines) != n+2 || !strings.HasPrefix(lines[0], "job "+fmt.Sprint(r.cmd.Process.Pid)+"-") {
		t.Fatalf("status %d, %d lines, %s%s", status, len(lines), out, errs)
	}
	row := regexp.MustCompile(`^ *(\d+) +\d+  waiting +(-|\d+\.\d\ds) +\d+\.\ds  (.*)$`)
	for i, line := range lines[2:] {
		want := "Recv on world from 3 tag 9"
		if i == 7 {
			want = "Barrier"
		}
		if m := row.FindStringSubmatch(line); m == nil || m[1] != fmt.Sprint(i) || m[3] != want {
			t.Errorf("line %q of rank %d", line, i)
		}
	}
	name := strings.TrimSuffix(strings.Fields(out)[1], ":")
	if out, _, status := haloPS(t, name[:len(name)-2]); status != 0 || !strings.Contains(out, name) {
		t.Errorf("by the start of its name: status %d, %s", status, out)
	}
	if out, errs, status := haloPS(t, "no-such-job"); status != 1 || out != "" || !strings.Contains(errs, "no job no-such-job of yours") {
		t.Errorf("another job: status %d, %s%s", status, out, errs)
	}
	r.stop()
}

// halo ps shows only possible states, at any moment of the life of a job.
func TestF6_PsWhileJobsComeAndGo(t *testing.T) {
	length := 2 * time.Second
	if testing.Short() {
		length = time.Second
	}
	end := time.Now().Add(length)
	program := hangPath
	var jobs sync.WaitGroup
	var launchers sync.Map // their process ids
	for worker := range 2 {
		jobs.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				args := [][]string{
					{program, "traffic"}, {program, "barrier"}, {rankPath, "init", "exchange", "finalize"}, {"true"},
				}[(i+worker)%4]
				r := newRun(t, append([]string{"-n", "3"}, args...)...).start()
				launchers.Store(r.cmd.Process.Pid, true)
				if args[len(args)-1] == "traffic" {
					time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
					r.cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[i%2])
				}
				r.end()
			}
		})
	}
	for looks := 0; time.Now().Before(end); looks++ {
		out, errs, status := haloPS(t, "-json")
		var list []*ps.JobState
		mine := func(pid int) bool { _, ok := launchers.Load(pid); return ok }
		if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || !foreignNotes(errs, mine) {
			t.Fatalf("halo ps: status %d, %v, %s%s", status, err, out, errs)
		}
		for _, s := range list {
			if strings.Contains(s.Command, filepath.Dir(rankPath)) || s.Command == "true" {
				possible(t, s)
			}
		}
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
	}
	jobs.Wait()
}

// possible checks that the state is possible for a job of three ranks.
func possible(t *testing.T, s *ps.JobState) {
	t.Helper()
	bad := s.Size != 3 || len(s.Ranks) != 3 || !strings.HasPrefix(s.Job, fmt.Sprint(s.Launcher, "-")) || s.Deadlock != "" ||
		time.Since(s.Started) > time.Hour
	text := regexp.MustCompile(`^(Init|Finalize|(Barrier|Allreduce|Recv|Send|Sendrecv)( on world)?( (from|to) [0-2])?( tag 1)?)$`)
	for i, r := range s.Ranks {
		bad = bad || r.Rank != i || (r.Pid == 0) != (r.State == ps.Starting) || r.Pid == s.Launcher ||
			!slices.Contains([]string{ps.Starting, ps.Running, ps.Waiting, ps.Ended}, r.State) ||
			r.Asleep > 3 || r.CPU > 100
		for _, w := range r.Waits {
			bad = bad || !text.MatchString(w.For) || w.Since.Before(s.Started) || time.Since(w.Since) > time.Hour
		}
	}
	if bad {
		text, _ := json.MarshalIndent(s, "", " ")
		t.Errorf("this cannot be: %s", text)
	}
}

// halo ps skips processes that hold a file with the name of notes and other contents.
func TestF6_PsKnowsNotesFromOtherThings(t *testing.T) {
	var held []*os.File
	hold := func(content []byte) {
		f, err := sys.Memfd(segment.NotesName, int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		f.WriteAt(content, 0)
		held = append(held, f)
	}
	shows := func(want string) {
		t.Helper()
		for _, args := range [][]string{{"-json"}, {}} {
			out, errs, status := haloPS(t, args...)
			silent := foreignNotes(errs, func(pid int) bool { return pid == os.Getpid() })
			if status != 0 || strings.Contains(out, "garbage") || (want == "") != silent || !strings.Contains(errs, want) {
				t.Errorf("%q: status %d, want %q: %s%s", args, status, want, out, errs)
			}
		}
		held[0].Close()
		held = nil
	}
	hold(nil) // just created
	shows("")
	hold(make([]byte, 2*shmfmt.NoteSize)) // not written yet
	shows("")
	foreign := shmfmt.NotesHeader{Launcher: os.Getpid() + 1, Local: 1, Job: "garbage"}
	hold(append(foreign.Encode(), make([]byte, shmfmt.NoteSize)...)) // a rank holds them for a moment
	shows("")
	foreign.Launcher, foreign.Local = os.Getpid(), 2
	hold(append(foreign.Encode(), make([]byte, shmfmt.NoteSize)...))
	shows(fmt.Sprintf("not shown: process %d: shmfmt: notes of 2 processes: EOF", os.Getpid()))
	hold(bytes.Repeat([]byte("garbage "), shmfmt.NoteSize/4))
	shows("another version of Halo")
}

// halo ps skips jobs of other users.
func TestF6_PsLooksAtOwnJobsOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	r := newRun(t, "-n", "1", "sleep", "100")
	r.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	if err := os.Chmod(filepath.Dir(haloPath), 0o755); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.processesOf("sleep", 1)
	if s := r.state(); s != nil {
		t.Errorf("the job of another user: %+v", s)
	}
	r.stop()
}
