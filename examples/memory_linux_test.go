package examples

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSortTakesTheMemoryOfAShare: the largest of four ranks
// takes less than half of the memory that one alone takes for the same file, and
// less than the size of the file.
func TestSortTakesTheMemoryOfAShare(t *testing.T) {
	l := build(t, "samplesort")
	const lines, length = 160_000, 500
	const size = lines * length
	f, err := os.Create(filepath.Join(l.dir, "lines"))
	if err != nil {
		t.Fatal(err)
	}
	text := bufio.NewWriter(f) // this process must stay small: the kernel counts its peak as the launcher's, too
	for i := range lines {
		fmt.Fprintf(text, "%0*d\n", length-1, (i*7919)%lines)
	}
	if err := errors.Join(text.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	peak := func(n int) int64 {
		cmd := exec.Command(l.path("halo"), "run", "-n", fmt.Sprint(n), l.path("samplesort"), "lines")
		cmd.Dir = l.dir
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "verified") {
			t.Fatalf("samplesort on %d ranks: %v\n%s", n, err, out)
		}
		// The peak of the largest process: the launcher, or one that it has waited for.
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	one, four := peak(1), peak(4)
	t.Logf("%d bytes: one rank takes %d, each of four at most %d", size, one, four)
	if one < size {
		t.Errorf("one rank takes %d bytes for a file of %d: this measures nothing", one, size)
	}
	if four > one/2 || four > size {
		t.Errorf("a rank of four takes %d bytes, one alone %d, for a file of %d", four, one, size)
	}
}
