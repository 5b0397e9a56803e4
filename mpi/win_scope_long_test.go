package mpi_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// availableMiB is the memory that the system has left, in MiB; a large number if the system does
// not report it.
func availableMiB() (n int) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 1 << 20
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &n); err == nil {
			return n >> 10
		}
	}
	return 1 << 20
}

// QV-02: while one goroutine's put of 1 GiB is pending, another one's flush with thread scope,
// after a put of a byte, returns. With mapped memory there is nothing to wait for.
func TestQV02_FlushBesideAGiB(t *testing.T) {
	const long = 1 << 30
	testrun.PlainOnly(t, "1 GiB takes too long")
	switch {
	case testing.Short():
		t.Skip("1 GiB takes too long")
	case availableMiB() < 4096:
		t.Skipf("%d MiB of memory are left, and this takes 2048", availableMiB())
	case !slices.Contains(mpitest.Fabrics(), "tcp"):
		t.Skip("not over tcp")
	}
	mpitest.On(t, "tcp", 2, func(t testing.TB, c *mpi.Comm) {
		mem := make([]byte, c.Rank()*(long+1))
		w, err := mpi.WinCreate(c, mem)
		ok(t, err)
		if c.Rank() == 0 {
			data := make([]byte, long)
			data[0], data[long-1] = 1, 1
			a, err := w.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			b, err := w.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			ok(t, w.LockAll(0))
			beside := false
			// A scheduler may stop this goroutine for the time of the put, but not always.
			for tries := 0; tries < 5 && !beside; tries++ {
				put := make(chan mpi.Request)
				go func() { put <- a.Rrput(data, 1, 0) }()
				q := <-put
				ok(t, b.Put([]byte{2}, 1, long))
				ok(t, b.Flush(1))
				_, done, err := q.GetStatus()
				ok(t, err)
				beside = !done
				ok(t, second(q.Wait()))
			}
			if !beside {
				t.Error("the flush was never over before the long put of another goroutine")
			}
			ok(t, w.UnlockAll())
			ok(t, a.Free())
			ok(t, b.Free())
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 && (mem[0] != 1 || mem[long-1] != 1 || mem[long] != 2) {
			t.Errorf("there are %d, %d and %d", mem[0], mem[long-1], mem[long])
		}
		ok(t, w.Free())
	})
}
