package joined

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/enginetest"
	"github.com/halo-mpi/halo/internal/testrun"
)

// A starter starts programs under an engine.
type starter struct {
	env   []string
	line  func(nodes, ranks int) []string // the begin of a command line
	nodes int                             // at most
	abort []int                           // how the engine may end after an Abort with code 7
	all   bool                            // a process may not end without MPI while others use it
	death string                          // what the engine says of a rank that is killed
	app   string                          // what the engine says of the part of the command line
}

// openMPI starts programs with Open MPI's mpirun.
func openMPI(t *testing.T) starter {
	mpirun := need(t, "mpirun.openmpi")
	return starter{nodes: 1, abort: []int{7}, all: true, death: "signal 9", app: "app 0, universe ", line: func(nodes, ranks int) []string {
		return []string{mpirun, "--allow-run-as-root", "--oversubscribe", "-np", fmt.Sprint(ranks)}
	}}
}

// srun starts programs in steps of a job of Slurm on two nodes.
func srun(t *testing.T, s *enginetest.Slurm, job, kind string) starter {
	x := starter{env: []string{s.Environ()}, nodes: 2, abort: []int{7}, death: "Killed", app: "app 0, universe ", line: func(nodes, ranks int) []string {
		return []string{need(t, "srun"), "--jobid=" + job, "--mpi=" + kind, fmt.Sprintf("-N%d", nodes), fmt.Sprintf("-n%d", ranks),
			fmt.Sprintf("--ntasks-per-node=%d", (ranks+nodes-1)/nodes)}
	}}
	if kind == "pmi2" {
		x.abort, x.app = []int{7, 137}, "universe " // it depends on whether Slurm kills the process first
	}
	return x
}

// works runs the tests of an engine.
func (x starter) works(t *testing.T) {
	run := func(t *testing.T, nodes, ranks int, args ...string) outcome {
		t.Helper()
		return runs(t, x.env, append(x.line(nodes, ranks), args...)...)
	}
	sum := func(o outcome) string {
		_, after, ok := strings.Cut(o.out, "checksum ")
		if !ok {
			t.Fatalf("no checksum:\n%s", o.out)
		}
		return strings.Fields(after)[0]
	}
	t.Run("one world", func(t *testing.T) {
		for nodes := 1; nodes <= x.nodes; nodes++ {
			o := run(t, nodes, 4, program("rank"), "all").wants(0)
			for r := range 4 {
				o.has(fmt.Sprintf("rank %d of 4, %d on its node, sum 6, ", r, 4/nodes))
			}
			o.has(x.app)
		}
	})
	t.Run("heat", func(t *testing.T) {
		alone := sum(runs(t, nil, program("heat"), "-steps", "20").wants(0))
		if got := sum(run(t, x.nodes, 4, program("heat"), "-steps", "20").wants(0)); got != alone {
			t.Errorf("the checksum is %s, alone it is %s", got, alone)
		}
	})
	t.Run("sessions", func(t *testing.T) {
		what := "some" // use sessions while the others have never called MPI
		if x.all {
			what = "around" // the world model
		}
		run(t, x.nodes, 4, program("session"), what, t.TempDir()).wants(0)
	})
	t.Run("abort", func(t *testing.T) {
		if o := run(t, x.nodes, 4, program("rank"), "abort").has("called Abort(7)"); !slices.Contains(x.abort, o.status) {
			t.Errorf("exit status %d, want one of %v:\n%s", o.status, x.abort, o.out)
		}
	})
	t.Run("death", func(t *testing.T) {
		if o := run(t, x.nodes, 4, program("rank"), "die", "2"); o.status == 0 || !strings.Contains(o.out, x.death) && !strings.Contains(o.out, "is lost") {
			t.Errorf("the death of rank 2 goes unnoticed:\n%s", o.out)
		}
	})
	t.Run("no MPI", func(t *testing.T) { run(t, 1, 2, program("rank"), "without").wants(0) })
}

// loses kills the daemon of the engine that has started a rank. All ranks end.
func (x starter) loses(t *testing.T) {
	mark := fmt.Sprintf("HALO_TEST_RUN=loses-%d-%d", os.Getpid(), time.Now().UnixNano())
	begun := filepath.Join(t.TempDir(), "begun")
	line := append(x.line(x.nodes, 4), program("rank"), "forever", begun)
	cmd := exec.Command(line[0], line[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay = &out, &out, t.TempDir(), testrun.Long
	cmd.Env = append(append(clean(os.Environ()), mark), x.env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ranks := func() (pids []int) {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, f := range files {
			env, _ := os.ReadFile(f)
			exe, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && bytes.Contains(env, []byte(mark)) && exe == program("rank") {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	t.Cleanup(func() {
		for _, pid := range ranks() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		cmd.Process.Kill() // srun would wait for the daemon
		cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	testrun.Until(t, "the ranks begin", func() bool { _, err := os.Stat(begun); return err == nil })
	all := ranks()
	if len(all) != 4 {
		t.Fatalf("ranks are the processes %v", all)
	}
	// Daemon is the parent of a rank: of the last one, so that it is not the leader of the job.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", all[len(all)-1]))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	daemon, err := strconv.Atoi(strings.Fields(after)[1])
	if err != nil || daemon < 2 {
		t.Fatalf("the parent of a rank is %d, %v", daemon, err)
	}
	syscall.Kill(daemon, syscall.SIGKILL)
	testrun.Until(t, "the ranks end", func() bool { return len(ranks()) == 0 })
}

func TestXLCH01_XSES01_F4_ENV07_OpenMPI(t *testing.T) {
	x := openMPI(t)
	x.works(t)
	args := append(x.line(1, 1), program("rank"), "all", ":", "-np", "2", program("rank"), "all")
	runs(t, nil, args...).wants(0, "rank 0 of 3, 3 on its node, sum 3, app 0", "rank 2 of 3, 3 on its node, sum 3, app 1")
}

func TestXLCH01_XSES01_F4_ENV07_Slurm(t *testing.T) {
	testrun.Covered(t)
	s := enginetest.StartSlurm(t)
	job := s.Allocate(t)
	for _, kind := range []string{"pmi2", "pmix"} {
		t.Run(kind, func(t *testing.T) {
			s.NeedService(t, job, kind)
			srun(t, s, job, kind).works(t)
		})
	}
	// The plugin of PMI-2 also speaks PMI-1.
	x := srun(t, s, job, "pmi2")
	x.env = append(x.env, EnvBoot+"="+wayPMI1)
	runs(t, x.env, append(x.line(2, 4), program("rank"), "all")...).wants(0, "rank 3 of 4, 2 on its node, sum 6, app -1, universe ")
	runs(t, x.env, append(x.line(2, 4), program("session"), "some", t.TempDir())...).wants(0)
}

// The death of a daemon of the engine ends the ranks.
func TestF4_EngineDies(t *testing.T) {
	testrun.Covered(t)
	t.Run("mpirun", func(t *testing.T) { openMPI(t).loses(t) })
	for _, kind := range []string{"pmi2", "pmix"} {
		t.Run("srun "+kind, func(t *testing.T) {
			s := enginetest.StartSlurm(t) // which does not use the node again soon
			job := s.Allocate(t)
			s.NeedService(t, job, kind)
			srun(t, s, job, kind).loses(t)
		})
	}
}
