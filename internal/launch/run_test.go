//go:build unix

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/launch/plan"
	"github.com/halo-mpi/halo/internal/launch/wording"
	"github.com/halo-mpi/halo/internal/sys"
)

func TestRanksLearnTheirJob(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		if fabric == "shm" && runtime.GOOS != "linux" {
			continue
		}
		halo(t, 0, "-n", "3", "-fabric", fabric, "rank", "init", "exchange", "job", "exchange", "finalize").quiet().printed(
			"rank 0 of 3 local [0 1 2] fabric "+fabric+" app 0 secret true",
			"rank 1 of 3 local [0 1 2] fabric "+fabric+" app 0 secret true",
			"rank 2 of 3 local [0 1 2] fabric "+fabric+" app 0 secret true")
	}
}

func TestManyRanks(t *testing.T) {
	r := halo(t, 0, "-n", "256", "rank", "init", "exchange", "exchange", "print:here", "finalize").quiet()
	if n := strings.Count(r.stdout.String(), "here\n"); n != 256 {
		t.Errorf("%d ranks printed, want 256", n)
	}
}

func TestWorldOfOneUnderTheLauncher(t *testing.T) {
	halo(t, 0, "rank", "init", "exchange", "job", "finalize").quiet().printed(
		"rank 0 of 1 local [0] fabric " + map[bool]string{true: "shm", false: "tcp"}[runtime.GOOS == "linux"] + " app 0 secret true")
}

func TestPlainCommandsNeedNoInit(t *testing.T) {
	halo(t, 0, "-n", "4", "echo", "hello").quiet().printed("hello", "hello", "hello", "hello")
}

func TestMPMDBlocksFormOneJob(t *testing.T) {
	job := []string{"init", "exchange", "job", "finalize"}
	args := append([]string{"-n", "2", "-env", "WHO", "a", "rank", "env:WHO"}, job...)
	args = append(args, ":", "-np", "1", "-x", "WHO=b", "rank", "env:WHO")
	args = append(args, job...)
	args = append(args, "-fabric", "tcp") // arguments of the program
	args = args[:len(args)-2]
	fabric := map[bool]string{true: "shm", false: "tcp"}[runtime.GOOS == "linux"]
	halo(t, 0, args...).quiet().printed("WHO=a", "WHO=a", "WHO=b",
		"rank 0 of 3 local [0 1 2] fabric "+fabric+" app 0 secret true",
		"rank 1 of 3 local [0 1 2] fabric "+fabric+" app 0 secret true",
		"rank 2 of 3 local [0 1 2] fabric "+fabric+" app 1 secret true")
}

func TestFileGivesBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job")
	text := fmt.Sprintf("# two programs\n\n-n 2 %s 'print:a b'  # comment\n-n 1 %s init\n", rankPath, "/nonexistent")
	text = strings.Replace(text, "-n 1 /nonexistent init\n", "-n 1 "+rankPath+" \"print:c 'd'\"\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	halo(t, 0, "-tag-output", "-file", file).quiet().printed("[0] a b", "[1] a b", "[2] c 'd'")
}

func TestWdirAndPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(rankPath, filepath.Join(dir, "ranklet")); err != nil {
		t.Fatal(err)
	}
	halo(t, 0, "-wdir", dir, "rank", "cwd").quiet().printed(dir)
	halo(t, 0, "-path", "/nonexistent:"+dir, "ranklet", "print:found").quiet().printed("found")
	halo(t, 0, "-wdir", dir, "./ranklet", "print:there").quiet().printed("there")
	halo(t, 126, "-wdir", dir+"/x", "rank").said("halo: -wdir", "no such file")
}

func TestRanksDoNotSeeOtherJobs(t *testing.T) {
	r := newRun(t, "-n", "1", "rank", "environ")
	for _, name := range []string{"PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "PRTE_X", "HYDI_CONTROL_FD",
		"SLURM_PROCID", "SLURM_STEP_ID", "HALO_BOOT_FD", "HALO_JOB"} {
		r.cmd.Env = append(r.cmd.Env, name+"=77")
	}
	r.cmd.Env = append(r.cmd.Env, "SLURM_JOB_ID=5")
	r.start().wait(0)
	out := r.stdout.String()
	if strings.Contains(out, "=77\n") {
		t.Errorf("ranks see %s", out)
	}
	for _, want := range []string{"HALO_BOOT_FD=3\n", "HALO_RANK=0\n", "HALO_SIZE=1\n", "SLURM_JOB_ID=5\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("ranks do not see %s", want)
		}
	}
}

