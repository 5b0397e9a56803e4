package mpitest_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestMain(m *testing.M) { leak.Main(m) }

// wayVariable names the way in which TestFailing has to fail, when this test binary runs it in a
// separate process.
const wayVariable = "HALO_MPITEST_WAY"

// failing are ways in which a test of three ranks fails: what rank 1 does while the others wait
// for each other and for it.
var failing = map[string]struct {
	do   func(t testing.TB, c *mpi.Comm)
	says string
}{
	"Error":   {func(t testing.TB, _ *mpi.Comm) { t.Error("the milk is off") }, "the milk is off"},
	"Fatal":   {func(t testing.TB, _ *mpi.Comm) { t.Fatal("the milk is off") }, "the milk is off"},
	"FailNow": {func(t testing.TB, _ *mpi.Comm) { t.FailNow() }, "rank 1: its goroutine has ended"},
	"panic":   {func(testing.TB, *mpi.Comm) { panic("the milk is off") }, "rank 1: panic: the milk is off"},
	"Goexit":  {func(testing.TB, *mpi.Comm) { runtime.Goexit() }, "rank 1: its goroutine has ended"},
	"a receive that is left posted": {func(t testing.TB, c *mpi.Comm) {
		mpi.Irecv(c, []byte{0}, 2, 9)
		mpi.Send(c, []byte{1}, 0, 1)
	}, "1 receive is still posted"},
}

// TestFailing fails in the way that the environment names.
func TestFailing(t *testing.T) {
	way, ok := failing[os.Getenv(wayVariable)]
	if !ok {
		return
	}
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		switch c.Rank() {
		case 0:
			if _, err := mpi.Recv(c, []byte{0}, 1, 1); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
				t.Error(err)
			}
		case 1:
			way.do(t, c)
		case 2:
			c.Barrier()
		}
	})
}

// If a rank fails, the test fails, over every fabric, with the reason; no rank hangs and nothing
// is left behind.
func TestAFailingRankFailsTheTest(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, way := range failing {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestFailing$", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), wayVariable+"="+name)
			out, err := cmd.CombinedOutput()
			text := string(out)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Fatalf("a test in which a rank fails ends with %v, want status 1\n%s", err, text)
			}
			parts := strings.Split(text, "--- FAIL: TestFailing/")[1:]
			if len(parts) != len(mpitest.Fabrics()) {
				t.Fatalf("%d fabrics have failed, want all of %v\n%s", len(parts), mpitest.Fabrics(), text)
			}
			for i, fabric := range mpitest.Fabrics() {
				if !strings.HasPrefix(parts[i], fabric+"-3 ") || !strings.Contains(parts[i], way.says) {
					t.Errorf("over %s the test says\n%s\nwant %q", fabric, parts[i], way.says)
				}
			}
		})
	}
}

// A test that passes runs every rank, for every number of ranks, once for each fabric.
func TestRunRunsEachRankOnEachFabric(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		var mu sync.Mutex
		ranks := map[string][]int{}
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			if c.Size() != n {
				t.Errorf("world of %d, want %d", c.Size(), n)
			}
			mu.Lock()
			ranks[t.Name()] = append(ranks[t.Name()], c.Rank())
			mu.Unlock()
			if err := c.Barrier(); err != nil {
				t.Error(err)
			}
		})
		if len(ranks) != len(mpitest.Fabrics()) {
			t.Errorf("%d runs, want one for each of %v", len(ranks), mpitest.Fabrics())
		}
		for name, got := range ranks {
			slices.Sort(got)
			for i, r := range got {
				if len(got) != n || r != i {
					t.Errorf("%s: ranks %v, want each of %d once", name, got, n)
					break
				}
			}
		}
	}
}

// The environment selects the fabrics.
func TestFabricsAreChosenByTheEnvironment(t *testing.T) {
	t.Setenv(testrun.Chosen, "")
	t.Setenv(testrun.Once, "")
	all := mpitest.Fabrics()
	if !slices.Contains(all, "inproc") || !slices.Contains(all, "tcp") || slices.Contains(all, "shm") != (runtime.GOOS == "linux" && !testrun.Race) {
		t.Errorf("fabrics of %s: %v", runtime.GOOS, all)
	}
	t.Setenv(testrun.Chosen, "tcp,inproc")
	if got := mpitest.Fabrics(); !slices.Equal(got, []string{"inproc", "tcp"}) {
		t.Errorf("fabrics chosen: %v", got)
	}
}
