//go:build linux

package run

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
)

// groupLimit is the memory limit of the control group in which tools read processes: a few times their
// need, and a hundredth of the memory that the processes have mapped.
const groupLimit = 512 << 20

// group is a control group with a limit of memory, of version 1 or 2.
type group struct{ dir, used string }

// newGroup makes a group below that of the test process, which exists until the test ends.
func newGroup(t *testing.T) *group {
	t.Helper()
	g := &group{dir: testrun.MemoryGroup(t, groupLimit), used: "memory.peak"}
	if _, err := os.Stat(filepath.Join(g.dir, g.used)); err != nil {
		g.used = "memory.max_usage_in_bytes"
	}
	return g
}

// inside returns a command that runs another command in the group.
func (g *group) inside(words ...string) []string {
	return append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, words...)
}

// peak returns the maximum memory use of the group, if the kernel reports it.
func (g *group) peak() string {
	text, err := os.ReadFile(filepath.Join(g.dir, g.used))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// The leak search of a memory checker reads all accessible memory of a process. Only memory in use is
// accessible: 50 GB of unused addresses take no memory.
func TestLeakSearchMakesNoMemory(t *testing.T) {
	need(t, "valgrind")
	t.Parallel()
	notSanitizing(t)
	program := compile(t, "mpicc", "../process_walk.c")
	for _, alone := range []bool{false, true} {
		g := newGroup(t)
		words := []string{bin("mpiexec"), "-n", "2"}
		processes := 2
		if alone {
			words, processes = nil, 1
		}
		line := g.inside(append(words, "valgrind", "--leak-check=full", "--error-exitcode=0", program)...)
		r := command(t, nil, line[0], line[1:]...)
		if n := strings.Count(r.err, "LEAK SUMMARY"); r.status != 0 || n != processes {
			t.Errorf("alone %t: status %d, %d of %d searches came to an end in %d bytes, %s were used\n...%s", alone, r.status, n, processes, groupLimit, g.peak(), r.err[max(0, len(r.err)-1000):])
		}
		os.Remove(g.dir)
	}
}

// A core dump that a debugger writes contains neither the shared segments nor the reservations of Go's
// runtime.
func TestCoreHasWhatIsInUse(t *testing.T) {
	need(t, "gcore")
	t.Parallel()
	notSanitizing(t)
	program := compile(t, "mpicc", "../process_walk.c")
	g := newGroup(t)
	line := g.inside(bin("mpiexec"), "-n", "2", program, "wait")
	job := exec.Command(line[0], line[1:]...)
	out, err := job.StdoutPipe()
	if err == nil {
		err = job.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer job.Wait()
	defer job.Process.Signal(os.Interrupt)
	said, _ := bufio.NewReader(out).ReadString('\n')
	pid := strings.TrimSpace(said)
	if pid == "" {
		t.Fatal("the program does not come to where it waits")
	}
	areas, err := os.ReadFile("/proc/" + pid + "/smaps")
	if err != nil {
		t.Fatal(err)
	}
	core := filepath.Join(t.TempDir(), "core")
	line = g.inside("gcore", "-o", core, pid)
	if r := command(t, nil, line[0], line[1:]...); r.status != 0 {
		t.Fatalf("gcore: status %d, %s bytes were used of %d\n%s%s", r.status, g.peak(), groupLimit, r.out, r.err)
	}
	f, err := elf.Open(core + "." + pid)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ours, reserved, all := uint64(0), uint64(0), uint64(0)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		all += p.Filesz
		switch a := areaAt(t, string(areas), p.Vaddr); {
		case strings.Contains(a, "memfd:halo-") && !strings.Contains(a, "halo-notes"):
			ours += p.Filesz
		case strings.Contains(a, " ---p ") && !strings.Contains(a, " nr ") && p.Filesz > 1<<20:
			reserved += p.Filesz
		}
	}
	if ours > 0 || reserved > 64<<20 || all < 1<<20 {
		t.Errorf("a core of %d bytes has %d of shared memory, and %d of reservations", all, ours, reserved)
	}
}

// areaAt returns the text of the area in smaps that contains an address: a line that begins with its
// addresses, and a line for each property, the last of which is that of the flags.
func areaAt(t *testing.T, smaps string, addr uint64) string {
	t.Helper()
	var area strings.Builder
	ours := false
	for line := range strings.Lines(smaps) {
		var lo, hi uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			ours = lo <= addr && addr < hi
		}
		if !ours {
			continue
		}
		area.WriteString(line)
		if strings.HasPrefix(line, "VmFlags:") {
			return area.String()
		}
	}
	t.Fatalf("nothing is mapped at %#x", addr)
	return ""
}

// notSanitizing skips a test if library and programs are built for a sanitizer.
func notSanitizing(t *testing.T) {
	t.Helper()
	if os.Getenv("HALO_SANITIZE") != "" {
		t.Skip("the library is built for another tool")
	}
}