func TestProgramsOfARankAreNotInItsJob(t *testing.T) {
	halo(t, 0, "-n", "2", "rank", "init", "exchange", "0@child:init job finalize", "exchange", "finalize").quiet().printed(
		"rank 0 of 1 local [0] fabric shm app 0 secret true")
}

func TestSegmentsHaveTheirSizeOnShmOnly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("shared memory is for Linux")
	}
	r := halo(t, 0, "-n", "2", "rank", "init", "segments:-1", "segments:0", "segments:1", "finalize").quiet()
	if n := strings.Count(r.stdout.String(), "\n"); n != 6 || strings.Contains(r.stdout.String(), " 0\n") {
		t.Errorf("stdout %s", r.stdout.String())
	}
	halo(t, 99, "-n", "1", "rank", "init", "segments:5").said("no segment 5 among the 1 ranks of this host")
	halo(t, 99, "-n", "1", "-fabric", "tcp", "rank", "init", "segments:0").said("unsupported")
}

func TestBinding(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("binding is for Linux")
	}
	cpus, err := sys.AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(wording.Numbered("cpu", cpus), " ")
	all := "cpus " + strings.ReplaceAll(list, ", ", ",") // as the kernel writes it
	halo(t, 0, "-n", "1", "rank", "affinity").quiet().printed(all)
	halo(t, 0, "-n", "1", "-bind", "core", "rank", "affinity").quiet().printed(fmt.Sprint("cpus ", cpus[0]))
	halo(t, 0, "-n", fmt.Sprint(2*len(cpus)), "-bind", "none", "rank", "0@affinity").quiet().printed(all)
	var want []string
	for _, cpu := range append(cpus, cpus...) {
		want = append(want, fmt.Sprint("cpus ", cpu))
	}
	halo(t, 0, "-n", fmt.Sprint(len(want)), "-bind", "core", "rank", "affinity").quiet().printed(want...)
	halo(t, 0, "-n", fmt.Sprint(len(cpus)), "rank", "affinity").quiet().printed(want[:len(cpus)]...)
}

func TestVerboseNamesEveryRank(t *testing.T) {
	r := halo(t, 0, "-v", "--mca", "btl", "self", "-n", "2", "rank", "exit:0")
	r.said("halo: without effect: -mca btl self")
	r.said("halo: job", "2 ranks").said("halo: rank 0: pid", rankPath).said("halo: rank 1 (pid", "exited with status 0")
}

func TestCalledAsMpiexecItIsRun(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "mpiexec")
	if err := os.Symlink(haloPath, link); err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	r.cmd.Path, r.cmd.Args = link, []string{"mpiexec", "-np", "2", rankPath, "print:x"}
	r.start().wait(0).quiet().printed("x", "x")
}

func TestHelp(t *testing.T) {
	if r := halo(t, 0, "-help").quiet(); r.stdout.String() != plan.Help("halo run") {
		t.Errorf("-help prints\n%s", r.stdout.String())
	}
}

// The heap behind the rings is larger than physical memory, or as large as the limits of the process
// allow. Unused memory costs nothing.
func TestHeapIsAsLargeAsItCanBe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("shared memory is for Linux")
	}
	memory := int64(sys.PhysicalMemory())
	for limit, most := range map[string]int64{"": max(2*memory, 1<<30), "ulimit -f 65536;": 65536 * 512, "ulimit -v 8000000;": 8000000 << 10 / 4} {
		cmd := exec.Command("sh", "-c", limit+" exec "+haloPath+" run -n 2 "+rankPath+" init heap:100000 finalize")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", limit, err, out)
		}
		for line := range strings.Lines(string(out)) {
			var size int64
			if _, err := fmt.Sscanf(line, "heap %d", &size); err != nil || size > most || size < most/2 {
				t.Errorf("%s: %q, want at most %d, and more than half of that", limit, line, most)
			}
		}
		if n := strings.Count(string(out), "heap "); n != 2 {
			t.Errorf("%s: %d heaps\n%s", limit, n, out)
		}
	}
}
