package examples

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
)

// TestHeatContinuesAfterAKill kills a rank of heat at a random moment after the first checkpoint, which may
// be in the middle of the next one. From the checkpoint another number of ranks computes the bits that a
// run without a kill does.
func TestHeatContinuesAfterAKill(t *testing.T) {
	l := build(t, "heat")
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i * 7)
	}
	var in strings.Builder
	if err := png.Encode(&in, img); err != nil {
		t.Fatal(err)
	}
	l.write(t, "in.png", in.String())
	checksum := regexp.MustCompile(`checksum [0-9a-f]{16}\n`)
	for _, fabric := range fabrics() {
		l.killed(t, 3, fabric, "ck", "heat", "-steps", "1000000000", "-tol", "0", "-checkpoint", "ck", "in.png")
		step := binary.NativeEndian.Uint64(l.read(t, "ck")[24:]) // its place in the header
		steps := []string{"-steps", fmt.Sprint(step + 70), "-tol", "0"}
		want, _, _ := l.run(t, l.path("heat"), append(steps, "in.png")...)
		for _, n := range []int{2, 4} {
			got := l.launched(t, n, fabric, "heat", append([]string{"-restart", "ck"}, steps...)...)
			if !strings.Contains(got, "70 steps of 40 x 30 cells") || checksum.FindString(got) != checksum.FindString(want) {
				t.Errorf("killed after step %d, continued on %d ranks over %s: printed %q, without a kill %q", step, n, fabric, got, want)
			}
		}
		if err := os.Remove(filepath.Join(l.dir, "ck")); err != nil {
			t.Fatal(err)
		}
	}
}

// killed starts a program on n ranks and kills one of them when it has made a file.
func (l launcher) killed(t *testing.T, n int, fabric, file, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(l.path("halo"), append([]string{"run", "-n", fmt.Sprint(n), "-fabric", fabric, l.path(program)}, args...)...)
	cmd.Dir = l.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() // the ranks end with the launcher
	for hang := time.Now().Add(testrun.Long); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(l.dir, file)); err == nil {
			break
		} else if time.Now().After(hang) {
			t.Fatalf("%s has made no %s: %v", program, file, err)
		}
	}
	time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond) // the random moment
	ranks := l.children(t, cmd.Process.Pid, program)
	if len(ranks) != n {
		t.Fatalf("the launcher has started %d processes of %s, want %d", len(ranks), program, n)
	}
	if err := syscall.Kill(ranks[rand.IntN(n)], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if cmd.ProcessState.ExitCode() != 128+9 {
		t.Errorf("the job ended with %v, want status 137", cmd.ProcessState)
	}
}

// children are the processes of a program whose parent is a process.
func (l launcher) children(t *testing.T, parent int, program string) (pids []int) {
	t.Helper()
	lists, err := fs.Glob(os.DirFS("/proc"), fmt.Sprintf("%d/task/*/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile("/proc/" + list) // a thread may have ended
		for _, field := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(field)
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); filepath.Base(exe) == program {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
